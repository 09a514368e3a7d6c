//! Completions: Jules may report one while a plan still waits, may take one back, and may finish again after a message.

use jiff::Timestamp;

use super::announcing;
use super::context::Context;
use super::event::event;
use super::watch::{ActivityMark, Attention, Watch};
use super::{AnnouncementTopic, Job};
use crate::event::{Audience, Occurrence};
use crate::policy::Timing;
use crate::session::SessionState;
use crate::step::{FollowUp, Step};
use crate::when::plus;

/// Jules can report COMPLETED while a plan still waits. The log is more reliable, unless a pull request or a later
/// completion message shows that work went on.
pub(super) fn plan_waits(watch: &Watch) -> bool {
    let finished_later = |planned| {
        watch
            .log
            .completed
            .as_ref()
            .is_some_and(|mark| mark.at >= planned)
    };
    let waits = watch
        .log
        .plan
        .as_ref()
        .is_some_and(|waiting| !finished_later(waiting.at));
    waits && watch.pull.is_none()
}

/// The session rests. Each completion is announced once, with the pull requests it made if those come in time.
pub(super) fn completed(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let word = new_word(watch).cloned();
    if word.is_none() && goes_on_after_approval(watch, context) {
        return;
    }
    watch.attention = Attention::None;
    if word.is_none() && !is_restarted(watch) {
        return late_pull(step, watch);
    }
    let complete = word.is_some() && watch.pull.is_some() && context.snapshot.activities.is_some();
    if !complete && !context.waited(watch.state_since) {
        watch.attention = Attention::Expecting {
            since: watch.state_since,
        };
        return;
    }
    announce(step, watch, word, context);
}

/// A plan that waited under COMPLETED was approved: the state lags, and work goes on. A pull request, or silence for
/// a whole window, means that it does not.
fn goes_on_after_approval(watch: &mut Watch, context: &Context<'_>) -> bool {
    let since = match watch.attention {
        Attention::Plan { .. } => context.now,
        Attention::Answered { since } => since,
        Attention::None | Attention::Expecting { .. } | Attention::Question { .. } => return false,
    };
    let goes_on =
        watch.pull.is_none() && context.now.duration_since(since) < context.timing.stuck_after;
    if goes_on {
        watch.attention = Attention::Answered { since };
    }
    goes_on
}

/// Who gets the completion: of a job for a delivery or a pipeline no one, since those go on by themselves.
pub(super) fn audience(job: &Job) -> Audience {
    match (&job.delivery, &job.part) {
        (None, None) => Audience::Agent,
        (Some(_), _) | (_, Some(_)) => Audience::Nobody,
    }
}

fn announce(
    step: &mut Step<Job>,
    watch: &mut Watch,
    word: Option<ActivityMark>,
    context: &Context<'_>,
) {
    let what = Occurrence::Completed {
        pulls: watch.pull.iter().cloned().collect(),
    };
    let key = word
        .as_ref()
        .map_or_else(|| context.state_key(watch), |mark| mark.id.to_string());
    let name = format!("completed:{}:{key}", watch.session);
    let completed = event(
        &step.aggregate,
        watch,
        (&name, what, audience(&step.aggregate)),
        context.now,
    );
    let id = completed.id.clone();
    let told = announcing::announce(step, watch, AnnouncementTopic::Completed, completed);
    watch.announced.completed_event = told.then_some(id);
    watch.announced.completed_at = Some(context.now);
    watch.announced.completed_without_text = word.is_none();
    watch.announced.completed.clone_from(&watch.log.completed);
    watch.announced.completed_pull.clone_from(&watch.pull);
    watch.announced.completed_after = watch.log.user_at.max(context.snapshot.view.updated_at);
}

/// Handles a session that works by its state. The state may lag behind the log for ever, so a completion message
/// without a successor is announced by itself after a while.
pub(super) fn under_work(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    watch.attention = Attention::None;
    if stands(watch) {
        return late_pull(step, watch);
    }
    let due = announced_alone_at(watch, context.timing).is_some_and(|due| due <= context.now);
    if due && context.snapshot.activities.is_some() {
        let word = new_word(watch).cloned();
        announce(step, watch, word, context);
        step.follow_ups
            .extend(watch.pull.clone().map(FollowUp::Pull));
    }
}

