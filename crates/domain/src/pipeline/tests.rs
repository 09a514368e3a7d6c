//! Runs of a pipeline and requirements, decided step by step.

mod announcing;
mod ending;
mod hindered;
mod planners;
mod summary;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::facts::fixture::at;
use crate::ids::{DeliveryId, PullRef};
use crate::job::{WaitParty, WaitReason, WaitsFor};

pub(crate) fn job(number: u32) -> JobId {
    format!("01j000000000000000000000{number:02}")
        .parse()
        .unwrap()
}

pub(crate) fn pipeline(exchange: Exchange, kinds: &[StepKind]) -> Pipeline {
    let begun = Pipeline {
        id: "01j00000000000000000000099".parse().unwrap(),
        repo: "acme/shop".parse().unwrap(),
        target: BranchName::main(),
        worker: BranchName::jules(),
        ask: PipelineAsk::default(),
        rules: PipelineRules {
            exchange,
            ..PipelineRules::default()
        },
        by: "person".to_owned(),
        steps: Vec::new(),
        wait_minutes: 0,
        summed_up: None,
        created_at: at(0),
        updated_at: at(0),
    };
    start(begun, kinds)
}

pub(crate) fn member(number: u32) -> Member {
    Member {
        role: None,
        stream: StreamName::default(),
        requirement: None,
        job: job(number),
        state: AgentState::Working,
        note: String::new(),
    }
}

fn run(numbers: &[u32]) -> PipelineInput {
    PipelineInput::Planned(StepPlan::Run {
        members: numbers.iter().copied().map(member).collect(),
        trees: None,
        range: String::new(),
        wait_minutes: Some(30),
    })
}

fn seen(sights: &[(u32, AgentState)]) -> PipelineInput {
    let sights = sights.iter().cloned();
    PipelineInput::Seen(
        sights
            .map(|(number, state)| {
                let red = Vec::new();
                (job(number), Some(MemberSight { state, red }))
            })
            .collect(),
    )
}

fn failed() -> AgentState {
    failed_as("it failed: no")
}

fn failed_as(reason: &str) -> AgentState {
    let reason = reason.to_owned();
    AgentState::Failed { reason }
}

