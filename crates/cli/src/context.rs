//! Where a command runs: which data folder, what the environment says.

use std::path::PathBuf;

use anyhow::{Context, Result};
use domain::ids::AgentName;
use engine::backend::Backend;
use engine::ports::{SecretName, Secrets, SecretsError};
use local::SecretFiles;
use secrecy::SecretString;
use server::data::{self, Data};

use crate::error::Error;
use crate::settings::Environment;

/// Where a command runs.
#[derive(Debug)]
pub(crate) struct CommandContext {
    /// The data folder.
    pub(crate) folder: PathBuf,
    /// What the environment says.
    pub(crate) environment: Environment,
    /// The stack that is meant instead of the data folder.
    pub(crate) stack: Option<String>,
}

impl CommandContext {
    /// The folder that was named, else the platform's.
    ///
    /// The Gaffer of a stack is meant only once [`Self::of_stack`] names one.
    pub(crate) fn new(named: Option<PathBuf>, environment: Environment) -> Result<Self, Error> {
        let nowhere = || {
            Error::usage(
                "there is no data folder: neither `--data`, GAFFER_DATA, XDG_DATA_HOME nor HOME names one",
                "give one with `--data DIR`",
            )
        };
        let folder = named
            .or_else(|| environment.home.clone())
            .ok_or_else(nowhere)?;
        Ok(Self {
            folder,
            environment,
            stack: None,
        })
    }

    /// The same, about the Gaffer of a stack if one is named.
    pub(crate) fn of_stack(self, stack: Option<String>) -> Self {
        Self { stack, ..self }
    }

    /// Opens the data folder, making it when it is new.
    pub(crate) async fn open(&self) -> Result<Data> {
        data::open(&self.folder, self.environment.overlay.clone()).await
    }

    /// Opens an existing data folder: a command that only reads or changes data must not make one for a mistyped name.
    pub(crate) async fn found(&self) -> Result<Data> {
        self.database()?;
        self.open().await
    }

    /// The database of an existing data folder.
    pub(crate) fn database(&self) -> Result<PathBuf, Error> {
        let database = self.folder.join(local::DATABASE_FILE);
        // An unreadable one is reported when it is opened.
        if !matches!(database.try_exists(), Ok(false)) {
            return Ok(database);
        }
        let what = format!(
            "there is nothing of Gaffer in the data folder {}",
            self.folder.display()
        );
        let next = "name another one with `--data DIR`, or make one with `gaffer init`";
        Err(Error::usage(what, next))
    }

    /// The same folder without the keys and tokens that the environment lays over stored ones, so that these can be written.
    pub(crate) fn stored_only(&self) -> Self {
        let mut overlay = self.environment.overlay.clone();
        let ours = [SecretName::GitHub.path(), SecretName::Webhook.path()];
        overlay.retain(|path, _| !path.starts_with("jules/") && !ours.contains(path));
        Self {
            folder: self.folder.clone(),
            environment: Environment {
                overlay,
                home: self.environment.home.clone(),
                persona: self.environment.persona.clone(),
                person: self.environment.person.clone(),
            },
            stack: self.stack.clone(),
        }
    }

    /// Whether the environment sets a secret, which then takes precedence over a stored one; it never does for a
    /// stack, whose functions do not see it.
    pub(crate) fn is_overlaid(&self, name: &SecretName) -> bool {
        self.stack.is_none() && self.environment.overlay.contains_key(&name.path())
    }

    /// The bearer token of our own HTTP API, without opening the store.
    pub(crate) async fn token(&self) -> Result<SecretString> {
        let files = SecretFiles::new(
            &self.folder.join("secrets"),
            self.environment.overlay.clone(),
        );
        match files.read(&SecretName::ApiToken).await {
            Ok(token) => Ok(token),
            Err(SecretsError::Missing(_)) => {
                let what = format!(
                    "there is no token: {} holds none and GAFFER_TOKEN is not set",
                    self.folder.display()
                );
                Err(Error::refused("no_token", what, "start `gaffer up` once, which makes one; or set GAFFER_TOKEN, or name its folder with `--data`").into())
            }
            Err(error) => Err(error).context("reading the token of `gaffer up`"),
        }
    }
}

/// Refuses an agent that was never added.
pub(crate) async fn must_agent(backend: &Backend, name: &AgentName) -> Result<()> {
    match backend
        .store
        .agent(name)
        .await
        .context("reading the agents")?
    {
        Some(_) => Ok(()),
        None => Err(Error::no_such("agent", name, " --url URL").into()),
    }
}
