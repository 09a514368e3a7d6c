//! What a delivery does by itself: it goes on from what it has seen, step by step, until nothing more follows.

use jiff::Timestamp;

use super::history;
use super::lateness::{RESULT_WAIT, is_stale, plan_due};
use super::moves::Moving;
use super::reviewing::{checks_failed, head_moved, reviewed, reviewing};
use super::steps::{approval_refused, goes_on, message_refused, session_failed};
use super::{
    Actor, Checks, Closed, Deploy, Fault, JobEnd, Observe, Phase, PlanBy, PullEnd, RunStatus,
    SessionWork, parts,
};
use crate::when::plus;

/// More steps than any chain of decisions has: each goes to another phase or status.
const STEPS_MAX: usize = 16;

/// Goes on as far as is known.
pub(super) fn progress(moving: &mut Moving<'_>) {
    for _ in 0..STEPS_MAX {
        if moving.delivery.is_terminal() || !step(moving) {
            return;
        }
    }
}

/// One step; answers whether there was one to take.
fn step(moving: &mut Moving<'_>) -> bool {
    if ended_outside(moving) {
        return true;
    }
    match moving.at() {
        (_, RunStatus::Failed) => false,
        (Phase::Intake | Phase::Close, status) => leave(moving, status),
        (phase @ (Phase::Plan | Phase::Implement | Phase::Review), RunStatus::Pending) => {
            let goes_on = !moving.delivery.awaits_start();
            if goes_on {
                moving.run(phase, &Actor::System);
            }
            goes_on
        }
        (_, RunStatus::Running | RunStatus::Blocked) if asks(moving) => true,
        (_, RunStatus::Blocked) => false,
        (Phase::Plan, RunStatus::Running) => planning(moving),
        (Phase::Implement, RunStatus::Running) => implementing(moving),
        (Phase::Review, RunStatus::Running) => reviewing(moving),
        (Phase::Plan, RunStatus::Succeeded) => planned(moving),
        (Phase::Review, RunStatus::Succeeded) => reviewed(moving),
        (Phase::Implement, RunStatus::Succeeded) => goes_on(moving),
        (Phase::Verify, RunStatus::Pending | RunStatus::Running) => verifying(moving),
        (Phase::Deploy, RunStatus::Pending) => deploying(moving),
        (Phase::Observe, RunStatus::Pending) => observing(moving),
        (Phase::Deploy | Phase::Observe, RunStatus::Running) => false,
        (Phase::Verify | Phase::Deploy | Phase::Observe, RunStatus::Succeeded) => goes_on(moving),
    }
}

/// Intake and close are nothing but done.
fn leave(moving: &mut Moving<'_>, status: RunStatus) -> bool {
    match (moving.delivery.phase, status) {
        (Phase::Intake, RunStatus::Succeeded) => moving.pend(Phase::Plan, &Actor::System),
        (phase, _) => moving.enter(phase, &Actor::System),
    }
    true
}

/// People merge, close and call off by hand.
fn ended_outside(moving: &mut Moving<'_>) -> bool {
    let delivery = &moving.delivery;
    let (phase, status) = moving.at();
    if !delivery.children.is_empty() {
        return parts::follow(moving);
    }
    let end = delivery.pull_seen().and_then(|pull| pull.end.clone());
    match end {
        Some(PullEnd::Merged { by, .. }) if !is_verified(phase, status) => {
            let by = by.map_or(Actor::System, |by| Actor::person(&by));
            merged(moving, &by);
            true
        }
        Some(PullEnd::Closed { by }) if is_before_merge(phase) && status != RunStatus::Failed => {
            let text = "the pull request was closed without a merge";
            moving.fail(Fault::PullClosed, text, &Actor::on_github(by.as_deref()));
            true
        }
        Some(PullEnd::Merged { .. } | PullEnd::Closed { .. }) | None => false,
    }
}

/// Whether the merge of its pull request is behind it.
fn is_verified(phase: Phase, status: RunStatus) -> bool {
    phase > Phase::Verify || (phase, status) == (Phase::Verify, RunStatus::Succeeded)
}

fn is_before_merge(phase: Phase) -> bool {
    match phase {
        Phase::Plan | Phase::Implement | Phase::Review | Phase::Verify => true,
        Phase::Intake | Phase::Deploy | Phase::Observe | Phase::Close => false,
    }
}

/// Its pull request is merged, at whatever phase: verify is done, and it goes on to its endpoint.
fn merged(moving: &mut Moving<'_>, by: &Actor) {
    moving.delivery.trouble = None;
    moving.end_run_by_merge();
    if !moving.delivery.endpoint.merges() {
        return moving.close(Closed::Finished, by);
    }
    moving.verified(by);
}

/// A question blocks whatever is under way, and its answer lets it go on.
pub(super) fn asks(moving: &mut Moving<'_>) -> bool {
    if moving.delivery.phase > Phase::Verify || !moving.delivery.children.is_empty() {
        return unblock(moving, moving.delivery.run_status == RunStatus::Blocked);
    }
    let work = moving.delivery.job_seen().map(|job| job.work.clone());
    let is_asking = work == Some(SessionWork::Asking) || moving.delivery.is_asked_by_reviewer();
    let is_answered = work.is_some() && !is_asking;
    let blocked = moving.delivery.run_status == RunStatus::Blocked;
    if is_asking && !blocked {
        moving.ask(RunStatus::Blocked);
        return true;
    }
    unblock(moving, blocked && is_answered)
}

