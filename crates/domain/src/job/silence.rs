//! Silence and deadlines: when a session counts as stuck, and when a job must be looked at whatever happens.

use jiff::{SignedDuration, Timestamp};

use super::attention::Context;
use super::observe::event;
use super::watch::{Attention, Watch};
use super::{Job, Phase, completion};
use crate::event::{Audience, Occurrence};
use crate::policy::Timing;
use crate::session::SessionState;
use crate::step::Step;
use crate::when::plus;

/// The create effect has deadlines of its own; this one only catches its loss.
const CREATING_LOOK: SignedDuration = SignedDuration::from_mins(10);

/// `stuck` needs the log to have been read just now: silence is only known to whoever listened.
pub(super) fn stuck(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let silent_since = silent_since(watch);
    let silent = context.now.duration_since(silent_since) >= window(watch, context.timing);
    if !silent
        || completion::stands(watch)
        || watch.announced.stuck_at == Some(context.now)
        || context.snapshot.activities.is_none()
    {
        return;
    }
    let what = Occurrence::Stuck {
        last_words: watch.talk.last_words.clone(),
    };
    let key = format!("stuck:{}:{silent_since}", watch.session);
    step.events.push(event(
        &step.aggregate,
        watch,
        (&key, what, Audience::Agent),
        context.now,
    ));
    watch.announced.stuck_at = Some(context.now);
}

/// The last sign of life, or the last time its lack was announced: each window counts from there.
fn silent_since(watch: &Watch) -> Timestamp {
    watch
        .progress_at
        .max(watch.announced.stuck_at.unwrap_or(watch.progress_at))
}

fn window(watch: &Watch, timing: &Timing) -> SignedDuration {
    match watch.state {
        SessionState::Queued => timing.stuck_after_queued,
        SessionState::Unspecified
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::InProgress
        | SessionState::Paused
        | SessionState::Failed
        | SessionState::Completed
        | SessionState::Other(_) => timing.stuck_after,
    }
}

/// When the silence of a watched session becomes news: it said that it is done and its state does not follow, or it is stuck. None while it waits for somebody or rests.
pub(crate) fn silence_deadline(watch: &Watch, timing: &Timing) -> Option<Timestamp> {
    match &watch.attention {
        Attention::None | Attention::Answered { .. } => {
            let moves = watch.state != SessionState::Completed && !completion::stands(watch);
            let stuck = moves.then(|| plus(silent_since(watch), window(watch, timing)));
            let done = completion::announced_alone_at(watch, timing);
            stuck.into_iter().chain(done).min()
        }
        Attention::Expecting { .. } | Attention::Question { .. } | Attention::Plan { .. } => None,
    }
}

/// When the job must be looked at again whatever Jules shows.
pub fn deadline(job: &Job, timing: &Timing) -> Option<Timestamp> {
    match &job.phase {
        Phase::Queued { not_before, .. } => Some(*not_before),
        Phase::Creating { since, .. } => Some(plus(*since, CREATING_LOOK)),
        Phase::Ended(_) => None,
        Phase::Watching(watch) => Some(watch_deadline(watch, timing)),
    }
}

fn watch_deadline(watch: &Watch, timing: &Timing) -> Timestamp {
    if let Some(missing_since) = watch.missing_since {
        return plus(missing_since.max(watch.since), timing.not_found_grace);
    }
    match &watch.attention {
        Attention::Expecting { since } => plus(*since, timing.text_wait),
        // A reminder to look, not a second announcement.
        Attention::Question { since, .. } | Attention::Plan { since, .. } => {
            plus(*since, timing.watch_completed)
        }
        Attention::None | Attention::Answered { .. } => {
            let rests_since = completion::rests_since(watch).unwrap_or(watch.state_since);
            let rests_until = || plus(rests_since, timing.watch_completed);
            silence_deadline(watch, timing).unwrap_or_else(rests_until)
        }
    }
}
