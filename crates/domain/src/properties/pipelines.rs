//! Runs of a pipeline and requirements in random histories: what is over stays so, and nothing goes back.

use super::*;
use crate::failure::Hindrance;
use crate::ids::JobId;
use crate::layer::Layer;
use crate::pipeline::tests::{job, member, pipeline};
use crate::pipeline::{
    AgentState, Exchange, FoundRequirement, Member, MemberSight, Pipeline, PipelineInput,
    Requirement, RequirementAsk, RequirementOutcome, RequirementRef, RequirementState, StepKind,
    StepPlan, StepState, apply, due, ended, given_up, held, hindered, refused,
};

type Sights = Vec<(JobId, Option<MemberSight>)>;

/// What happens to a run.
#[derive(Debug, Clone)]
enum PipelineHappening {
    Given(PipelineInput),
    /// Its source is paused.
    Held,
    /// A call failed that its present step needs; none if it does not need one any more.
    Hindered(Option<Failure>),
    /// Its jobs are read once it is over.
    Ended(Sights),
}

fn member_state() -> impl Strategy<Value = AgentState> {
    let failed = AgentState::Failed {
        reason: "no disk".to_owned(),
    };
    proptest::sample::select(vec![
        AgentState::Working,
        AgentState::Merging,
        AgentState::Merged,
        AgentState::Nothing,
        AgentState::Open,
        failed,
        refused("the worker branch is protected"),
    ])
}

/// Of some jobs, among them those of other steps; nothing of a job that is not there.
fn sights() -> impl Strategy<Value = Sights> {
    let red = proptest::collection::vec(Just("jules/scope".to_owned()), 0..2);
    let seen = (member_state(), red).prop_map(|(state, red)| MemberSight { state, red });
    let sight = (0u32..6, proptest::option::weighted(0.9, seen));
    let sight = sight.prop_map(|(number, seen)| (job(number), seen));
    proptest::collection::vec(sight, 0..6)
}

fn plan() -> impl Strategy<Value = StepPlan> {
    let minutes = prop_oneof![8 => 1u32..120, 1 => Just(0u32), 1 => Just(u32::MAX)];
    let jobs = proptest::collection::btree_set(0u32..6, 0..4);
    let run = (jobs, proptest::option::of(minutes));
    let run = run.prop_map(|(jobs, wait_minutes)| StepPlan::Run {
        members: jobs.into_iter().map(member).collect(),
        trees: None,
        range: String::new(),
        wait_minutes,
    });
    prop_oneof![
        6 => run,
        1 => Just(StepPlan::Done { note: "one file cannot be read".to_owned() }),
        1 => Just(StepPlan::Skip("there is nothing to do".to_owned())),
        1 => Just(StepPlan::Fail("there is no such branch".to_owned())),
    ]
}

fn happening() -> impl Strategy<Value = PipelineHappening> {
    let off = PipelineInput::Cancelled {
        by: "kim".to_owned(),
    };
    prop_oneof![
        8 => plan().prop_map(|plan| PipelineHappening::Given(PipelineInput::Planned(plan))),
        16 => sights().prop_map(|seen| PipelineHappening::Given(PipelineInput::Seen(seen))),
        1 => Just(PipelineHappening::Given(off)),
        1 => Just(PipelineHappening::Held),
        4 => proptest::option::weighted(0.8, failure()).prop_map(PipelineHappening::Hindered),
        2 => sights().prop_map(PipelineHappening::Ended),
    ]
}

fn begun() -> impl Strategy<Value = Pipeline> {
    let kinds = vec![
        StepKind::Bootstrap,
        StepKind::Layer(Layer::Narrator),
        StepKind::Layer(Layer::Observers),
        StepKind::Requirements,
        StepKind::Proposals,
        StepKind::Clean,
        StepKind::Labels,
    ];
    let kinds = proptest::sample::subsequence(kinds, 1..=7);
    let exchange = proptest::sample::select(vec![Exchange::Human, Exchange::Auto]);
    (kinds, exchange).prop_map(|(kinds, exchange)| pipeline(exchange, &kinds))
}

/// The run after something happened to it now.
fn after(run: &Pipeline, happening: &PipelineHappening, now: Timestamp) -> Pipeline {
    match (happening, run.current()) {
        (PipelineHappening::Given(input), _) => apply(run, input, now),
        (PipelineHappening::Held, Some(place)) => held(run, place, now),
        (PipelineHappening::Hindered(failure), Some(place)) => {
            let before = run.steps[place].hindrance.as_ref();
            let found = failure.as_ref();
            let found = found.and_then(|it| Hindrance::of(it, before, now));
            hindered(run.clone(), place, found)
        }
        (PipelineHappening::Held | PipelineHappening::Hindered(_), None) => run.clone(),
        (PipelineHappening::Ended(sights), _) => ended(run, sights, now),
    }
}

