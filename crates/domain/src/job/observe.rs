//! What Jules shows of a session → events, effects and the next deadline.

use jiff::Timestamp;

use super::context::Context;
use super::due::{looked_at, reminded};
use super::event::event;
use super::silence::stuck;
use super::turns::CONFIRM_WAIT;
use super::watch::{Attention, Watch};
use super::{
    EndReason, Ending, Job, JobPhase, Observation, attention, completion, log, turns, unreviewed,
};
use crate::effect::{Action, JulesAction};
use crate::event::{Audience, ErrorCause, Occurrence};
use crate::ids::{PullRef, RepoName};
use crate::policy::{PlanApproval, Policy, Timing};
use crate::session::{SessionState, SessionView};
use crate::step::{FollowUp, Step};

/// Decides what an observation of the session means. A job without a session, an ended one, and one shown another
/// session stay unchanged.
pub fn observe(
    job: &Job,
    sight: &Observation,
    now: Timestamp,
    policy: &Policy,
    timing: &Timing,
) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    if let JobPhase::Watching(watch) = &job.phase {
        match sight {
            Observation::NotFound => missing(&mut step, watch, now, timing),
            Observation::Seen(snapshot) if snapshot.view.id == watch.session => {
                let context = Context {
                    snapshot,
                    now,
                    policy,
                    timing,
                };
                seen(&mut step, watch, &context);
            }
            Observation::Seen(_) => {}
        }
    }
    step.due = looked_at(&step.aggregate, timing);
    step
}

/// Handles a 404. A fresh session may not be visible yet, and a known one may flicker; only a lasting 404 ends the
/// job.
fn missing(step: &mut Step<Job>, watch: &Watch, now: Timestamp, timing: &Timing) {
    let mut watch = watch.clone();
    watch.not_ahead_of(now);
    let missing_since = *watch.missing_since.get_or_insert(now);
    if now.duration_since(missing_since.max(watch.since)) < timing.not_found_grace {
        step.aggregate.phase = JobPhase::Watching(Box::new(watch));
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
    end(step, &watch, EndReason::Lost, now);
}

fn seen(step: &mut Step<Job>, before: &Watch, context: &Context<'_>) {
    let mut watch = before.clone();
    let now = context.now;
    watch.not_ahead_of(now);
    watch.missing_since = None;
    see_state(&mut watch, &context.snapshot.view, now);
    log::read(
        &mut watch,
        context.snapshot.activities.as_deref().unwrap_or_default(),
        now,
    );
    log::keep_approved_plan(&mut watch, step.aggregate.delivery.is_some());
    let confirmable = |since: &Timestamp| now.duration_since(*since) < CONFIRM_WAIT;
    watch.unconfirmed_since = watch.unconfirmed_since.filter(confirmable);
    link_pull(step, &mut watch, &context.snapshot.view);
    unreviewed::notice(step, &mut watch, context);
    match &watch.state {
        SessionState::AwaitingUserFeedback => {
            attention::question(step, &mut watch, context);
            turns::go_on(step, &mut watch, context);
            stuck_unless_asked(step, &mut watch, context);
        }
        SessionState::AwaitingPlanApproval => {
            attention::plan(step, &mut watch, context);
            turns::go_on(step, &mut watch, context);
            stuck_unless_asked(step, &mut watch, context);
        }
        SessionState::Completed if completion::plan_waits(&watch) => {
            plan_after_all(step, &mut watch, context);
            turns::go_on(step, &mut watch, context);
            stuck_unless_asked(step, &mut watch, context);
        }
        SessionState::Completed => completion::completed(step, &mut watch, context),
        SessionState::Failed => return failed(step, watch, context),
        SessionState::InProgress => {
            completion::under_work(step, &mut watch, context);
            stuck(step, &mut watch, context);
        }
        SessionState::Unspecified
        | SessionState::Queued
        | SessionState::Planning
        | SessionState::Paused
        | SessionState::Other(_) => {
            watch.attention = Attention::None;
            stuck(step, &mut watch, context);
        }
    }
    // A completed session frees its slot, and its pull request may be merged now.
    if watch.state == SessionState::Completed && before.state != SessionState::Completed {
        step.follow_ups
            .push(FollowUp::Slots(step.aggregate.account.clone()));
        step.follow_ups
            .extend(watch.pull.clone().map(FollowUp::Pull));
    }
    if completion::is_left_alone(&watch, context) {
        // The session of a pipeline has nothing more to do; any other may be talked to again.
        let archive = step.aggregate.part.is_some().then(|| {
            Action::Jules(JulesAction::Archive {
                session: watch.session.clone(),
            })
        });
        step.effects.extend(archive);
        return end(step, &watch, EndReason::Completed, now);
    }
    reminded(&mut watch, context);
    step.aggregate.phase = JobPhase::Watching(Box::new(watch));
}

/// The word of approval or of completion may only be late, so a plan that waits in spite of COMPLETED is shown after a moment.
fn plan_after_all(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    if context.waited(watch.state_since) {
        attention::plan(step, watch, context);
    } else {
        watch.attention = Attention::Expecting {
            since: watch.state_since,
        };
    }
}

/// Enters a new state: what waited in the previous one is over, and a repetition is recognised by the announcements.
fn see_state(watch: &mut Watch, view: &SessionView, now: Timestamp) {
    if watch.state != view.state {
        watch.state = view.state.clone();
        watch.state_since = now;
        watch.progress_at = watch.progress_at.max(now);
        watch.attention = Attention::None;
    }
    if watch.url.is_none() {
        watch.url.clone_from(&view.url);
    }
}

/// Announces silence only while no answer is pending. An answered question and a plan that Gaffer approves itself
/// wait for no answer.
fn stuck_unless_asked(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let asked = match &watch.attention {
        Attention::None | Attention::Answered { .. } => false,
        Attention::Expecting { .. } | Attention::Question { .. } => true,
        Attention::Plan { .. } => context.policy.plan_approval != PlanApproval::Auto,
    };
    if !asked {
        stuck(step, watch, context);
    }
}

/// The newest pull request that a session has made in a repository; the known one unless there is a newer one.
///
/// Outputs have been seen to vanish from later answers, and their order is not guaranteed, so the highest number counts.
pub(crate) fn newest_pull<'a>(
    known: Option<&'a PullRef>,
    shown: &'a [PullRef],
    repo: &RepoName,
) -> Option<&'a PullRef> {
    let here = shown.iter().filter(|pull| pull.repo == *repo);
    here.chain(known).max_by_key(|pull| pull.number)
}