/// When a word of completion is announced although the state says otherwise: once nothing has happened for a while.
pub(super) fn announced_alone_at(watch: &Watch, timing: &Timing) -> Option<Timestamp> {
    let alone = watch.state == SessionState::InProgress
        && said_it_is_done(watch)
        && new_word(watch).is_some();
    alone.then(|| plus(watch.progress_at, timing.quiet))
}

/// Whether the session rests after it said that it is done.
pub(super) fn is_over(watch: &Watch) -> bool {
    rests_since(watch).is_some() || watch.state == SessionState::Completed
}

/// Whether the session rests although its state says that it works: its completion was announced in that state, and
/// nothing was said or done since.
pub(super) fn stands(watch: &Watch) -> bool {
    watch.state == SessionState::InProgress
        && watch.announced.completed_at >= Some(watch.progress_at)
        && said_it_is_done(watch)
        && new_word(watch).is_none()
}

/// Whether it said that it is done and no message went to it since.
fn said_it_is_done(watch: &Watch) -> bool {
    let done = watch.log.completed.as_ref().map(|done| done.at);
    done.is_some() && done >= watch.log.user_at && watch.unconfirmed_since.is_none()
}

/// A word of completion that no announcement was about. One that comes late belongs to the announcement that could not wait for it.
pub(super) fn new_word(watch: &Watch) -> Option<&ActivityMark> {
    let word = watch.log.completed.as_ref()?;
    let Some(announced_at) = watch.announced.completed_at else {
        return Some(word);
    };
    let known = watch.announced.completed.as_ref();
    let newer = known.is_none_or(|known| word.id != known.id && word.at >= known.at);
    let late = watch.announced.completed_without_text && word.at <= announced_at;
    (newer && !late).then_some(word)
}

/// A state that flaps is no new completion; one that was entered again after a message is.
fn is_restarted(watch: &Watch) -> bool {
    watch.announced.completed_at.is_none_or(|announced_at| {
        let entered = Some(watch.state_since);
        let message = watch.log.user_at;
        message > watch.announced.completed_after
            && entered > message
            && watch.state_since > announced_at
    })
}

/// Outputs that come late join the completion that was announced without them.
fn late_pull(step: &mut Step<Job>, watch: &mut Watch) {
    let (Some(id), Some(at)) = (
        &watch.announced.completed_event,
        watch.announced.completed_at,
    ) else {
        return;
    };
    if watch.announced.completed_pull == watch.pull {
        return;
    }
    let about = (
        "",
        Occurrence::Completed {
            pulls: watch.pull.iter().cloned().collect(),
        },
        audience(&step.aggregate),
    );
    let mut amended = event(&step.aggregate, watch, about, at);
    amended.id = id.clone();
    step.amended.push(amended);
    watch.announced.completed_pull.clone_from(&watch.pull);
}

/// Since when the session rests after a completion that was announced; `None` while it works or waits.
pub(super) fn rests_since(watch: &Watch) -> Option<Timestamp> {
    let at = watch.announced.completed_at?;
    let finished =
        watch.state == SessionState::Completed && matches!(watch.attention, Attention::None);
    if finished {
        Some(watch.state_since)
    } else {
        stands(watch).then_some(at)
    }
}

/// Whether the session finished without a pull request, and got no message for a long time or was archived.
pub(super) fn is_left_alone(watch: &Watch, context: &Context<'_>) -> bool {
    let long = |since| context.now.duration_since(since) >= context.timing.watch_completed;
    // A session that was archived after its end is done with, unless it was written to since.
    let is_silent =
        watch.unconfirmed_since.is_none() && watch.log.user_at <= watch.announced.completed_after;
    let is_over = |since| (context.snapshot.view.archived && is_silent) || long(since);
    watch.pull.is_none() && rests_since(watch).is_some_and(is_over)
}
