//! A wake: one event on its way to one agent, until it is acknowledged or a person has to see it.

mod channel;
mod inbox;
mod message;
mod notice;
mod resume;
mod schedule;
#[cfg(test)]
mod tests;

pub use channel::Channel;
pub use inbox::{INBOX_HOLD, LeaseLost, ReturnMode};
pub use message::{ActionableEvent, Links, MESSAGE_BYTES_MAX, message};
pub(crate) use message::{fitting_plan, shows_whole};
pub use notice::{Notice, Notify};
pub use resume::{InvalidResume, Resume};
use schedule::unanswered;
pub use schedule::{RETRY_AFTER_MAX, SCHEDULE};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{Event, News, Occurrence};
use crate::ids::AgentName;
use crate::redact::presentable;
use crate::when::plus;

/// Lease of one attempt: the sender's timeout with room to record the answer.
pub const ATTEMPT_HOLD: SignedDuration = SignedDuration::from_secs(60);

/// How long an agent that answered 202 has to acknowledge.
pub const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// How long a wake rests whose agent takes none, until a person lets it again.
const REFUSED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// Longest reason for giving up a wake, in characters.
const WHY_CHARS_MAX: usize = 300;

/// One event on its way to one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {
    /// The event, whose id is the message's id over all attempts.
    pub event: Event,
    /// The receiver.
    pub agent: AgentName,
    /// The repository, for the message.
    pub repo: Option<String>,
    /// What its job wants to be found by, instead of the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
    /// Which way it goes now.
    #[serde(default, skip_serializing_if = "Channel::is_http")]
    pub channel: Channel,
    /// Which ways it goes after that, when it does not get through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<Channel>,
    /// Whether its question was answered while its agent had it: it is not handed out again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// How far it is.
    pub state: WakeState,
}

/// How far a wake is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum WakeState {
    /// Waits for its next attempt.
    Pending {
        /// The number of the next attempt, from 1.
        attempt: u32,
        /// Not earlier.
        not_before: Timestamp,
    },
    /// Being sent.
    Sending {
        /// The attempt's number.
        attempt: u32,
        /// Until when it is held; afterwards it is tried again under the same id.
        until: Timestamp,
    },
    /// Received; the acknowledgement is awaited.
    Leased {
        /// The attempt's number.
        attempt: u32,
        /// Until when.
        until: Timestamp,
    },
    /// Acknowledged; final.
    Acknowledged {
        /// When.
        at: Timestamp,
    },
    /// Given up; a person sees it.
    Dead {
        /// When.
        at: Timestamp,
        /// Why.
        why: String,
    },
}

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// 200 or 204.
    Acknowledged,
    /// 202.
    Accepted,
    /// 410.
    Gone,
    /// Any other answer, or none.
    Failed {
        /// What, for people.
        why: String,
        /// How long the receiver asked us to stay away.
        retry_after: Option<SignedDuration>,
    },
}

impl Wake {
    /// A new wake, due at once by HTTP.
    pub fn new(event: Event, agent: AgentName, repo: Option<String>, now: Timestamp) -> Self {
        Self {
            event,
            agent,
            repo,
            resume: None,
            channel: Channel::Http,
            then: Vec::new(),
            answered: false,
            state: WakeState::Pending {
                attempt: 1,
                not_before: now,
            },
        }
    }

    /// Whether it is over.
    pub fn is_settled(&self) -> bool {
        match self.state {
            WakeState::Acknowledged { .. } | WakeState::Dead { .. } => true,
            WakeState::Pending { .. } | WakeState::Sending { .. } | WakeState::Leased { .. } => {
                false
            }
        }
    }

    /// Whether its agent is done with it: it was acknowledged, or its question was answered.
    pub fn is_done_with(&self) -> bool {
        self.answered || matches!(self.state, WakeState::Acknowledged { .. })
    }

