//! When a wake is tried again.

use jiff::SignedDuration;

use crate::ids::{EventId, digest};

/// Waits before each attempt, as the Standard Webhooks specification lists them: ten attempts over about three days.
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

/// Longest wait that a receiver may ask for.
pub const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(24);

/// The wait after an attempt, at least as long as the receiver asked for; `None` after the last one.
pub(super) fn wait_after(
    attempt: u32,
    event: &EventId,
    asked: Option<SignedDuration>,
) -> Option<SignedDuration> {
    let planned = jittered(*SCHEDULE.get(attempt as usize)?, event, attempt);
    Some(planned.max(asked.unwrap_or_default()).min(RETRY_AFTER_MAX))
}

/// The reason for giving up a wake that no one ever answered.
pub(super) fn unanswered() -> String {
    format!("{} attempts without an acknowledgement", SCHEDULE.len())
}

/// Adds up to a tenth, the same for the same message and attempt.
fn jittered(wait: SignedDuration, event: &EventId, attempt: u32) -> SignedDuration {
    let byte = u8::from_str_radix(&digest(&format!("{event}:{attempt}"))[..2], 16).unwrap_or(0);
    wait + wait * i32::from(byte) / 2_550
}
