//! What Jules shows of a session → events, effects and the next deadline.

use jiff::{SignedDuration, Timestamp};

use super::{Attention, Ending, How, Job, Mark, PendingPlan, Phase, Said, Talk, Watch, attention};
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::fence::clip;
use crate::ids::{ActivityId, EventId};
use crate::policy::{Policy, Timing};
use crate::session::{Activity, ActivityKind, SessionState, SessionView};
use crate::step::{Look, Step};

/// Activities are asked for from this much before the newest known one: twins may share a timestamp.
pub const ACTIVITY_OVERLAP: SignedDuration = SignedDuration::from_secs(1);

/// Longest message of Jules that is kept with the job, in characters; the whole stays with Jules.
const TEXT_CHARS_MAX: usize = 8_000;

/// Longest line kept to show people what a session last did, in characters.
const WORDS_CHARS_MAX: usize = 300;

/// Most steps of a plan that are kept.
const PLAN_STEPS_MAX: usize = 50;

/// What was seen of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// It answered.
    Seen(Box<Snapshot>),
    /// 404.
    NotFound,
}

/// What a session showed at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// As listed or read.
    pub view: SessionView,
    /// Its activities since `ACTIVITY_OVERLAP` before the newest known one, in order; none when they were not asked for.
    pub activities: Option<Vec<Activity>>,
}

/// Decides what a sight of the session means. A job without a session, or one that has ended, stays as it is.
pub fn observe(
    job: &Job,
    sight: &Sight,
    now: Timestamp,
    policy: &Policy,
    timing: &Timing,
) -> Step<Job> {
    let mut step = Step::stay(job.clone());
    if let Phase::Watching(watch) = &job.phase {
        match sight {
            Sight::NotFound => missing(&mut step, watch, now, timing),
            Sight::Seen(snapshot) => seen(&mut step, watch, snapshot, now, (policy, timing)),
        }
    }
    step.due = deadline(&step.aggregate, timing);
    step
}

/// A fresh session may not be visible yet, and a known one may flicker; only a lasting 404 ends the job.
fn missing(step: &mut Step<Job>, watch: &Watch, now: Timestamp, timing: &Timing) {
    let mut watch = watch.clone();
    let missing_since = *watch.missing_since.get_or_insert(now);
    if now.duration_since(missing_since.max(watch.since)) < timing.not_found_grace {
        step.aggregate.phase = Phase::Watching(Box::new(watch));
        return;
    }
    let reason = format!(
        "Jules has not known session {} for {:#}; it was deleted, or belongs to another account",
        watch.session, timing.not_found_grace
    );
    let what = Occurrence::Error {
        cause: ErrorCause::InvalidJob,
        reason,
    };
    let key = format!("lost:{}", watch.session);
    step.events.push(event(
        &step.aggregate,
        &watch,
        (&key, what, Audience::Agent),
        now,
    ));
    end(step, &watch, How::Lost, now);
}

fn seen(
    step: &mut Step<Job>,
    before: &Watch,
    snapshot: &Snapshot,
    now: Timestamp,
    (policy, timing): (&Policy, &Timing),
) {
    let mut watch = before.clone();
    watch.missing_since = None;
    if watch.state != snapshot.view.state {
        watch.state = snapshot.view.state.clone();
        watch.state_since = now;
        watch.progress_at = now;
    }
    if watch.url.is_none() {
        watch.url.clone_from(&snapshot.view.url);
    }
    read_log(
        &mut watch,
        snapshot.activities.as_deref().unwrap_or_default(),
        now,
    );
    link_pull(step, &mut watch, &snapshot.view);
    let was_resting = before.state == SessionState::Completed;
    let context = attention::Context {
        snapshot,
        now,
        policy,
        timing,
    };
    match effective_state(&watch) {
        SessionState::AwaitingUserFeedback => attention::question(step, &mut watch, &context),
        SessionState::AwaitingPlanApproval => attention::plan(step, &mut watch, &context),
        SessionState::Completed => attention::completed(step, &mut watch, &context),
        SessionState::Failed => return failed(step, watch, &context),
        SessionState::Unspecified
        | SessionState::Queued
        | SessionState::Planning
        | SessionState::InProgress
        | SessionState::Paused
        | SessionState::Other(_) => {
            watch.attention = Attention::None;
            stuck(step, &mut watch, &context);
        }
    }
    if matches!(watch.attention, Attention::Answered { .. }) {
        stuck(step, &mut watch, &context);
    }
    if watch.state == SessionState::Completed && !was_resting {
        step.looks.push(Look::Slots(step.aggregate.account.clone()));
        step.looks.extend(watch.pull.clone().map(Look::Pull));
    }
    if watch.state == SessionState::Completed
        && watch.pull.is_none()
        && now.duration_since(watch.state_since) >= timing.watch_completed
    {
        return end(step, &watch, How::Completed, now);
    }
    step.aggregate.phase = Phase::Watching(Box::new(watch));
}

