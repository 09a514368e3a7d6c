//! Runs of pipelines with their steps, and the requirements that came of them.

use askama::Template;
use domain::ids::{ArtefactId, DeliveryId, JobId, RepoName};
use domain::job::{Job, WaitReason, WaitsFor};
use domain::pipeline::{
    Exchange, Implement, Member, Pipeline, PipelineStep, Requirement, RequirementState, StepState,
};
use domain::policy::Source;
use domain::schedule::{Schedule, ScheduleError};
use jiff::Timestamp;

use crate::Error;
use crate::shell::{Frame, Page, Place, Shell, paged};

/// The pipeline of a source.
#[derive(Debug, Clone)]
pub struct PipelineStates {
    /// The source.
    pub source: Source,
    /// When its runs begin by themselves, if its pipeline is on.
    pub schedule: Option<Schedule>,
    /// Its newest runs, the newest first.
    pub runs: Vec<Pipeline>,
    /// Its newest requirements, the newest first.
    pub requirements: Vec<RequirementStatus>,
}

/// A requirement with its job.
#[derive(Debug, Clone)]
pub struct RequirementStatus {
    /// The requirement.
    pub requirement: Requirement,
    /// The job that plans it or removes its files, with who is waited for there.
    pub at_work: Option<(Job, WaitsFor)>,
}

/// The pipelines of all sources that have one.
///
/// # Errors
/// When the template fails.
pub fn pipelines(frame: &Frame, states: &[PipelineStates]) -> Result<Page, Error> {
    paged(frame, Place::Pipelines, |shell| PipelinesPage {
        shell,
        rows: states
            .iter()
            .enumerate()
            .map(|(place, states)| row(place, states))
            .collect(),
    })
}

#[derive(Template)]
#[template(path = "pipelines.html")]
struct PipelinesPage<'a> {
    shell: Shell,
    rows: Vec<SourcePipelines<'a>>,
}

struct SourcePipelines<'a> {
    place: usize,
    repo: &'a RepoName,
    rules: String,
    /// Why no run begins by itself.
    unread: Option<&'a ScheduleError>,
    runs: Vec<RunRow<'a>>,
    requirements: Vec<RequirementRow<'a>>,
}

struct RunRow<'a> {
    run: &'a Pipeline,
    /// The command that begins it again, where steps of it failed.
    again: Option<String>,
    steps: Vec<StepRow<'a>>,
}

struct StepRow<'a> {
    name: &'static str,
    word: &'static str,
    reason: Option<&'a str>,
    at: Option<Timestamp>,
    is_failed: bool,
    members: Vec<MemberRow<'a>>,
}

struct MemberRow<'a> {
    name: Option<String>,
    job: Option<&'a JobId>,
    word: &'static str,
    reason: Option<&'a str>,
}

struct RequirementRow<'a> {
    id: &'a ArtefactId,
    title: &'a str,
    label: &'a str,
    word: &'static str,
    delivery: Option<&'a DeliveryId>,
    at: Timestamp,
    is_failed: bool,
    is_ready: bool,
    of_job: Option<String>,
    /// The job whose pull request waits to be merged by a person.
    merge: Option<&'a JobId>,
}

fn row(place: usize, states: &PipelineStates) -> SourcePipelines<'_> {
    let rules = states.source.pipeline.as_ref().map(|rules| {
        let implemented = match rules.implement {
            Implement::Auto => "implemented by themselves",
            Implement::Human => "implemented when people say so",
        };
        format!(
            "exchange merged by {}, requirements {implemented}",
            match rules.exchange {
                Exchange::Auto => "its checks",
                Exchange::Human => "people",
            }
        )
    });
    SourcePipelines {
        place,
        repo: &states.source.repo,
        rules: rules.unwrap_or_else(|| "off".to_owned()),
        unread: states.schedule.as_ref().and_then(Schedule::unreadable),
        runs: states.runs.iter().map(run).collect(),
        requirements: states.requirements.iter().map(requirement).collect(),
    }
}

fn run(run: &Pipeline) -> RunRow<'_> {
    RunRow {
        run,
        again: run.again(),
        steps: run.steps.iter().map(step).collect(),
    }
}

fn step(step: &PipelineStep) -> StepRow<'_> {
    let (at, is_failed) = match &step.state {
        StepState::Pending => (None, false),
        StepState::Running { since } | StepState::WaitingMerge { since } => (Some(*since), false),
        StepState::Done { at } | StepState::Skipped { at, .. } => (Some(*at), false),
        StepState::Failed { at, .. } => (Some(*at), true),
    };
    StepRow {
        name: step.kind.name(),
        word: step.state.word(),
        reason: step.reason(),
        at,
        is_failed,
        members: step.members.iter().map(member).collect(),
    }
}

fn member(member: &Member) -> MemberRow<'_> {
    MemberRow {
        name: member.name(),
        job: member.known_job(),
        word: member.state.word(),
        reason: member.state.reason(),
    }
}

fn requirement(status: &RequirementStatus) -> RequirementRow<'_> {
    let requirement = &status.requirement;
    let at_work = status.at_work.as_ref();
    let pull = at_work.and_then(|(job, _)| job.pull());
    let waits = at_work.map(|(_, waits)| waits);
    let is_merge = |waits: &WaitsFor| waits.is_decision() && waits.what == WaitReason::Approval;
    let merge = at_work.filter(|(_, waits)| is_merge(waits));
    let (is_failed, is_ready) = match &requirement.state {
        RequirementState::Unplanned { .. } | RequirementState::Failed { .. } => (true, false),
        RequirementState::Ready => (false, true),
        RequirementState::Planning { .. }
        | RequirementState::Implementing { .. }
        | RequirementState::Merged { .. }
        | RequirementState::Tidying { .. }
        | RequirementState::Tidied { .. }
        | RequirementState::Removing { .. } => (false, false),
    };
    RequirementRow {
        id: &requirement.reference.id,
        title: &requirement.title,
        label: &requirement.label,
        word: requirement.state.word(),
        delivery: requirement.state.delivery(),
        at: requirement.updated_at,
        is_failed,
        is_ready,
        of_job: requirement.state.told_of_job(pull, waits),
        merge: merge.map(|(job, _)| &job.id),
    }
}