/// How far a step is. Its agents go back to work as their sessions do, so both states in which it runs are one.
fn rank(state: &StepState) -> u8 {
    match state {
        StepState::Pending => 0,
        StepState::Running { .. } | StepState::WaitingMerge { .. } => 1,
        StepState::Done { .. } | StepState::Skipped { .. } | StepState::Failed { .. } => 2,
    }
}

/// No step and no agent goes back, and what is over stays as it is and waits for nothing.
fn check_steps(before: &Pipeline, after: &Pipeline) {
    assert_eq!(before.steps.len(), after.steps.len());
    for (old, new) in before.steps.iter().zip(&after.steps) {
        assert_eq!(old.kind, new.kind);
        assert!(rank(&new.state) >= rank(&old.state), "{old:?} {new:?}");
        let is_same = old.state == new.state;
        assert!(is_same || !old.state.is_over(), "{old:?} {new:?}");
        let waits = new.hindrance.is_some();
        assert!(!waits || !new.state.is_over(), "{old:?} {new:?}");
        let are_kept = old.members.len() == new.members.len();
        assert!(are_kept || old.members.is_empty(), "{old:?} {new:?}");
        for (old, new) in old.members.iter().zip(&new.members) {
            assert_eq!(old.job, new.job);
            let is_same = old.state == new.state;
            assert!(is_same || !old.state.is_over(), "{old:?} {new:?}");
        }
    }
}

/// One step after the other, and the run is read again as long as something is left.
fn check_progress(run: &Pipeline, now: Timestamp) {
    if let Some(place) = run.current() {
        let mut later = run.steps.iter().skip(place + 1);
        assert!(later.all(|step| step.state == StepState::Pending));
    }
    let is_left = !run.is_over() || run.open_members().next().is_some();
    let due = due(run, now);
    assert_eq!(due.is_some(), is_left);
    assert!(due.is_none_or(|due| due > now || now == Timestamp::MAX));
}

/// Only what was called off or came too late is given up, and its run does not wait for it.
fn check_given_up(before: &Pipeline, after: &Pipeline) {
    for job in given_up(before, after) {
        let mut members = after.steps.iter().flat_map(|step| &step.members);
        let is_failed = |it: &Member| matches!(it.state, AgentState::Failed { .. });
        assert!(members.any(|it| it.job == job && is_failed(it)));
    }
}

/// What happens to a requirement.
#[derive(Debug, Clone)]
enum RequirementTurn {
    Seen(FoundRequirement),
    PlannedBy(JobId),
    PlannerEnded(Option<FoundRequirement>),
    Start { keep_files: bool },
    Delivered(RequirementOutcome),
    Tidied { is_merged: bool },
    Removed(JobId),
}

/// A requirement as its file shows it, with so many events: a decider may add one.
fn found((needs_planning, events): (bool, usize)) -> FoundRequirement {
    let event = ".jules/exchange/events/decided/def456-slow.yml";
    FoundRequirement {
        reference: RequirementRef {
            id: "abc123".parse().unwrap(),
            path: ".jules/exchange/requirements/abc123-retry.yml".to_owned(),
            events: vec![event.to_owned(); events],
        },
        title: "Retry once".to_owned(),
        label: "bugs".to_owned(),
        needs_planning,
    }
}

fn turn() -> impl Strategy<Value = RequirementTurn> {
    let found = || (any::<bool>(), 0usize..3).prop_map(found);
    let outcomes = vec![
        RequirementOutcome::Open,
        RequirementOutcome::Merged,
        RequirementOutcome::NotMerged {
            reason: "it was closed".to_owned(),
        },
        RequirementOutcome::NoFile,
    ];
    prop_oneof![
        3 => found().prop_map(RequirementTurn::Seen),
        3 => (0u32..3).prop_map(|number| RequirementTurn::PlannedBy(job(number))),
        3 => proptest::option::of(found()).prop_map(RequirementTurn::PlannerEnded),
        4 => any::<bool>().prop_map(|keep_files| RequirementTurn::Start { keep_files }),
        4 => proptest::sample::select(outcomes).prop_map(RequirementTurn::Delivered),
        2 => any::<bool>().prop_map(|is_merged| RequirementTurn::Tidied { is_merged }),
        1 => (0u32..3).prop_map(|number| RequirementTurn::Removed(job(number))),
    ]
}

