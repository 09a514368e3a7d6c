//! Facts from GitHub about one repository, which distinguish "may not be read" from "does not exist".

use crate::delivery::Deploy;
use crate::facts::{Demands, Fact};
use crate::ids::RepoId;
use crate::policy::{MergeMethod, Source};

/// What GitHub shows of one repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositoryFacts {
    /// It exists.
    Found(Box<Repository>),
    /// It has another name now.
    Renamed {
        /// The new name, if GitHub returned it.
        to: Option<String>,
        /// Its number, if GitHub returned it.
        id: Option<RepoId>,
    },
    /// GitHub shows none.
    Absent,
    /// The App is not installed there.
    AppNotInstalled,
    /// The App's installation is suspended.
    AppSuspended,
    /// The credential is not allowed there: because of its kind, or an organization's single sign-on.
    Forbidden {
        /// Why.
        why: String,
    },
    /// It could not be read.
    Trouble {
        /// The error.
        why: String,
    },
}

/// One existing repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its number, if GitHub returned it.
    pub id: Option<RepoId>,
    /// Whether it is archived or disabled.
    pub archived: bool,
    /// Permissions of the credential, if GitHub returned them.
    pub may: Option<Permissions>,
    /// Missing permissions of the App, in GitHub's words; some of them only some sources need.
    pub missing: Vec<String>,
    /// Merge methods that the repository allows, if GitHub returned them.
    pub methods: Option<Vec<MergeMethod>>,
    /// Whether the base branch exists.
    pub base: Fact<bool>,
    /// What reported checks on recent commits.
    pub checks: Fact<ReportedChecks>,
    /// Whether pull requests may be read.
    pub pulls: Fact<()>,
    /// Its workflows.
    pub workflows: Fact<Workflows>,
    /// What rulesets demand of the base branch.
    pub rules: Fact<RulesetDemands>,
    /// What classic protection demands of it; `None` when it has none.
    pub protection: Fact<Option<Protection>>,
    /// People with write access.
    pub reviewers: Fact<Vec<String>>,
    /// Who opened the pull requests of Jules's that were seen lately.
    pub authors: Vec<String>,
    /// Whether it has a label `jules`.
    pub jules_label: Fact<bool>,
    /// Its webhooks.
    pub hooks: Fact<Vec<Hook>>,
}

impl Repository {
    /// The missing permissions that a source needs.
    pub(super) fn lacks(&self, source: &Source) -> Vec<&str> {
        let missing = self.missing.iter().map(String::as_str);
        missing
            .filter(|permission| is_needed(permission, source))
            .collect()
    }
}

/// Whether a source with these settings needs a permission of the App.
fn is_needed(permission: &str, source: &Source) -> bool {
    let deliveries = &source.deliveries;
    match permission {
        "issues: write" => deliveries.label.is_some() || source.pipeline.is_some(),
        // Results of our own checks show on GitHub.
        "statuses: write" => source.pipeline.is_some(),
        "actions: write" => matches!(deliveries.deploy, Deploy::Workflow { .. }),
        "deployments: read" => matches!(deliveries.deploy, Deploy::Deployment { .. }),
        _every_source => true,
    }
}

/// What a credential may do in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions {
    /// Everything.
    pub admin: bool,
    /// Write, and so merge.
    pub push: bool,
}

/// What reported checks on recent commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportedChecks {
    /// Number of pull request heads that were read; the base's newest commit comes on top.
    pub heads: usize,
    /// Each check with the App that reported it; `None` for a commit status.
    pub seen: Vec<(String, Option<u64>)>,
}

/// The workflows of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Workflows {
    /// The files of the active ones, as paths.
    pub files: Vec<String>,
    /// Whether any of their files contains `merge_group`; `None` when they were not or could not be read.
    pub merge_group: Option<bool>,
}

/// What rulesets demand of a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulesetDemands {
    /// Checks, approvals, queue.
    pub demands: Demands,
    /// The merge methods they allow; `None` when they do not say.
    pub methods: Option<Vec<MergeMethod>>,
    /// Names of rulesets that the credential may bypass.
    pub bypassed: Vec<String>,
}

/// What classic protection demands of a branch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Protection {
    /// Checks and approvals.
    pub demands: Demands,
    /// Whether it holds for administrators too.
    pub admins_too: bool,
}

/// One webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Where it posts to.
    pub url: String,
    /// Whether it is switched on.
    pub active: bool,
    /// Whether it sends JSON.
    pub json: bool,
    /// The events it sends; `*` means all.
    pub events: Vec<String>,
    /// Answers to its newest deliveries, newest first; `None` inside where no answer came.
    pub answers: Fact<Vec<Option<u16>>>,
}