fn unblock(moving: &mut Moving<'_>, is_over: bool) -> bool {
    if is_over {
        moving.ask(RunStatus::Running);
    }
    is_over
}

fn planning(moving: &mut Moving<'_>) -> bool {
    if plan_due(&moving.delivery).is_some_and(|at| moving.now >= at) {
        moving.hand_over();
        return true;
    }
    if !moving.delivery.children.is_empty() || moving.rules.plan_by != PlanBy::Jules {
        return false;
    }
    if session_failed(moving) || message_refused(moving) {
        return true;
    }
    let Some(job) = moving.delivery.job_seen().cloned() else {
        return false;
    };
    let rejected = moving.delivery.task.rejected_plan.clone();
    let is_told = moving.delivery.task.message.is_some();
    let has_plan = match &job.work {
        SessionWork::Planned(plan) => rejected.as_ref() != Some(plan),
        // It went on without waiting for an approval, or a person gave one on Jules's own page.
        SessionWork::Working => job.approved_elsewhere && !is_told,
        SessionWork::Resting(since) => !is_stale(&moving.delivery, *since),
        SessionWork::Ended(_) => true,
        SessionWork::Waiting | SessionWork::Asking => false,
    };
    if has_plan {
        moving.succeed(&Actor::System, None);
    }
    has_plan
}

fn planned(moving: &mut Moving<'_>) -> bool {
    let is_asked = moving.delivery.awaits_approval();
    let elsewhere = moving
        .delivery
        .job_seen()
        .is_some_and(|job| job.approved_elsewhere);
    if is_asked && elsewhere && moving.rules.plan_by == PlanBy::Jules {
        // Who may approve there is a person of the account.
        moving.go_on(&Actor::person("on Jules's page"));
        return true;
    }
    goes_on(moving)
}

fn implementing(moving: &mut Moving<'_>) -> bool {
    if session_failed(moving) || message_refused(moving) || approval_refused(moving) {
        return true;
    }
    let since = match moving.delivery.job_seen().map(|job| &job.work) {
        Some(SessionWork::Resting(since)) => *since,
        Some(SessionWork::Ended(JobEnd::Completed)) => None,
        // How it ended is told by its pull request.
        Some(SessionWork::Ended(_)) => return false,
        Some(
            SessionWork::Waiting
            | SessionWork::Working
            | SessionWork::Asking
            | SessionWork::Planned(_),
        )
        | None => {
            return false;
        }
    };
    let sent_back = moving.delivery.task.sent_back.clone();
    let head = moving.delivery.head().cloned();
    let message = moving.delivery.task.message.as_ref();
    let seen = moving.delivery.job_seen();
    let is_told = message.is_none_or(|message| seen.is_some_and(|job| message.is_sent(job)));
    // What was pushed before the session was told what has to change is no answer to it.
    let head = head.filter(|head| sent_back.as_ref() != Some(head) && is_told);
    if let Some(head) = head {
        moving.made(&head);
        return true;
    }
    without_result(moving, since)
}

/// The session rests, and nothing new is there: that may only be late.
fn without_result(moving: &mut Moving<'_>, since: Option<Timestamp>) -> bool {
    let began = history::since(&moving.delivery);
    let waits_from = since.map_or(began, |since| since.max(began));
    let is_ended = matches!(
        moving.delivery.job_seen().map(|job| &job.work),
        Some(SessionWork::Ended(JobEnd::Completed))
    );
    let is_late = moving.now >= plus(waits_from, RESULT_WAIT);
    if !is_late || (!is_ended && is_stale(&moving.delivery, since)) {
        return false;
    }
    let (code, text) = if moving.delivery.task.pull.is_none() {
        let text = "the session was finished without a pull request";
        (Fault::NoPullRequest, text)
    } else if moving.delivery.head().is_none() {
        return false;
    } else {
        let text = "the session was finished without anything new";
        (Fault::NoNewCommit, text)
    };
    moving.fail(code, text, &Actor::System);
    true
}

fn verifying(moving: &mut Moving<'_>) -> bool {
    if head_moved(moving) || session_failed(moving) || checks_failed(moving) {
        return true;
    }
    let checks = moving.delivery.pull_seen().map(|pull| pull.checks);
    let begins = !moving.is_ordered
        && moving.delivery.run_status == RunStatus::Pending
        && checks.is_some_and(Checks::have_appeared);
    if begins {
        moving.run(Phase::Verify, &Actor::System);
    }
    begins
}

fn deploying(moving: &mut Moving<'_>) -> bool {
    match moving.rules.deploy {
        Deploy::None => {
            moving.run(Phase::Deploy, &Actor::System);
            moving.succeed(&Actor::System, Some("nothing was deployed"));
            true
        }
        Deploy::Workflow { .. } | Deploy::Deployment { .. } => false,
    }
}

fn observing(moving: &mut Moving<'_>) -> bool {
    moving.run(Phase::Observe, &Actor::System);
    match moving.rules.observe {
        Observe::None => moving.succeed(&Actor::System, Some("nothing was observed")),
        Observe::Soak(_) => {}
    }
    true
}

/// Whether a deployed change has to be observed for longer.
pub(super) fn is_soaking(moving: &Moving<'_>) -> bool {
    match moving.rules.observe {
        Observe::Soak(time) if moving.delivery.phase == Phase::Observe => {
            moving.now < plus(history::since(&moving.delivery), time)
        }
        Observe::Soak(_) | Observe::None => false,
    }
}
