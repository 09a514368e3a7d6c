//! Who a delivery waits for: by its own record, or by its job and its pull request where those decide.

use jiff::Timestamp;

use super::asks::asks_merge;
use super::history;
use super::lateness::{is_stale, refused_approval};
use super::reason::waits_for;
use super::verify::{is_let_go, is_read_again};
use super::{Delivery, Phase, RunStatus, SessionWork};
use crate::ids::AgentName;
use crate::job::{WaitParty, WaitReason, WaitsFor};

/// Who is waited for. `of_job` is who its job waits for, or if it was split who its parts wait for, and `woken` the agent
/// that would be woken.
pub fn waits(delivery: &Delivery, of_job: Option<WaitsFor>, woken: Option<&AgentName>) -> WaitsFor {
    let since = history::since(delivery);
    let who = waits_for(delivery, woken);
    let closed_at = closed_at(delivery).filter(|_| who != WaitParty::Nobody);
    if closed_at.is_some() {
        return WaitsFor::new(WaitParty::Person, WaitReason::Reopening, closed_at);
    }
    match who {
        WaitParty::Nobody => WaitsFor::new(who, WaitReason::Ended, since),
        WaitParty::Person | WaitParty::Agent if delivery.run_status == RunStatus::Blocked => {
            let asked = WaitsFor::woken(woken, WaitReason::Question, since);
            of_job.unwrap_or(asked)
        }
        // What failed is a part, and not its own phase: who may try that again is told by the parts.
        WaitParty::Person if is_of_part(delivery) => {
            of_job.unwrap_or(WaitsFor::new(who, WaitReason::Parts, since))
        }
        WaitParty::Person => WaitsFor::new(who, asked_of_person(delivery), since),
        WaitParty::Agent => WaitsFor::woken(woken, asked_of_agent(delivery), since),
        WaitParty::Jules | WaitParty::GitHub | WaitParty::Gaffer => {
            if let Some((refused, _)) = refused_approval(delivery) {
                return WaitsFor::new(WaitParty::Jules, WaitReason::ApprovalRefused, refused.at);
            }
            let (who, what) = system(delivery, who);
            let own = WaitsFor::new(who, what, since);
            let told = of_job.filter(|told| is_told_by_job(delivery, told));
            let told = told.unwrap_or(own);
            // The agent is woken once the approval is all that the merge waits for.
            let is_asked = told.what == WaitReason::Approval && asks_merge(delivery).is_some();
            match is_asked {
                true => WaitsFor::woken(woken, told.what, told.since),
                false => told,
            }
        }
    }
}

/// When its pull request was closed, if that was a moment ago: until it counts as given up, nothing but reopening it helps.
fn closed_at(delivery: &Delivery) -> Option<Timestamp> {
    let is_open = delivery.run_status != RunStatus::Failed;
    let seen = delivery.pull_seen().filter(|_| is_open)?;
    seen.closed_at
}

fn is_of_part(delivery: &Delivery) -> bool {
    delivery.has_failed_part() && delivery.run_status != RunStatus::Failed
}

fn asked_of_person(delivery: &Delivery) -> WaitReason {
    if delivery.awaits_start() {
        return WaitReason::Start;
    }
    if delivery.awaits_approval() {
        return WaitReason::Checkpoint;
    }
    asked_of_agent(delivery)
}

fn asked_of_agent(delivery: &Delivery) -> WaitReason {
    if delivery.run_status == RunStatus::Failed {
        WaitReason::Failure
    } else if delivery.phase == Phase::Plan {
        WaitReason::PlanToSend
    } else {
        WaitReason::Verdict
    }
}

/// Whether its job has to say what is waited for. A job that has ended says nothing about what follows, and neither
/// does one whose plan the delivery has decided about.
fn is_told_by_job(delivery: &Delivery, told: &WaitsFor) -> bool {
    let is_behind = delivery.phase > Phase::Plan || has_rejected_plan(delivery);
    let is_decided = told.what == WaitReason::Plan && is_behind;
    let is_approved = told.what == WaitReason::Approval && is_let_go(delivery);
    // It is the delivery that its pull request waits for.
    let is_own = told.what == WaitReason::Delivery;
    // What is told of a head that was sent back was told before, and so was that of checks that are read again.
    let is_before_reading = is_read_again(delivery);
    let is_sent_back = delivery.phase == Phase::Implement && is_resting_on_sent_back(delivery);
    // A job whose present attempt was not seen yet tells of the attempt before.
    let is_before = delivery.children.is_empty() && delivery.job_seen().is_none();
    let is_past = is_before || is_before_reading || is_sent_back;
    // What a session does that was not seen yet is said once it was: until then it is told that there is none.
    let is_ahead = told.what == WaitReason::Work && has_no_session(delivery);
    let says_nothing = told.who == WaitParty::Nobody || is_own || is_past || is_ahead;
    !says_nothing && !is_decided && !is_approved && is_with_job(delivery)
}

