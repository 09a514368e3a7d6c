//! The state of the small GitHub: repositories with their branches, pull requests, checks and talk.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::access::{Token, TokenSetup};
use super::admin::{AppSetup, InstallationSetup};
use super::checks::{Check, Status, Suite};
use super::contents::Contents;
use super::records::{Comment, Commit, Deployment, Gone, Issue, Pull, Review};
use super::setup::{CiSetup, RepoSetup};
use crate::counters::RequestCounts;
use crate::faults::Faults;
use crate::webhook::Outbox;

/// First of the numbers handed out as ids; below it there is room for ids chosen by tests.
const FIRST_ID: u64 = 1_000_001;

/// Everything there is, behind one lock.
#[derive(Debug)]
pub(crate) struct GitHubWorld {
    /// By lower-case `owner/name`, since GitHub ignores case.
    pub(crate) repos: BTreeMap<String, Repo>,
    /// Commits of all repositories, as forks share their objects.
    pub(crate) commits: BTreeMap<String, Commit>,
    pub(crate) tokens: BTreeMap<String, Token>,
    /// Old names in lower case, and the number of the repository that each leads on to.
    pub(crate) moved: BTreeMap<String, u64>,
    /// Where the App is installed.
    pub(crate) installations: Vec<InstallationSetup>,
    pub(crate) outbox: Outbox,
    pub(crate) app: AppSetup,
    pub(crate) manifests: Manifests,
    /// Base of the API addresses in webhook payloads.
    pub(crate) base: String,
    pub(crate) counters: RequestCounts,
    pub(crate) faults: Faults,
    serial: u64,
    requests: u64,
}

/// The manifests of which Apps are made.
#[derive(Clone, Debug)]
pub(crate) struct Manifests {
    /// Accepted manifests whose code was not exchanged yet, by code.
    pub(crate) waiting: BTreeMap<String, Value>,
    /// Whether the App is installed; the one that every sandbox begins with is.
    pub(crate) installed: bool,
}

impl Default for Manifests {
    fn default() -> Self {
        Self {
            waiting: BTreeMap::new(),
            installed: true,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Repo {
    pub(crate) setup: RepoSetup,
    pub(crate) id: u64,
    pub(crate) fork_of: Option<String>,
    /// Branch name to the SHA of its tip.
    pub(crate) branches: BTreeMap<String, String>,
    pub(crate) issues: BTreeMap<u64, Issue>,
    /// Numbers of issues that were deleted or transferred.
    pub(crate) gone: BTreeMap<u64, Gone>,
    pub(crate) pulls: BTreeMap<u64, Pull>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) reviews: Vec<Review>,
    pub(crate) suites: Vec<Suite>,
    pub(crate) checks: Vec<Check>,
    pub(crate) statuses: Vec<Status>,
    pub(crate) deployments: Vec<Deployment>,
    /// The heads each `(branch, check)` has seen, for outcomes that change with them.
    pub(crate) heads_seen: BTreeMap<(String, String), BTreeSet<String>>,
    /// Shas that must get no checks: pushed with the Actions token.
    pub(crate) without_ci: BTreeSet<String>,
    pub(crate) next_number: u64,
    pub(crate) created_at: Timestamp,
    /// Its real git, if it has files.
    pub(crate) contents: Option<Contents>,
    /// Labels that were made by the API: colour and description by name.
    pub(crate) labels: BTreeMap<String, (String, String)>,
}

/// A refusal in GitHub's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitHubRefusal {
    pub(crate) status: u16,
    pub(crate) message: String,
    /// The permission that would have been enough, such as `checks=read`.
    pub(crate) needs: Option<String>,
    /// GitHub's details, where it gives any.
    pub(crate) errors: Vec<Value>,
}

impl GitHubRefusal {
    pub(crate) fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            needs: None,
            errors: Vec::new(),
        }
    }

    /// 422 with one detail.
    pub(crate) fn invalid(error: Value) -> Self {
        Self {
            errors: vec![error],
            ..Self::new(422, "Validation Failed")
        }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(404, "Not Found")
    }
}

