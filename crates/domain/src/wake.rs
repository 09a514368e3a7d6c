//! A wake: one event on its way to one agent, until it is acknowledged or a person has to see it.

#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{Event, Occurrence};
use crate::fence::encoded_len;
use crate::ids::{AgentName, EventId, JobId, digest};
use crate::redact::{presentable, storable};
use crate::session::Plan;
use crate::when::plus;

/// Waits before each try, as the Standard Webhooks specification lists them: ten tries over about three days.
pub const SCHEDULE: [SignedDuration; 10] = [
    SignedDuration::ZERO,
    SignedDuration::from_secs(5),
    SignedDuration::from_mins(5),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(2),
    SignedDuration::from_hours(5),
    SignedDuration::from_hours(10),
    SignedDuration::from_hours(14),
    SignedDuration::from_hours(20),
    SignedDuration::from_hours(24),
];

/// How long one try is held: the sender's timeout with room to record the answer.
pub const TRY_HOLD: SignedDuration = SignedDuration::from_secs(60);

/// How long an agent that answered 202 has to acknowledge.
pub const LEASE: SignedDuration = SignedDuration::from_mins(10);

/// Longest wait that a receiver may ask for.
pub const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Longest text in a wake, in bytes as JSON: with the plan the whole stays under the specification's 20 kB.
const TEXT_BYTES_MAX: usize = 6_000;

/// Longest status in a wake, in characters; Jules may name new states as it likes.
const STATUS_CHARS_MAX: usize = 80;

/// Longest plan in a wake, in bytes as JSON without the field names.
const PLAN_BYTES_MAX: usize = 6_000;

/// Longest title or description of a step in a wake, in bytes as JSON.
const STEP_BYTES_MAX: usize = 300;

/// One event on its way to one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wake {
    /// The event, whose id is the message's id over all tries.
    pub event: Event,
    /// To whom.
    pub agent: AgentName,
    /// The repository, for the message.
    pub repo: Option<String>,
    /// How far it is.
    pub state: WakeState,
}

/// How far a wake is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum WakeState {
    /// Waits for its next try.
    Pending {
        /// The number of the try to come, from 1.
        attempt: u32,
        /// Not earlier.
        not_before: Timestamp,
    },
    /// Being sent.
    Sending {
        /// Which try.
        attempt: u32,
        /// Until when it is held; afterwards it is tried again under the same id.
        until: Timestamp,
    },
    /// Received; the acknowledgement is awaited.
    Leased {
        /// Which try.
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

/// What a try led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TryOutcome {
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
    /// A new wake, due at once.
    pub fn new(event: Event, agent: AgentName, repo: Option<String>, now: Timestamp) -> Self {
        Self {
            event,
            agent,
            repo,
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

    /// When it must be looked at again.
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            WakeState::Pending { not_before, .. } => Some(not_before),
            WakeState::Sending { until, .. } | WakeState::Leased { until, .. } => Some(until),
            WakeState::Acknowledged { .. } | WakeState::Dead { .. } => None,
        }
    }

    /// The wake with its next try begun, to be saved before it is sent; none if it is not time.
    pub fn begin(&self, now: Timestamp) -> Option<Self> {
        let attempt = match self.state {
            WakeState::Pending {
                attempt,
                not_before,
            } if not_before <= now => attempt,
            // Whoever sent it died, or the lease lapsed: the receiver recognises the id.
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
            let why = format!("{} tries without an acknowledgement", SCHEDULE.len());
            return Some(self.with(WakeState::Dead { at: now, why }));
        }
        Some(self.with(WakeState::Sending {
            attempt,
            until: plus(now, TRY_HOLD),
        }))
    }

    /// The wake after a try.
    pub fn tried(&self, outcome: &TryOutcome, now: Timestamp) -> Self {
        if *outcome == TryOutcome::Acknowledged {
            // However late the answer came.
            return self.acknowledged(now);
        }
        let WakeState::Sending { attempt, .. } = self.state else {
            return self.clone();
        };
        match outcome {
            TryOutcome::Acknowledged => self.acknowledged(now),
            TryOutcome::Accepted => self.with(WakeState::Leased {
                attempt,
                until: plus(now, LEASE),
            }),
            TryOutcome::Gone => self.with(WakeState::Dead {
                at: now,
                why: "the receiver answered 410 Gone".to_owned(),
            }),
            TryOutcome::Failed { why, retry_after } => match SCHEDULE.get(attempt as usize) {
                None => self.with(WakeState::Dead {
                    at: now,
                    why: presentable(why, 300),
                }),
                Some(wait) => {
                    let wait = jittered(*wait, &self.event.id, attempt)
                        .max(retry_after.unwrap_or_default())
                        .min(RETRY_AFTER_MAX);
                    self.with(WakeState::Pending {
                        attempt: attempt.saturating_add(1),
                        not_before: plus(now, wait),
                    })
                }
            },
        }
    }

    /// The wake after the agent said that it is done with it.
    pub fn acknowledged(&self, now: Timestamp) -> Self {
        if self.is_settled() {
            self.clone()
        } else {
            self.with(WakeState::Acknowledged { at: now })
        }
    }

    /// The wake sent once more from the start, by a person's wish; one that was acknowledged stays so.
    pub fn revived(&self, now: Timestamp) -> Self {
        match self.state {
            WakeState::Acknowledged { .. } => self.clone(),
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Dead { .. } => self.with(WakeState::Pending {
                attempt: 1,
                not_before: now,
            }),
        }
    }

    fn with(&self, state: WakeState) -> Self {
        Self {
            state,
            ..self.clone()
        }
    }
}

