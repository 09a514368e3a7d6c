//! A delivery: one piece of intent on its way from an issue to a merged change and a closed issue.
//!
//! It sits above its job and its pull request and owns neither: the job has its sessions, the pull request its evidence.
//! It has phases, a verdict, checkpoints at which a person is awaited, and runs.
//! What it wants of others is computed at every look ([`wants()`]), so that a lost message loses nothing.

mod actor;
mod adhoc;
mod apply;
mod asks;
mod closed;
mod commands;
mod create;
mod due;
mod execution;
mod failure;
mod fault;
mod gate;
mod glimpse;
mod history;
mod input;
mod issue_ref;
mod job_orders;
mod lateness;
mod legal;
mod looked_at;
mod moves;
mod parts;
mod phase;
mod progress;
mod reason;
mod refs;
mod refusal;
mod review;
mod review_sight;
mod reviewing;
mod rules;
mod run;
mod sights;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
mod text;
mod transcript;
mod verify;
mod waits;
mod want;
mod wants;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use actor::Actor;
pub use adhoc::of_job;
pub use apply::{apply, was_taken, with_issue_left, with_transcript};
pub use asks::{announces_failure, asking, is_failed_by, is_past, tell, whole_plan_url};
pub use closed::Closed;
pub use create::{CHILDREN_MAX, check_number_of_children, create, is_same_trigger};
pub use due::{LOOK_RUNNING, TELL_EVERY, due};
pub use execution::{Execution, execution};
pub use fault::{Failed, Fault, IssueTrouble};
pub use gate::gate;
pub use glimpse::{Checks, JobEnd, JobGlimpse, JobSight, PullEnd, PullGlimpse, Seen, SessionWork};
pub use history::{PhaseRun, SPANS_MAX, deploy_failed_at, deploying_again_since, deploying_since};
pub use input::{
    Act, ChildState, Command, CommandKind, DeliveryInput, Edit, IssueSight, IssueState,
    NewDelivery, PartsSight, ProviderReport, ReviewResult, ReviewSight, ReviewState,
};
pub use issue_ref::IssueRef;
pub use job_orders::{called_off_with, merge_order, retry_order, takes_order};
pub use lateness::{AGENT_ACTS_FOR, DEPLOYED_WITHIN, LOOK_WAITING, RESULT_WAIT, result_due};
pub use legal::{TransitionError, is_called_off, legal, plan_approval, retry_takes_reason};
pub use parts::waits_of_parts;
pub use phase::{Checkpoints, Endpoint, Executor, OddPhase, Phase, RunStatus, Verdict};
pub(crate) use reason::public_reasons;
pub use reason::{DeliveryReason, is_told_by_pull, reasons};
pub use refs::{LABEL_BYTES_MAX, REFS_MAX, Ref, RefRole, RefType};
pub use refusal::{REFUSALS_MAX, Refusal};
pub use review::{MalformedReview, ReviewOutput, parse as parse_review};
pub use rules::{
    CheckpointsBy, Deploy, IntakeLabel, Observe, OddRules, PlanBy, ROUNDS_MAX, ReviewBy, Rules,
};
pub use run::{
    Analysis, DeliveryPlan, Mode, Performer, RUNS_MAX, Run, RunResult, SESSION_WORKING,
    SUMMARY_CHARS_MAX, TranscriptState, result_of,
};
pub use text::{
    CRITERIA_BYTES_MAX, CRITERIA_MAX, CRITERION_CHARS_MAX, DESCRIPTION_BYTES_MAX,
    FEEDBACK_CHARS_MAX, IssueText, PLAN_BYTES_MAX, Part, TITLE_CHARS_MAX, of_issue, typed_parts,
};
pub use transcript::{
    EntryKind, TRANSCRIPT_PAGE_BYTES_MAX, TRANSCRIPT_PAGES_MAX, TranscriptEntry, TranscriptSpan,
    transcript, transcript_due, transcript_pages, transcript_span, transcripts_wanted,
};
pub use verify::is_read_again;
pub use waits::waits;
pub use want::{Purpose, Sight, Want, cause};
pub use wants::{open_events, order_giver, unsent_cause, wants};

use crate::ids::{CommitSha, DeliveryId, JobId, PlanId, PullRef, RepoName};
use crate::pull::MergeStyle;
use crate::{pipeline::RequirementRef, priority::Priority};

/// The form in which deliveries are stored and exported.
pub const SCHEMA_VERSION: u32 = 1;

/// The error of a cancelled phase.
pub const CANCELED: &str = "Canceled by user";

