//! What the doctor reads of GitHub's answers: every field may be missing, since nothing is decided by it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::client::Page;

/// A person, as GitHub shows them.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
}

/// `GET /app`.
#[derive(Debug, Deserialize)]
pub(super) struct App {
    pub(super) slug: String,
    #[serde(default)]
    pub(super) events: Vec<String>,
}

/// `GET /repos/{owner}/{repo}/installation`.
#[derive(Debug, Deserialize)]
pub(super) struct Installation {
    #[serde(default)]
    pub(super) suspended_at: Option<String>,
    #[serde(default)]
    pub(super) permissions: BTreeMap<String, String>,
}

/// `GET /repos/{owner}/{repo}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Repository {
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
pub(super) struct Pull {
    #[serde(default)]
    pub(super) body: Option<String>,
    #[serde(default)]
    pub(super) user: Option<User>,
    pub(super) head: Head,
}

/// What a pull request offers.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) sha: String,
}

/// A page of `GET /repos/{owner}/{repo}/actions/workflows`.
#[derive(Debug, Deserialize)]
pub(super) struct Workflows {
    total_count: u64,
    workflows: Vec<Workflow>,
}

/// One workflow.
#[derive(Debug, Deserialize)]
pub(super) struct Workflow {
    #[serde(default)]
    pub(super) state: String,
}

impl Page for Workflows {
    type Item = Workflow;

    fn total(&self) -> Option<u64> {
        Some(self.total_count)
    }

    fn items(self) -> Vec<Workflow> {
        self.workflows
    }
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

/// One rule of a branch.
#[derive(Debug, Deserialize)]
pub(super) struct Rule {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) ruleset_id: Option<u64>,
    #[serde(default)]
    pub(super) parameters: serde_json::Value,
}

/// `GET /repos/{owner}/{repo}/rulesets/{id}`.
#[derive(Debug, Deserialize)]
pub(super) struct Ruleset {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) current_user_can_bypass: Option<String>,
}

/// Parameters of the rule `required_status_checks`.
#[derive(Debug, Deserialize)]
pub(super) struct ChecksRule {
    pub(super) required_status_checks: Vec<RuleCheck>,
}

/// One check that a ruleset requires.
#[derive(Debug, Deserialize)]
pub(super) struct RuleCheck {
    pub(super) context: String,
    #[serde(default)]
    pub(super) integration_id: Option<i64>,
}

/// Parameters of the rule `pull_request`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PullRule {
    pub(super) required_approving_review_count: u32,
    pub(super) allowed_merge_methods: Option<Vec<String>>,
}

/// `GET /repos/{owner}/{repo}/branches/{branch}/protection`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Protection {
    pub(super) required_status_checks: Option<ProtectionChecks>,
    pub(super) required_pull_request_reviews: Option<ProtectionReviews>,
    pub(super) enforce_admins: Option<Enabled>,
}

/// What classic protection requires of checks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProtectionChecks {
    pub(super) contexts: Vec<String>,
    pub(super) checks: Vec<ProtectionCheck>,
}

/// One check that classic protection requires.
#[derive(Debug, Deserialize)]
pub(super) struct ProtectionCheck {
    pub(super) context: String,
    #[serde(default)]
    pub(super) app_id: Option<i64>,
}

/// What classic protection requires of reviews.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProtectionReviews {
    pub(super) required_approving_review_count: u32,
}

/// Something that is on or off.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Enabled {
    pub(super) enabled: bool,
}

/// A webhook of a repository.
#[derive(Debug, Deserialize)]
pub(super) struct Hook {
    pub(super) id: u64,
    #[serde(default)]
    pub(super) active: bool,
    #[serde(default)]
    pub(super) events: Vec<String>,
    #[serde(default)]
    pub(super) config: HookConfig,
}

/// Where a webhook posts to, and in which form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HookConfig {
    pub(super) url: String,
    pub(super) content_type: String,
}

/// One delivery of a webhook.
#[derive(Debug, Deserialize)]
pub(super) struct Delivery {
    #[serde(default)]
    pub(super) status_code: Option<u16>,
}