/// Whether its session was not there when its job was last seen.
fn has_no_session(delivery: &Delivery) -> bool {
    let seen = delivery.job_seen();
    seen.is_some_and(|job| job.work == SessionWork::Waiting)
}

/// Whether its session has not taken up yet why its head was sent back.
fn is_resting_on_sent_back(delivery: &Delivery) -> bool {
    let sent_back = delivery.task.sent_back.as_ref();
    let is_present = sent_back.is_some() && sent_back == delivery.head();
    match delivery.job_seen().map(|job| &job.work) {
        Some(SessionWork::Resting(since)) => is_present && is_stale(delivery, *since),
        Some(
            SessionWork::Waiting
            | SessionWork::Working
            | SessionWork::Asking
            | SessionWork::Planned(_)
            | SessionWork::Ended(_),
        )
        | None => false,
    }
}

/// Whether the plan that its session shows was rejected: the session has yet to take that up.
fn has_rejected_plan(delivery: &Delivery) -> bool {
    match delivery.job_seen().map(|job| &job.work) {
        Some(SessionWork::Planned(plan)) => delivery.task.rejected_plan.as_ref() == Some(plan),
        Some(
            SessionWork::Waiting
            | SessionWork::Working
            | SessionWork::Asking
            | SessionWork::Resting(_)
            | SessionWork::Ended(_),
        )
        | None => false,
    }
}

/// Whether its job and its pull request say what is waited for.
fn is_with_job(delivery: &Delivery) -> bool {
    match delivery.phase {
        Phase::Plan | Phase::Implement | Phase::Verify => true,
        Phase::Review => delivery.review.asked.is_none() || delivery.reviewing_job().is_some(),
        Phase::Intake | Phase::Deploy | Phase::Observe | Phase::Close => false,
    }
}

/// What is awaited while no person and no agent is, and of whom: of `who`, unless Gaffer has to act first.
fn system(delivery: &Delivery, who: WaitParty) -> (WaitParty, WaitReason) {
    match delivery.phase {
        Phase::Plan if !delivery.children.is_empty() => (who, WaitReason::Parts),
        Phase::Plan | Phase::Implement => of_session(delivery, who),
        Phase::Review => (who, WaitReason::Verdict),
        Phase::Verify => (WaitParty::Gaffer, WaitReason::Reading),
        Phase::Deploy => (who, WaitReason::Deployment),
        Phase::Observe => (who, WaitReason::Observation),
        Phase::Intake | Phase::Close => (who, WaitReason::Ended),
    }
}

/// What is awaited of its session, as far as the delivery has seen.
fn of_session(delivery: &Delivery, who: WaitParty) -> (WaitParty, WaitReason) {
    let is_made = delivery.task.pull.is_some();
    if has_rejected_plan(delivery) {
        return (who, WaitReason::Answered);
    }
    match delivery.job_seen().map(|job| &job.work) {
        None | Some(SessionWork::Waiting) => (who, WaitReason::Session),
        Some(SessionWork::Working | SessionWork::Asking | SessionWork::Planned(_)) => {
            (who, WaitReason::Work)
        }
        Some(SessionWork::Resting(_) | SessionWork::Ended(_)) if delivery.phase == Phase::Plan => {
            (who, WaitReason::Work)
        }
        // It has yet to take up what it was told last.
        Some(SessionWork::Resting(since)) if is_stale(delivery, *since) => {
            (who, WaitReason::Answered)
        }
        Some(SessionWork::Resting(_) | SessionWork::Ended(_)) if is_made => {
            (WaitParty::Gaffer, WaitReason::Reading)
        }
        Some(SessionWork::Resting(_) | SessionWork::Ended(_)) => (who, WaitReason::Result),
    }
}