fn link_pull(step: &mut Step<Job>, watch: &mut Watch, view: &SessionView) {
    let newest = newest_pull(watch.pull.as_ref(), &view.pulls, &step.aggregate.repo);
    if let Some(pull) = newest
        .filter(|pull| watch.pull.as_ref() != Some(pull))
        .cloned()
    {
        step.follow_ups.push(FollowUp::Pull(pull.clone()));
        watch.pull = Some(pull);
    }
}

/// A failure is announced with its reason, for which it waits a little.
fn failed(step: &mut Step<Job>, mut watch: Watch, context: &Context<'_>) {
    if watch.log.failed_at.is_none() && !context.waited(watch.state_since) {
        watch.attention = Attention::Expecting {
            since: watch.state_since,
        };
        step.aggregate.phase = JobPhase::Watching(Box::new(watch));
        return;
    }
    let reason = watch.log.failed.clone();
    let reason = reason.unwrap_or_else(|| without_reason(&watch));
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
    end(step, &watch, EndReason::Failed { reason }, context.now);
}

/// The text for a failure without a reason from Jules: the last activity, and what to do.
fn without_reason(watch: &Watch) -> String {
    let last = watch.log.last_words.as_deref();
    let did = last.map_or("nothing was done before it".to_owned(), |words| {
        format!("the last thing in its log: {words}")
    });
    format!(
        "Jules gave no reason; {did}. Look at the session's page, then retry the job, with a reason if one can be seen."
    )
}

/// Ends the job and frees its slot.
pub(super) fn end(step: &mut Step<Job>, watch: &Watch, how: EndReason, now: Timestamp) {
    let session = Some(watch.session.clone());
    let ending = Ending {
        at: now,
        session,
        pull: watch.pull.clone(),
        how,
        plan_unreviewed: unreviewed::is_unreviewed(watch),
    };
    step.aggregate.phase = JobPhase::Ended(ending);
    step.follow_ups
        .push(FollowUp::Slots(step.aggregate.account.clone()));
    step.follow_ups
        .extend(watch.pull.clone().map(FollowUp::Pull));
}
