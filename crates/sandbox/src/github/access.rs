//! Who may see and do what: tokens, the App, and one permission switch per resource.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The token that every sandbox accepts from the start: a classic one with every right.
pub const DEFAULT_TOKEN: &str = "ghp_sandbox";

/// Numeric id of the sandbox's GitHub App.
pub const APP_ID: u64 = 4_100_001;

/// Slug of the sandbox's GitHub App.
pub const APP_SLUG: &str = "gaffer-sandbox";

/// Id of the App's only installation.
pub const INSTALLATION_ID: u64 = 5_200_001;

/// Requests an hour that github.com grants a user's token.
pub const RATE_LIMIT: u64 = 5_000;

/// How much a token may do with one kind of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Nothing.
    None,
    /// Only reading.
    Read,
    /// Reading and writing.
    Write,
}

/// The kinds of resource that GitHub grants one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Workflow runs and job logs.
    Actions,
    /// Branch protection and hooks.
    Administration,
    /// Check runs and suites.
    Checks,
    /// Commits, branches, merging.
    Contents,
    /// Deployments and their statuses.
    Deployments,
    /// Issues, their comments and labels.
    Issues,
    /// The repository itself and its rules.
    Metadata,
    /// Pull requests and reviews.
    PullRequests,
    /// Commit statuses.
    Statuses,
}

impl Resource {
    /// Every resource, in the order of the names.
    pub const ALL: [Self; 9] = [
        Self::Actions,
        Self::Administration,
        Self::Checks,
        Self::Contents,
        Self::Deployments,
        Self::Issues,
        Self::Metadata,
        Self::PullRequests,
        Self::Statuses,
    ];

    /// The word GitHub uses in an installation's permissions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Actions => "actions",
            Self::Administration => "administration",
            Self::Checks => "checks",
            Self::Contents => "contents",
            Self::Deployments => "deployments",
            Self::Issues => "issues",
            Self::Metadata => "metadata",
            Self::PullRequests => "pull_requests",
            Self::Statuses => "statuses",
        }
    }
}

/// What a token may do; everything that was not switched is granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions(BTreeMap<Resource, Access>);

impl Permissions {
    /// Every right there is.
    pub fn all() -> Self {
        Self::default()
    }

    /// The same permissions with one switch set.
    #[must_use]
    pub fn with(mut self, resource: Resource, access: Access) -> Self {
        self.0.insert(resource, access);
        self
    }

    /// How much is granted for a resource.
    pub fn access(&self, resource: Resource) -> Access {
        self.0.get(&resource).copied().unwrap_or(Access::Write)
    }

    /// The object of an installation's answer: `{"checks": "read", …}`.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let granted = Resource::ALL.into_iter().filter_map(|resource| {
            let word = match self.access(resource) {
                Access::None => return None,
                Access::Read => "read",
                Access::Write => "write",
            };
            Some((resource.as_str().to_owned(), word.into()))
        });
        serde_json::Value::Object(granted.collect())
    }
}

/// The kind of a token, which decides the text of GitHub's refusals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A classic personal access token with scopes.
    #[default]
    Classic,
    /// A fine-grained personal access token.
    FineGrained,
    /// A token minted for the App's installation.
    Installation,
    /// The token a workflow run gets.
    Actions,
}

/// A token as a test or a scenario declares it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TokenSetup {
    /// The secret itself.
    pub token: String,
    /// What kind of credential it is.
    pub kind: TokenKind,
    /// Whose it is.
    pub login: String,
    /// Its permissions.
    pub permissions: Permissions,
    /// The only repositories it can see; none means all.
    pub repos: Option<Vec<String>>,
    /// The scopes of a classic token, as GitHub names them in its answers.
    pub scopes: String,
    /// Requests it may make in an hour.
    pub rate_limit: u64,
}

impl Default for TokenSetup {
    fn default() -> Self {
        Self {
            token: DEFAULT_TOKEN.to_owned(),
            kind: TokenKind::Classic,
            login: "octo-owner".to_owned(),
            permissions: Permissions::all(),
            repos: None,
            scopes: "repo, workflow".to_owned(),
            rate_limit: RATE_LIMIT,
        }
    }
}

/// A token in use: its declaration, its end and its hourly window.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) setup: TokenSetup,
    pub(crate) expires_at: Option<Timestamp>,
    /// The only account whose repositories it sees; none means all.
    pub(crate) owner: Option<String>,
    pub(crate) window: Window,
}

/// The requests a token has made in the running hour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(crate) used: u64,
    /// Unix seconds at which the count starts again; zero before the first request.
    pub(crate) resets_at: i64,
}

impl Window {
    /// Length of the primary rate limit's window, seconds.
    const LENGTH_SECS: i64 = 3_600;

    /// Starts a new window when the old one has ended.
    pub(crate) fn roll(&mut self, now: Timestamp) {
        if now.as_second() >= self.resets_at {
            *self = Self {
                used: 0,
                resets_at: now.as_second() + Self::LENGTH_SECS,
            };
        }
    }
}

impl Token {
    pub(crate) fn new(setup: TokenSetup) -> Self {
        Self {
            setup,
            expires_at: None,
            owner: None,
            window: Window::default(),
        }
    }

    /// Whether this token can see a repository.
    pub(crate) fn sees(&self, full_name: &str) -> bool {
        let owner = full_name.split_once('/').map_or("", |(owner, _)| owner);
        let other = |own: &String| !own.eq_ignore_ascii_case(owner);
        if self.owner.as_ref().is_some_and(other) {
            return false;
        }
        match &self.setup.repos {
            None => true,
            Some(names) => names
                .iter()
                .any(|name| name.eq_ignore_ascii_case(full_name)),
        }
    }
}
