//! What was seen of others: kept as far as a delivery decides by it.

use jiff::Timestamp;

use super::history::Actor;
use super::moves::Moving;
use super::review;
use super::{
    ChildState, Delivery, Fault, Input, IssueSight, IssueState, IssueTrouble, JobSight, Phase,
    PlanBy, ProviderReport, PullEnd, PullGlimpse, ReviewSight, ReviewState, RunStatus, Verdict,
    Work,
};
use crate::ids::DeliveryId;
use crate::redact::presentable;

/// Longest reason why an issue cannot be read, in characters.
const WHY_CHARS_MAX: usize = 200;

/// Keeps what was seen.
pub(super) fn see(moving: &mut Moving<'_>, input: &Input) {
    match input {
        Input::Job(sight, _) => job(moving, sight),
        Input::Pull(glimpse, _) => pull(moving, glimpse),
        Input::Issue(sight) => issue(moving, sight),
        Input::Child(id, state) => child(moving, id, *state),
        Input::Review(sight) => moving.done_by(&sight.job, sight.session.as_ref()),
        Input::Command(_) | Input::Provider(..) => {}
        Input::Cancelled(_) | Input::Deadline => {}
    }
}

/// Decides what can be decided only now, since it is not kept.
pub(super) fn decide(moving: &mut Moving<'_>, input: &Input) {
    match input {
        Input::Review(sight) => reviewed(moving, sight),
        Input::Provider(phase, report) => provider(moving, *phase, report),
        Input::Pull(glimpse, read_at) => {
            // A merge closes the issue, too: only a pull request that was read after it tells which it is.
            let closed = match &moving.delivery.trouble {
                Some(IssueTrouble::Closed { at, by }) if read_at >= at => Some(by.clone()),
                Some(IssueTrouble::Closed { .. } | IssueTrouble::Unreadable(_)) | None => None,
            };
            let is_it = moving.delivery.task.pull.as_ref() == Some(&glimpse.pull);
            if let Some(by) = closed.filter(|_| is_it && !is_merged(moving)) {
                moving.close(super::Closed::IssueClosed, &closer(by.as_deref()));
            }
        }
        Input::Issue(_) => issue_closed(moving, None),
        Input::Job(_, read_at) => issue_closed(moving, *read_at),
        Input::Cancelled(by) => moving.close(super::Closed::Cancelled, by),
        Input::Child(..) | Input::Command(_) | Input::Deadline => {}
    }
}

/// Who closed an issue.
pub(super) fn closer(by: Option<&str>) -> Actor {
    by.map_or_else(|| Actor::person("somebody on GitHub"), Actor::person)
}

fn is_merged(moving: &Moving<'_>) -> bool {
    let end = moving
        .delivery
        .pull_seen()
        .and_then(|pull| pull.end.as_ref());
    matches!(end, Some(PullEnd::Merged { .. }))
}

fn job(moving: &mut Moving<'_>, sight: &JobSight) {
    let delivery = &mut moving.delivery;
    let is_present = delivery.task.job.as_ref() == Some(&sight.glimpse.job)
        && delivery.task.attempt == sight.glimpse.attempt;
    // What is seen of an earlier attempt says nothing about this one.
    if !is_present {
        return;
    }
    delivery.seen.job = Some(sight.glimpse.clone());
    if sight.glimpse.pull.is_some() {
        delivery.task.pull.clone_from(&sight.glimpse.pull);
    }
    let by_jules = moving.rules.plan_by == PlanBy::Jules;
    let is_planning = delivery.phase == Phase::Plan && delivery.children.is_empty();
    let is_rejected = match &sight.glimpse.work {
        Work::Planned(plan) => delivery.task.rejected_plan.as_ref() == Some(plan),
        Work::Waiting | Work::Working | Work::Asking => false,
        Work::Resting(_) | Work::Ended(_) => false,
    };
    if let Some(plan) = sight
        .plan
        .as_ref()
        .filter(|_| by_jules && is_planning && !is_rejected)
    {
        delivery.plan = Some(plan.clone());
    }
    moving.done_by(&sight.glimpse.job, sight.session.as_ref());
}

fn pull(moving: &mut Moving<'_>, glimpse: &PullGlimpse) {
    let delivery = &mut moving.delivery;
    if delivery.task.pull.as_ref() != Some(&glimpse.pull) {
        return;
    }
    // What is merged stays merged, whatever a lagging reading shows.
    let is_merged = |seen: &PullGlimpse| matches!(seen.end, Some(PullEnd::Merged { .. }));
    if delivery.pull_seen().is_some_and(is_merged) && !is_merged(glimpse) {
        return;
    }
    delivery.seen.pull = Some(glimpse.clone());
    // Checks that run again may fail again.
    if glimpse.checks != super::Checks::GivenUp || glimpse.head != delivery.task.forgiven {
        delivery.task.forgiven = None;
    }
}

