//! What administrators set: archived, labels, who bypasses rules, how the hook is set up, what the App may do and where.

use serde::{Deserialize, Serialize};

use super::access::{INSTALLATION_ID, Permissions};

/// An administrator's settings of a repository apart from its checks and rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdminSetup {
    /// Read only: every write is refused.
    pub archived: bool,
    /// Labels that exist beside those that are on an issue.
    pub labels: Vec<String>,
    /// Classic protection does not hold for administrators.
    pub admins_bypass: bool,
    /// The caller is on the bypass list of the ruleset.
    pub ruleset_bypass: bool,
    /// Workflows also run on `merge_group`.
    pub on_merge_group: bool,
}

/// The hook's settings apart from its address and its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HookSetup {
    /// Whether the hook posts anything.
    pub active: bool,
    /// Whether forms are posted instead of JSON.
    pub form: bool,
    /// The events that are posted.
    pub events: Vec<String>,
}

impl Default for HookSetup {
    fn default() -> Self {
        Self {
            active: true,
            form: false,
            events: EVENTS.iter().map(|event| (*event).to_owned()).collect(),
        }
    }
}

impl HookSetup {
    /// Whether an event is posted.
    pub(crate) fn tells(&self, event: &str) -> bool {
        self.active && self.events.iter().any(|told| told == event)
    }
}

/// The default events of the hook.
const EVENTS: [&str; 9] = [
    "check_run",
    "check_suite",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "push",
    "status",
    "workflow_run",
];

/// What the App's owner and those who installed it have set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AppSetup {
    /// What its installation may do.
    pub permissions: Permissions,
    /// Whether the installation is suspended.
    pub suspended: bool,
    /// The only repositories it is installed on; none means all.
    pub repos: Option<Vec<String>>,
}

impl AppSetup {
    /// Whether the App is installed on a repository.
    pub(crate) fn is_on(&self, full_name: &str) -> bool {
        self.repos.as_ref().is_none_or(|repos| {
            repos
                .iter()
                .any(|repo| repo.eq_ignore_ascii_case(full_name))
        })
    }
}

/// Where the App is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InstallationSetup {
    /// Its number.
    pub id: u64,
    /// The account on which it is installed; `None` for every account.
    pub owner: Option<String>,
    /// Whether the owner suspended it.
    pub suspended: bool,
}

impl Default for InstallationSetup {
    fn default() -> Self {
        Self {
            id: INSTALLATION_ID,
            owner: None,
            suspended: false,
        }
    }
}

impl InstallationSetup {
    /// Whether it holds the repositories of an account.
    pub(crate) fn holds(&self, owner: &str) -> bool {
        let own = |own: &String| own.eq_ignore_ascii_case(owner);
        self.owner.as_ref().is_none_or(own)
    }
}
