//! The things that a delivery can want of others.

use super::{Actor, Child, Delivery, IssueRef, JobGlimpse, Phase};
use crate::event::{Audience, DeliveryAsk};
use crate::ids::{BranchName, CommitSha, DeliveryId, JobId, PlanId, PullRef};
use crate::priority::Priority;
use crate::pull::{Approval, MergeStyle};

/// What is the case while something is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sight {
    /// Its job, of whatever attempt; none while there is none.
    pub job: Option<JobGlimpse>,
    /// The priority by which its job waits for a slot, while it does.
    pub waits_by: Option<Priority>,
    /// Whether the job that reviews exists.
    pub review_job: bool,
    /// Jobs that are not needed any more and are not over.
    pub leftovers_open: Vec<JobId>,
    /// The plan with which it waits.
    pub review_plan: Option<PlanId>,
    /// The approval of its pull request for merging.
    pub approved: Option<Approval>,
    /// Whether the pull request of the attempt before is open.
    pub earlier_pull_open: bool,
    /// Its parts that exist and are not over.
    pub children_open: Vec<DeliveryId>,
    /// Its parts that exist and are over.
    pub children_over: Vec<DeliveryId>,
    /// Whether its issue is open.
    pub issue_open: bool,
}

/// One thing that a delivery wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// A job is to be created under this id.
    CreateJob {
        /// The id.
        job: JobId,
        /// What for.
        purpose: Purpose,
    },
    /// The job is to have another session.
    RetryJob {
        /// The job.
        job: JobId,
        /// The attempt that is wanted.
        attempt: u32,
        /// Why.
        reason: Option<String>,
        /// Whether its present session has to be ended first.
        start_over: bool,
    },
    /// A plan is to be approved.
    ApprovePlan {
        /// The job.
        job: JobId,
        /// The plan.
        plan: PlanId,
        /// In whose name.
        by: Actor,
    },
    /// Something is to be said to the session.
    Say {
        /// The job.
        job: JobId,
        /// The phase in which it is said.
        phase: Phase,
        /// The requested change; `None` = go on.
        text: Option<String>,
        /// What identifies the message.
        cause: String,
    },
    /// The job is to be cancelled.
    CancelJob {
        /// The job.
        job: JobId,
        /// In whose name.
        by: Actor,
    },
    /// The job is to wait for its slot by another priority.
    PrioritiseJob {
        /// The job.
        job: JobId,
        /// The priority.
        priority: Priority,
    },
    /// The job is to be followed no longer, and nothing of it touched.
    LeaveJob {
        /// The job.
        job: JobId,
    },
    /// The head is to be approved for merging.
    ApprovePull {
        /// The pull request.
        pull: PullRef,
        /// The head.
        head: CommitSha,
        /// In whose name.
        by: Actor,
        /// How they want it merged.
        style: MergeStyle,
    },
    /// A decision is to be asked for, once for each cause.
    Ask {
        /// Which decision.
        ask: DeliveryAsk,
        /// Who has to know.
        audience: Audience,
        /// What identifies the question.
        cause: String,
    },
    /// Its issue is to be told how far it is.
    Tell {
        /// The issue.
        issue: IssueRef,
        /// What identifies what is told.
        cause: String,
    },
    /// The session of the job is to be read now: it may have a pull request that is not known yet.
    ReadSession {
        /// The job.
        job: JobId,
    },
    /// The pull request is to be read now.
    ReadPull {
        /// The pull request.
        pull: PullRef,
    },
    /// The pull request of the attempt before is to be closed, with a pointer to the newer one.
    ClosePull {
        /// The older one.
        pull: PullRef,
        /// The newer one.
        newer: PullRef,
    },
    /// A part is to be created.
    CreateChild {
        /// The part.
        child: Box<Child>,
    },
    /// What a part is merged by is to be read now: its pull request, or its session, which may have one.
    ReadPart {
        /// The part.
        id: DeliveryId,
    },
    /// A part is to be cancelled.
    CancelChild {
        /// The part.
        id: DeliveryId,
        /// In whose name.
        by: Actor,
    },
    /// A workflow is to be dispatched.
    DispatchWorkflow {
        /// Its file.
        file: String,
        /// The branch.
        branch: BranchName,
        /// What identifies the dispatch.
        cause: String,
    },
    /// Whatever deploys or observes is to be asked how it goes.
    AskProvider {
        /// The phase.
        phase: Phase,
    },
    /// Announces that the phase failed.
    TellFailed {
        /// The phase.
        phase: Phase,
        /// Who has to know.
        audience: Audience,
        /// What identifies the failure.
        cause: String,
    },
    /// The issue is to be closed.
    CloseIssue {
        /// The issue.
        issue: IssueRef,
    },
}

/// What a job is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// It plans and implements.
    Work,
    /// It reviews a head.
    Review {
        /// The pull request.
        pull: PullRef,
        /// The head.
        head: CommitSha,
    },
}

impl Want {
    /// Whether the delivery cannot go on without it. What else is refused has been done already, or is asked for again.
    pub fn is_needed(&self) -> bool {
        match self {
            Self::CreateJob { .. } | Self::RetryJob { .. } | Self::CreateChild { .. } => true,
            Self::ApprovePlan { .. }
            | Self::Say { .. }
            | Self::CancelJob { .. }
            | Self::LeaveJob { .. }
            | Self::PrioritiseJob { .. }
            | Self::ApprovePull { .. }
            | Self::Ask { .. }
            | Self::Tell { .. }
            | Self::ReadSession { .. }
            | Self::ReadPull { .. }
            | Self::ClosePull { .. }
            | Self::ReadPart { .. }
            | Self::CancelChild { .. }
            | Self::DispatchWorkflow { .. }
            | Self::AskProvider { .. }
            | Self::TellFailed { .. }
            | Self::CloseIssue { .. } => false,
        }
    }
}

/// Identifies what is wanted for as long as a delivery stays where it is.
pub fn cause(delivery: &Delivery) -> String {
    format!("delivery:{}:{}", delivery.id, delivery.phase_runs.len())
}