fn issue(moving: &mut Moving<'_>, sight: &IssueSight) {
    moving.delivery.trouble = match &sight.state {
        IssueState::Open => None,
        IssueState::Unreadable(why) => {
            Some(IssueTrouble::Unreadable(presentable(why, WHY_CHARS_MAX)))
        }
        // Closed before, and still: it counts from when that was first read.
        IssueState::Closed(by) => match moving.delivery.trouble.take() {
            Some(IssueTrouble::Closed { at, by }) => Some(IssueTrouble::Closed { at, by }),
            Some(IssueTrouble::Unreadable(_)) | None => Some(IssueTrouble::Closed {
                at: sight.read_at,
                by: by.as_deref().map(|by| presentable(by, 80)),
            }),
        },
    };
}

/// A closed issue closes its delivery, unless there is a pull request that may have been merged. A session that was
/// not read since may have one.
fn issue_closed(moving: &mut Moving<'_>, session_read_at: Option<Timestamp>) {
    let (closed_at, by) = match &moving.delivery.trouble {
        Some(IssueTrouble::Closed { at, by }) => (*at, closer(by.as_deref())),
        Some(IssueTrouble::Unreadable(_)) | None => return,
    };
    if is_merged(moving) || moving.delivery.phase > Phase::Verify {
        moving.delivery.trouble = None;
        return;
    }
    let is_read = session_read_at.is_some_and(|at| at >= closed_at);
    let is_known = is_read || !has_session(&moving.delivery);
    if is_known && moving.delivery.task.pull.is_none() {
        moving.close(super::Closed::IssueClosed, &by);
    }
}

/// Whether there is a session whose job is not over.
fn has_session(delivery: &Delivery) -> bool {
    match delivery.job_seen().map(|job| &job.work) {
        Some(Work::Working | Work::Asking | Work::Planned(_) | Work::Resting(_)) => true,
        Some(Work::Waiting | Work::Ended(_)) | None => false,
    }
}

fn child(moving: &mut Moving<'_>, id: &DeliveryId, state: ChildState) {
    let mut children = moving.delivery.children.iter_mut();
    if let Some(child) = children.find(|child| child.id == *id)
        && child.state != ChildState::Closed
    {
        child.state = state;
    }
}

/// The session that reviews came to an end.
fn reviewed(moving: &mut Moving<'_>, sight: &ReviewSight) {
    let at = (Phase::Review, RunStatus::Running);
    let asked = moving.delivery.review.asked.clone();
    let asked = asked.filter(|asked| asked.job.as_ref() == Some(&sight.job));
    let Some(asked) = asked.filter(|_| moving.at() == at) else {
        return;
    };
    // What it says is about the head that it was asked about.
    if moving.delivery.head() != Some(&asked.head) {
        return;
    }
    let by = Actor::agent("jules");
    match &sight.state {
        ReviewState::Working => {}
        ReviewState::Failed(why) => moving.fail(Fault::ReviewFailed, why, &by),
        ReviewState::Said(text) => match review::parse(text) {
            Ok(output) => {
                if output.verdict == Verdict::NotPass {
                    moving.delivery.feedback.clone_from(&output.feedback);
                }
                let note = Some(output.summary.as_str());
                moving.judge(output.verdict, &asked.head, (&by, note));
            }
            Err(odd) => moving.fail(Fault::MalformedReview, &odd.to_string(), &by),
        },
    }
}

/// What deploys or observes has news.
fn provider(moving: &mut Moving<'_>, phase: Phase, report: &ProviderReport) {
    if moving.delivery.phase != phase || !phase_is_provided(phase) {
        return;
    }
    let fault = if phase == Phase::Deploy {
        Fault::DeployFailed
    } else {
        Fault::ObserveFailed
    };
    let status = moving.delivery.run_status;
    let is_open = status == RunStatus::Pending || status.is_under_way();
    if !is_open {
        return;
    }
    match report {
        ProviderReport::Nothing => {}
        ProviderReport::Running if status == RunStatus::Pending => {
            moving.run(phase, &Actor::System);
        }
        ProviderReport::Running => {}
        ProviderReport::Good if super::progress::is_soaking(moving) => {}
        ProviderReport::Good => moving.succeed(&Actor::System, None),
        ProviderReport::Bad(why) => moving.fail(fault, why, &Actor::System),
    }
}

fn phase_is_provided(phase: Phase) -> bool {
    match phase {
        Phase::Deploy | Phase::Observe => true,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Review
        | Phase::Verify
        | Phase::Close => false,
    }
}
