//! The Gaffer that a command is about: the one of the data folder, or the one of a stack on AWS.

use std::sync::Arc;

use anyhow::{Context, Result};
use client::Client;
use client::wire::{Problem, Through};
use domain::ids::RepoName;
use domain::nearest::meant;
use engine::backend::Backend;
use engine::ports::{DeadLetters, Queue, SecretName, Secrets};
use server::data::Data;
use url::Url;

use crate::context::CommandContext;
use crate::error::Error;
use crate::upstreams;

/// Access to a Gaffer for commands that only read.
pub(crate) struct Site {
    /// Its store, queue and time.
    pub(crate) backend: Backend,
    pub(crate) dead: Arc<dyn DeadLetters>,
    /// Its dead ticks, where ticks are messages.
    pub(crate) dead_ticks: Option<Arc<dyn DeadLetters>>,
    pub(crate) ticks: Option<Arc<dyn Queue>>,
    /// Where it is, for people.
    pub(crate) place: String,
}

impl Site {
    /// The chosen Gaffer. It has to exist.
    pub(crate) async fn load(here: &CommandContext) -> Result<Self> {
        if let Some(name) = &here.stack {
            return on_aws(name).await;
        }
        let data = here.found().await?;
        Ok(Self {
            place: here.folder.display().to_string(),
            dead: data.queue.clone(),
            dead_ticks: None,
            ticks: None,
            backend: data.backend,
        })
    }
}

/// What commands that store settings and secrets need of a Gaffer.
pub(crate) struct StoreAccess {
    /// Its store, queue and time.
    pub(crate) backend: Backend,
    /// Its secrets, without those that the environment lays over them.
    pub(crate) secrets: Arc<dyn Secrets>,
    /// Prefix of a secret's path in its store.
    pub(crate) root: String,
}

impl StoreAccess {
    /// The Gaffer that is meant; a data folder is made when it is new.
    pub(crate) async fn load(here: &CommandContext) -> Result<Self> {
        if let Some(name) = &here.stack {
            return kept_on_aws(name).await;
        }
        Ok(Self::in_folder(here.stored_only().open().await?))
    }

    /// The chosen Gaffer, which has to exist.
    pub(crate) async fn found(here: &CommandContext) -> Result<Self> {
        if let Some(name) = &here.stack {
            return kept_on_aws(name).await;
        }
        Ok(Self::in_folder(here.stored_only().found().await?))
    }

    fn in_folder(data: Data) -> Self {
        Self {
            root: data.folder.join("secrets").display().to_string(),
            backend: data.backend,
            secrets: data.secrets,
        }
    }
}

/// Default address of `gaffer up`.
const DEFAULT_API: &str = "http://127.0.0.1:4180";

/// A client of the chosen Gaffer's API: of `gaffer up`, or of a stack, whose token is read from its parameters.
pub(crate) async fn api_client(url: Option<Url>, here: &CommandContext) -> Result<Client> {
    let Some(name) = &here.stack else {
        let token = here.token().await?;
        return Ok(typed(Client::new(base(url.as_ref(), here)?, token)?));
    };
    let url = url.ok_or_else(|| {
        Error::usage(
            format!("nothing tells where the API of the stack `{name}` is"),
            format!("give `--url URL`, as `cargo xtask deploy status --stack {name}` shows it"),
        )
    })?;
    let secret = SecretName::ApiToken;
    if let Some(token) = here.environment.overlay.get(&secret.path()) {
        return Ok(typed(Client::new(url, token.clone())?));
    }
    let keeping = StoreAccess::found(here).await?;
    let token = keeping.secrets.read(&secret).await;
    let token = token.with_context(|| format!("reading the API's token of the stack `{name}`"))?;
    Ok(typed(Client::new(url, token)?))
}

/// What is wrong where nothing works over a data folder.
pub(crate) const NOT_RUNNING: &str = "`gaffer up` is not running on this data folder";