/// Up to a tenth more, the same for the same message and try.
fn jittered(wait: SignedDuration, event: &EventId, attempt: u32) -> SignedDuration {
    let byte = u8::from_str_radix(&digest(&format!("{event}:{attempt}"))[..2], 16).unwrap_or(0);
    wait + wait * i32::from(byte) / 2_550
}

/// The message that an agent gets: the seed's event schema, and what is needed to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionableEvent {
    /// `question`, `completed`, `error` or `stuck`.
    pub event: String,
    /// What kind of that, for programs.
    pub kind: String,
    /// The occurrence; the same over all tries.
    pub event_id: EventId,
    /// The job; none when a whole account is affected.
    pub job_id: Option<JobId>,
    /// The account.
    pub account: String,
    /// The repository, `owner/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Which of the job's sessions, from 1.
    pub attempt: u32,
    /// When it was seen.
    pub observed_at: Timestamp,
    /// The session's state in Jules's spelling.
    pub status: String,
    /// The question, the reason or the last words; written by others, so it is data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// More of it: plan steps or pull requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<serde_json::Value>,
    /// When the session last did anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activity: Option<Timestamp>,
}

/// As many steps of a plan as fit.
fn steps(plan: &Plan) -> Vec<serde_json::Value> {
    let mut left = PLAN_BYTES_MAX;
    let mut steps = Vec::new();
    for step in &plan.steps {
        let title = storable(&step.title, STEP_BYTES_MAX);
        let description = storable(&step.description, STEP_BYTES_MAX);
        let bytes = encoded_len(&title) + encoded_len(&description);
        if bytes > left {
            break;
        }
        left -= bytes;
        steps.push(serde_json::json!({ "title": title, "description": description }));
    }
    steps
}

/// Writes an event as its receiver gets it: redacted and clipped.
pub fn message(event: &Event, repo: Option<&str>) -> ActionableEvent {
    let text = |text: &str| Some(storable(text, TEXT_BYTES_MAX));
    let (words, payload) = match &event.what {
        Occurrence::Question { text: words } => (words.as_deref().and_then(text), None),
        Occurrence::PlanApproval { plan } => {
            let payload = plan
                .as_ref()
                .map(|plan| serde_json::json!({ "plan_id": plan.id, "steps": steps(plan) }));
            (text("A plan waits for approval."), payload)
        }
        Occurrence::Completed { pulls } => {
            (None, Some(serde_json::json!({ "pull_requests": pulls })))
        }
        Occurrence::Error { reason, .. } => (text(reason), None),
        Occurrence::Stuck { last_words } => (last_words.as_deref().and_then(text), None),
    };
    ActionableEvent {
        event: event.what.name().to_owned(),
        kind: event.what.kind().to_owned(),
        event_id: event.id.clone(),
        job_id: event.job.clone(),
        account: event.account.to_string(),
        repo: repo.map(str::to_owned),
        attempt: event.attempt,
        observed_at: event.observed_at,
        status: presentable(&event.status, STATUS_CHARS_MAX),
        message: words,
        payload,
        last_activity: event.last_activity,
    }
}
