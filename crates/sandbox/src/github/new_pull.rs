//! A pull request that a test, a scenario or a session opens.

use serde::{Deserialize, Serialize};

use super::setup::ChangedFile;

/// A pull request about to be opened, with the branch and commit that come with it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewPull {
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// The branch to create in the head repository.
    pub head_branch: String,
    /// The branch to merge into; empty means the default branch.
    pub base_branch: String,
    /// Whether it opens as a draft.
    pub draft: bool,
    /// Who opens it; a login that ends in `[bot]` is a bot.
    pub author_login: String,
    /// Numeric id of the author; zero derives one from the login.
    pub author_id: u64,
    /// What its commit changes.
    pub files: Vec<ChangedFile>,
    /// Full name of the fork the head lives in; none means the same repository.
    pub fork: Option<String>,
    /// `author_association`; empty means `CONTRIBUTOR` (`NONE` for forks).
    pub association: String,
    /// Opened with the Actions token: GitHub starts no workflows and no other checks for it.
    pub by_actions_token: bool,
    /// Labels it has from the start.
    pub labels: Vec<String>,
}
