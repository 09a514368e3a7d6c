//! One thing we want done outside, written down before it is done, and its whole life.
//!
//! `Intent → Started → Done | Failed | Unknown`: what was started and never recorded is unknown, never intent again, and only reading the world settles it.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::facts::Base;
use crate::failure::{Failure, FailureClass, Happened};
use crate::ids::{BranchName, CommitSha, EffectId, JobId, PlanId, PullRef, RepoName, SessionId};
use crate::policy::MergeMethod;

/// How long one call may take before the client gives up.
pub const CALL_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);

/// How long a start is held: the call's timeout, and as much again for connecting, queueing and recording.
pub const START_HOLD: SignedDuration = SignedDuration::from_secs(90);

/// How many readings that find nothing allow another attempt: one could be a lagging read.
pub const NEGATIVES_TO_RETRY: u8 = 2;

/// How often an effect is attempted before a person has to look: 8 tries with doubling waits span about twenty minutes.
pub const ATTEMPTS_MAX: u32 = 8;

/// What is to be done, with nothing left to choose for whoever does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub enum Action {
    /// Create the session of a job's attempt.
    CreateSession {
        /// The job.
        job: JobId,
        /// Which attempt.
        attempt: u32,
    },
    /// Send a message to a session.
    Say {
        /// The session.
        session: SessionId,
        /// The words; never empty.
        text: String,
        /// What it is for: the same cause is said once.
        cause: String,
    },
    /// Approve a plan.
    ApprovePlan {
        /// The session.
        session: SessionId,
        /// Which plan.
        plan: PlanId,
    },
    /// Put a session away.
    Archive {
        /// The session.
        session: SessionId,
    },
    /// Merge a pull request at one SHA.
    Merge {
        /// The pull request.
        pull: PullRef,
        /// The judged head; GitHub refuses any other.
        sha: CommitSha,
        /// The judged base, to compare with afterwards.
        base: Base,
        /// How.
        method: MergeMethod,
    },
    /// Mark a draft ready for review.
    MarkReady {
        /// The pull request.
        pull: PullRef,
        /// Its GraphQL id.
        node_id: String,
        /// The head it was seen at.
        sha: CommitSha,
    },
    /// Merge the base branch into the head branch.
    UpdateBranch {
        /// The pull request.
        pull: PullRef,
        /// The head it must still have.
        sha: CommitSha,
    },
    /// Comment on a pull request.
    Comment {
        /// The pull request.
        pull: PullRef,
        /// The words.
        text: String,
        /// What it is for: the same cause is said once.
        cause: String,
    },
    /// Put a label on a pull request.
    Label {
        /// The pull request.
        pull: PullRef,
        /// The label.
        label: String,
    },
    /// Delete a merged head branch, if it still points at the merged head and nothing is based on it.
    DeleteBranch {
        /// The pull request it belonged to.
        pull: PullRef,
        /// The repository of the branch.
        repo: RepoName,
        /// The branch.
        branch: BranchName,
        /// The head that was merged.
        sha: CommitSha,
    },
}

impl fmt::Display for Action {
    /// What it is for, without versions: the text whose hash is the effect's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateSession { job, attempt } => write!(f, "create:{job}#{attempt}"),
            Self::Say { session, cause, .. } => write!(f, "say:{session}:{cause}"),
            Self::ApprovePlan { session, plan } => write!(f, "approve:{session}:{plan}"),
            Self::Archive { session } => write!(f, "archive:{session}"),
            Self::Merge { pull, sha, .. } => write!(f, "merge:{}@{sha}", key(pull)),
            Self::MarkReady { pull, sha, .. } => write!(f, "ready:{}@{sha}", key(pull)),
            Self::UpdateBranch { pull, sha } => write!(f, "update:{}@{sha}", key(pull)),
            Self::Comment { pull, cause, .. } => write!(f, "comment:{}:{cause}", key(pull)),
            Self::Label { pull, label } => write!(f, "label:{}:{label}", key(pull)),
            Self::DeleteBranch {
                repo, branch, sha, ..
            } => write!(f, "unbranch:{}:{branch}@{sha}", repo.key()),
        }
    }
}

