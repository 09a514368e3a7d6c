//! A job: one piece of work given to Jules, tracked until it ends, and what is known of its current session.

mod attention;
mod command;
mod observe;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use command::{
    ATTEMPTS_MAX, MESSAGE_BYTES_MAX, NewJob, NotNow, PROMPT_BYTES_MAX, REFUSALS_MAX, adopt,
    approve, cancel, create, created, creation_failed, pull_settled, retry, said, say, start,
    unwanted_twin,
};
pub use observe::deadline;
pub(crate) use observe::stuck_deadline;
pub use observe::{ACTIVITY_OVERLAP, Sight, Snapshot, observe};

use crate::ids::{
    AccountName, ActivityId, AgentName, BranchName, CommitSha, EventId, InstallationId, JobId,
    PullRef, RepoName, SessionId,
};
use crate::marker::Marker;
use crate::session::{Plan, SessionState};

/// One piece of work, kept under one id over all its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Ours.
    pub id: JobId,
    /// Whose it is.
    pub installation: InstallationId,
    /// The Jules account that works on it.
    pub account: AccountName,
    /// The repository.
    pub repo: RepoName,
    /// The branch it starts from and its pull request goes to.
    pub branch: BranchName,
    /// A short name for people.
    pub title: String,
    /// The task.
    pub prompt: String,
    /// Who is woken; without one, the source's agent, then a person.
    pub agent: Option<AgentName>,
    /// How it came to us.
    pub origin: Origin,
    /// When it came to us.
    pub created_at: Timestamp,
    /// The number of the current session, from 1.
    pub attempt: u32,
    /// Sessions of earlier attempts: they read fine and take no orders.
    pub earlier: Vec<SessionId>,
    /// Where it stands.
    pub phase: Phase,
}

/// How a job came to us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// This installation created its session.
    Created,
    /// A person handed over a session that existed.
    Adopted,
}

/// Where a job stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum Phase {
    /// Waits for a slot.
    Queued {
        /// Since when.
        since: Timestamp,
        /// Not to be tried earlier.
        not_before: Timestamp,
        /// How often Jules has said "later".
        refusals: u32,
    },
    /// Its session is being created.
    Creating {
        /// Since when.
        since: Timestamp,
        /// How often Jules has said "later".
        refusals: u32,
    },
    /// Its session exists and is watched.
    Watching(Box<Watch>),
    /// It is over.
    Ended(Ending),
}

/// How and when a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// When.
    pub at: Timestamp,
    /// Its last session, if it ever had one.
    pub session: Option<SessionId>,
    /// Its pull request, if there was one.
    pub pull: Option<PullRef>,
    /// How.
    pub how: How,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ended")]
pub enum How {
    /// Its pull request was merged.
    Merged {
        /// The head that was merged.
        sha: CommitSha,
    },
    /// Its pull request was closed without a merge.
    PullClosed,
    /// Its session finished without a pull request and nobody came back to it.
    Completed,
    /// Its session failed.
    Failed {
        /// Why, in Jules's words.
        reason: String,
    },
    /// Its session is gone.
    Lost,
    /// Jules would not create its session.
    Refused {
        /// What Jules said.
        reason: String,
    },
    /// Somebody called it off.
    Cancelled {
        /// Who.
        by: String,
    },
}

/// What is known of a watched session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The session.
    pub session: SessionId,
    /// Its web page.
    pub url: Option<String>,
    /// When we got it.
    pub since: Timestamp,
    /// When it began to answer 404; none while it answers.
    pub missing_since: Option<Timestamp>,
    /// The state we last saw.
    pub state: SessionState,
    /// When we saw it enter that state.
    pub state_since: Timestamp,
    /// The last status change or new activity.
    pub progress_at: Timestamp,
    /// What its log has told so far.
    pub talk: Talk,
    /// What of it waits for somebody.
    pub attention: Attention,
    /// The occurrence last announced of each kind, so that flapping announces nothing twice.
    pub announced: Announced,
    /// Its pull request; once known, never forgotten because an answer lacks it.
    pub pull: Option<PullRef>,
    /// When we last sent it a message that its log has not shown yet.
    pub unconfirmed_since: Option<Timestamp>,
}

