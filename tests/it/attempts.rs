//! What belongs to an earlier attempt of a job stays with it: its pull request, its create, its orders.

use std::time::Duration;

use domain::effect::ATTEMPTS_MAX;
use domain::ids::JobId;
use engine::backend::IndexEntry;
use engine::jobs::JobQuery;
use engine::jobs::adoption::{Adopted, Adoption};
use engine::keys;
use sandbox::{Fault, FaultKind, Foreign, ForeignSession, Lags, Scenario, Service};
use tests::world::{
    MINUTE, REPO, SECOND, World, asking, green_checks, progress, scenario, story, with_ci,
};

#[tokio::test]
async fn the_pull_request_of_an_attempt_that_was_called_off_is_not_merged() {
    let mut checks = green_checks();
    checks[0].takes = MINUTE * 10;
    let ci = sandbox::github::CiSetup {
        checks,
        ..Default::default()
    };
    let world = World::on_green(with_ci(ci)).await;
    let job = world.submit("Add a test").await;
    world.until_gives(MINUTE * 5, &job, "checks_pending").await;
    world.cancel(&job).await;
    world.step().await;
    world.retry(&job).await;
    world.until_is(MINUTE * 60, &job, "merged").await;
    world.pass(MINUTE * 30).await;

    assert_eq!(world.sandbox.counters().merge_calls, 1);
    assert_eq!(world.pull(1).merged_sha, None);
    assert!(world.pull(2).merged_sha.is_some());
    assert_eq!(world.sandbox.counters().messages, 0);
}

#[tokio::test]
async fn an_order_that_fails_for_good_is_told() {
    let world = World::on_green(scenario(vec![asking("ask me", "Which database?")])).await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    let refused = FaultKind::status(403);
    let fault = Fault::new(Service::Jules, ":sendMessage", refused);
    world.sandbox.faults().add(fault.on("POST").next(1));
    world.answer(&job, "PostgreSQL", "answer-1").await;
    world.pass(MINUTE).await;
    assert_eq!(
        world.events(&job).await,
        ["question/question", "error/message_failed"]
    );
    assert_eq!(world.sandbox.counters().messages, 0);
    assert!(world.gives(&job, "effect_failed").await);

    // Sent again, it gets through, and the story continues.
    world.answer(&job, "PostgreSQL", "answer-2").await;
    assert!(!world.gives(&job, "effect_failed").await);
    world.until_is(MINUTE * 10, &job, "merged").await;
    assert!(!world.gives(&job, "effect_failed").await);
    assert_eq!(world.sandbox.counters().messages, 1);
    world.finish().await;
}

/// Nothing is sent by an order that is tried no more, so it answers nothing.
#[tokio::test]
async fn an_answer_that_is_tried_no_more_leaves_its_question_open() {
    let world = World::on_green(scenario(vec![asking("ask me", "Which database?")])).await;
    let job = world.submit("ask me").await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    let refused = FaultKind::status(403);
    let fault = Fault::new(Service::Jules, ":sendMessage", refused);
    world.sandbox.faults().add(fault.on("POST"));
    for _ in 0..ATTEMPTS_MAX {
        world.answer(&job, "PostgreSQL", "answer").await;
        assert_eq!(world.state(&job).await, "answered");
        world.pass(MINUTE * 11).await;
        assert_eq!(world.state(&job).await, "asking");
    }
    world.answer(&job, "PostgreSQL", "answer").await;
    assert_eq!(world.state(&job).await, "asking");
    world.pass(MINUTE * 11).await;
    let sent = world.requests(Service::Jules, "POST", ":sendMessage");
    assert_eq!(sent.len(), ATTEMPTS_MAX as usize);
}

#[tokio::test]
async fn a_create_that_was_called_off_before_it_began_leaves_the_next_attempt_alone() {
    let world = World::on_green(Scenario::default()).await;
    world.pause(true).await;
    let job = world.submit("Add a test").await;
    world.pass(SECOND * 30).await;
    world.cancel(&job).await;
    world.retry(&job).await;
    world.pause(false).await;
    world.until_is(MINUTE * 20, &job, "merged").await;
    assert_eq!(world.sandbox.counters().creates, 1);
    world.finish().await;
}

/// A session at work that its list shows only this late, and a job whose first create goes unanswered.
async fn made_unheard(hidden: jiff::SignedDuration) -> (World, JobId) {
    let steps = [SECOND, MINUTE * 200].map(|after| progress(after, "Working"));
    let played = Scenario {
        lags: Lags {
            list: hidden,
            ..Lags::default()
        },
        ..scenario(vec![story("slow", steps.into())])
    };
    let world = World::on_green(played).await;
    let cut = Fault::new(Service::Jules, "/sessions", FaultKind::CutAfterEffect);
    world.sandbox.faults().add(cut.on("POST").next(1));
    let job = world.submit("slow").await;
    (world, job)
}

