//! Records that people write: agents, switches, this installation.

use std::collections::BTreeMap;

use domain::failure::FailureClass;
use domain::github_access::{GitHubBudget, GitHubUsage};
use domain::ids::{AgentName, EffectId, InstallationId};
use domain::pull::Pull;
use domain::wake::{Channel, Notify, Resume};
use domain::why::AsRead;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::work::Work;

/// Who gets woken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its name; its signing secrets are the secret `agents/<name>`.
    pub name: AgentName,
    /// Where its wakes go; without one they wait in its inbox.
    pub url: Option<Url>,
    /// Which ways its wakes go, one after the other; without any, to its address if it has one, else to its inbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Channel>,
    /// Since when it takes no more wakes, and why.
    pub disabled: Option<Disabled>,
    /// The value that it wants to find in each of its wakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// Set for a person, who gets a notice of every event that waits for a person. The address it goes to is the secret `agents/<name>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<Notify>,
}

impl Agent {
    /// An agent whose wakes wait in its inbox.
    pub fn new(name: AgentName) -> Self {
        Self {
            name,
            url: None,
            channels: Vec::new(),
            disabled: None,
            resume: None,
            notify: None,
        }
    }

    /// Which ways a new wake of its goes: never none, and to its address only if it has one that takes wakes, or nothing else.
    pub fn ways(&self) -> Vec<Channel> {
        let chosen = match &self.channels[..] {
            [] => &[Channel::Http],
            chosen => chosen,
        };
        let open = |way: &&Channel| match way {
            Channel::Http => {
                (self.url.is_some() || self.notify.is_some()) && self.disabled.is_none()
            }
            Channel::Inbox => true,
        };
        let ways: Vec<Channel> = chosen.iter().filter(open).copied().collect();
        match (ways.is_empty(), &self.url) {
            (false, _) => ways,
            (true, Some(_)) => vec![Channel::Http],
            (true, None) if self.notify.is_some() => vec![Channel::Http],
            (true, None) => vec![Channel::Inbox],
        }
    }

    /// Whether it can be woken at all: an agent that refuses messages may still have an inbox. A person with a notice
    /// address decides at leisure, so the agent has no turn meanwhile.
    pub fn takes_wakes(&self) -> bool {
        if self.notify.is_some() {
            return false;
        }
        self.disabled.is_none() || self.ways().contains(&Channel::Inbox)
    }
}

/// Why an agent takes no more wakes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disabled {
    /// Since when.
    pub at: Timestamp,
    /// Why.
    pub why: String,
}

/// Switches over everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    /// While set, nothing is written to Jules or GitHub.
    pub paused_since: Option<Timestamp>,
    /// Whether the process over this data folder only observes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub observe_only: bool,
}

/// Addresses of Jules and GitHub, and our identity on GitHub; the command line and the environment take precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstreams {
    /// Base of the Jules API; Google's own without one.
    pub jules_base: Option<String>,
    /// Base of GitHub's API; github.com's without one.
    pub github_base: Option<String>,
    /// The GitHub App whose private key the secret `github` is; `None` when that secret is a token.
    pub github_app_id: Option<u64>,
}

/// Progress of the creation of a GitHub App, so that an interrupted run continues. It never contains secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "stage")]
pub enum AppSetup {
    /// GitHub was, or is being, asked.
    Asked {
        /// The value that GitHub returns with the code, so that a foreign code is refused.
        state: String,
        /// The port of the page that it goes back to.
        port: u16,
    },
    /// The App exists and is not used yet; its key may not have reached the secrets, where it is `apps/ID`.
    Made(MadeApp),
    /// The key is stored and in use.
    Stored(MadeApp),
}

/// A GitHub App that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeApp {
    /// Its id.
    pub id: u64,
    /// Its name in addresses; empty when only its id is known.
    pub slug: String,
    /// Its page; empty when only its id is known.
    pub page: String,
}

impl MadeApp {
    /// The page that installs it, if it is known.
    pub fn install_page(&self) -> Option<String> {
        (!self.page.is_empty()).then(|| format!("{}/installations/new", self.page))
    }
}

/// This installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// Its id, drawn once.
    pub id: InstallationId,
    /// When.
    pub since: Timestamp,
}

/// A pull request and when it was last read whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackedPull {
    /// The pull request's state.
    pub pull: Pull,
    /// When the reading it rests on began.
    pub read_at: Option<Timestamp>,
    /// Why it could not be read since; none once it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadPull>,
}

impl TrackedPull {
    /// Its age where it is judged and not over; nothing else that is shown of one changes on GitHub.
    pub fn as_read(&self, now: Timestamp) -> Option<AsRead> {
        let pull = &self.pull;
        let at = self
            .read_at
            .filter(|_| pull.verdict.is_some() && !pull.is_settled())?;
        Some(AsRead::new(at, now))
    }
}

/// Why a pull request could not be read, or not judged by what was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadPull {
    /// The kind of failure.
    pub class: FailureClass,
    /// What was answered last, by GitHub or Jules, or why neither was asked.
    pub why: String,
    /// When it is read again.
    pub again_at: Timestamp,
}

/// A message that is stored until it is sent, and why: in the outbox of a pull request that was never read stands when it is read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxRow {
    /// The message.
    #[serde(flatten)]
    pub work: Work,
    /// Why the pull request that it is about could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadPull>,
}

/// Merges of a source in the last 24 hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merges {
    /// When each was decided, by the id of its effect: a repeated decision counts once, and one that certainly did
    /// not happen does not count.
    pub at: BTreeMap<EffectId, Timestamp>,
    /// The same of merges into the exchange of a pipeline, which have a limit of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exchange: BTreeMap<EffectId, Timestamp>,
}

/// The last known budgets of GitHub.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budgets {
    /// When; none before GitHub first answered.
    pub at: Option<Timestamp>,
    /// The budgets.
    pub budgets: Vec<GitHubBudget>,
    /// What the process that recorded them had asked until then.
    pub usage: GitHubUsage,
}

/// The last read artifacts of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadArtifacts {
    /// When the reading began.
    pub read_at: Timestamp,
    /// Web addresses of its pull requests.
    pub pull_urls: Vec<String>,
    /// The newest whole patch, as a unified diff: the first piece, which fits a record.
    pub patch: Option<String>,
    /// Whether less than the whole patch is kept in all pieces.
    pub patch_cut: bool,
    /// How long all pieces are, in bytes.
    pub patch_bytes: u64,
    /// How many further pieces are kept.
    pub further: u32,
    /// The commit the patch applies to.
    pub base_commit: Option<String>,
    /// The commit message that Jules suggests.
    pub suggested_message: Option<String>,
    /// Why it could not be read, if so.
    pub failure: Option<String>,
}

/// A further piece of a patch that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchPage {
    /// When the reading began that it belongs to.
    pub read_at: Timestamp,
    /// The piece.
    pub patch: String,
}