fn key(pull: &PullRef) -> String {
    format!("{}#{}", pull.repo.key(), pull.number)
}

impl Action {
    /// How long after an unknown outcome the world shows the truth: Jules's lists lag behind its creates, its activities behind its messages.
    pub fn settle_after(&self) -> SignedDuration {
        match self {
            Self::CreateSession { .. } => SignedDuration::from_secs(180),
            Self::Say { .. } | Self::ApprovePlan { .. } => SignedDuration::from_secs(60),
            Self::Archive { .. }
            | Self::Merge { .. }
            | Self::MarkReady { .. }
            | Self::UpdateBranch { .. }
            | Self::Comment { .. }
            | Self::Label { .. }
            | Self::DeleteBranch { .. } => SignedDuration::from_secs(10),
        }
    }
}

/// An action and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The hash of what it is for.
    pub id: EffectId,
    /// What is to be done.
    pub action: Action,
    /// When it was wished for.
    pub created_at: Timestamp,
    /// How far it is.
    pub state: EffectState,
}

/// How far an effect is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum EffectState {
    /// Wished for, not begun.
    Intent {
        /// The number of the attempt to come, from 1.
        attempt: u32,
        /// Not to be begun earlier.
        not_before: Timestamp,
    },
    /// Somebody is doing it.
    Started {
        /// Which attempt.
        attempt: u32,
        /// Until when they hold it; afterwards the outcome is unknown.
        until: Timestamp,
    },
    /// It may or may not have happened.
    Unknown {
        /// Which attempt.
        attempt: u32,
        /// When the world may be asked next.
        look_at: Timestamp,
        /// How many readings have found nothing.
        negatives: u8,
    },
    /// It happened; final.
    Done {
        /// When that was recorded.
        at: Timestamp,
    },
    /// It certainly did not happen, and nobody will try again by itself.
    Failed {
        /// When that was recorded.
        at: Timestamp,
        /// Which attempt was the last.
        attempt: u32,
        /// Why.
        failure: Failure,
    },
}

/// Why an effect cannot be begun now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotStartable {
    /// Not before this time.
    Early(Timestamp),
    /// Somebody holds it until then.
    Held(Timestamp),
    /// Only reading the world can tell, from then on.
    Unsettled(Timestamp),
    /// It is over.
    Settled,
}

/// What reading the world found about an unknown effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// It happened.
    Happened,
    /// No trace of it.
    NoTrace,
    /// The world could not be read.
    CannotTell,
}

impl Effect {
    /// A new wish.
    pub fn new(action: Action, now: Timestamp) -> Self {
        let id = EffectId::of(&action.to_string());
        let state = EffectState::Intent {
            attempt: 1,
            not_before: now,
        };
        Self {
            id,
            action,
            created_at: now,
            state,
        }
    }

    /// Whether it is over.
    pub fn is_settled(&self) -> bool {
        match self.state {
            EffectState::Done { .. } | EffectState::Failed { .. } => true,
            EffectState::Intent { .. }
            | EffectState::Started { .. }
            | EffectState::Unknown { .. } => false,
        }
    }

