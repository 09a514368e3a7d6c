//! Facts that the doctor collected on this machine, at Jules and among the agents. It keeps only the shape of
//! secrets.

use jiff::{SignedDuration, Timestamp};

use super::credential_kind::CredentialKind;
use super::repository::RepositoryFacts;
use crate::facts::Fact;
use crate::failure::Failure;
use crate::governor::Limits;
use crate::ids::{AccountName, AgentName, BranchName, InstallationId, RepoId, RepoName};
use crate::policy::Source;
use crate::wake::Notify;

/// All collected facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// This machine.
    pub machine: MachineFacts,
    /// Contents of the store and what they refer to; `None` when the store is unreadable.
    pub installation: Option<InstallationFacts>,
}

/// This machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineFacts {
    /// The data folder, as a shell takes it.
    pub folder: String,
    /// The database.
    pub data: DataFacts,
    /// The mode bits of the folder, if it exists.
    pub mode: Option<u32>,
    /// Bytes that may still be written there.
    pub disk_free: Option<u64>,
    /// Whether a process works over the folder.
    pub is_worked_over: bool,
    /// The bearer token of Gaffer's own HTTP API.
    pub api_token: SecretStatus,
}

/// What the data folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataFacts {
    /// No folder, or no database in it.
    Missing,
    /// A folder that may not be read or written.
    FolderUnreadable {
        /// What the system said.
        why: String,
    },
    /// A database that cannot be opened.
    StoreUnreadable {
        /// The reported reason.
        why: String,
    },
    /// A database, or a record in it, of a newer Gaffer.
    StoreNewer {
        /// The reported reason.
        why: String,
    },
    /// A database of an older Gaffer, which is only read.
    StoreOlder {
        /// The reported reason.
        why: String,
    },
    /// A backup in the place of the database.
    StoreIsBackup {
        /// The reported reason.
        why: String,
    },
    /// A database that can be read.
    Readable,
}

/// Whether a secret is kept, and of which shape it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretStatus {
    /// There is none.
    Missing,
    /// It exists but cannot be used.
    Unusable {
        /// The problem and its fix.
        why: String,
    },
    /// It exists.
    Here(CredentialKind),
}

impl SecretStatus {
    /// Its shape, if it exists.
    pub fn kind(&self) -> Option<CredentialKind> {
        match self {
            Self::Here(shape) => Some(*shape),
            Self::Missing | Self::Unusable { .. } => None,
        }
    }
}

/// Contents of the store and what they refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstallationFacts {
    /// When the looking began.
    pub now: Timestamp,
    /// How far services' clocks are ahead of ours.
    pub clocks: Vec<Skew>,
    /// The newest time of a stored finished action; `None` before the first.
    pub newest: Option<Timestamp>,
    /// Since when everything is paused.
    pub paused_since: Option<Timestamp>,
    /// Whether the process over the data folder only observes.
    pub observe_only: bool,
    /// Messages that were set aside.
    pub dead_letters: u64,
    /// What GitHub signs webhooks with.
    pub webhook_secret: SecretStatus,
    /// Where webhooks should go, if a person said so.
    pub webhook_url: Option<String>,
    /// The credential for GitHub.
    pub github: CredentialFacts,
    /// Accounts, by name.
    pub accounts: Vec<AccountFacts>,
    /// Agents, by name.
    pub agents: Vec<AgentFacts>,
    /// Sources, by name.
    pub sources: Vec<SourceFacts>,
}

/// How far a service's clock is ahead of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skew {
    /// Which service.
    pub service: &'static str,
    /// By how much; negative when it is behind.
    pub ahead: SignedDuration,
}

/// One Jules account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountFacts {
    /// Its name.
    pub name: AccountName,
    /// What its plan is said to allow.
    pub limits: Limits,
    /// The lower limit that refusals have taught, while it holds.
    pub learned: Option<u32>,
    /// Its key.
    pub key: SecretStatus,
    /// The repositories that are connected to it, or why they could not be listed; `None` when Jules was not asked.
    pub connected: Option<Result<Vec<RepoName>, Failure>>,
    /// Other installations whose marker is in the titles of the newest sessions, with the number of sessions.
    pub others: Fact<Vec<(InstallationId, u64)>>,
}

/// The credential for GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialFacts {
    /// Whether it is kept.
    pub kept: SecretStatus,
    /// The App's id, when an App signs in.
    pub app_id: Option<u64>,
    /// The identity that GitHub reports; `None` when GitHub was not asked.
    pub identity: Option<CredentialIdentity>,
    /// The App's own webhook, if it has one.
    pub hook: Fact<Option<super::repository::Hook>>,
}

/// Who GitHub says that a credential is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialIdentity {
    /// A person's token.
    Person {
        /// Whose.
        login: String,
        /// The scopes of a classic token; `None` for a fine-grained one.
        scopes: Option<Vec<String>>,
    },
    /// An App.
    App {
        /// Its name in addresses.
        slug: String,
    },
    /// A token of an installation, which the token of a workflow run is too.
    Installation,
    /// GitHub does not accept it.
    Refused {
        /// Its message.
        why: String,
    },
    /// No answer came.
    Unreachable {
        /// The error.
        why: String,
    },
    /// Another answer.
    Trouble {
        /// Its message.
        why: String,
    },
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFacts {
    /// Its name.
    pub name: AgentName,
    /// Host and port of its address; `None` when its wakes wait in its inbox.
    pub host: Option<String>,
    /// How a person gets notices; `None` for an agent.
    pub notify: Option<Notify>,
    /// Why it takes no more wakes.
    pub disabled: Option<String>,
    /// What its wakes are signed with.
    pub secret: SecretStatus,
    /// Whether a connection came about; `None` when none was tried.
    pub reach: Option<Reachability>,
    /// Number of wakes that were given up.
    pub dead_wakes: u64,
}

/// Whether a connection to an agent comes about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reachability {
    /// It does.
    Open,
    /// The address filter refuses it.
    Refused {
        /// Why.
        why: String,
    },
    /// It does not.
    Unreachable {
        /// The error.
        why: String,
    },
}

/// One source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFacts {
    /// Its settings.
    pub source: Source,
    /// Whether its account exists.
    pub account_known: bool,
    /// Whether its agent, if it names one, exists.
    pub agent_known: bool,
    /// The branches that Jules sees there; `None` when it was not asked or does not return them.
    pub jules_branches: Fact<Option<Vec<BranchName>>>,
    /// The number under which the repository was registered; none before it was ever read.
    pub number: Option<RepoId>,
    /// Facts from GitHub; `None` when it was not asked.
    pub repository: Option<RepositoryFacts>,
    /// Why its issues could not be read at their last reading.
    pub unread: Option<String>,
    /// Why no run of its pipeline begins by itself: its schedule could not be read.
    pub schedule_unread: Option<String>,
}