impl Repo {
    pub(crate) fn new(setup: RepoSetup, id: u64, now: Timestamp) -> Self {
        Self {
            next_number: setup.first_number,
            setup,
            id,
            fork_of: None,
            branches: BTreeMap::new(),
            issues: BTreeMap::new(),
            gone: BTreeMap::new(),
            pulls: BTreeMap::new(),
            comments: Vec::new(),
            reviews: Vec::new(),
            suites: Vec::new(),
            checks: Vec::new(),
            statuses: Vec::new(),
            deployments: Vec::new(),
            heads_seen: BTreeMap::new(),
            without_ci: BTreeSet::new(),
            created_at: now,
            contents: None,
            labels: BTreeMap::new(),
        }
    }

    pub(crate) fn full_name(&self) -> &str {
        &self.setup.full_name
    }

    pub(crate) fn key(&self) -> String {
        self.setup.full_name.to_ascii_lowercase()
    }

    /// The login before the slash.
    pub(crate) fn owner(&self) -> &str {
        self.full_name()
            .split_once('/')
            .map_or("", |(owner, _)| owner)
    }

    /// The name after the slash.
    pub(crate) fn name(&self) -> &str {
        self.full_name()
            .split_once('/')
            .map_or(self.full_name(), |(_, name)| name)
    }

    pub(crate) fn ci(&self) -> &CiSetup {
        &self.setup.ci
    }

    /// The tip of a branch; empty when it does not exist.
    pub(crate) fn tip(&self, branch: &str) -> &str {
        self.branches.get(branch).map_or("", String::as_str)
    }

    /// The newest post of each context on a commit, oldest context first.
    pub(crate) fn latest_statuses(&self, sha: &str) -> Vec<&Status> {
        let mut latest: Vec<&Status> = Vec::new();
        for status in self.statuses.iter().filter(|status| status.sha == sha) {
            latest.retain(|other| other.context != status.context);
            latest.push(status);
        }
        latest
    }
}

impl GitHubWorld {
    pub(crate) fn new(counters: RequestCounts, faults: Faults) -> Self {
        let mut world = Self {
            repos: BTreeMap::new(),
            commits: BTreeMap::new(),
            tokens: BTreeMap::new(),
            moved: BTreeMap::new(),
            installations: vec![InstallationSetup::default()],
            outbox: Outbox::default(),
            app: AppSetup::default(),
            manifests: Manifests::default(),
            base: "http://localhost/github".to_owned(),
            counters,
            faults,
            serial: 0,
            requests: 0,
        };
        world.add_token(TokenSetup::default());
        world
    }

    pub(crate) fn add_token(&mut self, setup: TokenSetup) {
        self.tokens.insert(setup.token.clone(), Token::new(setup));
    }

    /// The next free id.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.serial += 1;
        FIRST_ID + self.serial
    }

    /// The number of the next request, apart from ids so that reading changes none of them.
    pub(crate) fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    pub(crate) fn repo(&self, name: &str) -> Result<&Repo, GitHubRefusal> {
        self.repos
            .get(&name.to_ascii_lowercase())
            .ok_or_else(GitHubRefusal::not_found)
    }

    pub(crate) fn repo_mut(&mut self, name: &str) -> Result<&mut Repo, GitHubRefusal> {
        self.repos
            .get_mut(&name.to_ascii_lowercase())
            .ok_or_else(GitHubRefusal::not_found)
    }

    pub(crate) fn pull(&self, repo: &str, number: u64) -> Result<&Pull, GitHubRefusal> {
        self.repo(repo)?
            .pulls
            .get(&number)
            .ok_or_else(GitHubRefusal::not_found)
    }

    pub(crate) fn pull_mut(&mut self, repo: &str, number: u64) -> Result<&mut Pull, GitHubRefusal> {
        self.repo_mut(repo)?
            .pulls
            .get_mut(&number)
            .ok_or_else(GitHubRefusal::not_found)
    }
}

/// A node id of GitHub's new format: a prefix and something opaque.
pub(crate) fn node_id(prefix: &str, id: u64) -> String {
    format!("{prefix}_kwDO{}", hex::encode(id.to_be_bytes()))
}

/// Forty hex digits that follow from what went in.
pub(crate) fn sha_of(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\n").as_bytes());
    hex::encode(digest).chars().take(40).collect()
}
