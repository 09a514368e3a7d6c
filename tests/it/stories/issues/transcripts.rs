//! What was said and done in runs is kept, whether they came to a good end or a bad one.

use std::time::Duration;

use domain::delivery::{Run, RunResult, TranscriptEntry, TranscriptState};
use engine::deliveries::TranscriptAnswer;
use engine::readings::TranscriptPage;
use engine::retention;
use engine::work::Work;
use tests::records::{Kind, kind_of};
use tests::world::complete;

use super::*;

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// The pages that are kept of a run.
async fn kept(world: &World, number: u64, run: &Run) -> Vec<TranscriptPage> {
    let mut pages = Vec::new();
    for page in 1.. {
        let id = id_of(number);
        let answer = world
            .backend
            .run_transcript(&id, &run.id, page, Duration::ZERO);
        match answer.await.expect("a store") {
            TranscriptAnswer::Page(found) => pages.push(found.kept),
            TranscriptAnswer::Nothing => break,
            other @ (TranscriptAnswer::Unread(_) | TranscriptAnswer::Later) => panic!("{other:?}"),
        }
    }
    pages
}

/// What is kept of a run, an entry a line.
async fn told(world: &World, number: u64, run: &Run) -> Vec<String> {
    let pages = kept(world, number, run).await;
    let line = |entry: &TranscriptEntry| {
        format!(
            "{} {}: {}",
            entry.role.as_str(),
            entry.kind.word(),
            entry.text
        )
    };
    pages
        .iter()
        .flat_map(|page| page.entries.iter().map(line))
        .collect()
}

async fn runs(world: &World, number: u64) -> Vec<Run> {
    delivery(world, number).await.expect("a delivery").runs
}

/// Every run that a session did has its transcript.
pub(super) async fn all_are_kept(world: &World, number: u64, when: &str) {
    let runs = runs(world, number).await;
    let by_session = runs.iter().filter(|run| run.job.is_some());
    let mut count = 0;
    for run in by_session {
        assert_eq!(run.transcript, TranscriptState::Kept, "{when}: {run:?}");
        assert!(
            !told(world, number, run).await.is_empty(),
            "{when}: {run:?}"
        );
        count += 1;
    }
    assert_eq!(count, 2, "{when}: a plan and a change");
}

/// How many pages of transcripts are left when so many days have passed.
async fn left_after(world: &World, days: i64) -> usize {
    let records = world.backend.store.records();
    let then = world.backend.now() + hour(days * 24);
    let forgotten = records.forget(then, retention::AT_ONCE).await;
    forgotten.expect("a store");
    let left = world.ledger.everything().await;
    let pages = left.iter().map(|record| kind_of(&record.key));
    pages.filter(|kind| *kind == Kind::Transcript).count()
}

/// Says something, and then does what follows.
fn saying(text: &str, last: Step) -> Vec<Step> {
    let plan = Step::Plan {
        after: SECOND,
        steps: vec!["Look around".to_owned()],
    };
    let say = Step::Say {
        after: SECOND * 2,
        text: text.to_owned(),
    };
    vec![
        plan,
        say,
        tests::world::progress(SECOND, "Ran the tests"),
        last,
    ]
}

#[tokio::test]
async fn an_export_has_the_own_events_of_a_delivery_and_its_transcripts() {
    let (world, number) = planned().await;
    order(&world, number, Act::APPROVE).await;
    until(&world, number, "close/succeeded").await;
    world.pass(MINUTE * 5).await;
    all_are_kept(&world, number, "when it is closed").await;
    let page = world.backend.store.delivery_exports(None, 10).await;
    let (exports, _) = page.expect("a store");
    let [export] = &exports[..] else {
        panic!("{exports:?}");
    };
    let events = export.events.iter();
    let kinds: Vec<&str> = events.map(|event| event.what.kind()).collect();
    assert_eq!(kinds, ["start"], "the rest came when it had a job");
    let runs = runs(&world, number).await;
    let mut exported = export.transcripts.iter();
    for run in runs.iter().filter(|run| run.job.is_some()) {
        let of_run = exported.next().expect("another transcript");
        assert_eq!(of_run.run, run.id);
        assert_eq!(of_run.pages, kept(&world, number, run).await);
    }
    assert_eq!(exported.next(), None);
    world.finish().await;
}

