//! What `gaffer init` asks Jules and GitHub, reading only.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, BranchName, RepoName};
use engine::machine::SystemClock;
use engine::ports::{Clock, PullsRead, Secrets, SessionsRead, SourceView};
use engine::settings::Upstreams;
use local::SecretFiles;
use secrecy::SecretString;

use super::secrets::{KEY, TOKEN};
use crate::error::Error;

/// Where Jules is for people.
const JULES_WEB: &str = "https://jules.google.com";

/// How similar two names have to be for a suggestion, from 0 to 1.
const ALIKE: f64 = 0.75;

/// Maximum number of suggested names.
const NAMES_MAX: usize = 5;

/// Jules and GitHub, seen with secrets that need not be stored yet.
pub(crate) struct Outside {
    secrets: Arc<dyn Secrets>,
    upstreams: Upstreams,
}

impl Outside {
    /// `overlay` holds secrets by path; others are read from the data folder.
    pub(crate) fn new(
        folder: &Path,
        overlay: BTreeMap<String, SecretString>,
        upstreams: Upstreams,
    ) -> Self {
        Self {
            secrets: Arc::new(SecretFiles::new(&folder.join("secrets"), overlay)),
            upstreams,
        }
    }

    /// The repositories that the key reaches.
    pub(super) async fn sources(&self, account: &AccountName) -> Result<Vec<SourceView>> {
        let base = self.upstreams.jules_base.as_deref().unwrap_or(jules::BASE);
        let (settings, _) = jules::Settings::at(base).context("reading the address of Jules")?;
        let client = jules::Client::new(settings, self.secrets.clone(), clock())
            .context("preparing to talk to Jules")?;
        let found = jules::Reader::new(client).sources(account).await;
        found.map_err(|failure| of_jules(&failure).into())
    }

    /// The default branch of a repository, which also checks that the token can read it.
    pub(crate) async fn default_branch(&self, repo: &RepoName) -> Result<BranchName> {
        let found = github::Reader::new(self.github()?)
            .default_branch(repo)
            .await;
        found.map_err(|failure| of_github(&failure, repo).into())
    }

    /// GitHub, with the credential and the address that are in force.
    pub(crate) fn github(&self) -> Result<github::Client> {
        let base = self.upstreams.github_base.as_deref();
        let settings = github::Settings::new(base, self.upstreams.github_app_id)
            .context("reading the address of GitHub")?;
        github::Client::new(&settings, self.secrets.clone(), clock())
            .context("preparing to talk to GitHub")
    }
}

fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

fn of_jules(failure: &Failure) -> Error {
    let (code, next) = match failure.class {
        FailureClass::Unauthorized => ("bad_key", format!("make a key at {}", KEY.made_at)),
        FailureClass::Forbidden => (
            "no_jules",
            format!("sign in at {JULES_WEB} once with the account that the key belongs to"),
        ),
        FailureClass::Network | FailureClass::Unavailable | FailureClass::Garbled => (
            "jules_unreachable",
            "check the network and, if you gave one, `--jules-base`; then run this again"
                .to_owned(),
        ),
        FailureClass::Throttled | FailureClass::Precondition => {
            ("throttled", "wait a minute and run this again".to_owned())
        }
        FailureClass::NotFound | FailureClass::Conflict | FailureClass::Invalid => {
            ("jules_refused", "check `--jules-base`".to_owned())
        }
    };
    Error::refused(code, failure.message.clone(), next)
}

pub(crate) fn of_github(failure: &Failure, repo: &RepoName) -> Error {
    let (code, next) = match failure.class {
        FailureClass::Unauthorized => ("bad_token", format!("make a token at {}", TOKEN.made_at)),
        FailureClass::Forbidden | FailureClass::NotFound => (
            "no_access",
            format!("check the name {repo}, and let the token or the App read it"),
        ),
        FailureClass::Network | FailureClass::Unavailable | FailureClass::Garbled => (
            "github_unreachable",
            "check the network and, if you gave one, `--github-base`; then run this again"
                .to_owned(),
        ),
        FailureClass::Throttled
        | FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid => (
            "github_refused",
            "wait a minute and run this again".to_owned(),
        ),
    };
    Error::refused(code, failure.message.clone(), next)
}

/// Finds the repository among those that Jules sees, in any spelling.
pub(super) fn connected<'a>(
    repo: &RepoName,
    sources: &'a [SourceView],
) -> Result<&'a SourceView, Error> {
    let found = sources.iter().find(|it| it.repo.key() == repo.key());
    found.ok_or_else(|| not_connected(repo, sources))
}

fn not_connected(repo: &RepoName, sources: &[SourceView]) -> Error {
    let seen = match sources.len() {
        0 => "it sees no repository yet".to_owned(),
        1 => "it sees one repository".to_owned(),
        n => format!("it sees {n} repositories"),
    };
    let near = nearest(repo, sources);
    let near = if near.is_empty() {
        String::new()
    } else {
        format!("; the nearest are {}", near.join(", "))
    };
    let next = format!(
        "install Jules's GitHub app for {repo}: open {JULES_WEB}, choose the repository there, and GitHub asks which ones Jules may see; then run this again"
    );
    Error::refused(
        "not_connected",
        format!("Jules does not see {repo}: {seen}{near}"),
        next,
    )
}

/// Names that may be meant, the most alike first: the same name elsewhere, or nearly the same spelling.
fn nearest(repo: &RepoName, sources: &[SourceView]) -> Vec<String> {
    let wanted = repo.key();
    let score = |other: &RepoName| {
        let whole = strsim::jaro_winkler(&wanted, &other.key());
        let name = strsim::jaro_winkler(
            &repo.name().to_ascii_lowercase(),
            &other.name().to_ascii_lowercase(),
        );
        whole.max(name)
    };
    let mut scored: Vec<_> = sources
        .iter()
        .map(|it| (score(&it.repo), it.repo.to_string()))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    scored.truncate(NAMES_MAX);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// The first names of Jules's sources, for a question.
pub(super) fn shown(sources: &[SourceView]) -> String {
    let names: Vec<_> = sources
        .iter()
        .take(NAMES_MAX)
        .map(|it| it.repo.to_string())
        .collect();
    let more = sources.len().saturating_sub(names.len());
    if more == 0 {
        return names.join(", ");
    }
    format!("{} and {more} more", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(names: &[&str]) -> Vec<SourceView> {
        let view = |name: &&str| SourceView {
            repo: name.parse().unwrap(),
            default_branch: None,
        };
        names.iter().map(view).collect()
    }

    #[test]
    fn a_repository_is_found_whatever_its_spelling() {
        let sources = views(&["Acme/Shop"]);
        assert!(connected(&"acme/shop".parse().unwrap(), &sources).is_ok());
    }

    #[test]
    fn one_that_is_missing_is_told_with_the_nearest_names_and_the_way_to_install_the_app() {
        let sources = views(&["acme/shop", "acme/site", "other/shopp", "zeta/quux"]);
        let error = connected(&"acme/shp".parse().unwrap(), &sources).unwrap_err();
        let Error::Refused { code, what, next } = error else {
            panic!("{error:?}")
        };
        assert_eq!(code, "not_connected");
        assert!(
            what.contains("it sees 4 repositories; the nearest are acme/shop, "),
            "{what}"
        );
        assert!(!what.contains("zeta"), "{what}");
        assert!(next.contains("https://jules.google.com"), "{next}");
    }

    #[test]
    fn nothing_near_is_not_made_up() {
        let error = connected(&"acme/shop".parse().unwrap(), &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Jules does not see acme/shop: it sees no repository yet"
        );
    }
}