/// Jules can report COMPLETED while a plan still waits; the log is the better truth.
fn effective_state(watch: &Watch) -> SessionState {
    match watch.state {
        SessionState::Completed if watch.talk.plan.is_some() && watch.talk.completed.is_none() => {
            SessionState::AwaitingPlanApproval
        }
        _ => watch.state.clone(),
    }
}

/// A pull request once seen stays known: outputs have been seen to vanish from later answers.
fn link_pull(step: &mut Step<Job>, watch: &mut Watch, view: &SessionView) {
    let newest = view
        .pulls
        .iter()
        .rev()
        .find(|pull| pull.repo == step.aggregate.repo);
    if let Some(pull) = newest.filter(|pull| watch.pull.as_ref() != Some(pull)) {
        watch.pull = Some(pull.clone());
        step.looks.push(Look::Pull(pull.clone()));
    }
}

/// Folds new activities into what is known; repetitions within the overlap change nothing.
fn read_log(watch: &mut Watch, activities: &[Activity], now: Timestamp) {
    for activity in activities {
        let old = watch.talk.through.is_some_and(|through| {
            activity.at < through.saturating_sub(ACTIVITY_OVERLAP).unwrap_or(through)
        });
        if old || watch.talk.recent.contains(&activity.id) {
            continue;
        }
        note(&mut watch.talk, activity);
        // A clock that runs ahead of ours must not postpone `stuck`.
        watch.progress_at = watch.progress_at.max(activity.at.min(now));
        if matches!(activity.kind, ActivityKind::UserMessaged { .. }) {
            watch.unconfirmed_since = None;
        }
    }
    let Some(through) = watch.talk.through else {
        return;
    };
    let from = through.saturating_sub(ACTIVITY_OVERLAP).unwrap_or(through);
    let within = |id: &ActivityId| {
        activities
            .iter()
            .any(|activity| activity.id == *id && activity.at >= from)
    };
    if activities.iter().any(|activity| activity.at >= from) {
        watch.talk.recent.retain(within);
    }
}

fn note(talk: &mut Talk, activity: &Activity) {
    talk.through = talk.through.max(Some(activity.at));
    talk.recent.push(activity.id.clone());
    let mark = || Mark {
        id: activity.id.clone(),
        at: activity.at,
    };
    let words = match &activity.kind {
        ActivityKind::AgentMessaged { text } => {
            talk.agent = Some(Said {
                id: activity.id.clone(),
                at: activity.at,
                text: clip(text, TEXT_CHARS_MAX),
            });
            text.clone()
        }
        ActivityKind::UserMessaged { text } => {
            talk.user_at = talk.user_at.max(Some(activity.at));
            format!("(message to Jules) {text}")
        }
        ActivityKind::PlanGenerated(plan) => {
            let mut plan = plan.clone();
            plan.steps.truncate(PLAN_STEPS_MAX);
            for step in &mut plan.steps {
                step.title = clip(&step.title, WORDS_CHARS_MAX);
                step.description = clip(&step.description, WORDS_CHARS_MAX);
            }
            talk.plan = Some(PendingPlan {
                at: activity.at,
                plan,
            });
            "made a plan".to_owned()
        }
        ActivityKind::PlanApproved { plan } => {
            let same =
                |waiting: &PendingPlan| plan.as_ref().is_none_or(|id| *id == waiting.plan.id);
            talk.plan = talk.plan.take().filter(|waiting| !same(waiting));
            "plan approved".to_owned()
        }
        ActivityKind::Progressed { title, description } => format!("{title} {description}"),
        ActivityKind::Completed => {
            talk.completed = Some(mark());
            "said it is done".to_owned()
        }
        ActivityKind::Failed { reason } => {
            talk.failed = Some(clip(reason, TEXT_CHARS_MAX));
            reason.clone()
        }
        ActivityKind::Other { label } => label.clone(),
    };
    talk.last_words = Some(clip(words.trim(), WORDS_CHARS_MAX));
}

