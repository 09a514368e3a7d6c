//! What a delivery waits for, and when that is late: a plan, a review, what comes of a session, or a deployment.

use jiff::{SignedDuration, Timestamp};

use super::history;
use super::{
    Delivery, Deploy, JobEnd, JobGlimpse, Mode, Observe, Performer, Phase, PlanBy, ProviderReport,
    ReviewBy, RunResult, RunStatus, SessionWork, TaskMessage,
};
use crate::job::RefusedApproval;
use crate::when::plus;

/// How often it looks while a person is awaited.
pub const LOOK_WAITING: SignedDuration = SignedDuration::from_hours(1);

/// How long the agent has for a plan or a review, before a person is awaited.
pub const AGENT_ACTS_FOR: SignedDuration = SignedDuration::from_hours(8);

/// How long a pull request or a new head may be late after its session was finished: outputs are linked late, and a
/// head is seen with the next reading.
pub const RESULT_WAIT: SignedDuration = SignedDuration::from_mins(5);

/// How long a deployment may take until its end is reported: longer than GitHub lets a job run, and a person who has to approve it
/// there may do so on the next day.
pub const DEPLOYED_WITHIN: SignedDuration = SignedDuration::from_hours(24);

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
        SessionWork::Resting(rests) if !is_stale(delivery, *rests) => {
            Some(rests.map_or(since, |rests| rests.max(since)))
        }
        SessionWork::Ended(JobEnd::Completed) => Some(since),
        SessionWork::Resting(_) | SessionWork::Ended(_) => None,
        SessionWork::Waiting
        | SessionWork::Working
        | SessionWork::Asking
        | SessionWork::Planned(_) => None,
    };
    from.filter(|_| is_known)
        .map(|from| plus(from, RESULT_WAIT))
}

/// When its deployment fails, unless its end is reported before. Only a reading decides that: what was not read may be the end.
pub(super) fn deployed_due(delivery: &Delivery) -> Option<Timestamp> {
    let is_awaited = match delivery.run_status {
        RunStatus::Pending | RunStatus::Running => delivery.phase == Phase::Deploy,
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Blocked => false,
    };
    let from = deployed_from(delivery).filter(|_| is_awaited);
    from.map(|from| plus(from, DEPLOYED_WITHIN))
}

/// Since when its workflow cannot be started, since the name of the repository leads to another one.
pub(super) fn held_since(delivery: &Delivery) -> Option<Timestamp> {
    let is_awaited = (delivery.phase, delivery.run_status) == (Phase::Deploy, RunStatus::Pending);
    let since = history::deploying_since(delivery);
    // What was held or started before a retry is not what is awaited.
    let is_started = delivery.seen.dispatched_at.is_some_and(|at| at >= since);
    let held = delivery.seen.held_since.filter(|at| *at >= since);
    held.filter(|_| is_awaited && !is_started)
}

/// Since when its deployment takes time. Whatever else holds the start of a workflow back, such as a pause, takes none of it.
fn deployed_from(delivery: &Delivery) -> Option<Timestamp> {
    let since = history::deploying_since(delivery);
    match delivery.rules.deploy {
        Deploy::None | Deploy::Deployment { .. } => Some(since),
        Deploy::Workflow { .. } => {
            // What was started before a retry is not what is awaited.
            let dispatched = delivery.seen.dispatched_at.filter(|at| *at >= since);
            // A run that a person started counts from when it was seen.
            let is_running = delivery.run_status == RunStatus::Running;
            let seen = dispatched.or_else(|| is_running.then(|| history::since(delivery)));
            seen.or_else(|| held_since(delivery))
        }
    }
}

/// When its observation fails, unless the checks can be read before.
fn observed_due(delivery: &Delivery) -> Option<Timestamp> {
    let is_observed = (delivery.phase, delivery.run_status) == (Phase::Observe, RunStatus::Running);
    match delivery.rules.observe {
        Observe::Soak(time) if is_observed => {
            Some(plus(plus(history::since(delivery), time), DEPLOYED_WITHIN))
        }
        Observe::Soak(_) | Observe::None => None,
    }
}

/// What was reported, while there is time: a deployment without an end counts as a bad one then, and so does what cannot be observed.
pub(super) fn in_time(
    delivery: &Delivery,
    report: &ProviderReport,
    now: Timestamp,
) -> ProviderReport {
    let is_late = |due: Option<Timestamp>| due.is_some_and(|at| now >= at);
    let hours = DEPLOYED_WITHIN.as_hours();
    match report {
        ProviderReport::Nothing | ProviderReport::Running if is_late(deployed_due(delivery)) => {
            ProviderReport::Bad(match held_since(delivery) {
                None => format!("no end of its deployment was reported within {hours} hours"),
                Some(_) => format!(
                    "its workflow could not be started within {hours} hours: the name of the repository leads to another one, or to none that can be read"
                ),
            })
        }
        // Checks that can be read are never nothing.
        ProviderReport::Nothing if is_late(observed_due(delivery)) => ProviderReport::Bad(format!(
            "no checks of its merge commit could be read within {hours} hours after its time"
        )),
        ProviderReport::Nothing
        | ProviderReport::Running
        | ProviderReport::Good
        | ProviderReport::Bad(_) => report.clone(),
    }
}

/// Whether what a session did is older than the last message to it.
pub(super) fn is_stale(delivery: &Delivery, since: Option<Timestamp>) -> bool {
    let message = delivery.task.message.as_ref();
    message.is_some_and(|message| since.is_none_or(|since| since <= message.at))
}

/// The approval of its plan that Jules refused, and when that is tried again.
pub(super) fn refused_approval(delivery: &Delivery) -> Option<(&RefusedApproval, Timestamp)> {
    let is_approved =
        (delivery.phase, delivery.run_status) == (Phase::Implement, RunStatus::Running);
    let seen = delivery.job_seen().filter(|_| is_approved)?;
    let refused = seen.approval_refused.as_ref()?;
    Some((refused, refused.again_at?))
}

impl TaskMessage {
    /// Whether it was sent.
    pub(super) fn is_sent(&self, seen: &JobGlimpse) -> bool {
        seen.message_sent.is_some_and(|sent| sent >= self.round)
    }

    /// Whether it was given up, and did not arrive.
    pub(super) fn is_refused(&self, seen: &JobGlimpse) -> bool {
        seen.message_refused == Some(self.round) && !self.is_sent(seen)
    }
}