/// Where the API is: as typed, or of the `gaffer up` over the data folder, or at the usual address.
///
/// Another process may listen at the usual address, so the token of a data folder is not sent there; one in the
/// environment is.
pub(crate) fn base(url: Option<&Url>, here: &CommandContext) -> Result<Url> {
    let known = url.cloned();
    let known = known.or_else(|| upstreams::api_address(&here.folder));
    match known {
        Some(known) => Ok(known),
        None if here.is_overlaid(&SecretName::ApiToken) => {
            DEFAULT_API.parse().context("reading the usual address")
        }
        None => {
            let folder = here.folder.display();
            let next = format!("start it with `gaffer up --data {folder}`, or give `--url URL`");
            Err(Error::refused("not_running", NOT_RUNNING, next).into())
        }
    }
}

/// A refusal of the API; where there is no such source, its sentence goes on with the nearest one.
pub(crate) async fn with_nearest_source(
    client: &Client,
    repo: &RepoName,
    mut error: client::Error,
) -> client::Error {
    if let client::Error::Problem(problem) = &mut error
        && is_without_source(problem)
        && let Ok(status) = client.status().await
    {
        let known: Vec<String> = status.feeds.iter().map(|it| it.repo.to_string()).collect();
        let near = meant(repo.as_str(), known.iter().map(String::as_str));
        problem.detail.push_str(&near);
    }
    error
}

/// Whether a source is missing: the one in the address, or in the field of an order.
fn is_without_source(problem: &Problem) -> bool {
    let is_named = problem.code == "unknown_name" && problem.field.as_deref() == Some("repo");
    is_named || problem.code == "no_such_source"
}

/// A client for orders from the command line.
fn typed(client: Client) -> Client {
    client.through(Through::CommandLine)
}

#[cfg(feature = "aws")]
async fn kept_on_aws(name: &str) -> Result<StoreAccess> {
    let cloud = crate::cloud::Cloud::find(name).await?;
    Ok(StoreAccess {
        backend: cloud.backend().await?,
        secrets: Arc::new(cloud.stack.parameters()),
        root: format!("/gaffer/{name}"),
    })
}

#[cfg(not(feature = "aws"))]
async fn kept_on_aws(name: &str) -> Result<StoreAccess> {
    Err(without_aws(name).into())
}

#[cfg(feature = "aws")]
async fn on_aws(name: &str) -> Result<Site> {
    let cloud = crate::cloud::Cloud::find(name).await?;
    Ok(Site {
        place: format!("the stack {name}"),
        dead: Arc::new(cloud.stack.work()),
        dead_ticks: Some(Arc::new(cloud.stack.ticks())),
        ticks: Some(Arc::new(cloud.stack.ticks())),
        backend: cloud.backend().await?,
    })
}

#[cfg(not(feature = "aws"))]
async fn on_aws(name: &str) -> Result<Site> {
    Err(without_aws(name).into())
}

/// What this build cannot do.
#[cfg(not(feature = "aws"))]
pub(crate) fn without_aws(name: &str) -> Error {
    Error::usage(
        format!("this gaffer was built without AWS, so it cannot reach the stack `{name}`"),
        "build one that can: `cargo install --path crates/cli --features aws`",
    )
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use crate::settings::Environment;

    use super::*;

    #[test]
    fn the_usual_address_gets_no_token_of_a_data_folder() {
        let folder = tempfile::tempdir().unwrap();
        let here = |token: Option<&str>| {
            let mut environment = Environment::default();
            let token = token.map(|token| (SecretName::ApiToken.path(), SecretString::from(token)));
            environment.overlay.extend(token);
            CommandContext::new(Some(folder.path().to_owned()), environment).unwrap()
        };
        let refused = base(None, &here(None)).unwrap_err();
        assert_eq!(refused.to_string(), NOT_RUNNING);
        let usual: Url = DEFAULT_API.parse().unwrap();
        assert_eq!(base(None, &here(Some("gaf_0"))).unwrap(), usual);
        let other: Url = "http://127.0.0.1:4391".parse().unwrap();
        assert_eq!(base(Some(&other), &here(None)).unwrap(), other);
        let mut lock = local::FolderLock::take(folder.path()).unwrap();
        assert!(base(None, &here(None)).is_err());
        let notes = upstreams::notes("127.0.0.1:4391".parse().unwrap(), &[]);
        lock.note(&notes).unwrap();
        assert_eq!(base(None, &here(None)).unwrap(), other);
    }
}