    /// When it is due next. In an inbox nothing is due until the agent was away for too long.
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            WakeState::Pending { not_before, .. } => Some(match self.channel {
                Channel::Http => not_before,
                Channel::Inbox => plus(not_before, INBOX_HOLD),
            }),
            WakeState::Sending { until, .. } | WakeState::Leased { until, .. } => Some(until),
            WakeState::Acknowledged { .. } | WakeState::Dead { .. } => None,
        }
    }

    /// The wake with its next attempt begun, to be saved before it is sent; `None` if it is not time, or not to be sent.
    ///
    /// One whose lease lapsed takes its next channel, if it has one.
    pub fn begin(&self, now: Timestamp) -> Option<Self> {
        if self.channel == Channel::Inbox {
            return None;
        }
        let attempt = match self.state {
            WakeState::Pending {
                attempt,
                not_before,
            } if not_before <= now => attempt,
            WakeState::Leased { until, .. } if until <= now && !self.then.is_empty() => {
                return Some(self.next_way("it was not acknowledged in time", now));
            }
            // The sender died or the lease lapsed: the receiver recognises the id.
            WakeState::Sending { attempt, until } | WakeState::Leased { attempt, until }
                if until <= now =>
            {
                attempt.saturating_add(1)
            }
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => return None,
        };
        if attempt as usize > SCHEDULE.len() {
            return Some(self.next_way(&unanswered(), now));
        }
        let sending = self.with(WakeState::Sending {
            attempt,
            until: plus(now, ATTEMPT_HOLD),
        });
        Some(Self {
            // Whether an attempt without a known end arrived is unknown.
            answered: false,
            ..sending
        })
    }

    /// The wake after an attempt.
    pub fn tried(&self, outcome: &DeliveryOutcome, now: Timestamp) -> Self {
        if *outcome == DeliveryOutcome::Acknowledged {
            // Even if the answer came late.
            return self.acknowledged(now);
        }
        let goes_on = match outcome {
            DeliveryOutcome::Accepted | DeliveryOutcome::Failed { .. } => true,
            DeliveryOutcome::Acknowledged | DeliveryOutcome::Gone => false,
        };
        let is_sending = matches!(self.state, WakeState::Sending { .. });
        if self.answered && goes_on && is_sending {
            return self.acknowledged(now);
        }
        let WakeState::Sending { attempt, .. } = self.state else {
            return self.clone();
        };
        match outcome {
            DeliveryOutcome::Acknowledged => self.acknowledged(now),
            DeliveryOutcome::Accepted => self.with(WakeState::Leased {
                attempt,
                until: plus(now, LEASE),
            }),
            DeliveryOutcome::Gone => self.next_way("the receiver answered 410 Gone", now),
            // A person who tests an agent is present, and repeats the test after a fix.
            DeliveryOutcome::Failed { why, .. } if self.is_test() => self.given_up(why, now),
            DeliveryOutcome::Failed { why, retry_after } => {
                self.again_after(attempt, why, *retry_after, now)
            }
        }
    }

    /// The next attempt on the schedule, or the next channel after the last one.
    fn again_after(
        &self,
        attempt: u32,
        why: &str,
        retry_after: Option<SignedDuration>,
        now: Timestamp,
    ) -> Self {
        let Some(wait) = schedule::wait_after(attempt, &self.event.id, retry_after) else {
            return self.next_way(why, now);
        };
        self.pending(attempt.saturating_add(1), plus(now, wait))
    }

    /// Whether it only tests whether its agent can be woken.
    pub fn is_test(&self) -> bool {
        self.event.what == Occurrence::News(News::Test)
    }

    /// Whether it was given up, so that a person has to see its content. A lost test matters to no one.
    pub fn is_lost(&self) -> bool {
        matches!(self.state, WakeState::Dead { .. }) && !self.is_test()
    }

    /// The wake given up, for a person to see.
    pub fn given_up(&self, why: &str, now: Timestamp) -> Self {
        let why = presentable(why, WHY_CHARS_MAX);
        self.with(WakeState::Dead { at: now, why })
    }

    /// The wake after its acknowledgement, also when it had been given up.
    pub fn acknowledged(&self, now: Timestamp) -> Self {
        match self.state {
            WakeState::Acknowledged { .. } => self.clone(),
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Dead { .. } => self.with(WakeState::Acknowledged { at: now }),
        }
    }

    /// The wake after the order that it asks for was given while its agent had it; `None` if that changes nothing.
    ///
    /// A sent wake is over; one that is being sent is over when its attempt is, but a process that dies in the middle sends it again.
    /// A wake taken out of an inbox stays with its taker, and returns to no one afterwards.
    /// A wake that no agent has received is still delivered: its agent has to know what happened. So is one about a plan that is being
    /// sent during a message: the same plan may wait on, and the attempt may fail.
    pub fn answered(&self, now: Timestamp) -> Option<Self> {
        let is_plan = matches!(self.event.what, Occurrence::PlanApproval { .. });
        if is_plan && matches!(self.state, WakeState::Sending { .. }) {
            return None;
        }
        self.ended(now)
    }

    /// The wake after its agent, if it has it, need not do anything more.
    fn ended(&self, now: Timestamp) -> Option<Self> {
        match (self.channel, &self.state) {
            (Channel::Http, WakeState::Leased { .. }) => Some(self.acknowledged(now)),
            (Channel::Http, WakeState::Sending { .. })
            | (Channel::Inbox, WakeState::Leased { .. })
                if !self.answered =>
            {
                Some(Self {
                    answered: true,
                    ..self.clone()
                })
            }
            (
                Channel::Http | Channel::Inbox,
                WakeState::Pending { .. }
                | WakeState::Sending { .. }
                | WakeState::Leased { .. }
                | WakeState::Acknowledged { .. }
                | WakeState::Dead { .. },
            ) => None,
        }
    }

    /// The wake after what it asks for is over; `None` if that changes nothing.
    ///
    /// In contrast to an answered one, it is over although no agent has received it.
    pub fn withdrawn(&self, now: Timestamp) -> Option<Self> {
        match self.state {
            WakeState::Pending { .. } => Some(self.acknowledged(now)),
            WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => self.ended(now),
        }
    }

    /// The wake restarted by a person's request; an acknowledged one stays so, and one that an agent holds is on its way.
    pub fn revived(&self, now: Timestamp) -> Self {
        match self.state {
            WakeState::Acknowledged { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. } => self.clone(),
            WakeState::Pending { .. } | WakeState::Dead { .. } => self.pending(1, now),
        }
    }

    /// The wake postponed without an attempt: its agent accepts none for now.
    pub fn postponed(&self, now: Timestamp) -> Option<Self> {
        let attempt = match self.state {
            WakeState::Pending {
                attempt,
                not_before,
            } if not_before <= now => attempt,
            WakeState::Sending { attempt, until } | WakeState::Leased { attempt, until }
                if until <= now =>
            {
                attempt
            }
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => return None,
        };
        Some(self.pending(attempt, plus(now, REFUSED_FOR)))
    }

    fn pending(&self, attempt: u32, not_before: Timestamp) -> Self {
        self.with(WakeState::Pending {
            attempt,
            not_before,
        })
    }

    fn with(&self, state: WakeState) -> Self {
        Self {
            state,
            ..self.clone()
        }
    }
}
