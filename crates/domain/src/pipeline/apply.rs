//! Decides about a run: which step is next, and when a step is over.

use jiff::{SignedDuration, Timestamp};

use super::sight::{self, REASON_CHARS_MAX};
use super::{
    AgentState, Exchange, Member, MemberSight, Pipeline, PipelineStep, StepKind, StepState,
    TreeShas, WAIT_MINUTES,
};
use crate::failure::Hindrance;
use crate::fence::clip;
use crate::ids::JobId;
use crate::redact::presentable;
use crate::refusal::NotNow;
use crate::when::plus;

/// How soon a step is tried again that could not be planned, or whose jobs could not all be made.
const PLAN_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// How often a run is read while its jobs work: their changes call it at once.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// Longest name of who cancelled it, in characters.
const BY_CHARS_MAX: usize = 80;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipelineInput {
    /// The step that comes next was planned.
    Planned(StepPlan),
    /// This is how far the jobs of the present step are; nothing of one whose job is not there.
    Seen(Vec<(JobId, Option<MemberSight>)>),
    /// A person called the run off.
    Cancelled {
        /// Who.
        by: String,
    },
}

/// What a step is going to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepPlan {
    /// These agents work. Without any, it is done.
    Run {
        /// The agents, all at work.
        members: Vec<Member>,
        /// The commits whose files their prompts are made of.
        trees: Option<TreeShas>,
        /// What a narrator sums up.
        range: String,
        /// The longest wait for a step in minutes, if the repository's settings were read.
        wait_minutes: Option<u32>,
    },
    /// It is done, without any agent.
    Done {
        /// What there is to say.
        note: String,
    },
    /// There is nothing to do.
    Skip(String),
    /// It cannot be done.
    Fail(String),
}

impl StepPlan {
    /// These agents work, by the files of these commits. No settings were read.
    pub fn run(members: Vec<Member>, trees: TreeShas) -> Self {
        Self::Run {
            members,
            trees: Some(trees),
            range: String::new(),
            wait_minutes: None,
        }
    }
}

/// A new run with these steps.
pub fn start(mut pipeline: Pipeline, kinds: &[StepKind]) -> Pipeline {
    let pending = |kind: &StepKind| PipelineStep {
        kind: *kind,
        state: StepState::Pending,
        members: Vec::new(),
        trees: None,
        range: String::new(),
        hindrance: None,
        note: String::new(),
    };
    pipeline.steps = kinds.iter().map(pending).collect();
    pipeline.wait_minutes = WAIT_MINUTES;
    pipeline
}

/// The run after something happened. What comes too late or twice changes nothing.
pub fn apply(pipeline: &Pipeline, input: &PipelineInput, now: Timestamp) -> Pipeline {
    let Some(place) = pipeline.current() else {
        return pipeline.clone();
    };
    let mut next = pipeline.clone();
    match input {
        PipelineInput::Planned(plan) => planned(&mut next, place, plan, now),
        PipelineInput::Seen(sights) => seen(&mut next, place, sights, now),
        PipelineInput::Cancelled { by } => {
            let reason = format!("{} cancelled the run", clip(by, BY_CHARS_MAX));
            stop(&mut next, place, &reason, now);
        }
    }
    // A step that is over waits for nothing.
    if next.steps[place].state.is_over() {
        next.steps[place].hindrance = None;
    }
    if next != *pipeline {
        next.updated_at = now;
    }
    next
}

/// Calls a run off.
///
/// # Errors
/// When it is over.
pub fn cancel(pipeline: &Pipeline, by: &str, now: Timestamp) -> Result<Pipeline, NotNow> {
    if pipeline.is_over() {
        let sentence = format!("pipeline {} is over already", pipeline.id);
        return Err(NotNow::new("ended", sentence));
    }
    let by = by.to_owned();
    Ok(apply(pipeline, &PipelineInput::Cancelled { by }, now))
}

/// The jobs that are no longer awaited, and that nothing comes of: sessions at work, and pull requests of Gaffer's own.
/// What an agent offered is left to people.
pub fn given_up(before: &Pipeline, after: &Pipeline) -> Vec<JobId> {
    let steps = before.steps.iter().zip(&after.steps);
    let members = steps.flat_map(|(before, after)| {
        let of_gaffer = is_of_gaffer(before.kind);
        let members = before.members.iter().zip(&after.members);
        members.map(move |(before, after)| (of_gaffer, before, after))
    });
    let given_up = members.filter(|(of_gaffer, before, after)| {
        let was_open = match before.state {
            AgentState::Working => true,
            AgentState::Merging => *of_gaffer,
            AgentState::Merged
            | AgentState::Nothing
            | AgentState::Open
            | AgentState::Failed { .. }
            | AgentState::Refused { .. } => false,
        };
        was_open && matches!(after.state, AgentState::Failed { .. })
    });
    given_up.map(|(_, _, after)| after.job.clone()).collect()
}

