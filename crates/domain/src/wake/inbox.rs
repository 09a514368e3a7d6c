//! A wake in its agent's inbox: taken on a lease, extended, given back, or left there until a person has to see it.

use jiff::{SignedDuration, Timestamp};

use super::{Channel, LEASE, RETRY_AFTER_MAX, Wake, WakeState, unanswered};
use crate::ids::EventId;
use crate::when::plus;

/// How long a wake waits in an inbox before it is taken: about as long as all HTTP attempts take together.
pub const INBOX_HOLD: SignedDuration = SignedDuration::from_hours(3 * 24);

/// The caller cannot go on with a wake.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseLost {
    /// Its agent is done with it.
    #[error("event {0} was acknowledged at {1}")]
    Acknowledged(EventId, Timestamp),
    /// They do not hold it any more, or never did.
    #[error("event {0} {1}")]
    NotHeld(EventId, String),
}

impl LeaseLost {
    /// In one word, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Acknowledged(..) => "acknowledged",
            Self::NotHeld(..) => "lease_lost",
        }
    }
}

/// How an unhandled wake is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnMode {
    /// It was tried, and comes again as the schedule says.
    AsPlanned,
    /// It was tried, and comes again after this wait, at most [`RETRY_AFTER_MAX`].
    After(SignedDuration),
    /// It was not tried: it is available at once, and no attempt is counted.
    Untried,
}

impl Wake {
    /// Whether it lies in an inbox and is not over.
    pub fn is_in_inbox(&self) -> bool {
        self.channel == Channel::Inbox && !self.is_settled()
    }

    /// The wake taken out of the inbox by its agent, which has until the end of the lease to report the outcome;
    /// `None` if it cannot be taken now.
    pub fn taken(&self, now: Timestamp) -> Option<Self> {
        // The previous taker died: the wake comes again as if it had been given back.
        let free = self.expired(now).unwrap_or_else(|| self.clone());
        match free.state {
            WakeState::Pending {
                attempt,
                not_before,
            } if not_before <= now && free.channel == Channel::Inbox => {
                let until = plus(now, LEASE);
                Some(free.with(WakeState::Leased { attempt, until }))
            }
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => None,
        }
    }

    /// The wake with a new lease for the holder of this attempt.
    pub fn extended(&self, held: u32, now: Timestamp) -> Result<Self, LeaseLost> {
        let attempt = self.held(held, now)?;
        Ok(self.with(WakeState::Leased {
            attempt,
            until: plus(now, LEASE),
        }))
    }

    /// The wake given back undone by the holder of this attempt; after its last attempt it takes the next channel.
    pub fn given_back(
        &self,
        held: u32,
        why: &str,
        back: ReturnMode,
        now: Timestamp,
    ) -> Result<Self, LeaseLost> {
        let attempt = self.held(held, now)?;
        // The order that it asks for was given meanwhile, so it must not come again.
        if self.answered {
            return Ok(self.acknowledged(now));
        }
        let again = self.again_after(attempt, why, None, now);
        let not_before = match back {
            ReturnMode::AsPlanned => return Ok(again),
            ReturnMode::After(wait) => plus(now, wait.min(RETRY_AFTER_MAX)),
            ReturnMode::Untried => return Ok(self.pending(attempt, now)),
        };
        Ok(match again.state {
            WakeState::Pending { attempt, .. } if again.channel == Channel::Inbox => {
                self.pending(attempt, not_before)
            }
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => again,
        })
    }

    /// The wake when the one before it is over: from now on it can be had, and that is how long it is held.
    pub fn moved_to_front(&self, now: Timestamp) -> Option<Self> {
        match self.state {
            WakeState::Pending {
                attempt,
                not_before,
            } if self.channel == Channel::Inbox && not_before < now => {
                Some(self.pending(attempt, now))
            }
            // No one holds it any more, whatever comes before it.
            WakeState::Leased { until, .. } if until <= now => self.expired(now),
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => None,
        }
    }

    /// The wake left in the inbox because its agent has no address any more; `None` while an agent holds it, or when
    /// it is over.
    pub fn left_in_inbox(&self, now: Timestamp) -> Option<Self> {
        let is_held = match self.state {
            WakeState::Sending { until, .. } | WakeState::Leased { until, .. } => now < until,
            WakeState::Pending { .. } => false,
            WakeState::Acknowledged { .. } | WakeState::Dead { .. } => true,
        };
        let left = || Self {
            channel: Channel::Inbox,
            then: Vec::new(),
            ..self.pending(1, now)
        };
        (!is_held).then(left)
    }

    /// The wake when it is due in its inbox: taken and never answered, or never taken; `None` if it is not time.
    pub fn expired(&self, now: Timestamp) -> Option<Self> {
        if self.channel != Channel::Inbox || self.due().is_none_or(|due| now < due) {
            return None;
        }
        match self.state {
            WakeState::Pending { .. } => {
                let days = INBOX_HOLD.as_hours() / 24;
                let why = format!("nobody took it out of the inbox for {days} days");
                Some(self.next_way(&why, now))
            }
            WakeState::Leased { .. } if self.answered => Some(self.acknowledged(now)),
            WakeState::Sending { attempt, until } | WakeState::Leased { attempt, until } => {
                Some(self.again_after(attempt, &unanswered(), None, until))
            }
            WakeState::Acknowledged { .. } | WakeState::Dead { .. } => None,
        }
    }

    /// The attempt at which it is held, if that is the one that the caller claims to hold.
    fn held(&self, held: u32, now: Timestamp) -> Result<u32, LeaseLost> {
        let lost = |how: &str| Err(LeaseLost::NotHeld(self.event.id.clone(), how.to_owned()));
        match self.state {
            WakeState::Leased { attempt, until } if attempt == held && now < until => Ok(attempt),
            WakeState::Leased { attempt, until } if attempt == held => lost(&format!(
                "was held until {until}, which is over: it is handed out again"
            )),
            WakeState::Leased { attempt, .. } => {
                lost(&format!("is held by another taker, at try {attempt}"))
            }
            WakeState::Pending { .. } | WakeState::Sending { .. } => lost("is not held"),
            WakeState::Acknowledged { at } => {
                Err(LeaseLost::Acknowledged(self.event.id.clone(), at))
            }
            WakeState::Dead { at, .. } => lost(&format!("was given up at {at}")),
        }
    }
}
