//! One execution of a phase, and the plan that one of them made.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::text::{one_line, short};
use super::{Delivery, Executor, Phase, Verdict};
use crate::ids::{CommitSha, DeliveryId, JobId, PlanId, RunId, SessionId};
use crate::job::{self, EndReason, Job, Origin};
use crate::session::{self, PlanStep, SessionState};

/// Most runs of one delivery: with everything else that is known of it, its record has to stay under the store's 64 KB.
pub const RUNS_MAX: usize = 40;

/// Longest summary of a run, in characters.
pub const SUMMARY_CHARS_MAX: usize = 200;

/// One execution of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Ours.
    pub id: RunId,
    /// What was executed.
    pub mode: Mode,
    /// Who did it.
    pub performer: Performer,
    /// How far it is.
    pub status: RunResult,
    /// Its job, if a session does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The session that does it, once it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Which attempt of the delivery it belongs to, from 1.
    pub attempt: u32,
    /// The head that it made or was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitSha>,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// What a review came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What it came to, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What an agent or a person found out about a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Analysis>,
    /// Whether what was said and done in it is kept.
    #[serde(default, skip_serializing_if = "TranscriptState::is_none")]
    pub transcript: TranscriptState,
    /// The time of the newest activity that is kept: the transcript of the next run of the session goes on after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_through: Option<Timestamp>,
}

/// Whether what was said and done in a run is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TranscriptState {
    /// There is nothing to keep, or not yet.
    #[default]
    None,
    /// The run has ended, and the log of its session is still to be read.
    Pending,
    /// It was read and kept.
    Kept,
}

impl TranscriptState {
    /// Whether there is no transcript.
    pub fn is_none(&self) -> bool {
        match self {
            Self::None => true,
            Self::Pending | Self::Kept => false,
        }
    }
}

impl Run {
    /// What executed it.
    pub fn executor(&self) -> Executor {
        match self.mode {
            Mode::Plan | Mode::Implement | Mode::Review | Mode::Execution => Executor::Agent,
            Mode::Verify | Mode::Deploy | Mode::Observe => Executor::System,
        }
    }

    /// How long it took; none while it runs.
    pub fn duration(&self) -> Option<SignedDuration> {
        self.ended_at.map(|end| end.duration_since(self.created_at))
    }
}

impl Delivery {
    /// How many of its attempts had a session, as far as was seen.
    pub(super) fn attempts_with_session(&self) -> u32 {
        let has_session = |run: &&Run| match run.mode {
            Mode::Plan | Mode::Implement => run.session.is_some(),
            Mode::Review | Mode::Verify | Mode::Deploy | Mode::Observe | Mode::Execution => false,
        };
        let runs = self.runs.iter().filter(has_session);
        let attempts: BTreeSet<u32> = runs.map(|run| run.attempt).collect();
        u32::try_from(attempts.len()).unwrap_or(u32::MAX)
    }
}

/// What a run executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The phase of that name.
    Plan,
    /// The phase of that name.
    Implement,
    /// The phase of that name.
    Review,
    /// The phase of that name.
    Verify,
    /// The phase of that name.
    Deploy,
    /// The phase of that name.
    Observe,
    /// A session that was begun elsewhere and collected.
    Execution,
}

impl Mode {
    /// The mode of a phase's runs; intake and close have none.
    pub(super) fn of(phase: Phase) -> Option<Self> {
        match phase {
            Phase::Plan => Some(Self::Plan),
            Phase::Implement => Some(Self::Implement),
            Phase::Review => Some(Self::Review),
            Phase::Verify => Some(Self::Verify),
            Phase::Deploy => Some(Self::Deploy),
            Phase::Observe => Some(Self::Observe),
            Phase::Intake | Phase::Close => None,
        }
    }
}

/// Who does what a run executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Performer {
    /// A session of Jules.
    Jules,
    /// The agent.
    Agent,
    /// A person in the agent's place.
    Human,
    /// No reviewer: it passed without review.
    Nobody,
    /// Fixed rules.
    System,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// It runs.
    Running,
    /// It came to a good end.
    Success,
    /// It came to a bad end.
    Failed,
}

impl RunResult {
    /// What the session of a job came to that was begun elsewhere, for the delivery that adds it as a run.
    ///
    /// # Errors
    /// With a code and a sentence, when the job belongs to a delivery, a pipeline or a sprint already, or its session is still at
    /// work.
    pub fn of_collected(job: &Job, delivery: &DeliveryId) -> Result<Self, (&'static str, String)> {
        match &job.delivery {
            // It was adopted to be collected.
            Some(its) if its == delivery && job.origin == Origin::Adopted => {}
            Some(its) if its == delivery => {
                let sentence = format!("job {} belongs to the delivery already", job.id);
                return Err(("collected_already", sentence));
            }
            Some(other) => {
                let sentence = format!("its job {} belongs to delivery {other}", job.id);
                return Err(("of_other_delivery", sentence));
            }
            None if job.part.is_some() => {
                let sentence = format!("its job {} works for a pipeline or a sprint", job.id);
                return Err(("of_pipeline_or_sprint", sentence));
            }
            None => {}
        }
        ended_as(job).ok_or_else(|| ("session_working", SESSION_WORKING.to_owned()))
    }
}