/// A failure is announced with its reason, for which it waits a little.
fn failed(step: &mut Step<Job>, mut watch: Watch, context: &attention::Context<'_>) {
    let waited = context.now.duration_since(watch.state_since) >= context.timing.text_wait;
    if watch.talk.failed.is_none() && !waited {
        watch.attention = Attention::Expecting {
            since: watch.state_since,
        };
        step.aggregate.phase = Phase::Watching(Box::new(watch));
        return;
    }
    let reason = watch
        .talk
        .failed
        .clone()
        .unwrap_or_else(|| "Jules gave no reason".to_owned());
    let what = Occurrence::Error {
        cause: ErrorCause::SessionFailed,
        reason: reason.clone(),
    };
    let key = format!("failed:{}", watch.session);
    step.events.push(event(
        &step.aggregate,
        &watch,
        (&key, what, Audience::Agent),
        context.now,
    ));
    end(step, &watch, How::Failed { reason }, context.now);
}

/// `stuck` needs the log to have been read just now: silence is only known to whoever listened.
fn stuck(step: &mut Step<Job>, watch: &mut Watch, context: &attention::Context<'_>) {
    let silent_since = watch
        .progress_at
        .max(watch.announced.stuck_at.unwrap_or(watch.progress_at));
    let silent = context.now.duration_since(silent_since) >= stuck_window(watch, context.timing);
    if !silent || context.snapshot.activities.is_none() {
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

fn stuck_window(watch: &Watch, timing: &Timing) -> SignedDuration {
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

/// When a watched session would be announced as stuck if nothing moved; none while it waits for somebody or rests.
pub(crate) fn stuck_deadline(watch: &Watch, timing: &Timing) -> Option<Timestamp> {
    let silent_since = watch
        .progress_at
        .max(watch.announced.stuck_at.unwrap_or(watch.progress_at));
    match (&watch.attention, &watch.state) {
        (Attention::None | Attention::Answered { .. }, state)
            if *state != SessionState::Completed =>
        {
            Some(silent_since + stuck_window(watch, timing))
        }
        (Attention::None | Attention::Answered { .. }, _)
        | (Attention::Expecting { .. } | Attention::Question { .. } | Attention::Plan { .. }, _) => {
            None
        }
    }
}

/// When the job must be looked at again whatever Jules shows.
pub fn deadline(job: &Job, timing: &Timing) -> Option<Timestamp> {
    match &job.phase {
        Phase::Queued { not_before, .. } => Some(*not_before),
        // The create effect has deadlines of its own; this one only catches its loss.
        Phase::Creating { since, .. } => Some(*since + SignedDuration::from_mins(10)),
        Phase::Ended(_) => None,
        Phase::Watching(watch) => Some(watch_deadline(watch, timing)),
    }
}

fn watch_deadline(watch: &Watch, timing: &Timing) -> Timestamp {
    if let Some(missing_since) = watch.missing_since {
        return missing_since.max(watch.since) + timing.not_found_grace;
    }
    match &watch.attention {
        Attention::Expecting { since } => *since + timing.text_wait,
        // A reminder to look, not a second announcement.
        Attention::Question { since, .. } | Attention::Plan { since, .. } => {
            *since + timing.watch_completed
        }
        Attention::None | Attention::Answered { .. } => {
            stuck_deadline(watch, timing).unwrap_or(watch.state_since + timing.watch_completed)
        }
    }
}

/// Ends the job and frees what it held.
pub(super) fn end(step: &mut Step<Job>, watch: &Watch, how: How, now: Timestamp) {
    let ending = Ending {
        at: now,
        session: Some(watch.session.clone()),
        pull: watch.pull.clone(),
        how,
    };
    step.aggregate.phase = Phase::Ended(ending);
    step.looks.push(Look::Slots(step.aggregate.account.clone()));
    step.looks.extend(watch.pull.clone().map(Look::Pull));
}

/// An event about the watched session; `key` names the occurrence within the job.
pub(super) fn event(
    job: &Job,
    watch: &Watch,
    (key, what, audience): (&str, Occurrence, Audience),
    now: Timestamp,
) -> Event {
    Event {
        id: EventId::of(&format!("{}:{key}", job.id)),
        job: Some(job.id.clone()),
        account: job.account.clone(),
        attempt: job.attempt,
        observed_at: now,
        status: watch.state.as_str().to_owned(),
        last_activity: watch.talk.through,
        what,
        audience,
    }
}