fn words(pipeline: &Pipeline) -> String {
    let words = pipeline.steps.iter().map(|step| {
        let reason = step.state.reason().map(|why| format!(" ({why})"));
        format!(
            "{} {}{}",
            step.kind,
            step.state.word(),
            reason.unwrap_or_default()
        )
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Plays inputs a second apart.
fn play(mut pipeline: Pipeline, inputs: &[PipelineInput]) -> Pipeline {
    for (input, second) in inputs.iter().zip(1..) {
        pipeline = apply(&pipeline, input, at(second));
    }
    pipeline
}

const NARRATOR: StepKind = StepKind::Layer(Layer::Narrator);
const OBSERVERS: StepKind = StepKind::Layer(Layer::Observers);

#[test]
fn a_whole_run_has_its_steps_in_order() {
    let names = |entry: EntryPoint| {
        let names: Vec<_> = entry.steps().into_iter().map(StepKind::name).collect();
        names.join(" ")
    };
    for (entry, steps) in [
        (
            EntryPoint::Narrator,
            "bootstrap narrator observers decider planner requirements",
        ),
        (
            EntryPoint::Observers,
            "bootstrap observers decider planner requirements",
        ),
        (
            EntryPoint::Decider,
            "bootstrap decider planner requirements",
        ),
        (EntryPoint::Requirements, "bootstrap planner requirements"),
        (EntryPoint::Innovators, "bootstrap innovators proposals"),
        (EntryPoint::Proposals, "bootstrap proposals"),
    ] {
        assert_eq!(names(entry), steps);
    }
    for (text, entry) in [
        ("n", EntryPoint::Narrator),
        ("Requirements", EntryPoint::Requirements),
    ] {
        assert_eq!(text.parse(), Ok(entry));
    }
    let refused = |text: &str| text.parse::<EntryPoint>().unwrap_err().to_string();
    assert!(refused("planner").contains("begins with narrator, observers"));
    assert!(refused("obsrvers").contains("it begins with narrator, observers"));
}

#[test]
fn the_next_step_begins_when_the_last_agent_is_through() {
    let begun = pipeline(
        Exchange::Auto,
        &[StepKind::Bootstrap, OBSERVERS, StepKind::Requirements],
    );
    let through = play(begun, &[run(&[1]), seen(&[(1, AgentState::Merged)])]);
    assert_eq!(
        words(&through),
        "bootstrap done, observers pending, requirements pending"
    );
    let half = play(
        through,
        &[
            run(&[2, 3]),
            seen(&[(2, AgentState::Merging), (3, AgentState::Working)]),
        ],
    );
    assert_eq!(
        words(&half),
        "bootstrap done, observers running, requirements pending"
    );
    let waits = apply(&half, &seen(&[(3, AgentState::Nothing)]), at(9));
    assert_eq!(waits.word(), "waiting_merge");
    let done = apply(&waits, &seen(&[(2, AgentState::Merged)]), at(10));
    assert_eq!(
        words(&done),
        "bootstrap done, observers done, requirements pending"
    );
    let over = apply(&done, &run(&[]), at(11));
    assert!(over.is_over());
    assert_eq!((over.word(), due(&over, at(11))), ("done", None));
    assert_eq!(apply(&over, &seen(&[(2, failed())]), at(12)), over);
}

#[test]
fn one_agents_failure_stops_no_other_and_a_layers_failure_no_other_layer() {
    let begun = pipeline(Exchange::Auto, &[NARRATOR, OBSERVERS]);
    let inputs = [
        run(&[1]),
        seen(&[(1, failed())]),
        run(&[2, 3]),
        seen(&[(2, failed()), (3, AgentState::Merged)]),
    ];
    let over = play(begun, &inputs);
    assert_eq!(
        words(&over),
        "narrator failed (it failed: no), observers done"
    );
    assert_eq!(over.word(), "failed");
}

#[test]
fn nothing_is_done_without_the_worker_branch() {
    let begun = pipeline(Exchange::Auto, &[StepKind::Bootstrap, NARRATOR]);
    let over = apply(
        &begun,
        &PipelineInput::Planned(StepPlan::Fail("no such branch".to_owned())),
        at(1),
    );
    assert_eq!(
        words(&over),
        "bootstrap failed (no such branch), narrator skipped (the bootstrap failed)"
    );
}

#[test]
fn a_step_is_waited_for_no_longer_than_the_settings_say() {
    let late = at(1) + SignedDuration::from_mins(30);
    for (exchange, word) in [
        (Exchange::Auto, "failed"),
        (Exchange::Human, "waiting_merge"),
    ] {
        let begun = apply(&pipeline(exchange, &[NARRATOR]), &run(&[1]), at(1));
        let early: Timestamp = late - SignedDuration::from_secs(1);
        let early = apply(&begun, &seen(&[(1, AgentState::Merging)]), early);
        assert_eq!(early.word(), "waiting_merge");
        assert_eq!(due(&early, late - SignedDuration::from_secs(1)), Some(late));
        let over = apply(&early, &seen(&[(1, AgentState::Merging)]), late);
        assert_eq!(over.word(), word, "{exchange:?}");
    }
    let begun = apply(&pipeline(Exchange::Human, &[NARRATOR]), &run(&[1]), at(1));
    let late_pull = apply(&begun, &seen(&[(1, AgentState::Merging)]), late);
    assert_eq!(given_up(&begun, &late_pull), [], "people decide about it");
    let over = apply(&begun, &PipelineInput::Seen(vec![(job(1), None)]), late);
    assert_eq!(given_up(&begun, &over), [job(1)]);
    assert_eq!(given_up(&over, &over), []);
    let cancelled = failed_as("pipeline x cancelled it");
    let died = apply(&begun, &seen(&[(1, cancelled)]), late);
    let AgentState::Failed { reason } = &died.steps[0].members[0].state else {
        panic!("{died:?}");
    };
    assert_eq!(
        reason,
        "it was not through within 30 min (pipeline x cancelled it)"
    );
    let own = play(
        pipeline(Exchange::Auto, &[StepKind::Bootstrap]),
        &[run(&[1])],
    );
    let open = apply(&own, &seen(&[(1, AgentState::Merging)]), at(2));
    let over = apply(&open, &seen(&[(1, AgentState::Merging)]), late);
    assert_eq!(given_up(&open, &over), [job(1)]);
    let held = held(&open, 0, late);
    let goes_on = apply(&held, &seen(&[(1, AgentState::Merging)]), late);
    assert_eq!(goes_on.word(), "waiting_merge");
    assert_eq!(
        words(&over),
        "bootstrap failed (it was not through within 30 min)"
    );
    let closed = failed_as("closed by a person");
    let waits = apply(&begun, &seen(&[(1, AgentState::Merging)]), at(2));
    let over = apply(&waits, &seen(&[(1, closed)]), late);
    assert_eq!(words(&over), "narrator failed (closed by a person)");
}

#[test]
fn a_run_that_is_called_off_begins_nothing_more() {
    let begun = play(
        pipeline(Exchange::Auto, &[NARRATOR, OBSERVERS]),
        &[run(&[1])],
    );
    let off = cancel(&begun, "token zai", at(3)).unwrap();
    assert_eq!(
        words(&off),
        "narrator failed (token zai cancelled the run), observers skipped (token zai cancelled the run)"
    );
    assert_eq!(cancel(&off, "token zai", at(4)).unwrap_err().code, "ended");
    assert_eq!(apply(&off, &run(&[2]), at(5)), off);
}

#[test]
fn a_step_is_planned_once() {
    let begun = play(
        pipeline(Exchange::Auto, &[NARRATOR]),
        &[run(&[1]), run(&[2])],
    );
    assert_eq!(begun.steps[0].members, [member(1)]);
    let skipped = PipelineInput::Planned(StepPlan::Skip("nothing changed".to_owned()));
    assert_eq!(apply(&begun, &skipped, at(4)), begun);
}

fn found(needs_planning: bool) -> FoundRequirement {
    FoundRequirement {
        reference: RequirementRef {
            id: "abc123".parse().unwrap(),
            path: ".jules/exchange/requirements/abc123-retry.yml".to_owned(),
            events: vec![".jules/exchange/events/decided/aaa111.yml".to_owned()],
        },
        title: "Retry once".to_owned(),
        label: "bugs".to_owned(),
        needs_planning,
    }
}

fn requirement(state: RequirementState) -> Requirement {
    let repo = "acme/shop".parse().unwrap();
    Requirement::found(&repo, found(false), state, at(0))
}

#[test]
fn a_requirement_goes_from_its_planner_to_the_removal_of_its_files() {
    let planning = requirement(RequirementState::Planning { job: job(1) });
    assert_eq!(planning.start(false, at(1)).unwrap_err().code, "not_ready");
    assert_eq!(planning.seen(found(true), at(1)), planning);
    let ready = planning.seen(found(false), at(1));
    assert_eq!(ready.state, RequirementState::Ready);
    let begun = ready.start(false, at(2)).unwrap();
    assert_eq!(begun.start(false, at(3)).unwrap_err().code, "taken");
    assert_eq!(begun.seen(found(true), at(3)), begun);
    assert_eq!(begun.delivered(&RequirementOutcome::Open, at(3)), begun);
    let tidying = begun.delivered(&RequirementOutcome::Merged, at(4));
    assert_eq!(tidying.state.word(), "tidying");
    assert_eq!(
        tidying.delivered(&RequirementOutcome::Merged, at(5)),
        tidying
    );
    assert_eq!(tidying.tidied(true, at(5)).state.word(), "tidied");
    assert_eq!(tidying.tidied(false, at(5)).state.word(), "merged");
    assert_eq!(tidying.start(false, at(6)).unwrap_err().code, "merged");
    let kept = ready.start(true, at(2)).unwrap();
    assert_eq!(
        kept.delivered(&RequirementOutcome::Merged, at(3))
            .state
            .word(),
        "merged"
    );
}

#[test]
fn the_words_of_ended_states_are_those_of_requirements_that_are_over() {
    let delivery: DeliveryId = "0123456789ab".parse().unwrap();
    let mut ended = Vec::new();
    for state in [
        RequirementState::Planning { job: job(1) },
        RequirementState::Unplanned {
            reason: "no disk".to_owned(),
        },
        RequirementState::Ready,
        RequirementState::Implementing {
            delivery: delivery.clone(),
        },
        RequirementState::Tidying {
            delivery: delivery.clone(),
            job: job(2),
        },
        RequirementState::Merged {
            delivery: delivery.clone(),
        },
        RequirementState::Tidied { delivery },
        RequirementState::Removing {
            job: job(3),
            by: "ann".to_owned(),
            before: Box::new(RequirementState::Ready),
        },
        RequirementState::Failed {
            reason: "no disk".to_owned(),
        },
    ] {
        let word = state.word();
        ended.extend(requirement(state).is_over().then_some(word));
    }
    assert_eq!(ended, RequirementState::ENDED);
}

#[test]
fn a_requirement_that_was_not_merged_is_tried_a_few_times() {
    let no = RequirementOutcome::NotMerged {
        reason: "it was closed".to_owned(),
    };
    let mut deliveries = Vec::new();
    let mut requirement = requirement(RequirementState::Ready);
    for _ in 0..3 {
        requirement = requirement.start(false, at(1)).unwrap();
        deliveries.push(requirement.state.delivery().unwrap().clone());
        requirement = requirement.delivered(&no, at(2));
        assert_eq!(requirement.state.word(), "failed");
        assert_eq!(requirement.planned_by(&job(1), at(2)), requirement);
    }
    deliveries.dedup();
    assert_eq!(deliveries.len(), 3);
    let refused = requirement.start(false, at(3)).unwrap_err();
    assert_eq!(refused.code, "attempts_used_up");
    assert_eq!(taken(&requirement), ["remove"]);
}

fn taken(known: &Requirement) -> Vec<&'static str> {
    let all = RequirementAsk::ALL.into_iter();
    let taken = all.filter(|ask| known.takes(*ask));
    taken.map(RequirementAsk::word).collect()
}

#[test]
fn a_requirement_takes_what_is_not_refused_in_its_state() {
    let ready = requirement(RequirementState::Ready);
    assert_eq!(taken(&ready), ["start", "remove"]);
    let begun = ready.start(true, at(1)).unwrap();
    assert_eq!(taken(&begun), [""; 0]);
    let no = RequirementOutcome::NotMerged {
        reason: "it was closed".to_owned(),
    };
    assert_eq!(taken(&begun.delivered(&no, at(2))), ["start", "remove"]);
    let gone = begun.delivered(&RequirementOutcome::NoFile, at(2));
    assert_eq!(taken(&gone), [""; 0]);
    let merged = begun.delivered(&RequirementOutcome::Merged, at(2));
    assert_eq!(taken(&merged), ["remove"]);
    let removing = ready.removed(&job(1), "ann", at(1)).unwrap();
    assert_eq!(taken(&removing), [""; 0]);
    let reason = "its session disappeared".to_owned();
    let unplanned = requirement(RequirementState::Unplanned { reason });
    assert_eq!(taken(&unplanned), ["plan", "remove"]);
    for (known, code) in [
        (&ready, None),
        (&unplanned, None),
        (&gone, None),
        (&begun, Some("taken")),
        (&removing, Some("taken")),
        (&merged, Some("merged")),
    ] {
        let refused = known.must_be_free().err().map(|why| why.code);
        assert_eq!(refused, code, "{known:?}");
    }
}

#[test]
fn another_attempt_begins_with_the_file_as_it_is_now() {
    let failed = requirement(RequirementState::Failed {
        reason: "it was closed".to_owned(),
    });
    let mut now = found(true);
    let more = ".jules/exchange/events/decided/bbb222.yml".to_owned();
    now.reference.events.push(more);
    let seen = failed.seen(now.clone(), at(1));
    assert_eq!(seen.state, failed.state);
    assert_eq!(seen.reference, now.reference);
    let begun = seen.start(false, at(2)).unwrap();
    assert_eq!(begun.seen(found(false), at(3)), begun, "it is under way");
}

#[test]
fn a_requirement_without_a_file_takes_no_start_and_a_start_in_vain_is_no_attempt() {
    let begun = requirement(RequirementState::Ready).start(false, at(1));
    let begun = begun.unwrap();
    let gone = begun.delivered(&RequirementOutcome::NoFile, at(2));
    assert_eq!((gone.state.word(), gone.attempt), ("failed", 0));
    let reason = gone.state.reason().unwrap();
    assert!(reason.ends_with("is not there any more"), "{reason}");
    assert_eq!(gone.start(false, at(3)).unwrap_err().code, "gone");
    for needs_planning in [false, true] {
        let back = gone.seen(found(needs_planning), at(4));
        let again = back.start(false, at(5)).unwrap();
        assert_eq!(again.state.delivery(), begun.state.delivery());
    }
}

#[test]
fn a_requirement_whose_files_are_being_removed_is_not_implemented() {
    let ready = requirement(RequirementState::Ready);
    let removing = ready.removed(&job(1), "agent bot", at(1)).unwrap();
    assert_eq!(removing.state.job(), Some(&job(1)));
    let early = removing.start(false, at(2)).unwrap_err();
    assert_eq!(early.code, "taken");
    assert!(early.sentence.contains("as agent bot asked"), "{early:?}");
    assert_eq!(removing.seen(found(false), at(2)), removing);
    let again = removing.removed(&job(1), "agent bot", at(2));
    assert_eq!(again, Ok(removing.clone()));
    let other = removing.removed(&job(2), "ann", at(2)).unwrap_err();
    assert_eq!(other.code, "tidying");
    let kept = removing.tidied(false, at(3));
    assert_eq!(kept.state, RequirementState::Ready, "it is wanted again");
    let gone = removing.tidied(true, at(3));
    assert_eq!(gone.state.reason(), Some("agent bot had its files removed"));
    assert_eq!(gone.start(false, at(4)).unwrap_err().code, "gone");
    let back = gone.seen(found(false), at(5));
    assert_eq!(back.state, RequirementState::Ready, "its file was put back");
    assert!(back.start(false, at(6)).is_ok());
}

#[test]
fn a_removal_that_is_called_off_leaves_a_requirement_as_it_was() {
    let reason = || "none of its 3 planners expanded it".to_owned();
    for state in [
        RequirementState::Planning { job: job(1) },
        RequirementState::Unplanned { reason: reason() },
        RequirementState::Ready,
        RequirementState::Failed { reason: reason() },
    ] {
        let known = requirement(state.clone());
        let removing = known.removed(&job(2), "ann", at(1)).unwrap();
        assert_eq!(removing.state.word(), "removing");
        let kept = removing.tidied(false, at(2));
        assert_eq!(kept.state, state);
        assert_eq!(kept.is_over(), known.is_over());
        assert_eq!(kept.tidied(false, at(3)), kept);
    }
}

#[test]
fn a_requirement_that_is_implemented_has_its_files_removed_once() {
    let ready = requirement(RequirementState::Ready);
    let ask =
        |known: &Requirement, number, seconds| known.removed(&job(number), "ann", at(seconds));
    let begun = ready.start(true, at(1)).unwrap();
    let taken = ask(&begun, 1, 2).unwrap_err();
    assert_eq!(taken.code, "taken");
    assert!(taken.sentence.contains("twice where it runs"), "{taken:?}");
    let merged = begun.delivered(&RequirementOutcome::Merged, at(3));
    let tidying = ask(&merged, 1, 4).unwrap();
    assert_eq!(tidying.state.job(), Some(&job(1)));
    assert_eq!(ask(&tidying, 1, 5), Ok(tidying.clone()));
    assert_eq!(ask(&tidying, 2, 5).unwrap_err().code, "tidying");
    let tidied = tidying.tidied(true, at(6));
    assert_eq!(tidied.state.word(), "tidied");
    assert_eq!(ask(&tidied, 2, 7), Ok(tidied));
}

#[test]
fn who_is_waited_for_at_the_job_of_a_requirement_is_told_with_its_pull_request() {
    let pull: PullRef = "acme/shop#12".parse().unwrap();
    let waits = |who| WaitsFor::new(who, WaitReason::Approval, at(0));
    let told = |state: &RequirementState, who| {
        let waits = waits(who);
        state.told_of_job(Some(&pull), Some(&waits))
    };
    let delivery = "0123456789ab".parse().unwrap();
    let job = job(1);
    let tidying = RequirementState::Tidying {
        delivery,
        job: job.clone(),
    };
    let waiting = "pull request acme/shop#12 waits for a person: its merge waits for approval";
    assert_eq!(told(&tidying, WaitParty::Person).as_deref(), Some(waiting));
    assert_eq!(told(&tidying, WaitParty::Gaffer), None);
    let by = "ann".to_owned();
    let before = Box::new(RequirementState::Ready);
    let removing = RequirementState::Removing { job, by, before };
    let moving = "ann has its files removed by pull request acme/shop#12";
    assert_eq!(told(&removing, WaitParty::Gaffer).as_deref(), Some(moving));
    let held = told(&removing, WaitParty::Person).unwrap();
    assert!(held.starts_with(moving) && held.contains("waits for a person"));
    let early = removing.told_of_job(None, None).unwrap();
    assert!(early.contains("by job "), "{early}");
    assert_eq!(RequirementState::Ready.told_of_job(Some(&pull), None), None);
}

#[test]
fn a_step_that_is_done_without_agents_keeps_what_there_is_to_say() {
    let begun = pipeline(Exchange::Human, &[StepKind::Requirements]);
    let note = "one file cannot be read".to_owned();
    let over = apply(
        &begun,
        &PipelineInput::Planned(StepPlan::Done { note }),
        at(1),
    );
    assert!(over.is_over());
    let step = &over.steps[0];
    assert_eq!(
        (step.state.word(), step.reason()),
        ("done", Some("one file cannot be read"))
    );
}