/// Why a session cannot be collected now.
pub const SESSION_WORKING: &str = "the session is still at work: collect it once it has ended";

/// What a session came to that was read in a state; none while it is at work.
pub fn result_of(state: &SessionState) -> Option<RunResult> {
    match state {
        SessionState::Completed => Some(RunResult::Success),
        SessionState::Failed => Some(RunResult::Failed),
        SessionState::Unspecified
        | SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::InProgress
        | SessionState::Paused
        | SessionState::Other(_) => None,
    }
}

/// What a session came to; none while it is at work.
fn ended_as(job: &Job) -> Option<RunResult> {
    match &job.phase {
        job::JobPhase::Queued { .. } | job::JobPhase::Creating { .. } => None,
        job::JobPhase::Proposed { .. } => Some(RunResult::Success),
        job::JobPhase::Watching(watch) => result_of(&watch.state),
        job::JobPhase::Ended(ending) => Some(match ending.how {
            EndReason::Merged { .. }
            | EndReason::Woven { .. }
            | EndReason::PullClosed
            | EndReason::Completed => RunResult::Success,
            EndReason::Failed { .. }
            | EndReason::Lost
            | EndReason::Refused { .. }
            | EndReason::Left
            | EndReason::Cancelled { .. } => RunResult::Failed,
        }),
    }
}

/// What was found out about a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// Who found it out.
    pub by: super::Actor,
    /// What.
    pub text: String,
    /// What to do about it; offered as the reason of a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// The plan of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryPlan {
    /// Jules's own, or ours where another planner sent it.
    pub id: PlanId,
    /// The plan itself; text from outside.
    pub content: String,
    /// When it was made.
    pub generated_at: Timestamp,
    /// Which model made it: not known of Jules.
    pub model: Option<String>,
    /// In which folder: not known of Jules.
    pub cwd: Option<String>,
    /// The files that it wants to change, if the planner named them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_files: Vec<String>,
}

/// Jules's plan in a few words: how many steps it has, and the first one; nothing of a plan without steps.
pub(super) fn summary_of_steps(plan: &crate::session::Plan) -> Option<String> {
    let first = plan.steps.first()?;
    let count = match plan.steps.len() {
        1 => "1 step".to_owned(),
        more => format!("{more} steps"),
    };
    Some(match first.title.trim() {
        "" => count,
        title => format!("{count}: {title}"),
    })
}

/// A text as the summary of a run.
pub(super) fn as_summary(text: &str) -> String {
    short(&one_line(text), SUMMARY_CHARS_MAX - 1)
}

impl DeliveryPlan {
    /// Jules's plan as text, one numbered step after the other.
    pub fn of_steps(plan: &session::Plan, at: Timestamp) -> Self {
        let step = |(place, step): (usize, &PlanStep)| {
            let text = format!("{}. {}", place.saturating_add(1), step.title.trim());
            match step.description.trim() {
                "" => text,
                more => format!("{text}\n{more}"),
            }
        };
        let steps: Vec<String> = plan.steps.iter().enumerate().map(step).collect();
        Self {
            id: plan.id.clone(),
            content: super::text::stored_plan(&steps.join("\n")),
            generated_at: at,
            model: None,
            cwd: None,
            target_files: Vec::new(),
        }
    }

    /// Its steps: the numbered ones, each with the lines after it; before the first number each line is a step.
    pub(super) fn to_steps(&self) -> session::Plan {
        let mut steps: Vec<PlanStep> = Vec::new();
        let mut numbered: usize = 0;
        let step = |title: &str| PlanStep {
            title: title.to_owned(),
            description: String::new(),
        };
        let lines = self.content.lines();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            let number = format!("{}. ", numbered.saturating_add(1));
            if let Some(title) = line.strip_prefix(&number) {
                numbered = numbered.saturating_add(1);
                steps.push(step(title));
            } else if let Some(last) = steps.last_mut().filter(|_| numbered > 0) {
                let gap = if last.description.is_empty() {
                    ""
                } else {
                    "\n"
                };
                last.description.push_str(gap);
                last.description.push_str(line);
            } else {
                steps.push(step(line));
            }
        }
        session::Plan {
            id: self.id.clone(),
            steps,
        }
    }
}
