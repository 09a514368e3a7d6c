//! When a delivery is read again without a message, so that a lost message is found.

use jiff::{SignedDuration, Timestamp};

use super::asks;
use super::history;
use super::progress::is_stale;
use super::transcript::transcript_due;
use super::{
    Delivery, JobEnd, Mode, Observe, Performer, Phase, PlanBy, ReviewBy, RunResult, RunStatus, Work,
};
use crate::when::plus;

/// How often it looks while something is under way.
pub const LOOK_RUNNING: SignedDuration = SignedDuration::from_mins(10);

/// How often it asks how a deployment goes, what was deployed, or whether checks still fail.
const LOOK_DEPLOYING: SignedDuration = SignedDuration::from_mins(1);

/// How often it looks while a person is awaited.
pub const LOOK_WAITING: SignedDuration = SignedDuration::from_hours(1);

/// How long the agent has for a plan or a review, before a person is awaited.
pub const AGENT_ACTS_FOR: SignedDuration = SignedDuration::from_hours(8);

/// How long a pull request or a new head may be late after its session was finished: outputs are linked late, and a
/// head is seen with the next reading.
pub const RESULT_WAIT: SignedDuration = SignedDuration::from_mins(5);

/// How often an issue is told something at most.
pub const TELL_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// How long it still looks after it was closed, so that what is wanted then is done although a process died.
const LOOKS_CLOSED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// When it looks again at the latest; none once it is over.
pub fn due(delivery: &Delivery, now: Timestamp) -> Option<Timestamp> {
    let since = history::since(delivery);
    if delivery.is_terminal() {
        let is_recent = now < plus(since, LOOKS_CLOSED_FOR);
        let tells_at = tells_at(delivery).filter(|at| *at > now);
        let reads_at = transcript_due(delivery, now);
        let looks_at = is_recent.then(|| plus(now, LOOK_RUNNING));
        return looks_at.into_iter().chain(tells_at).chain(reads_at).min();
    }
    let wait = match delivery.phase {
        _ if awaits_person(delivery) => LOOK_WAITING,
        Phase::Deploy | Phase::Observe => LOOK_DEPLOYING,
        // Its pull request is read anew, which calls it: should that fail, it looks itself.
        Phase::Verify if delivery.task.forgiven.is_some() => LOOK_DEPLOYING,
        Phase::Intake
        | Phase::Plan
        | Phase::Implement
        | Phase::Review
        | Phase::Verify
        | Phase::Close => LOOK_RUNNING,
    };
    // A deadline that has passed was decided about.
    let reads_at = transcript_due(delivery, now);
    let deadlines = [deadline(delivery, since), tells_at(delivery), reads_at];
    let deadlines = deadlines.into_iter().flatten().filter(|at| *at > now);
    Some(deadlines.fold(plus(now, wait), Timestamp::min))
}

/// When its issue may be told what it was not told yet.
fn tells_at(delivery: &Delivery) -> Option<Timestamp> {
    let told = delivery.told.as_ref()?;
    asks::tell(delivery).map(|_| plus(told.at, TELL_EVERY))
}

/// Whether nothing moves before a person acts.
pub(super) fn awaits_person(delivery: &Delivery) -> bool {
    let is_running = delivery.run_status == RunStatus::Running;
    let reviewer = delivery.review.asked.as_ref().map(|asked| asked.by);
    let is_theirs = match delivery.phase {
        Phase::Plan => planner(delivery) == PlanBy::Human && delivery.children.is_empty(),
        Phase::Review => reviewer == Some(ReviewBy::Human),
        Phase::Intake
        | Phase::Implement
        | Phase::Verify
        | Phase::Deploy
        | Phase::Observe
        | Phase::Close => false,
    };
    delivery.run_status == RunStatus::Failed
        || delivery.awaits_start()
        || delivery.awaits_approval()
        || (is_running && is_theirs)
}

/// Who plans: the agent of its source until it is late, and a person from then on.
pub(super) fn planner(delivery: &Delivery) -> PlanBy {
    let mut newest_first = delivery.runs.iter().rev();
    let last = newest_first.find(|run| run.mode != Mode::Execution);
    let is_late = last.is_some_and(|run| {
        run.mode == Mode::Plan
            && run.status == RunResult::Running
            && run.performer == Performer::Human
    });
    match delivery.rules.plan_by {
        PlanBy::Agent if is_late => PlanBy::Human,
        whose @ (PlanBy::Agent | PlanBy::Human | PlanBy::Jules) => whose,
    }
}

/// Until when the agent has to send its plan.
pub(super) fn plan_due(delivery: &Delivery) -> Option<Timestamp> {
    let is_running = (delivery.phase, delivery.run_status) == (Phase::Plan, RunStatus::Running);
    let is_agents = planner(delivery) == PlanBy::Agent && delivery.children.is_empty();
    let since = history::since(delivery);
    (is_running && is_agents).then(|| plus(since, AGENT_ACTS_FOR))
}

/// When its phase fails, since its session came to rest without a result.
pub fn result_due(delivery: &Delivery) -> Option<Timestamp> {
    if (delivery.phase, delivery.run_status) != (Phase::Implement, RunStatus::Running) {
        return None;
    }
    // What is not read yet may be a result.
    let is_known = delivery.task.pull.is_none() || delivery.head().is_some();
    let since = history::since(delivery);
    let from = match delivery.job_seen().map(|job| &job.work)? {
        Work::Resting(rests) if !is_stale(delivery, *rests) => {
            Some(rests.map_or(since, |rests| rests.max(since)))
        }
        Work::Ended(JobEnd::Completed) => Some(since),
        Work::Resting(_) | Work::Ended(_) => None,
        Work::Waiting | Work::Working | Work::Asking | Work::Planned(_) => None,
    };
    from.filter(|_| is_known)
        .map(|from| plus(from, RESULT_WAIT))
}

/// When something is decided only because time has passed.
fn deadline(delivery: &Delivery, since: Timestamp) -> Option<Timestamp> {
    if delivery.run_status != RunStatus::Running {
        return None;
    }
    match delivery.phase {
        Phase::Implement => result_due(delivery),
        Phase::Review => {
            let asked = delivery.review.asked.as_ref();
            let asked = asked.filter(|asked| asked.by == ReviewBy::Agent)?;
            Some(plus(asked.at, AGENT_ACTS_FOR))
        }
        Phase::Observe => match delivery.rules.observe {
            Observe::Soak(time) => Some(plus(since, time)),
            Observe::None => None,
        },
        Phase::Plan => plan_due(delivery),
        Phase::Intake | Phase::Verify | Phase::Deploy | Phase::Close => None,
    }
}
