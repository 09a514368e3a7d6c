//! What a delivery can see of its job and its pull request: only when this changes does it have to look again.

mod checks;

pub use checks::Checks;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::DeliveryPlan;
use super::run::summary_of_steps;
use crate::facts::PullState;
use crate::ids::{BranchName, CommitSha, JobId, PlanId, PullRef, SessionId};
use crate::job::{
    self, AgentMessage, Attention, EndReason, Job, JobPhase, RefusedApproval, WaitReason, Watch,
};
use crate::merge::{LastingReason, SessionStatus};
use crate::policy::Timing;
use crate::pull::{Pull, PullPhase};

/// What was last seen of others, and of what was started for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobGlimpse>,
    /// The pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullGlimpse>,
    /// When the workflow that deploys it was last started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatched_at: Option<Timestamp>,
    /// Since when that workflow cannot be started, since the name of the repository leads to another one, or to none that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_since: Option<Timestamp>,
}

/// What can be seen of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobGlimpse {
    /// Which.
    pub job: JobId,
    /// The branch that its change goes to.
    pub branch: BranchName,
    /// Its attempt.
    pub attempt: u32,
    /// What its session does.
    pub work: SessionWork,
    /// Its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullRef>,
    /// The round of the newest message of its delivery that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_sent: Option<u32>,
    /// The round of the message of its delivery that was given up last, since Jules refused all attempts at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_refused: Option<u32>,
    /// The approval of its delivery that Jules refused last, while its session waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_refused: Option<RefusedApproval>,
    /// Whether its plan was approved, and not by us: on Jules's own page.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approved_elsewhere: bool,
}

/// What a session does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionWork {
    /// It does not exist yet.
    Waiting,
    /// It works.
    Working,
    /// It asked something.
    Asking,
    /// Its plan waits for an approval.
    Planned(PlanId),
    /// It has nothing more to do, since a time if that is known.
    Resting(#[serde(with = "resting")] Option<Timestamp>),
    /// Its job is over.
    Ended(JobEnd),
}

/// A time that may be unknown, as an object: absent values are not stored, and a variant needs a value.
mod resting {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Resting {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Timestamp>,
    }

    pub(super) fn serialize<S: Serializer>(
        since: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        Resting { since: *since }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        Ok(Resting::deserialize(deserializer)?.since)
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnd {
    /// Its pull request was merged.
    Merged,
    /// Its pull request was closed.
    PullClosed,
    /// Its session was finished, and nothing more came.
    Completed,
    /// Its session failed.
    Failed(String),
    /// Its session is gone.
    Lost,
    /// Jules would not create its session.
    Refused(String),
    /// It was cancelled.
    Canceled(String),
}

/// What was seen of a job, with its plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSight {
    /// What can be seen of it.
    pub glimpse: JobGlimpse,
    /// The newest plan that its session showed.
    pub plan: Option<DeliveryPlan>,
    /// That plan in a few words.
    pub plan_summary: Option<String>,
    /// The last message of its session.
    pub said: Option<AgentMessage>,
    /// Its session, of the present attempt.
    pub session: Option<SessionId>,
}

/// What can be seen of a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullGlimpse {
    /// Which.
    pub pull: PullRef,
    /// Its head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// The reviewed head from which the present one differs by a merge of the base only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_work_as: Option<CommitSha>,
    /// How far the checks of its head are.
    pub checks: Checks,
    /// Whether nothing but an approval of its head keeps it from being merged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacks_approval: bool,
    /// What lasts of that which keeps its head from being merged: its issue is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_by: Vec<LastingReason>,
    /// Who approved this head on GitHub and may write to the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When it was closed, if that was a moment ago: it may be reopened yet, so that is no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Timestamp>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<PullEnd>,
}

/// How a pull request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullEnd {
    /// It was merged.
    Merged {
        /// The commit on the base branch.
        commit: Option<CommitSha>,
        /// The person who merged it; none if Gaffer did.
        by: Option<String>,
    },
    /// It was closed for good.
    Closed {
        /// Who closed it, if that is known.
        by: Option<String>,
    },
}

impl JobGlimpse {
    /// What can be seen of a job.
    pub fn of_job(job: &Job, timing: &Timing, now: Timestamp) -> Self {
        let (work, approved_elsewhere) = match &job.phase {
            JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Proposed { .. } => {
                (SessionWork::Waiting, false)
            }
            JobPhase::Watching(watch) => (watched(job, watch, timing, now), elsewhere(watch)),
            JobPhase::Ended(ending) => (SessionWork::Ended(ended(&ending.how)), false),
        };
        Self {
            job: job.id.clone(),
            branch: job.branch.clone(),
            attempt: job.attempt,
            work,
            pull: job.pull().cloned(),
            message_sent: job.message_sent,
            message_refused: job.message_refused,
            approval_refused: job::refused_approval(job).cloned(),
            approved_elsewhere,
        }
    }
}

impl JobSight {
    /// What was seen of a job, with the plan that waits, or that was approved on Jules's own page, maybe between two polls.
    pub fn of_job(job: &Job, timing: &Timing, now: Timestamp) -> Self {
        let log = job.watched().map(|watch| &watch.log);
        let shown = log.and_then(|log| log.plan.as_ref().or(log.approved_plan.as_ref()));
        Self {
            glimpse: JobGlimpse::of_job(job, timing, now),
            plan: shown.map(|it| DeliveryPlan::of_steps(&it.plan, it.at)),
            plan_summary: shown.and_then(|it| summary_of_steps(&it.plan)),
            said: log.and_then(|log| log.agent.clone()),
            session: job.session().cloned(),
        }
    }
}

