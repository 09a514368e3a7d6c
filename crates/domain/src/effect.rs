//! An effect: one action outside, saved before it starts, and its life cycle.
//!
//! `Intent → Started → Done | Failed | Unknown`: an effect that started without a saved outcome is unknown, never intent again.
//! Only a read of the world settles it.

mod action;
mod attempts;
mod jules;
mod pull;
mod repo;
mod restore_gap;
#[cfg(test)]
mod tests;
mod tracker;
mod uncertain;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use action::Action;
pub use jules::JulesAction;
pub use pull::PullAction;
pub use repo::RepoAction;
pub use restore_gap::RestoreGap;
pub use tracker::TrackerAction;

use crate::failure::{CallEffect, Failure, FailureClass};
use crate::ids::EffectId;
use crate::when::plus;

/// How long one call may take before the client gives up.
pub const CALL_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);

/// How long a start is held: the call's timeout, and as much again for connecting, queueing and recording.
pub const START_HOLD: SignedDuration = SignedDuration::from_secs(90);

/// How many readings that find nothing allow another attempt: one could be a lagging read.
pub const NEGATIVES_TO_RETRY: u8 = 2;

/// How often an effect is attempted before a person has to look: 10 attempts with doubling waits span half an hour.
pub const ATTEMPTS_MAX: u32 = 10;

/// Attempt limit while a queued session answers 404: 16 attempts span an hour and a half, and an hour in the queue is announced as stuck.
pub const ATTEMPTS_WHILE_INVISIBLE_MAX: u32 = 16;

/// An action and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The hash of its purpose.
    pub id: EffectId,
    /// What is to be done.
    pub action: Action,
    /// When it was decided.
    pub created_at: Timestamp,
    /// How far it is.
    pub state: EffectState,
}

/// How far an effect is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum EffectState {
    /// Decided, not started.
    Intent {
        /// The number of the attempt to come, from 1.
        attempt: u32,
        /// Not to be begun earlier.
        not_before: Timestamp,
    },
    /// A dispatcher performs it.
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
    /// It certainly did not happen, and no retry follows by itself.
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
    /// A dispatcher holds the lease until then.
    Held(Timestamp),
    /// From then on only a read of the world can settle it.
    Unsettled(Timestamp),
    /// It is over.
    Settled,
}

/// What reading the world found about an unknown effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectFinding {
    /// It happened.
    Happened,
    /// No trace of it.
    NoTrace,
    /// The world could not be read.
    CannotTell,
}