/// What a session's log has told so far. The log itself stays with Jules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    /// Time of the newest activity.
    pub through: Option<Timestamp>,
    /// Ids within the overlap before `through`, to recognise repetitions.
    pub recent: Vec<ActivityId>,
    /// The newest thing Jules said.
    pub agent: Option<Said>,
    /// When a person, or we, last said something.
    pub user_at: Option<Timestamp>,
    /// The newest plan that has not been approved.
    pub plan: Option<PendingPlan>,
    /// The newest word of completion.
    pub completed: Option<Mark>,
    /// The newest reason of failure.
    pub failed: Option<String>,
    /// The newest thing that was said or done, for people, at most 300 characters.
    pub last_words: Option<String>,
}

/// A message of Jules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Which activity.
    pub id: ActivityId,
    /// When.
    pub at: Timestamp,
    /// The words, at most 8,000 characters.
    pub text: String,
}

/// A plan that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPlan {
    /// When it was made.
    pub at: Timestamp,
    /// The plan, at most 50 steps.
    pub plan: Plan,
}

/// One activity by id and time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Which activity.
    pub id: ActivityId,
    /// When.
    pub at: Timestamp,
}

/// What of a session waits for somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "attention")]
pub enum Attention {
    /// Nothing.
    None,
    /// Something does, but the words that belong to it are still missing.
    Expecting {
        /// Since when.
        since: Timestamp,
    },
    /// A question is open.
    Question {
        /// The announced occurrence.
        event: EventId,
        /// Since when.
        since: Timestamp,
        /// The words, once they are known.
        text: Option<String>,
    },
    /// A plan waits for approval.
    Plan {
        /// The announced occurrence; for plans approved by policy, the one that would have been.
        event: EventId,
        /// Since when.
        since: Timestamp,
        /// The plan, once it is known.
        plan: Option<Plan>,
    },
    /// A question was answered, or a plan approved, and the state does not show it yet.
    Answered {
        /// Since when.
        since: Timestamp,
    },
}

/// The occurrences last announced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Key of the last question.
    pub question: Option<String>,
    /// Key of the last plan.
    pub plan: Option<String>,
    /// The last completion: when we saw it.
    pub completed_at: Option<Timestamp>,
    /// The word of completion it was about.
    pub completed: Option<Mark>,
    /// When `stuck` was last announced.
    pub stuck_at: Option<Timestamp>,
}

impl Job {
    /// The current session, watched or last.
    pub fn session(&self) -> Option<&SessionId> {
        match &self.phase {
            Phase::Queued { .. } | Phase::Creating { .. } => None,
            Phase::Watching(watch) => Some(&watch.session),
            Phase::Ended(ending) => ending.session.as_ref(),
        }
    }

    /// Its pull request, if one is known.
    pub fn pull(&self) -> Option<&PullRef> {
        match &self.phase {
            Phase::Queued { .. } | Phase::Creating { .. } => None,
            Phase::Watching(watch) => watch.pull.as_ref(),
            Phase::Ended(ending) => ending.pull.as_ref(),
        }
    }

    /// Whether it is over.
    pub fn is_ended(&self) -> bool {
        match &self.phase {
            Phase::Ended(_) => true,
            Phase::Queued { .. } | Phase::Creating { .. } | Phase::Watching(_) => false,
        }
    }

    /// Whether it holds one of the account's slots: a resting session does not, as far as anybody knows.
    pub fn holds_slot(&self) -> bool {
        match &self.phase {
            Phase::Creating { .. } => true,
            Phase::Watching(watch) => watch.state != SessionState::Completed,
            Phase::Queued { .. } | Phase::Ended(_) => false,
        }
    }

    /// The marker of its current attempt.
    pub fn marker(&self) -> Marker {
        Marker {
            installation: self.installation.clone(),
            job: self.id.clone(),
            attempt: self.attempt,
        }
    }
}