/// Whether the pull requests of a step are Gaffer's own, and no agent's.
fn is_of_gaffer(kind: StepKind) -> bool {
    match kind {
        StepKind::Bootstrap | StepKind::Proposals | StepKind::Clean | StepKind::Labels => true,
        StepKind::Layer(_) | StepKind::Requirements => false,
    }
}

/// A run that is over, after it was seen which of its jobs have ended. One that was never made is waited for a while: who makes it may not
/// know yet that the run is over.
pub fn ended(
    pipeline: &Pipeline,
    sights: &[(JobId, Option<MemberSight>)],
    now: Timestamp,
) -> Pipeline {
    let mut ended = pipeline.clone();
    if pipeline.current().is_some() {
        return ended;
    }
    let is_given_up = now >= plus(pipeline.updated_at, LOOK_AGAIN);
    for step in &mut ended.steps {
        for member in step.members.iter_mut().filter(|it| !it.state.is_over()) {
            let found = sights.iter().find(|(job, _)| *job == member.job);
            match found {
                Some((_, Some(sight))) if sight.state.is_over() => {
                    member.state = sight.state.clone();
                }
                Some((_, None)) if is_given_up => {
                    member.state = sight::refused("the run was over before its job was made");
                }
                Some(_) | None => {}
            }
        }
    }
    ended
}

/// A run whose present step is hindered now, or is not any more.
pub fn hindered(mut pipeline: Pipeline, place: usize, hindrance: Option<Hindrance>) -> Pipeline {
    pipeline.steps[place].hindrance = hindrance;
    pipeline
}

/// A run whose source is paused: the time of the pause is no time of waiting, and nothing is read in it.
pub fn held(pipeline: &Pipeline, place: usize, now: Timestamp) -> Pipeline {
    let mut held = hindered(pipeline.clone(), place, None);
    match &mut held.steps[place].state {
        StepState::Running { since } | StepState::WaitingMerge { since } => *since = now,
        StepState::Pending
        | StepState::Done { .. }
        | StepState::Skipped { .. }
        | StepState::Failed { .. } => {}
    }
    held
}

/// When a run is to be read next; none once it is over, and no job of it is left that has to be cancelled.
pub fn due(pipeline: &Pipeline, now: Timestamp) -> Option<Timestamp> {
    let Some(place) = pipeline.current() else {
        let is_left = pipeline.open_members().next().is_some();
        return is_left.then(|| plus(now, PLAN_AGAIN));
    };
    let step = &pipeline.steps[place];
    match &step.state {
        StepState::Pending => Some(plus(now, PLAN_AGAIN)),
        StepState::Running { since } | StepState::WaitingMerge { since } => {
            let wait = match step.hindrance {
                Some(_) => PLAN_AGAIN,
                None => LOOK_AGAIN,
            };
            let look = plus(now, wait);
            let late = late_at(pipeline, *since);
            Some(if late > now { look.min(late) } else { look })
        }
        StepState::Done { .. } | StepState::Skipped { .. } | StepState::Failed { .. } => None,
    }
}

/// Until when a step is waited for that runs since then.
pub fn late_at(pipeline: &Pipeline, since: Timestamp) -> Timestamp {
    let wait = SignedDuration::from_mins(i64::from(pipeline.wait_minutes));
    plus(since, wait)
}

fn planned(pipeline: &mut Pipeline, place: usize, plan: &StepPlan, now: Timestamp) {
    if pipeline.steps[place].state != StepState::Pending {
        return;
    }
    match plan {
        StepPlan::Run {
            members,
            trees,
            range,
            wait_minutes,
        } => {
            pipeline.wait_minutes = wait_minutes.unwrap_or(pipeline.wait_minutes);
            let step = &mut pipeline.steps[place];
            step.members.clone_from(members);
            step.trees.clone_from(trees);
            step.range.clone_from(range);
            step.state = match members.is_empty() {
                true => StepState::Done { at: now },
                false => StepState::Running { since: now },
            };
        }
        StepPlan::Done { note } => {
            let step = &mut pipeline.steps[place];
            step.state = StepState::Done { at: now };
            step.note = presentable(note, REASON_CHARS_MAX);
        }
        StepPlan::Skip(reason) => {
            pipeline.steps[place].state = StepState::Skipped {
                at: now,
                reason: presentable(reason, REASON_CHARS_MAX),
            };
        }
        StepPlan::Fail(reason) => fail(pipeline, place, reason, now),
    }
}