/// The requirement after its turn; one that is refused leaves it as it is.
fn turned(known: &Requirement, turn: &RequirementTurn, now: Timestamp) -> Requirement {
    let refused = || known.clone();
    match turn {
        RequirementTurn::Seen(found) => known.seen(found.clone(), now),
        RequirementTurn::PlannedBy(job) => known.planned_by(job, now),
        RequirementTurn::PlannerEnded(found) => known.planner_ended("it ended", found.clone(), now),
        RequirementTurn::Start { keep_files } => {
            known.start(*keep_files, now).unwrap_or_else(|_| refused())
        }
        RequirementTurn::Delivered(outcome) => known.delivered(outcome, now),
        RequirementTurn::Tidied { is_merged } => known.tidied(*is_merged, now),
        RequirementTurn::Removed(job) => {
            known.removed(job, "kim", now).unwrap_or_else(|_| refused())
        }
    }
}

fn is_merged(state: &RequirementState) -> bool {
    match state {
        RequirementState::Merged { .. }
        | RequirementState::Tidying { .. }
        | RequirementState::Tidied { .. } => true,
        RequirementState::Planning { .. }
        | RequirementState::Unplanned { .. }
        | RequirementState::Ready
        | RequirementState::Implementing { .. }
        | RequirementState::Removing { .. }
        | RequirementState::Failed { .. } => false,
    }
}

/// What is over is taken up again by people only, what is merged stays so, and what is under way is left to its delivery.
fn check_requirement(before: &Requirement, after: &Requirement, turn: &RequirementTurn) {
    let (old, new) = (&before.state, &after.state);
    let is_same = old == new;
    let is_ordered = matches!(
        turn,
        RequirementTurn::Start { .. } | RequirementTurn::Removed(_)
    );
    // Its file was put back.
    let is_found = before.file_gone && matches!(turn, RequirementTurn::Seen(_));
    // No planner expanded it, and a person has it planned once more, or it was expanded by hand.
    let is_replanned = before.takes(RequirementAsk::Plan)
        && matches!(
            turn,
            RequirementTurn::Seen(_) | RequirementTurn::PlannedBy(_)
        );
    assert!(
        is_same || is_ordered || is_found || is_replanned || !before.is_over(),
        "{old:?} {new:?}"
    );
    let is_kept = is_merged(new) && old.delivery() == new.delivery();
    assert!(is_kept || !is_merged(old), "{old:?} {new:?}");
    let is_tidied = matches!(old, RequirementState::Tidied { .. });
    assert!(is_same || !is_tidied, "{old:?} {new:?}");
    let is_under_way = matches!(old, RequirementState::Implementing { .. });
    let is_delivered = matches!(turn, RequirementTurn::Delivered(_));
    assert!(is_same || is_delivered || !is_under_way, "{old:?} {new:?}");
    let has_begun = is_under_way || is_merged(old);
    let is_as_before = before.reference == after.reference;
    assert!(is_as_before || !has_begun, "it keeps what it began with");
    if let (RequirementTurn::Seen(found), RequirementState::Failed { .. }) = (turn, old) {
        let read = &found.reference;
        assert_eq!(read, &after.reference, "another attempt takes it as it is");
    }
    assert!(after.attempt <= 3 && after.attempt.abs_diff(before.attempt) <= 1);
    let is_in_vain = matches!(turn, RequirementTurn::Delivered(RequirementOutcome::NoFile));
    assert!(after.attempt >= before.attempt || is_in_vain);
    let planners = before.planners..=before.planners + 1;
    assert!(planners.contains(&after.planners));
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn runs_in_every_world(
        begun in begun(),
        story in proptest::collection::vec((happening(), time()), 1..40),
    ) {
        let mut run = begun;
        for (happening, now) in story {
            let next = after(&run, &happening, now);
            check_steps(&run, &next);
            check_progress(&next, now);
            check_given_up(&run, &next);
            let off = PipelineInput::Cancelled { by: "kim".to_owned() };
            let over = apply(&next, &off, now);
            prop_assert!(over.is_over());
            prop_assert_eq!(apply(&over, &off, now), over, "what comes twice changes nothing");
            run = next;
        }
    }

    #[test]
    fn requirements_in_every_world(
        needs_planning in any::<bool>(),
        story in proptest::collection::vec((turn(), time()), 1..30),
    ) {
        let repo = "acme/shop".parse().unwrap();
        let begun = RequirementState::Ready;
        let mut known = Requirement::found(&repo, found((needs_planning, 0)), begun, at(0));
        for (turn, now) in story {
            let next = turned(&known, &turn, now);
            check_requirement(&known, &next, &turn);
            prop_assert_eq!(&turned(&next, &turn, now), &next, "what comes twice changes nothing");
            let due = next.due(now);
            prop_assert!(due.is_none_or(|due| due > now || now == Timestamp::MAX));
            known = next;
        }
    }
}