    /// When it must be looked at again; none once it is over.
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            EffectState::Intent { not_before, .. } => Some(not_before),
            EffectState::Started { until, .. } => Some(until),
            EffectState::Unknown { look_at, .. } => Some(look_at),
            EffectState::Done { .. } | EffectState::Failed { .. } => None,
        }
    }

    /// The effect begun at `now`, to be saved under a version check before the call is made.
    pub fn start(&self, now: Timestamp) -> Result<Self, NotStartable> {
        match self.state {
            EffectState::Intent { not_before, .. } if now < not_before => {
                Err(NotStartable::Early(not_before))
            }
            EffectState::Intent { attempt, .. } => Ok(self.with(EffectState::Started {
                attempt,
                until: now + START_HOLD,
            })),
            EffectState::Started { until, .. } => Err(NotStartable::Held(until)),
            EffectState::Unknown { look_at, .. } => Err(NotStartable::Unsettled(look_at)),
            EffectState::Done { .. } | EffectState::Failed { .. } => Err(NotStartable::Settled),
        }
    }

    /// An expired start is unknown: whoever began it may have done it before they died.
    pub fn expire(&self, now: Timestamp) -> Self {
        match self.state {
            EffectState::Started { attempt, until } if until <= now => self.unknown(attempt, now),
            EffectState::Started { .. }
            | EffectState::Intent { .. }
            | EffectState::Unknown { .. }
            | EffectState::Done { .. }
            | EffectState::Failed { .. } => self.clone(),
        }
    }

    /// The effect after its call succeeded.
    pub fn done(&self, now: Timestamp) -> Self {
        self.with(EffectState::Done { at: now })
    }

    /// The effect after its call failed: unknown if it may have happened, another intent if it is worth another try, else failed.
    pub fn failed(&self, failure: &Failure, now: Timestamp) -> Self {
        let attempt = self.attempt();
        match failure.happened {
            Happened::Maybe => self.unknown(attempt, now),
            Happened::No if self.worth_retrying(failure) && attempt < ATTEMPTS_MAX => {
                let wait = failure.retry_after.unwrap_or_else(|| backoff(attempt));
                self.with(EffectState::Intent {
                    attempt: attempt + 1,
                    not_before: now + wait,
                })
            }
            Happened::No => self.with(EffectState::Failed {
                at: now,
                attempt,
                failure: failure.clone(),
            }),
        }
    }

    /// The effect after the world was read.
    pub fn settled(&self, finding: Finding, now: Timestamp) -> Self {
        let EffectState::Unknown {
            attempt, negatives, ..
        } = self.state
        else {
            return self.clone();
        };
        let look_at = now + self.action.settle_after();
        match finding {
            Finding::Happened => self.done(now),
            Finding::CannotTell => self.with(EffectState::Unknown {
                attempt,
                look_at,
                negatives,
            }),
            Finding::NoTrace if negatives + 1 < NEGATIVES_TO_RETRY => {
                self.with(EffectState::Unknown {
                    attempt,
                    look_at,
                    negatives: negatives + 1,
                })
            }
            Finding::NoTrace if attempt < ATTEMPTS_MAX => self.with(EffectState::Intent {
                attempt: attempt + 1,
                not_before: now,
            }),
            Finding::NoTrace => {
                let message = format!(
                    "tried `{}` {attempt} times without a trace of it",
                    self.action
                );
                let failure = Failure::new(FailureClass::Conflict, message);
                self.with(EffectState::Failed {
                    at: now,
                    attempt,
                    failure,
                })
            }
        }
    }

    /// The number of the current or last attempt.
    pub fn attempt(&self) -> u32 {
        match self.state {
            EffectState::Intent { attempt, .. }
            | EffectState::Started { attempt, .. }
            | EffectState::Unknown { attempt, .. }
            | EffectState::Failed { attempt, .. } => attempt,
            EffectState::Done { .. } => 1,
        }
    }

    fn unknown(&self, attempt: u32, now: Timestamp) -> Self {
        let look_at = now + self.action.settle_after();
        self.with(EffectState::Unknown {
            attempt,
            look_at,
            negatives: 0,
        })
    }

    /// Whether the same call can succeed later although nothing changes on our side.
    fn worth_retrying(&self, failure: &Failure) -> bool {
        match failure.class {
            FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Garbled
            | FailureClass::Unauthorized => true,
            // A fresh session answers 404 for a while, and `:sendMessage` does as long as it is queued.
            FailureClass::NotFound => {
                matches!(self.action, Action::Say { .. } | Action::ApprovePlan { .. })
            }
            // Creates that must wait are decided by the job, which knows its account's budget.
            FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid
            | FailureClass::Forbidden => false,
        }
    }

    fn with(&self, state: EffectState) -> Self {
        Self {
            id: self.id.clone(),
            action: self.action.clone(),
            created_at: self.created_at,
            state,
        }
    }
}

/// Doubling waits from 5 s, at most 10 min.
pub fn backoff(attempt: u32) -> SignedDuration {
    let doublings = attempt.saturating_sub(1).min(7);
    SignedDuration::from_secs(5 << doublings).min(SignedDuration::from_mins(10))
}
