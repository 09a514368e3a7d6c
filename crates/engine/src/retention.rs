//! Retention of finished data. Jobs with their events and effects stay, and so does everything that a decision rests
//! on; only unused records go. How long an aggregate stays is written beside its `impl Aggregate`.
//!
//! Messages live far shorter: four days in their queue, fourteen among the dead letters, twelve hours with a
//! receiver.

use domain::wake::Wake;
use jiff::{SignedDuration, Timestamp};

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A wake that was acknowledged, taken back or given up: the event itself stays with its job.
pub const WAKE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// An order that was carried out under its caller's name: no caller repeats it after so long.
pub const ONCE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A refused adoption: its caller has seen the answer.
pub const REFUSAL: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What a job has produced, as last read: the next request reads it afresh.
pub const ARTIFACTS: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A page of a conversation, and the time of a read on request: its caller has seen it.
pub const ANSWER: SignedDuration = SignedDuration::from_hours(24);

/// What was said and done in a run of a delivery: the next request reads it afresh.
pub const TRANSCRIPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// The evidence of a merge: for a question after a year why it was merged.
pub const EVIDENCE: SignedDuration = SignedDuration::from_hours(400 * 24);

/// How often the deletion runs on a store without automatic expiry.
pub const EVERY: SignedDuration = SignedDuration::from_hours(1);

/// Records that are forgotten at once: the next ones follow with the next tick.
pub const AT_ONCE: usize = 500;

// No message may outlive its record.
const _: () = assert!(WAKE.as_secs() > (4 + 14 + 1) * DAY.as_secs());

/// The whole second after a time plus a retention; `None` when that is out of range.
pub(crate) fn after(settled: Timestamp, kept: SignedDuration) -> Option<Timestamp> {
    let at = settled.checked_add(kept).ok()?;
    Timestamp::from_second(at.as_second()).ok()
}

/// When a wake may be forgotten; `None` while it is not settled.
pub fn wake(wake: &Wake, now: Timestamp) -> Option<Timestamp> {
    wake.is_settled().then(|| after(now, WAKE)).flatten()
}
