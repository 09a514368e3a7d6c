//! A wake in its agent's inbox: taken on a lease, extended, given back, or left there until a person has to see it.

use jiff::{SignedDuration, Timestamp};

use super::{Channel, LEASE, SCHEDULE, Wake, WakeState, unanswered};
use crate::when::plus;

/// How long a wake waits in an inbox for somebody to take it: about as long as all tries by HTTP take together.
pub const INBOX_HOLD: SignedDuration = SignedDuration::from_hours(3 * 24);

/// Whoever wants to go on with a wake does not hold it any more, or never did.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LeaseLost(String);

impl Wake {
    /// Whether it lies in an inbox and is not over.
    pub fn is_in_inbox(&self) -> bool {
        self.channel == Channel::Inbox && !self.is_settled()
    }

    /// The wake taken out of the inbox by its agent, which has until the end of the lease to say what became of it; none if it cannot be had now.
    pub fn taken(&self, now: Timestamp) -> Option<Self> {
        if self.channel != Channel::Inbox {
            return None;
        }
        let attempt = match self.state {
            WakeState::Pending {
                attempt,
                not_before,
            } if not_before <= now => attempt,
            // Whoever had it died. After the last try it is not handed out again.
            WakeState::Leased { attempt, until }
                if until <= now && (attempt as usize) < SCHEDULE.len() =>
            {
                attempt.saturating_add(1)
            }
            WakeState::Pending { .. }
            | WakeState::Sending { .. }
            | WakeState::Leased { .. }
            | WakeState::Acknowledged { .. }
            | WakeState::Dead { .. } => return None,
        };
        Some(self.with(WakeState::Leased {
            attempt,
            until: plus(now, LEASE),
        }))
    }

    /// The wake held for another lease from now on by whoever took it at this try.
    pub fn extended(&self, held: u32, now: Timestamp) -> Result<Self, LeaseLost> {
        let attempt = self.held(held, now)?;
        Ok(self.with(WakeState::Leased {
            attempt,
            until: plus(now, LEASE),
        }))
    }

    /// The wake given back undone by whoever took it at this try: it comes again on the schedule, and goes its next way after the last one.
    pub fn given_back(
        &self,
        held: u32,
        (why, after): (&str, Option<SignedDuration>),
        now: Timestamp,
    ) -> Result<Self, LeaseLost> {
        let attempt = self.held(held, now)?;
        Ok(self.again_after(attempt, (why, after), now))
    }

    /// The wake when it came due in its inbox: taken and never answered, or never taken; none if it is not time.
    pub fn lapsed(&self, now: Timestamp) -> Option<Self> {
        if self.channel != Channel::Inbox || self.due().is_none_or(|due| now < due) {
            return None;
        }
        match self.state {
            WakeState::Pending { .. } => {
                let days = INBOX_HOLD.as_hours() / 24;
                let why = format!("nobody took it out of the inbox for {days} days");
                Some(self.next_way(&why, now))
            }
            WakeState::Sending { attempt, until } | WakeState::Leased { attempt, until } => {
                if attempt as usize >= SCHEDULE.len() {
                    return Some(self.next_way(&unanswered(), now));
                }
                Some(self.with(WakeState::Pending {
                    attempt: attempt.saturating_add(1),
                    not_before: until,
                }))
            }
            WakeState::Acknowledged { .. } | WakeState::Dead { .. } => None,
        }
    }

    /// The try at which it is held, if that is the one that somebody believes to hold.
    fn held(&self, held: u32, now: Timestamp) -> Result<u32, LeaseLost> {
        let lost = |how: &str| Err(LeaseLost(format!("event {} {how}", self.event.id)));
        match self.state {
            WakeState::Leased { attempt, until } if attempt == held && now < until => Ok(attempt),
            WakeState::Leased { attempt, until } if attempt == held => lost(&format!(
                "was held until {until}, which is over: it is handed out again"
            )),
            WakeState::Leased { attempt, .. } => {
                lost(&format!("is held by another taker, at try {attempt}"))
            }
            WakeState::Pending { .. } | WakeState::Sending { .. } => lost("is held by nobody"),
            WakeState::Acknowledged { at } => lost(&format!("was acknowledged at {at}")),
            WakeState::Dead { at, .. } => lost(&format!("was given up at {at}")),
        }
    }
}