/// Calls the job off, and has it tried again.
async fn tried_again(world: &World, job: &JobId) {
    world.cancel(job).await;
    world.retry(job).await;
}

/// Of the sessions that an attempt made, which are archived.
fn put_away(world: &World, (job, attempt): (&JobId, u32)) -> Vec<bool> {
    let marker = format!("{job}#{attempt}]");
    let sessions = world.sandbox.jules().sessions().into_iter();
    let made = sessions.filter(|it| it.title.contains(&marker));
    made.map(|it| it.archived).collect()
}

#[tokio::test]
async fn a_twin_that_turns_up_when_its_job_is_at_another_attempt_is_put_away() {
    let (world, job) = made_unheard(MINUTE * 20).await;
    world.until_is(MINUTE * 15, &job, "working").await;
    tried_again(&world, &job).await;
    world.pass(MINUTE * 10).await;
    assert_eq!(put_away(&world, (&job, 2)), [false]);
    world.pass(MINUTE * 60).await;
    assert_eq!(put_away(&world, (&job, 1)), [true, true]);
    assert_eq!(put_away(&world, (&job, 2)), [false]);
    assert_eq!(world.sandbox.counters().archives, 2);
}

#[tokio::test]
async fn a_session_whose_attempt_was_called_off_before_it_was_heard_of_is_put_away() {
    let (world, job) = made_unheard(SECOND).await;
    world.until_count(MINUTE * 5, |it| it.creates == 1).await;
    assert_eq!(world.state(&job).await, "starting");
    tried_again(&world, &job).await;
    // Sooner than any sweep of the list.
    world.pass(MINUTE * 10).await;
    assert_eq!(put_away(&world, (&job, 1)), [true]);
    assert_eq!(put_away(&world, (&job, 2)), [false]);
}

#[tokio::test]
async fn a_session_that_turns_up_long_after_its_job_was_called_off_is_put_away() {
    let (world, job) = made_unheard(MINUTE * 20).await;
    world.until_count(MINUTE * 5, |it| it.creates == 1).await;
    world.cancel(&job).await;
    world.pass(MINUTE * 15).await;
    assert_eq!(put_away(&world, (&job, 1)), [false]);
    world.pass(MINUTE * 60).await;
    assert_eq!(put_away(&world, (&job, 1)), [true]);
    assert_eq!(world.sandbox.counters().archives, 1);
}

#[tokio::test]
async fn an_unheard_session_that_is_adopted_when_its_job_was_called_off_stays_with_whoever_has_it()
{
    let (world, job) = made_unheard(SECOND).await;
    world.until_count(MINUTE * 5, |it| it.creates == 1).await;
    world.cancel(&job).await;
    let session = world.sandbox.jules().sessions()[0].id.clone();
    let new = asked_to_adopt(&world, adoption(&world, &session)).await;
    // Its create is settled after three minutes, and the list is checked after fifteen.
    world.pass(MINUTE * 60).await;
    assert_eq!(put_away(&world, (&job, 1)), [false]);
    assert_eq!(world.state(&new).await, "working");
    let adopted = world.backend.must_job(&new).await.expect("a job").value;
    let given = adopted.last_order(domain::job::Order::Adopt);
    assert_eq!(given.map(|given| &*given.by), Some("me over HTTP"));
    assert_eq!(world.sandbox.counters().archives, 0);
}

#[tokio::test]
async fn a_twin_is_not_given_to_whoever_wants_to_adopt_it() {
    let (world, job) = made_unheard(MINUTE * 20).await;
    world.until_is(MINUTE * 15, &job, "working").await;
    let has = world.backend.must_job(&job).await.expect("a job").value;
    let mut sessions = world.sandbox.jules().sessions().into_iter();
    let duplicate = sessions.find(|it| has.session().is_some_and(|had| *had.as_str() != *it.id));
    let duplicate = duplicate.expect("a twin").id;
    let new = asked_to_adopt(&world, adoption(&world, &duplicate)).await;
    world.pass(MINUTE).await;
    let (code, sentence) = refused(&world, &new, &duplicate).await;
    assert_eq!(code, "superseded");
    assert_eq!(
        sentence,
        format!(
            "session {duplicate} was made for job {job}, which has it or puts it away: use that job"
        )
    );
    assert_eq!(jobs(&world).await, [job]);
}

