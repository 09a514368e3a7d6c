//! A job that belongs to no delivery, shown as one. It is computed and stored nowhere: such a job costs nothing more
//! than before.

use jiff::Timestamp;

use super::glimpse::{Checks, JobEnd, JobGlimpse, PullEnd, PullGlimpse, SessionWork};
use super::history::PhaseRun;
use super::refs;
use super::{
    Actor, Checkpoints, Closed, Delivery, DeliveryKind, DeliveryPlan, Endpoint, Failed, Fault,
    Phase, Ref, RefRole, RefType, Rules, RunStatus, SCHEMA_VERSION, Seen, Task,
};
use crate::ids::DeliveryId;
use crate::job::{self, Job, WaitReason};
use crate::policy::Timing;
use crate::pull::{Pull, PullPhase};

/// The delivery as which a job is shown that belongs to none. Its actions are the job's orders.
pub fn of_job(job: &Job, pull: Option<&Pull>, timing: &Timing, now: Timestamp) -> Delivery {
    let seen = JobGlimpse::of_job(job, timing, now);
    let pull = pull.filter(|pull| job.pull() == Some(&pull.pull));
    let glimpse = pull.map(PullGlimpse::of_pull);
    let waits = job::waits_for(job, pull, None);
    let (phase, run_status, error) = place(&seen, waits.what, glimpse.as_ref());
    let since = since(job, pull, waits.since);
    let plan = job::plan_to_approve(job).map(|(plan, at)| DeliveryPlan::of_steps(plan, at));
    let closed = (phase == Phase::Close).then_some(Closed::Finished);
    Delivery {
        id: DeliveryId::of_job(&job.id),
        seq: 0,
        schema_version: SCHEMA_VERSION,
        kind: DeliveryKind::Adhoc,
        repo: job.repo.clone(),
        issue: None,
        requirement: None,
        summary: job.title.clone(),
        description: None,
        acceptance_criteria: Vec::new(),
        phase,
        run_status,
        verdict: None,
        endpoint: Endpoint::VERIFY,
        checkpoints: Checkpoints::none(),
        refs: references(job),
        plan,
        error,
        feedback: None,
        attempt: job.attempt,
        review_round: 0,
        priority: job.priority,
        parent: None,
        children: Vec::new(),
        runs: Vec::new(),
        phase_runs: vec![PhaseRun {
            phase,
            run_status,
            verdict: None,
            started_at: since,
            ended_at: None,
            actor: Actor::System,
        }],
        version: 0,
        created_at: job.created_at,
        updated_at: since,
        rules: rules(),
        started: true,
        task: Task {
            job: Some(job.id.clone()),
            attempt: job.attempt,
            pull: job.pull().cloned(),
            ..Task::default()
        },
        review: super::Reviewing::default(),
        leftovers: Vec::new(),
        seen: Seen {
            job: Some(seen),
            pull: glimpse,
            dispatched_at: None,
            held_since: None,
        },
        told: None,
        trouble: None,
        refused: None,
        closed,
        taken: Vec::new(),
    }
}

impl Delivery {
    /// Whether it shows a job that belongs to none: what is stored has a number.
    pub(super) fn shows_bare_job(&self) -> bool {
        self.seq == 0
    }
}

/// The rules of a delivery that ends with its pull request and has no checkpoint.
fn rules() -> Rules {
    Rules {
        endpoint: Endpoint::VERIFY,
        checkpoints: Checkpoints::none(),
        ..Rules::default()
    }
}

fn references(job: &Job) -> Vec<Ref> {
    let mut all = vec![Ref {
        role: RefRole::Trigger,
        kind: RefType::Verbal,
        label: job.title.clone(),
        url: None,
    }];
    if let Some(pull) = job.pull() {
        refs::add(&mut all, refs::output(pull));
    }
    all
}

/// Since when it is where it is, as far as is known.
fn since(job: &Job, pull: Option<&Pull>, waits: Option<Timestamp>) -> Timestamp {
    let settled = pull.and_then(|pull| match &pull.phase {
        PullPhase::Settled { at, .. } => Some(*at),
        PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. } => None,
    });
    settled.or(waits).unwrap_or(job.created_at)
}

type Place = (Phase, RunStatus, Option<Failed>);

/// Where a job is. What its session asks is told by the rule of the job that says who it waits for.
fn place(job: &JobGlimpse, waits_for: WaitReason, pull: Option<&PullGlimpse>) -> Place {
    let failed = |phase, code, text: &str| {
        let text = text.to_owned();
        (phase, RunStatus::Failed, Some(Failed { code, text }))
    };
    let is_cancelled = matches!(job.work, SessionWork::Ended(JobEnd::Canceled(_)));
    match pull.and_then(|pull| pull.end.as_ref()) {
        Some(PullEnd::Merged { .. }) => return (Phase::Close, RunStatus::Succeeded, None),
        // The pull request of a job that is cancelled is closed for that.
        Some(PullEnd::Closed { .. }) if !is_cancelled => {
            let text = "the pull request was closed without a merge";
            return failed(Phase::Verify, Fault::PullClosed, text);
        }
        Some(PullEnd::Closed { .. }) | None => {}
    }
    if waits_for == WaitReason::Plan {
        return (Phase::Plan, RunStatus::Blocked, None);
    }
    match &job.work {
        SessionWork::Waiting => (Phase::Implement, RunStatus::Pending, None),
        SessionWork::Working => (Phase::Implement, RunStatus::Running, None),
        SessionWork::Asking => (Phase::Implement, RunStatus::Blocked, None),
        // No one is asked about this plan now: it was answered, or the session does not wait for it yet.
        SessionWork::Planned(_) => (Phase::Plan, RunStatus::Running, None),
        SessionWork::Resting(_) if job.pull.is_some() => verifying(pull),
        SessionWork::Resting(_) => (Phase::Implement, RunStatus::Succeeded, None),
        SessionWork::Ended(end) => match end {
            JobEnd::Merged | JobEnd::Completed => (Phase::Close, RunStatus::Succeeded, None),
            JobEnd::PullClosed => {
                let text = "the pull request was closed without a merge";
                failed(Phase::Verify, Fault::PullClosed, text)
            }
            JobEnd::Failed(why) => failed(Phase::Implement, Fault::SessionFailed, why),
            JobEnd::Lost => failed(Phase::Implement, Fault::SessionLost, "the session is gone"),
            JobEnd::Refused(why) => failed(Phase::Implement, Fault::SessionRefused, why),
            JobEnd::Canceled(_) => failed(Phase::Implement, Fault::Canceled, super::CANCELED),
        },
    }
}

fn verifying(pull: Option<&PullGlimpse>) -> Place {
    let checks = pull.map_or(Checks::Unknown, |pull| pull.checks);
    let status = if checks.have_appeared() {
        RunStatus::Running
    } else {
        RunStatus::Pending
    };
    (Phase::Verify, status, None)
}
