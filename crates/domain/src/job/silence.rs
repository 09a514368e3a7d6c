//! Silence: when a session counts as stuck, and who hears of it.

use jiff::{SignedDuration, Timestamp};

use super::announcing::announce;
use super::context::Context;
use super::event::event;
use super::watch::{Attention, Watch};
use super::{AnnouncementTopic, Job, completion, pause};
use crate::event::Audience;
use crate::policy::Timing;
use crate::session::SessionState;
use crate::step::{FollowUp, Step};
use crate::when::plus;

/// How often the agent hears of one silence; then a person does, once, and then no one until the session moves.
pub const STUCK_ANNOUNCEMENTS_MAX: u32 = 3;

/// Longest wait from one announcement of a silence to the next, unless the first took longer.
const STUCK_WAIT_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Announces a stuck session. `stuck` needs a log that was read just now: only a read proves silence.
pub(super) fn stuck(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let silent_for = context.now.duration_since(silent_since(watch));
    if completion::stands(watch)
        || watch.announced.stuck_at == Some(context.now)
        || pause::resume_sent_at(watch) == Some(context.now)
        || context.snapshot.activities.is_none()
    {
        return;
    }
    let Some(wait) = wait(watch, context.timing) else {
        // The announcements are used up. The next check comes after as long, and not at once for ever.
        if silent_for >= context.timing.watch_completed {
            watch.announced.stuck_at = Some(context.now);
            watch.announced.stuck_sent.clear();
        }
        return;
    };
    if silent_for < wait || pause::go_on(step, watch, context) {
        return;
    }
    let what = pause::occurrence(watch);
    let key = format!("stuck:{}:{}", watch.session, silent_since(watch));
    let told = announcement_count(watch);
    let audience = if told < STUCK_ANNOUNCEMENTS_MAX {
        Audience::Agent
    } else {
        Audience::Human
    };
    let stuck = event(&step.aggregate, watch, (&key, what, audience), context.now);
    announce(step, watch, AnnouncementTopic::Stuck, stuck);
    // Also when the announcements are used up: the session rests, and merging depends on that.
    watch.announced.stuck_at = Some(context.now);
    watch.announced.stuck_announcements = told + 1;
    watch.announced.stuck_sent.clear();
    if is_halted(watch) {
        step.follow_ups
            .push(FollowUp::Slots(step.aggregate.account.clone()));
    }
}

/// Whether the session does nothing by its own state and that was announced: it holds no slot until it moves.
pub fn is_halted(watch: &Watch) -> bool {
    pause::is_halting(&watch.state) && is_silent(watch)
}

/// Who received the last announcement of the present silence.
pub(super) fn silence_audience(watch: &Watch) -> Audience {
    if announcement_count(watch) <= STUCK_ANNOUNCEMENTS_MAX {
        Audience::Agent
    } else {
        Audience::Human
    }
}

/// The last sign of life, or the last announcement that there was none: each wait counts from there. While an answer
/// was pending the session could not move, so an answer and a message that wakes it count too.
pub(super) fn silent_since(watch: &Watch) -> Timestamp {
    let answered = match &watch.attention {
        Attention::Answered { since } => Some(*since),
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Question { .. }
        | Attention::Plan { .. } => None,
    };
    let said = watch.announced.stuck_sent.last().map(|sent| sent.at);
    let since = [
        watch.announced.stuck_at,
        answered,
        said,
        pause::resume_sent_at(watch),
    ];
    let latest = since.into_iter().flatten().max();
    watch.progress_at.max(latest.unwrap_or(watch.progress_at))
}

/// Whether it is thought silent: that was noted, and nothing was seen since.
pub fn is_silent(watch: &Watch) -> bool {
    announcement_count(watch) > 0
}

/// How often the present silence was announced.
fn announcement_count(watch: &Watch) -> u32 {
    match watch.announced.stuck_at {
        Some(at) if at >= watch.progress_at => watch.announced.stuck_announcements,
        Some(_) | None => 0,
    }
}

/// How long the silence has to last, or to go on, before it is announced: twice a window, then each time twice as
/// long as before. `None` once the announcements are used up.
fn wait(watch: &Watch, timing: &Timing) -> Option<SignedDuration> {
    let told = announcement_count(watch);
    let hushed = told > 0 && watch.announcements.is_used_up(AnnouncementTopic::Stuck);
    if hushed || told > STUCK_ANNOUNCEMENTS_MAX {
        return None;
    }
    if told == 0 && watch.state == SessionState::Paused {
        return Some(pause::wait(watch, timing));
    }
    let window = window(watch, timing);
    let longer = window.saturating_mul(1 << told.saturating_sub(1));
    Some(longer.min(STUCK_WAIT_MAX.max(window)))
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

/// When the silence of a watched session is announced: it said that it is done and its state does not follow, or it
/// is stuck. `None` while it waits for an answer or rests.
pub(crate) fn silence_deadline(watch: &Watch, timing: &Timing) -> Option<Timestamp> {
    match &watch.attention {
        Attention::None | Attention::Answered { .. } => {
            let moves = watch.state != SessionState::Completed && !completion::stands(watch);
            let wait = moves.then(|| wait(watch, timing)).flatten();
            let stuck = wait.map(|wait| plus(silent_since(watch), wait));
            let done = completion::announced_alone_at(watch, timing);
            stuck.into_iter().chain(done).min()
        }
        Attention::Expecting { .. } | Attention::Question { .. } | Attention::Plan { .. } => None,
    }
}
