//! What the doctor reads of GitHub's answers: every field may be missing, since nothing is decided by it.

use std::collections::BTreeMap;

use domain::ids::CommitSha;
use serde::Deserialize;

/// `GET /app`.
#[derive(Debug, Deserialize)]
pub(super) struct ProbedApp {
    pub(super) slug: String,
    #[serde(default)]
    pub(super) events: Vec<String>,
}

/// `GET /repos/{owner}/{repo}/installation`.
#[derive(Debug, Deserialize)]
pub(super) struct ProbedInstallation {
    #[serde(default)]
    pub(super) suspended_at: Option<String>,
    #[serde(default)]
    pub(super) permissions: BTreeMap<String, String>,
}

/// `GET /repos/{owner}/{repo}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProbedRepository {
    pub(super) id: Option<u64>,
    pub(super) full_name: String,
    pub(super) archived: bool,
    pub(super) disabled: bool,
    pub(super) permissions: Option<Permissions>,
    pub(super) allow_merge_commit: Option<bool>,
    pub(super) allow_squash_merge: Option<bool>,
    pub(super) allow_rebase_merge: Option<bool>,
}

/// What the credential may do.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Permissions {
    pub(super) admin: bool,
    pub(super) maintain: bool,
    pub(super) push: bool,
}

/// One pull request of a list.
#[derive(Debug, Deserialize)]
pub(super) struct ProbedPull {
    #[serde(default)]
    pub(super) body: Option<String>,
    #[serde(default)]
    pub(super) user: Option<crate::wire::User>,
    pub(super) head: Head,
}

/// What a pull request offers.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) sha: String,
}

/// One entry of a folder, or a file with its content.
#[derive(Debug, Deserialize)]
pub(super) struct Content {
    pub(super) path: String,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) content: Option<String>,
}

/// `GET /repos/{owner}/{repo}/rulesets/{id}`.
#[derive(Debug, Deserialize)]
pub(super) struct Ruleset {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    current_user_can_bypass: Option<String>,
}

impl Ruleset {
    /// Whether it stops no merge of the credential's.
    pub(super) fn may_be_bypassed(&self) -> bool {
        let may = self.current_user_can_bypass.as_deref();
        matches!(may, Some("always" | "pull_requests_only" | "exempt"))
    }
}

/// `GET /repos/{owner}/{repo}/branches/{branch}`.
#[derive(Debug, Deserialize)]
pub(super) struct Branch {
    pub(super) commit: Tip,
}

/// The newest commit of a branch.
#[derive(Debug, Deserialize)]
pub(super) struct Tip {
    pub(super) sha: CommitSha,
}

/// One delivery of a webhook.
#[derive(Debug, Deserialize)]
pub(super) struct Delivery {
    #[serde(default)]
    pub(super) status_code: Option<u16>,
}
