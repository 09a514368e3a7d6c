//! What cannot be read or sealed stops no sprint, and no abort of one.

use domain::sprint::Integration;
use engine::keys;
use engine::ports::{Expect, Write};
use sandbox::{Fault, FaultKind};
use tests::world::MINUTE;

use super::mail::{inbox, outbox, send, silent};
use super::*;

/// A letter to another member.
const HELLO: &str = r#"{"to": "refactor", "subject": "Hello", "body": "there"}"#;

/// A change is taken back.
const WITHDRAW: &str = r#"{"withdraw": true}"#;

/// A change, and a file of an outbox.
fn change(mail: &str) -> [(&'static str, String); 2] {
    let readme = ("README.md", "A better shop.\n".to_owned());
    [readme, outbox("one", mail)]
}

/// A member that writes to another, and two that change something else.
fn letters() -> Vec<Story> {
    vec![
        member("curator", 1, &change(HELLO), &[]),
        member("refactor", 4, &[("src/cart.rs", cart(&[(1, "x")]))], &[]),
        member("visionary", 8, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ]
}

/// What a question about the files of personas says.
pub(super) const PERSONAS: &str = ":.jules\"";

/// GitHub answers questions about these files so.
pub(super) fn answers(files: &str, kind: FaultKind) -> Fault {
    Fault::new(Service::GitHub, "/graphql", kind).saying(files)
}

/// The mail of the first member reaches its mailbox.
async fn until_mail_is_read(world: &World) {
    let is_read =
        async |world: &World| inbox(world, "refactor").await == ["new from curator: Hello"];
    Box::pin(world.until(hour(1), "the mail is read", is_read)).await;
}

/// The first member is told that its outbox cannot be read.
async fn until_it_is_told(world: &World) {
    let is_told = async |world: &World| {
        let told = inbox(world, "curator").await;
        let fault = "from weaver: A file of your outbox was not sent";
        told.iter().any(|it| it.ends_with(fault))
    };
    Box::pin(world.until(hour(1), "it is told", is_told)).await;
}

async fn until_pulls_are_open(world: &World) {
    let is_open = async |world: &World| world.sandbox.github().pulls(REPO).len() == 3;
    Box::pin(world.until(hour(1), "pull requests are open", is_open)).await;
}

#[tokio::test]
async fn an_outbox_that_can_never_be_read_is_told_to_its_member_and_stops_nothing() {
    let mut stories = letters();
    // It is ready when answers about the others have been odd for some minutes.
    let vision = [("VISION.md", "Far.\n".to_owned())];
    stories[2] = member("visionary", 60, &vision, &[]);
    let world = world_of(true, stories).await;
    let faults = world.sandbox.faults();
    faults.add(answers("mail/outbox", FaultKind::status(404)));
    begin(&world).await;
    until_it_is_told(&world).await;
    faults.clear();
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    let told = inbox(&world, "visionary").await;
    assert_eq!(told, [""; 0], "answers about it were not odd for long");
    world.finish().await;
}

#[tokio::test]
async fn an_abort_ends_the_jobs_while_mail_cannot_be_read() {
    let world = world_of(true, letters()).await;
    begin(&world).await;
    let faults = world.sandbox.faults();
    faults.add(answers("mail/outbox", FaultKind::status(502)));
    until_pulls_are_open(&world).await;
    Box::pin(world.pass(MINUTE * 5)).await;
    let repo = REPO.parse().expect("a repository");
    let aborted = world.backend.abort_sprint(&repo, None, "ann").await;
    let members = aborted.expect("an abort").members;
    for member in &members {
        Box::pin(world.until_is(hour(1), &member.job, "cancelled")).await;
    }
    Box::pin(world.pass(MINUTE * 5)).await;
    let job = &members[0].job;
    let version = world.version(job).await;
    Box::pin(world.pass(MINUTE * 10)).await;
    assert_eq!(world.version(job).await, version, "it is over");
    assert_eq!(inbox(&world, "refactor").await, [""; 0]);
    faults.clear();
    until_mail_is_read(&world).await;
    Box::pin(world.pass(MINUTE * 5)).await;
    world.finish().await;
}

/// Members whose mail cannot be read are waited for as long as all are, and no longer.
#[tokio::test]
async fn mail_in_a_patch_is_sent_while_heads_of_others_cannot_be_read() {
    let mut stories = letters();
    stories[0] = silent("curator", &change(HELLO));
    let world = world_of(true, stories).await;
    let faults = world.sandbox.faults();
    faults.add(answers("mail/outbox", FaultKind::status(502)));
    begin(&world).await;
    until_mail_is_read(&world).await;
    faults.clear();
    ended_with(
        &world,
        &[
            "curator skipped",
            "refactor timed_out",
            "visionary timed_out",
        ],
    )
    .await;
    world.finish().await;
}

/// It may say that the change is taken back.
#[tokio::test]
async fn mail_that_cannot_be_read_holds_its_own_member_back_and_no_other() {
    let mut stories = letters();
    // Its head is there before its session is done.
    if let Some(Step::Complete { after, .. }) = stories[0].steps.last_mut() {
        *after = MINUTE * 3;
    }
    let world = world_of(true, stories).await;
    begin(&world).await;
    until_pulls_are_open(&world).await;
    let head = world.pull(101).head_sha;
    let faults = world.sandbox.faults();
    faults.add(answers(
        &format!("{head}:.jules/mail/outbox"),
        FaultKind::status(502),
    ));
    ended_with(
        &world,
        &[
            "curator timed_out",
            "refactor #102 applied",
            "visionary #103 applied",
        ],
    )
    .await;
    assert_eq!(inbox(&world, "refactor").await, [""; 0]);
    faults.clear();
    until_mail_is_read(&world).await;
    Box::pin(world.pass(MINUTE * 5)).await;
    world.finish().await;
}

/// A sprint whose members begin while GitHub answers so.
async fn begun_with(fault: Fault) -> World {
    let world = world_of(true, letters()).await;
    world.pause(true).await;
    begin(&world).await;
    world.sandbox.faults().add(fault);
    world.resume().await;
    world
}

#[tokio::test]
async fn one_odd_answer_about_the_personas_fails_no_member() {
    for kind in [FaultKind::status(404), FaultKind::HtmlInstead] {
        let world = begun_with(answers(PERSONAS, kind).next(1)).await;
        let over = until_over(&world).await;
        assert_eq!(over.state.word(), "done", "{}", world.story().await);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_sprint_ends_whose_personas_can_never_be_read() {
    let world = begun_with(answers(PERSONAS, FaultKind::status(404))).await;
    let is_told = async |world: &World| {
        let repo = REPO.parse().expect("a repository");
        let why = world.backend.sprint_why(&repo, None).await;
        let mut because = why.expect("an answer").because.into_iter();
        because.any(|it| it.code == "read_again" && it.sentence.contains("reading the files below"))
    };
    Box::pin(world.until(hour(1), "it says why it waits", is_told)).await;
    let over = until_over(&world).await;
    let reason = over.state.reason().expect("a reason");
    let why = "curator: its file cannot be read: ";
    assert!(reason.starts_with(why), "{reason}");
    let lasted = over.updated_at.duration_since(over.created_at);
    assert!(lasted >= MINUTE * 10, "{lasted}");
    assert_eq!(world.sandbox.counters().creates, 0);
    world.finish().await;
}

/// A sprint of one member, whose pull request would be merged by itself at once.
async fn alone(mail: &str, fault: Fault) -> World {
    let stories = vec![member("curator", 1, &change(mail), &[])];
    let mut source = on_green();
    source.sprints.integration = Integration::Individual;
    source.timing.settle = SignedDuration::ZERO;
    let world = world_with(true, stories, source).await;
    world.sandbox.faults().add(fault);
    begin_with(&world, "50", &["curator"]).await;
    world
}

#[tokio::test]
async fn one_odd_answer_loses_no_mail_and_merges_nothing_that_was_taken_back() {
    for kind in [FaultKind::status(404), FaultKind::HtmlInstead] {
        let world = alone(WITHDRAW, answers("mail/outbox", kind).next(1)).await;
        ended_with(&world, &["curator withdrawn"]).await;
        let told = inbox(&world, "weaver").await;
        assert_eq!(told, ["new from curator: Withdraw"]);
        Box::pin(world.pass(hour(1))).await;
        assert_eq!(world.sandbox.counters().merges, 0);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_change_whose_mail_can_never_be_read_is_merged_by_a_person_only() {
    let world = alone(WITHDRAW, answers("mail/outbox", FaultKind::status(404))).await;
    let is_open = async |world: &World| world.sandbox.github().pulls(REPO) == [101];
    Box::pin(world.until(hour(1), "its pull request is open", is_open)).await;
    let job = sprint(&world).await.members[0].job.clone();
    world.until_gives(hour(1), &job, "mail_unreadable").await;
    Box::pin(world.pass(hour(1))).await;
    assert_eq!(world.sandbox.counters().merges, 0);
    let now = world.clock.now();
    let github = world.sandbox.github();
    assert!(github.merge_by_hand(now, REPO, 101, "ann"));
    ended_with(&world, &["curator #101 applied"]).await;
    world.finish().await;
}

/// Its mail is collected at the end, and lets nothing go.
#[tokio::test]
async fn an_abort_merges_nothing_that_waited_for_its_mail() {
    let world = alone(HELLO, answers("mail/outbox", FaultKind::status(502))).await;
    let is_open = async |world: &World| world.sandbox.github().pulls(REPO) == [101];
    Box::pin(world.until(hour(1), "its pull request is open", is_open)).await;
    Box::pin(world.pass(MINUTE * 5)).await;
    world.sandbox.faults().clear();
    let repo = REPO.parse().expect("a repository");
    let aborted = world.backend.abort_sprint(&repo, None, "ann").await;
    let job = aborted.expect("an abort").members[0].job.clone();
    Box::pin(world.until_is(hour(1), &job, "cancelled")).await;
    Box::pin(world.pass(hour(1))).await;
    assert_eq!(inbox(&world, "refactor").await, ["new from curator: Hello"]);
    assert_eq!(world.pull(101).state, sandbox::github::PullState::Open);
    assert_eq!(world.sandbox.counters().merges, 0);
    world.finish().await;
}

#[tokio::test]
async fn an_outbox_that_can_never_be_read_is_told_to_its_member_after_an_abort_as_well() {
    let world = alone(HELLO, answers("mail/outbox", FaultKind::status(404))).await;
    let is_open = async |world: &World| world.sandbox.github().pulls(REPO) == [101];
    Box::pin(world.until(hour(1), "its pull request is open", is_open)).await;
    // Its head is read by then, and odd answers are still doubted.
    Box::pin(world.pass(MINUTE * 5)).await;
    let repo = REPO.parse().expect("a repository");
    let aborted = world.backend.abort_sprint(&repo, None, "ann").await;
    assert!(aborted.expect("an abort").is_over());
    until_it_is_told(&world).await;
    Box::pin(world.pass(MINUTE * 5)).await;
    world.finish().await;
}

#[tokio::test]
async fn a_log_of_mail_that_is_broken_stops_no_sprint_and_is_told_to_people_once() {
    let world = world_of(true, letters()).await;
    send(&world, "visionary", "The vision").await;
    let repo = REPO.parse().expect("a repository");
    let lost = Write::Delete {
        key: keys::mail_event(&repo, 1),
        expect: Expect::Any,
    };
    let lost = world.backend.store.records().commit(vec![lost]).await;
    lost.expect("a store");
    begin(&world).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    assert_eq!(
        inbox(&world, "human").await,
        ["new from weaver: Mail was not sealed before sprint 50"]
    );
    world.finish().await;
}