#[tokio::test]
async fn the_transcripts_of_a_failed_run_and_of_a_good_one_hold_no_secret() {
    let failing = Step::Fail {
        after: SECOND * 2,
        reason: format!("no disk for {SECRET}"),
    };
    let mut good = saying(&format!("I found {SECRET}."), tests::world::open_pull());
    good.push(complete(SECOND * 2));
    let stories = vec![
        story("Break it", saying(&format!("Trying {SECRET}."), failing)),
        story("Mend it", good),
    ];
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let world = World::of(scenario(stories), source).await;
    let broken = open_issue(&world, "Break it", "");
    until(&world, broken, "implement/failed").await;
    let mended = open_issue(&world, "Mend it", "");
    until(&world, mended, "close/succeeded").await;
    world.pass(MINUTE * 5).await;

    let failed = runs(&world, broken).await;
    assert_eq!(failed[1].status, RunResult::Failed);
    let lines = told(&world, broken, &failed[1]).await;
    let expected = [
        "user tool_result: The plan was approved.",
        "assistant text: Trying [secret]",
        "assistant thinking: Ran the tests",
        "assistant tool_result: The session failed.\nno disk for [secret]",
    ];
    assert_eq!(lines, expected);
    let plan = told(&world, broken, &failed[0]).await;
    let expected = [
        "assistant tool_use: Session started",
        "assistant tool_use: Plan:\n1. Look around",
    ];
    assert_eq!(plan, expected);

    all_are_kept(&world, mended, "at the end").await;
    let good = runs(&world, mended).await;
    let lines = told(&world, mended, &good[1]).await;
    assert!(
        lines.contains(&"assistant text: I found [secret]".to_owned()),
        "{lines:?}"
    );
    for (_, body) in world.ledger.bodies() {
        assert!(!body.contains(SECRET), "{body}");
    }

    // It is kept for 90 days, and then read afresh, which changes nothing else.
    assert!(left_after(&world, 89).await > 0);
    assert_eq!(left_after(&world, 91).await, 0);
    let before = delivery(&world, mended).await;
    let (id, run) = (id_of(mended), &good[1].id);
    let unread = world.backend.run_transcript(&id, run, 1, Duration::ZERO);
    assert_eq!(unread.await.expect("a store"), TranscriptAnswer::Later);
    world.pass(MINUTE).await;
    assert_eq!(told(&world, mended, &good[1]).await, lines);
    assert_eq!(delivery(&world, mended).await, before);
    world.finish().await;
}

/// A log that cannot be read holds up nothing, and is read later.
async fn kept_once_it_can_be_read(code: u16) {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let silent = tests::world::silent("Add a test");
    let world = World::of(scenario(vec![silent]), source).await;
    let number = open_issue(&world, "Add a test", "");
    let works = async |world: &World| {
        let found = delivery(world, number).await;
        let runs = found.map(|found| found.runs).unwrap_or_default();
        runs.last().is_some_and(|run| run.session.is_some())
    };
    Box::pin(world.until(hour(1), "a session works", works)).await;
    world.pass(MINUTE * 5).await;
    let kind = FaultKind::status(code);
    let silent = Fault::new(Service::Jules, "/activities", kind);
    world.sandbox.faults().add(silent.clone());
    order(&world, number, Act::Cancel).await;
    world.pass(MINUTE * 5).await;
    let state = async || {
        let last = runs(&world, number).await.pop().expect("a run");
        (last.status, last.transcript)
    };
    assert_eq!(state().await, (RunResult::Failed, TranscriptState::Pending));
    let job = delivery(&world, number).await.and_then(|it| it.task.job);
    let job = job.expect("a job");
    assert_eq!(
        world.state(&job).await,
        "cancelled",
        "nothing waited for it"
    );
    world.sandbox.faults().clear();
    world.pass(hour(2)).await;
    assert_eq!(state().await, (RunResult::Failed, TranscriptState::Kept));
    // A message that comes late replaces nothing, whatever Jules answers by then.
    let run = runs(&world, number).await.pop().expect("a run");
    let before = told(&world, number, &run).await;
    world.sandbox.faults().add(silent);
    let late = Work::Transcript {
        id: id_of(number),
        run: run.id.clone(),
    };
    world.dispatcher.handle(&late).await.expect("done");
    assert_eq!(told(&world, number, &run).await, before);
    assert_eq!(state().await, (RunResult::Failed, TranscriptState::Kept));
    world.sandbox.faults().clear();
    world.finish().await;
}