impl Effect {
    /// A new intent.
    pub fn new(action: Action, now: Timestamp) -> Self {
        let id = if cfg!(without_guard = "stable_ids") {
            EffectId::from_name(&format!("{action}@{now}"))
        } else {
            EffectId::from_name(&action.to_string())
        };
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

    /// The same effect; its first attempt waits until the blocking condition is gone.
    #[must_use]
    pub fn with_initial_delay(self) -> Self {
        let wait = self.action.initial_delay();
        match self.state {
            EffectState::Intent {
                not_before,
                attempt,
            } => self.with(EffectState::Intent {
                attempt,
                not_before: plus(not_before, wait),
            }),
            EffectState::Started { .. }
            | EffectState::Done { .. }
            | EffectState::Failed { .. }
            | EffectState::Unknown { .. } => self,
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

    /// When it is due next; `None` once it is over.
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
                until: plus(now, START_HOLD),
            })),
            EffectState::Started { until, .. } => Err(NotStartable::Held(until)),
            EffectState::Unknown { look_at, .. } => Err(NotStartable::Unsettled(look_at)),
            EffectState::Done { .. } | EffectState::Failed { .. } => Err(NotStartable::Settled),
        }
    }

    /// Turns an expired start into unknown: the process may have performed it before it died.
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
        match self.state {
            EffectState::Done { .. } => self.clone(),
            EffectState::Intent { .. }
            | EffectState::Started { .. }
            | EffectState::Unknown { .. }
            | EffectState::Failed { .. } => self.with(EffectState::Done { at: now }),
        }
    }

    /// The effect after its call failed: unknown if it may have happened, another intent if it is worth another attempt, else failed.
    pub fn failed(&self, failure: &Failure, now: Timestamp) -> Self {
        if self.is_settled() {
            return self.clone();
        }
        let attempt = self.attempt();
        match failure.happened {
            CallEffect::Maybe => self.unknown(attempt, now),
            CallEffect::No if self.waits_for_its_turn(failure) => {
                let wait = failure.asked_wait().unwrap_or_else(|| backoff(attempt));
                self.with(EffectState::Intent {
                    attempt,
                    not_before: plus(now, wait),
                })
            }
            CallEffect::No if attempt < self.attempts_max(failure) => {
                let wait = failure.asked_wait().unwrap_or_else(|| backoff(attempt));
                self.with(EffectState::Intent {
                    attempt: attempt.saturating_add(1),
                    not_before: plus(now, wait),
                })
            }
            CallEffect::No => self.with(EffectState::Failed {
                at: now,
                attempt,
                failure: failure.clone(),
            }),
        }
    }

    /// The effect after the world was read.
    pub fn settled(&self, finding: EffectFinding, now: Timestamp) -> Self {
        let EffectState::Unknown {
            attempt, negatives, ..
        } = self.state
        else {
            return self.clone();
        };
        let look_at = plus(now, self.action.settle_after());
        let nothing = negatives.saturating_add(1);
        let unknown = |negatives| EffectState::Unknown {
            attempt,
            look_at,
            negatives,
        };
        match finding {
            EffectFinding::Happened => self.done(now),
            EffectFinding::CannotTell => self.with(unknown(negatives)),
            EffectFinding::NoTrace if nothing < NEGATIVES_TO_RETRY => self.with(unknown(nothing)),
            EffectFinding::NoTrace if attempt < ATTEMPTS_MAX => self.with(EffectState::Intent {
                attempt: attempt.saturating_add(1),
                not_before: now,
            }),
            EffectFinding::NoTrace => self.traceless(attempt, now),
        }
    }

    /// A write to GitHub that its budget does not allow yet was not attempted: GitHub itself says when it may be.
    fn waits_for_its_turn(&self, failure: &Failure) -> bool {
        failure.class == FailureClass::Throttled
            && failure.retry_after.is_some()
            && self.action.is_on_github()
    }

    /// Until when it waits for its turn, where its last attempt failed of nothing else: its aggregate begins it anew then.
    pub fn postponed_to(&self) -> Option<Timestamp> {
        let EffectState::Failed { at, failure, .. } = &self.state else {
            return None;
        };
        let wait = failure.asked_wait()?;
        self.waits_for_its_turn(failure).then(|| plus(*at, wait))
    }

    fn traceless(&self, attempt: u32, now: Timestamp) -> Self {
        let message = format!(
            "tried `{}` {attempt} times without a trace of it",
            self.action
        );
        // No call was answered, so it may pass.
        let failure = Failure::new(FailureClass::Unavailable, message).never_sent();
        self.with(EffectState::Failed {
            at: now,
            attempt,
            failure,
        })
    }

    /// The effect after a new decision asked for it again: a failed one gets its next attempt, any other stays unchanged.
    ///
    /// Aggregates limit creates and merges (`job::REFUSALS_MAX`, `merge::MAX_ATTEMPTS`); the attempt limit here covers everything else but
    /// a message or an approval that Jules may take at another time: each request begins one more attempt at it, after the longest wait.
    pub fn requested_again(&self, now: Timestamp) -> Self {
        let EffectState::Failed {
            at,
            attempt,
            failure,
        } = &self.state
        else {
            return self.clone();
        };
        let next = |not_before| {
            self.with(EffectState::Intent {
                attempt: attempt.saturating_add(1),
                not_before,
            })
        };
        if self.action.is_retried_by_decision() {
            next(now)
        } else if *attempt < ATTEMPTS_MAX || self.outlasts(failure) {
            next(plus(*at, backoff(*attempt)).max(now))
        } else {
            self.clone()
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
        if cfg!(without_guard = "unknown_settling") {
            return self.with(EffectState::Intent {
                attempt: attempt.saturating_add(1),
                not_before: now,
            });
        }
        let look_at = plus(now, self.action.settle_after());
        self.with(EffectState::Unknown {
            attempt,
            look_at,
            negatives: 0,
        })
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
    exponential_backoff(attempt, SignedDuration::from_mins(10))
}

/// Doubling waits from 5 s up to a longest.
pub(crate) fn exponential_backoff(attempt: u32, longest: SignedDuration) -> SignedDuration {
    let doublings = attempt.saturating_sub(1).min(20);
    SignedDuration::from_secs(5 << doublings).min(longest)
}
