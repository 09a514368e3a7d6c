//! Deadlines: when a job is due whatever happens, and when its row is.

use jiff::{SignedDuration, Timestamp};

use super::context::Context;
use super::silence::{silence_deadline, silent_since};
use super::watch::{Attention, Watch};
use super::{Job, JobPhase, completion, turns};
use crate::policy::Timing;
use crate::when::plus;

/// The create effect has deadlines of its own; this one only catches its loss.
const CREATING_LOOK: SignedDuration = SignedDuration::from_mins(10);

/// Slack on the stuck deadline in a job's row: a fallback in case polling stops.
/// Polls read the log of each silent session in time, so the row need not move with every sign of life.
pub const POLLED_SLACK: SignedDuration = SignedDuration::from_mins(30);

/// How often the job of a pull request of our own is read. What opens the pull request is due by itself, and so is the pull request: this
/// finds one that was lost between them.
pub const PROPOSED_LOOK: SignedDuration = SignedDuration::from_mins(10);

/// When a job's row is due: at its deadline, except that polls find silence. The deadline of silence in a new or
/// working session gets slack, so that the row stays where it is.
pub fn looked_at(job: &Job, timing: &Timing) -> Option<Timestamp> {
    let deadline = deadline(job, timing)?;
    let JobPhase::Watching(watch) = &job.phase else {
        return Some(deadline);
    };
    let is_silence = watch.missing_since.is_none()
        && completion::announced_alone_at(watch, timing).is_none()
        && silence_deadline(watch, timing) == Some(deadline);
    let latest = plus(
        silent_since(watch),
        timing.stuck_after.max(timing.stuck_after_queued),
    );
    Some(if is_silence {
        plus(deadline.max(latest), POLLED_SLACK)
    } else {
        deadline
    })
}

/// When the job is due whatever Jules shows.
pub fn deadline(job: &Job, timing: &Timing) -> Option<Timestamp> {
    match &job.phase {
        JobPhase::Queued { not_before, .. } => Some(*not_before),
        JobPhase::Creating { since, .. } => Some(plus(*since, CREATING_LOOK)),
        JobPhase::Ended(_) => None,
        JobPhase::Proposed { since, .. } => Some(plus(*since, PROPOSED_LOOK)),
        JobPhase::Watching(watch) => Some(watch_deadline(watch, timing)),
    }
}

fn watch_deadline(watch: &Watch, timing: &Timing) -> Timestamp {
    if let Some(missing_since) = watch.missing_since {
        return plus(missing_since.max(watch.since), timing.not_found_grace);
    }
    match &watch.attention {
        Attention::Expecting { since } => plus(*since, timing.text_wait),
        Attention::Question { .. } | Attention::Plan { .. } => {
            let reminder = reminder(watch, timing);
            turns::turn_deadline(watch).map_or(reminder, |turn| turn.min(reminder))
        }
        Attention::None | Attention::Answered { .. } => {
            silence_deadline(watch, timing).unwrap_or_else(|| reminder(watch, timing))
        }
    }
}

/// When the session is due although only time passed: a reminder to read it, not a second announcement.
fn reminder(watch: &Watch, timing: &Timing) -> Timestamp {
    let since = match &watch.attention {
        Attention::Expecting { since }
        | Attention::Question { since, .. }
        | Attention::Plan { since, .. } => *since,
        Attention::None | Attention::Answered { .. } => {
            let silent = || watch.state_since.max(silent_since(watch));
            completion::rests_since(watch).unwrap_or_else(silent)
        }
    };
    let looked = watch.announced.reminded.unwrap_or(since);
    plus(since.max(looked), timing.watch_completed)
}

/// Records that the session and its log were read: the next reminder comes after as long, and not at once for ever.
pub(super) fn reminded(watch: &mut Watch, context: &Context<'_>) {
    let is_due = reminder(watch, context.timing) <= context.now;
    if is_due && context.snapshot.activities.is_some() {
        watch.announced.reminded = Some(context.now);
    }
}