fn seen(
    pipeline: &mut Pipeline,
    place: usize,
    sights: &[(JobId, Option<MemberSight>)],
    now: Timestamp,
) {
    let since = match pipeline.steps[place].state {
        StepState::Running { since } | StepState::WaitingMerge { since } => since,
        StepState::Pending
        | StepState::Done { .. }
        | StepState::Skipped { .. }
        | StepState::Failed { .. } => return,
    };
    let is_late = now >= late_at(pipeline, since);
    let is_human = pipeline.rules.exchange == Exchange::Human;
    let step = &mut pipeline.steps[place];
    let of_gaffer = is_of_gaffer(step.kind);
    let hindrance = step.hindrance.as_ref();
    for member in step.members.iter_mut().filter(|it| !it.state.is_over()) {
        let found = sights.iter().find(|(job, _)| *job == member.job);
        let found = found.and_then(|(_, sight)| sight.as_ref());
        let red: &[String] = found.map_or(&[], |sight| sight.red.as_slice());
        // A person may take as long as they need, and waits for green checks themselves.
        let by_person = is_human && red.is_empty();
        let was_merging = member.state == AgentState::Merging;
        if let Some(sight) = found {
            member.state = sight.state.clone();
        }
        let is_merging = member.state == AgentState::Merging;
        // Checks of what no session made may be run again, and without the bootstrap there is nothing to go on with.
        if is_merging && !red.is_empty() && !of_gaffer {
            // One that was seen at work until now is read again at once: given up then, it is left to people.
            if was_merging {
                let checks = red.join("; ");
                let reason = format!("its checks failed and were not repaired: {checks}");
                member.state = sight::failed(&reason);
            }
        } else if is_late
            && !(was_merging && by_person)
            && let Some(reason) = late(&member.state, by_person, !red.is_empty())
        {
            // Without its job there is nothing else to say of it.
            let hindrance = hindrance.filter(|_| found.is_none());
            let reason = hindrance.map_or(reason, |it| format!(" ({})", it.why));
            let reason = format!(
                "it was not through within {} min{reason}",
                pipeline.wait_minutes
            );
            member.state = sight::failed(&reason);
        }
    }
    if step.members.iter().all(|member| member.state.is_over()) {
        return end_step(pipeline, place, now);
    }
    let works = |member: &Member| member.state == AgentState::Working;
    pipeline.steps[place].state = match pipeline.steps[place].members.iter().any(works) {
        true => StepState::Running { since },
        false => StepState::WaitingMerge { since },
    };
}

/// What there is to say about a member when the time is over; none if it is through, or waits for a person.
fn late(state: &AgentState, by_person: bool, is_red: bool) -> Option<String> {
    match state {
        AgentState::Merged
        | AgentState::Nothing
        | AgentState::Open
        | AgentState::Refused { .. } => None,
        AgentState::Merging if by_person => None,
        AgentState::Merging if is_red => Some(" (its checks failed)".to_owned()),
        AgentState::Working | AgentState::Merging => Some(String::new()),
        // The run itself may have cancelled it, and died before it wrote that down.
        AgentState::Failed { reason } => Some(format!(" ({reason})")),
    }
}

/// A step is through if one of its agents was; else it failed.
fn end_step(pipeline: &mut Pipeline, place: usize, now: Timestamp) {
    let reason = |member: &Member| member.state.reason().map(str::to_owned);
    let failed: Option<Vec<_>> = pipeline.steps[place].members.iter().map(reason).collect();
    match failed.as_deref() {
        Some([first, ..]) => fail(pipeline, place, &first.clone(), now),
        Some([]) | None => pipeline.steps[place].state = StepState::Done { at: now },
    }
}

/// A layer that failed stops no other one. Without the worker branch there is nothing to work on.
fn fail(pipeline: &mut Pipeline, place: usize, reason: &str, now: Timestamp) {
    let step = &mut pipeline.steps[place];
    step.state = StepState::Failed {
        at: now,
        reason: presentable(reason, REASON_CHARS_MAX),
    };
    match step.kind {
        StepKind::Bootstrap => skip_rest(pipeline, "the bootstrap failed", now),
        StepKind::Layer(_)
        | StepKind::Requirements
        | StepKind::Proposals
        | StepKind::Clean
        | StepKind::Labels => {}
    }
}

fn stop(pipeline: &mut Pipeline, place: usize, reason: &str, now: Timestamp) {
    pipeline.steps[place].state = StepState::Failed {
        at: now,
        reason: reason.to_owned(),
    };
    skip_rest(pipeline, reason, now);
}

fn skip_rest(pipeline: &mut Pipeline, reason: &str, now: Timestamp) {
    for step in &mut pipeline.steps {
        if !step.state.is_over() {
            step.state = StepState::Skipped {
                at: now,
                reason: reason.to_owned(),
            };
        }
    }
}