fn adoption(world: &World, session: &str) -> Adoption {
    Adoption {
        session: session.parse().expect("a session id"),
        repo: REPO.parse().expect("a repository"),
        agent: None,
        take_over: true,
        delivery: None,
        by: Some("me over HTTP".to_owned()),
        asked_at: world.backend.now(),
        refused: None,
    }
}

/// The job that an adoption is decided for later.
async fn asked_to_adopt(world: &World, wanted: Adoption) -> JobId {
    let asked = world.backend.adopt(wanted, Duration::ZERO).await;
    let Ok(Adopted::Later(new)) = asked else {
        panic!("{asked:?}")
    };
    new
}

/// Why an adoption was refused: a code and a sentence.
async fn refused(world: &World, new: &JobId, session: &str) -> (String, String) {
    let session = session.parse().expect("a session id");
    let answered = world.backend.adopted(new, &session).await;
    let Ok(Adopted::Refused(code, sentence)) = answered else {
        panic!("{answered:?}")
    };
    (code, sentence)
}

/// A world with the session 77, which a person made and which works.
async fn with_a_session_of_a_person() -> World {
    let theirs = ForeignSession {
        id: Some("77".to_owned()),
        title: "A person's own session".to_owned(),
        repo: Some(REPO.to_owned()),
        state: "IN_PROGRESS".to_owned(),
        steps: vec![progress(MINUTE, "Working")],
        ..ForeignSession::default()
    };
    World::on_green(Scenario {
        foreign: vec![Foreign::Session(theirs)],
        ..scenario(Vec::new())
    })
    .await
}

#[tokio::test]
async fn an_adoption_whose_first_try_got_nowhere_is_decided_again() {
    let world = with_a_session_of_a_person().await;
    let new = asked_to_adopt(&world, adoption(&world, "77")).await;
    // The first attempt listed the job before it died.
    let mut unit = world.backend.unit();
    let list = keys::listed(keys::JOBS, keys::list_position(world.backend.now(), &new));
    let place = IndexEntry {
        list,
        ..IndexEntry::default()
    };
    unit.put(keys::job_listed(&new), &new, None, place);
    world
        .backend
        .commit(unit)
        .await
        .expect("a place in the list");
    world.pass(MINUTE * 2).await;
    assert_eq!(world.state(&new).await, "working");
    assert_eq!(jobs(&world).await, [new]);
}

/// A session that works is no run of a delivery, and nothing of it is followed.
#[tokio::test]
async fn a_session_at_work_is_adopted_only_by_whom_that_suits() {
    let world = with_a_session_of_a_person().await;
    let wanted = Adoption {
        delivery: "0123456789ab".parse().ok(),
        ..adoption(&world, "77")
    };
    let new = asked_to_adopt(&world, wanted).await;
    world.pass(MINUTE).await;
    let (code, _) = refused(&world, &new, "77").await;
    assert_eq!(
        (code.as_str(), jobs(&world).await),
        ("session_working", Vec::new())
    );
}

/// Every job.
async fn jobs(world: &World) -> Vec<JobId> {
    let all = world
        .backend
        .list_jobs(&JobQuery::default(), None, 10)
        .await
        .expect("a store");
    all.jobs.into_iter().map(|job| job.id).collect()
}

#[tokio::test]
async fn a_session_whose_making_was_not_told_is_its_jobs_however_often_it_is_adopted() {
    let world = World::on_green(scenario(Vec::new())).await;
    let cut = Fault::new(Service::Jules, "/sessions", FaultKind::CutAfterEffect);
    world.sandbox.faults().add(cut.on("POST").next(1));
    let job = world.submit("Add a test").await;
    world.until_count(MINUTE * 5, |it| it.creates == 1).await;
    assert_eq!(world.state(&job).await, "starting");
    let session = world.sandbox.jules().sessions()[0].id.clone();
    for _ in 0..2 {
        let asked = adoption(&world, &session);
        let asked = world.backend.adopt(asked, Duration::ZERO).await;
        assert!(matches!(asked, Ok(Adopted::Later(_))), "{asked:?}");
        world.step().await;
    }
    world.until_is(MINUTE * 60, &job, "merged").await;
    assert_eq!(jobs(&world).await, std::slice::from_ref(&job));
    // A repeated request returns the one job, and no request is left over.
    let again = world
        .backend
        .adopt(adoption(&world, &session), Duration::ZERO)
        .await;
    let Ok(Adopted::Job(found)) = again else {
        panic!("{again:?}")
    };
    assert_eq!(found.id, job);
    world.pass(MINUTE * 10).await;
    let left = world.ledger.everything().await;
    assert!(left.iter().all(|record| record.key.sk != keys::ADOPTION));
    assert_eq!(world.sandbox.counters().merge_calls, 1);
    world.finish().await;
}