/// One piece of intent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Ours.
    pub id: DeliveryId,
    /// Its number, larger than that of any earlier one.
    pub seq: u64,
    /// The form in which it is stored.
    pub schema_version: u32,
    /// What kind it is.
    pub kind: DeliveryKind,
    /// The repository.
    pub repo: RepoName,
    /// The issue that triggered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueRef>,
    /// The requirement of the pipeline that it implements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<RequirementRef>,
    /// What it is about.
    pub summary: String,
    /// More about it, as it was when the delivery was created; text from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// Where it is.
    pub phase: Phase,
    /// How that goes.
    pub run_status: RunStatus,
    /// What the review came to: only while the review is the phase, and succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Its last phase before it closes.
    pub endpoint: Endpoint,
    /// The phases after which a person is awaited.
    pub checkpoints: Checkpoints,
    /// What it refers to.
    pub refs: Vec<Ref>,
    /// Its plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<DeliveryPlan>,
    /// Why its phase failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failed>,
    /// What was said when it was last sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// The number of its present attempt, from 1; one that got no session is counted, too.
    pub attempt: u32,
    /// How often its review sent it back.
    pub review_round: u32,
    /// How much it matters.
    #[serde(default)]
    pub priority: Priority,
    /// The delivery that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<DeliveryId>,
    /// The deliveries into which it was split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Child>,
    /// Executions of its phases, the oldest first.
    pub runs: Vec<Run>,
    /// Where it was, and when, the oldest first.
    pub phase_runs: Vec<PhaseRun>,
    /// How often it has changed.
    pub version: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The source's settings when it was created.
    pub rules: Rules,
    /// Whether its first phase has begun: a person who is awaited there is awaited once.
    pub started: bool,
    /// The session that plans and implements.
    pub task: Task,
    /// Its review.
    #[serde(default)]
    pub review: Reviewing,
    /// Its newest jobs that it does not need any more, for example those of earlier reviews: they are cancelled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leftovers: Vec<JobId>,
    /// What was last seen of its job and its pull request.
    #[serde(default)]
    pub seen: Seen,
    /// What its issue was last told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// What is odd about its issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<IssueTrouble>,
    /// What it needs next and was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// How it closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Closed>,
    /// Digests of the newest commands that were taken, so that none is taken twice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<String>,
}

/// What kind of delivery it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryKind {
    /// An issue triggers it.
    Issue,
    /// A requirement of a pipeline asks for it.
    Requirement,
    /// A member of a sprint: none is created yet.
    Member,
    /// The integration of a sprint: none is created yet.
    Integration,
    /// A request created it, or it shows a job that belongs to no delivery.
    Adhoc,
}

/// A part into which a delivery was split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    /// Its id.
    pub id: DeliveryId,
    /// What it is about.
    pub summary: String,
    /// When it is done.
    pub acceptance_criteria: Vec<String>,
    /// How far it is.
    pub state: ChildState,
}

/// The session that plans and implements: one job, as long as it may have another attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The job; none before it is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// Which attempt of that job, from 1.
    pub attempt: u32,
    /// Rounds with the session so far: each is one message to it.
    pub round: u32,
    /// The last message to the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<TaskMessage>,
    /// A plan that was rejected: the session has to make another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_plan: Option<PlanId>,
    /// Its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullRef>,
    /// The head that was sent back: only another one is a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_back: Option<CommitSha>,
    /// The pull request of the attempt before: closed once there is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_pull: Option<PullRef>,
    /// Whether that was not merged when it was read after the issue was closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier_unmerged: bool,
    /// The head whose failed checks were forgiven by a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgiven: Option<CommitSha>,
}

/// A message to the session, identified by its round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMessage {
    /// The round that it begins.
    pub round: u32,
    /// The requested change.
    pub text: String,
    /// When it was decided.
    pub at: Timestamp,
}

/// What an issue was last told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// When.
    pub at: Timestamp,
    /// What, as a digest.
    pub cause: String,
    /// How many times it was told something: the same text may be due again after another one.
    pub count: u32,
}

/// A review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewing {
    /// The head that the last verdict is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// Who was asked about which head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// The head that a person let go on to its merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Approved>,
}

/// A request to review a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The head.
    pub head: CommitSha,
    /// When.
    pub at: Timestamp,
    /// Who reviews.
    pub by: ReviewBy,
    /// The job that reviews, if a session does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// Whether that session asked something itself, and has no answer yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_question: bool,
}

/// A person's word that a head may be merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// The head.
    pub head: CommitSha,
    /// Whose word.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// How they want it merged.
    #[serde(default, skip_serializing_if = "MergeStyle::is_usual")]
    pub style: MergeStyle,
}

impl Delivery {
    /// Whether it is over.
    pub fn is_terminal(&self) -> bool {
        self.phase == Phase::Close && self.run_status == RunStatus::Succeeded
    }

    /// Whether a person is awaited before its first phase begins.
    pub fn awaits_start(&self) -> bool {
        (self.phase, self.run_status) == (Phase::Plan, RunStatus::Pending)
            && !self.started
            && self.checkpoints.has(Phase::Plan)
    }

    /// Whether a person is awaited after its phase.
    pub fn awaits_approval(&self) -> bool {
        self.run_status == RunStatus::Succeeded
            && self.checkpoints.has(self.phase)
            && (self.phase != Phase::Review || self.verdict == Some(Verdict::Pass))
    }

    /// Whether no session can go on from where it failed. A review or a merge that was cancelled left the session alone.
    pub(crate) fn has_lost_session(&self) -> bool {
        let code = self.error.as_ref().map(|error| error.code);
        let is_left_alone = code == Some(Fault::Canceled) && self.phase > Phase::Implement;
        code.is_some_and(Fault::ends_session) && !is_left_alone
    }

    /// What was last seen of its present attempt's job.
    pub fn job_seen(&self) -> Option<&JobGlimpse> {
        let is_present = |seen: &&JobGlimpse| {
            Some(&seen.job) == self.task.job.as_ref() && seen.attempt == self.task.attempt
        };
        self.seen.job.as_ref().filter(is_present)
    }

    /// What was last seen of its present attempt's pull request.
    pub fn pull_seen(&self) -> Option<&PullGlimpse> {
        let seen = self.seen.pull.as_ref();
        seen.filter(|seen| Some(&seen.pull) == self.task.pull.as_ref())
    }

    /// The present head of its pull request, if it is known.
    pub fn head(&self) -> Option<&CommitSha> {
        self.pull_seen().and_then(|pull| pull.head.as_ref())
    }
}