fn watched(job: &Job, watch: &Watch, timing: &Timing, now: Timestamp) -> SessionWork {
    if let Some(plan) = plan_that_waits(watch) {
        return SessionWork::Planned(plan.clone());
    }
    let since = watch.announced.completed_at;
    match job::waits_for(job, None, None).what {
        WaitReason::Question => SessionWork::Asking,
        WaitReason::Result => SessionWork::Resting(since),
        // An answer or an approval is on its way: the session goes on.
        WaitReason::Answered | WaitReason::Nudged => SessionWork::Working,
        WaitReason::Plan
        | WaitReason::Slot
        | WaitReason::Quota
        | WaitReason::Session
        | WaitReason::Work
        | WaitReason::Words
        | WaitReason::Silence
        | WaitReason::Paused
        | WaitReason::UnknownState
        | WaitReason::Reading
        | WaitReason::Checks
        | WaitReason::Repair
        | WaitReason::Review
        | WaitReason::Approval
        | WaitReason::Blocked
        | WaitReason::Reopening
        | WaitReason::Merge
        | WaitReason::MergeCap
        | WaitReason::Delivery
        | WaitReason::Collected
        | WaitReason::Sprint
        | WaitReason::Start
        | WaitReason::Checkpoint
        | WaitReason::Failure
        | WaitReason::ApprovalRefused
        | WaitReason::PlanToSend
        | WaitReason::Verdict
        | WaitReason::Deployment
        | WaitReason::Observation
        | WaitReason::Parts
        | WaitReason::Hold
        | WaitReason::SourceHold
        | WaitReason::ObserveOnly
        | WaitReason::Ended => rest(job, &watch.session, timing, now, since),
    }
}

fn rest(
    job: &Job,
    session: &SessionId,
    timing: &Timing,
    now: Timestamp,
    since: Option<Timestamp>,
) -> SessionWork {
    match job::session_status(job, Some(session), timing, now) {
        SessionStatus::Resting => SessionWork::Resting(since),
        SessionStatus::Working | SessionStatus::Failed | SessionStatus::Cancelled => {
            SessionWork::Working
        }
    }
}

/// The plan that waits for an approval that was not ordered yet, and on which the session does not work already.
fn plan_that_waits(watch: &Watch) -> Option<&PlanId> {
    let shown = match &watch.attention {
        Attention::Plan { plan, .. } => plan.as_ref().map(|plan| &plan.id),
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Question { .. }
        | Attention::Answered { .. } => None,
    };
    let waiting = watch.log.plan.as_ref().filter(|plan| !plan.worked_on);
    let done = watch.log.completed.as_ref().map(|done| done.at);
    let waiting = waiting.filter(|plan| done.is_none_or(|done| done < plan.at));
    let plan = shown.or(waiting.map(|waiting| &waiting.plan.id))?;
    (watch.pull.is_none() && watch.announced.approved_plan.as_ref() != Some(plan)).then_some(plan)
}

/// Whether a plan was approved that we did not approve.
fn elsewhere(watch: &Watch) -> bool {
    watch.log.plan_approved_at.is_some()
        && watch.log.plan.is_none()
        && watch.announced.approved_plan.is_none()
}

fn ended(how: &EndReason) -> JobEnd {
    match how {
        EndReason::Merged { .. } | EndReason::Woven { .. } => JobEnd::Merged,
        EndReason::PullClosed => JobEnd::PullClosed,
        EndReason::Completed | EndReason::Left => JobEnd::Completed,
        EndReason::Failed { reason } => JobEnd::Failed(super::text::short(reason, 200)),
        EndReason::Lost => JobEnd::Lost,
        EndReason::Refused { reason } => JobEnd::Refused(super::text::short(reason, 200)),
        EndReason::Cancelled { by } => JobEnd::Canceled(by.clone()),
    }
}

impl PullGlimpse {
    /// What can be seen of a pull request in its record.
    pub fn of_pull(pull: &Pull) -> Self {
        let end = match &pull.phase {
            PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. } => None,
            PullPhase::Settled { state, by, .. } => match state {
                PullState::Open => None,
                PullState::Closed => Some(PullEnd::Closed { by: None }),
                PullState::Merged { commit } => Some(PullEnd::Merged {
                    commit: commit.clone(),
                    by: by.clone(),
                }),
            },
        };
        let settled = match &pull.phase {
            PullPhase::Settled { sha, .. } => Some(sha),
            PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Closed { .. } => None,
        };
        let head = settled.or(pull.head_for_delivery());
        let is_open = pull.phase == PullPhase::Open;
        let reviewed = pull.reviewed.as_ref().filter(|it| Some(&it.sha) == head);
        Self {
            pull: pull.pull.clone(),
            head: head.cloned(),
            same_work_as: head.and_then(|head| pull.same_work_as(head)).cloned(),
            checks: checks::checks(pull),
            lacks_approval: is_open && checks::lacks_approval(pull),
            held_by: match is_open {
                true => checks::held_by(pull),
                false => Vec::new(),
            },
            approved_by: reviewed.map(|it| it.by.clone()),
            closed_at: match pull.phase {
                PullPhase::Closed { since, .. } => Some(since),
                PullPhase::Open | PullPhase::Merging { .. } | PullPhase::Settled { .. } => None,
            },
            end,
        }
    }
}