#[tokio::test]
async fn a_transcript_that_cannot_be_read_now_is_kept_later() {
    kept_once_it_can_be_read(503).await;
}

#[tokio::test]
async fn a_session_that_cannot_be_found_yet_has_its_transcript_kept_later() {
    kept_once_it_can_be_read(404).await;
}

/// A delivery that collected a session at work, with its last run.
async fn collected(world: &World) -> (u64, Run) {
    let number = open_issue(world, "Add a test", "");
    until(world, number, "plan/pending").await;
    let job = world.submit("Look around").await;
    world.until_is(hour(1), &job, "plan-waits").await;
    world.approve_plan(&job).await;
    world.pass(MINUTE).await;
    let found = world.backend.must_job(&job).await.expect("a job");
    let session = found.value.session().cloned();
    let collect = Act::Collect {
        job,
        session,
        result: RunResult::Success,
    };
    order(world, number, collect).await;
    world.pass(MINUTE * 3).await;
    (number, last_run(world, number).await)
}

async fn last_run(world: &World, number: u64) -> Run {
    runs(world, number).await.pop().expect("a run")
}

async fn looking_around(works_for: jiff::SignedDuration) -> World {
    let last = without_change(works_for);
    let looking = story("Look around", saying("I look around.", last));
    World::of(scenario(vec![looking]), taking(|_| {})).await
}

#[tokio::test]
async fn a_collected_session_that_still_works_is_read_once_it_is_done() {
    let world = looking_around(MINUTE * 20).await;
    let (number, run) = collected(&world).await;
    assert_eq!(run.transcript, TranscriptState::Pending);
    world.pass(hour(2)).await;
    let run = last_run(&world, number).await;
    assert_eq!(run.transcript, TranscriptState::Kept);
    let lines = told(&world, number, &run).await;
    let last = lines.last().map(String::as_str);
    let finished = "assistant tool_result: The session was finished.";
    assert_eq!(last, Some(finished), "{lines:?}");
}

/// Its issue is closed long before the session is done.
#[tokio::test]
async fn a_collected_session_is_read_although_its_delivery_was_closed_hours_before() {
    let world = looking_around(hour(3)).await;
    let (number, _) = collected(&world).await;
    let now = world.clock.now();
    world.sandbox.github().close_as(now, REPO, number, "ann");
    until(&world, number, "close/succeeded").await;
    world.pass(hour(2)).await;
    let run = last_run(&world, number).await;
    assert_eq!(run.transcript, TranscriptState::Pending);
    world.pass(hour(4)).await;
    let run = last_run(&world, number).await;
    assert_eq!(run.transcript, TranscriptState::Kept);
}

#[tokio::test]
async fn what_a_caller_read_is_kept_when_the_session_is_gone_before_its_end() {
    let world = looking_around(MINUTE * 20).await;
    let (number, run) = collected(&world).await;
    let asked = Work::Transcript {
        id: id_of(number),
        run: run.id.clone(),
    };
    world.dispatcher.handle(&asked).await.expect("done");
    let before = told(&world, number, &run).await;
    assert!(!before.is_empty());
    let gone = FaultKind::status(404);
    let session = run.session.clone().expect("a session");
    let path = format!("/sessions/{session}");
    world
        .sandbox
        .faults()
        .add(Fault::new(Service::Jules, &path, gone));
    world.pass(hour(3)).await;
    let run = last_run(&world, number).await;
    assert_eq!(run.transcript, TranscriptState::Kept);
    assert_eq!(told(&world, number, &run).await, before);
}
