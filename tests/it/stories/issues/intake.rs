//! Many issues at once, and several repositories.

use domain::job::{WaitParty, WaitReason};
use domain::policy::Source;
use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::github::{Outcome, RepoSetup};

use super::*;

/// More than GitHub lists on one page.
const ISSUES: u64 = 101;

/// X1: what does not stand on the first page of a list is not closed by that.
#[tokio::test]
async fn a_hundred_and_one_issues_are_all_taken_and_none_is_closed() {
    let world = world_with(taking(|_| {}), false).await;
    let numbers: Vec<u64> = (0..ISSUES)
        .map(|n| open_issue(&world, &format!("Task {n}"), ""))
        .collect();
    until(&world, numbers[100], "plan/pending").await;
    world.pass(MINUTE * 30).await;
    let mut seqs = Vec::new();
    for number in numbers {
        assert_eq!(place(&world, number).await, "plan/pending", "#{number}");
        seqs.extend(delivery(&world, number).await.map(|it| it.seq));
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=ISSUES).collect::<Vec<_>>(), "no number twice");
    assert_eq!(world.sandbox.counters().creates, 0);
}

/// More than the 20 pages that are read of what changed.
const CHANGES: u64 = 2_001;

/// What cannot be read by its change is read by its label, and what was closed meanwhile by its number.
#[tokio::test]
async fn more_changes_than_can_be_read_stop_no_intake_and_hide_no_closed_issue() {
    let world = world_with(taking(|_| {}), false).await;
    let closed = open_issue(&world, "Do not do this", "");
    until(&world, closed, "plan/pending").await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.close_as(now, REPO, closed, "ann");
    for n in 0..CHANGES {
        let other = NewIssue {
            title: format!("Talk {n}"),
            body: String::new(),
            author_login: "bob".to_owned(),
            labels: Vec::new(),
        };
        github.open_issue(now, REPO, other);
    }
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/pending").await;
    until(&world, closed, "close/succeeded").await;
    let ended = delivery(&world, closed).await.expect("a delivery");
    assert_eq!(ended.closed, Some(Closed::IssueClosed));
    let next = open_issue(&world, "Add another test", "");
    until(&world, next, "plan/pending").await;
}

/// An old issue does not make the next reading ask for everything that changed since.
#[tokio::test]
async fn a_first_reading_reads_up_to_its_own_beginning() {
    let world = world_with(taking(|rules| rules.label = None), false).await;
    let number = open_issue(&world, "Add a test", "");
    world.pass(hour(2)).await;
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.store.source(&repo).await.expect("a store");
    let labelled_at = world.clock.now();
    let saved = world
        .backend
        .save_source(found.as_ref(), &taking(|_| {}))
        .await;
    saved.expect("a saved source");
    until(&world, number, "plan/pending").await;
    let intake = world.backend.store.get::<Intake>(&repo).await;
    let intake = intake.expect("a store").expect("an intake").value;
    // The clocks of GitHub and of this machine may differ by a quarter of an hour: from an earlier moment on too much
    // is read again, and what changed before a later one may be missed.
    let clocks_differ = SignedDuration::from_mins(15);
    let began = intake.last.as_ref().expect("a first reading").at;
    let bounds = labelled_at - clocks_differ..=began - clocks_differ;
    let read_to = intake.read_to.expect("a first reading");
    assert!(bounds.contains(&read_to), "{intake:?}");
}

/// Webhooks tell of each issue, so the lists only find what those have missed.
#[tokio::test]
async fn issues_are_listed_seldom_while_webhooks_come() {
    for (webhooks, wanted) in [(false, 55..=65), (true, 5..=7)] {
        let world = world_with(taking(|_| {}), webhooks).await;
        let number = open_issue(&world, "Add a test", "");
        until(&world, number, "plan/pending").await;
        world.pass(MINUTE * 10).await;
        let list = format!("/repos/{REPO}/issues?");
        let listed = || world.requests(Service::GitHub, "GET", &list).len();
        let before = listed();
        world.pass(hour(1)).await;
        let within = listed() - before;
        assert!(wanted.contains(&within), "webhooks {webhooks}: {within}");
    }
}

/// A repository whose issues cannot be read keeps its error, and the other one its pace.
#[tokio::test]
async fn a_repository_that_cannot_be_read_stops_no_other() {
    const OTHER: &str = "acme/blog";
    let checks = vec![CheckSetup::new("build", Outcome::Success)];
    let repos = [OTHER, REPO].map(|name| RepoSetup::new(name).with_ci(ci(checks.clone())));
    let world = World::of(
        Scenario {
            repos: repos.to_vec(),
            ..Scenario::default()
        },
        taking(|_| {}),
    )
    .await;
    let other = OTHER.parse().expect("a repository");
    let source = Source {
        repo: other,
        ..taking(|_| {})
    };
    world.put_source(&source).await;
    let kind = FaultKind::status(502);
    let broken = Fault::new(Service::GitHub, "/acme/blog/issues", kind);
    world.sandbox.faults().add(broken);
    world.pass(MINUTE * 5).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/pending").await;
    let read = async |repo: &domain::ids::RepoName| {
        let found = world.backend.store.get::<Intake>(repo).await;
        let intake = found.expect("a store").expect("an intake").value;
        intake.last.expect("a reading").result
    };
    let failed = read(&source.repo).await;
    assert!(matches!(failed, ReadingResult::Failed(_)), "{failed:?}");
    let good = read(&REPO.parse().expect("a repository")).await;
    assert!(matches!(good, ReadingResult::Read { .. }), "{good:?}");
}

/// Nothing but the source's own commit begins the reading of its issues.
#[tokio::test]
async fn the_issues_of_a_source_are_read_though_its_process_died_right_after_it_was_saved() {
    let world = world_with(taking(|rules| rules.label = None), false).await;
    let number = open_issue(&world, "Add a test", "");
    world.pass(MINUTE).await;
    let repo = REPO.parse().expect("a repository");
    let found = world.backend.store.source(&repo).await.expect("a store");
    world.fate.kill_at(world.fate.count(), Moment::After);
    let next = taking(|_| {});
    let saved = world.backend.save_source(found.as_ref(), &next).await;
    assert!(saved.is_err(), "the process has died");
    world.fate.revive();
    until(&world, number, "plan/pending").await;
}

#[tokio::test]
async fn a_delivery_that_a_pause_holds_up_says_so_first() {
    let (world, number) = planned().await;
    world.pause(true).await;
    let said = async || {
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let shown = shown.expect("a delivery");
        let first = shown.because.first().map(|reason| reason.code);
        (shown.waits_for.who, shown.waits_for.what, first)
    };
    // The decision of a person is awaited all the same.
    let awaited = (WaitParty::Person, WaitReason::Checkpoint);
    assert_eq!(
        said().await,
        (awaited.0, awaited.1, Some("awaits_approval"))
    );

    order(&world, number, Act::APPROVE).await;
    world.pass(MINUTE).await;
    let held = (WaitParty::Person, WaitReason::Hold);
    assert_eq!(said().await, (held.0, held.1, Some("paused")));

    world.resume().await;
    world.pass(SECOND * 2).await;
    let (_, what, first) = said().await;
    assert_eq!((what, first), (WaitReason::Work, Some("implementing")));
    until(&world, number, "close/succeeded").await;
}

/// What was held while everything was paused is done at once, not only when it is due.
#[tokio::test]
async fn resuming_tells_the_issue_at_once() {
    let world = world_with(taking(|_| {}), false).await;
    world.pause(true).await;
    let number = open_issue(&world, "Add a test", "");
    until(&world, number, "plan/pending").await;
    world.pass(hour(1)).await;
    let before = world.sandbox.counters().github_writes;
    world.resume().await;
    world.pass(SECOND * 2).await;
    assert_eq!(world.sandbox.counters().github_writes, before + 1);
}

/// What a webhook told while its source was paused is found afterwards, also where no issue is read at intervals and who ended the pause
/// died at once.
#[tokio::test]
async fn an_issue_that_was_closed_while_its_source_was_paused_ends_its_delivery_afterwards() {
    let source = taking(|rules| rules.label = None);
    let world = world_with(source.clone(), true).await;
    let number = open_issue(&world, "Add a test", "");
    let repo = source.repo.clone();
    let issue = IssueRef { repo, number };
    let created = world.backend.create_delivery(&of_issue(&issue)).await;
    created.expect("an answer").expect("a delivery");
    until(&world, number, "plan/pending").await;
    let paused = Source {
        paused: true,
        ..source.clone()
    };
    world.put_source(&paused).await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.close_as(now, REPO, number, "ann");
    world.pass(hour(1)).await;
    assert_eq!(place(&world, number).await, "plan/pending");
    world.put_source(&source).await;
    until(&world, number, "close/succeeded").await;
    let ended = delivery(&world, number).await.expect("a delivery");
    assert_eq!(ended.closed, Some(Closed::IssueClosed));
    world.finish().await;
}

/// Its session is read before its delivery is closed, and the reading that did both counts it.
#[tokio::test]
async fn a_reading_counts_the_deliveries_that_it_closes() {
    let source = taking(|rules| rules.checkpoints = Checkpoints::none());
    let (world, number) = taken_to(source.clone(), "implement/running").await;
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.close_as(now, REPO, number, "ann");
    until(&world, number, "close/succeeded").await;
    let intake = world.backend.store.get::<Intake>(&source.repo).await;
    let intake = intake.expect("a store").expect("an intake").value;
    let counted = ReadingResult::Read {
        created: 0,
        closed: 1,
    };
    assert_eq!(intake.last.expect("a reading").result, counted);
    world.finish().await;
}

/// An issue that is open again is as good as one that always was, also where no webhook tells so.
#[tokio::test]
async fn an_issue_that_can_be_read_again_is_in_doubt_no_longer() {
    // Missing, forbidden, and taken down by law.
    for code in [404, 403, 451] {
        Box::pin(unreadable_for_a_while(code)).await;
    }
}

async fn unreadable_for_a_while(code: u16) {
    let (world, number) = taken_to(taking(|_| {}), "plan/pending").await;
    let kind = FaultKind::status(code);
    let path = format!("/repos/{REPO}/issues/{number}");
    let gone = Fault::new(Service::GitHub, &path, kind).on("GET");
    world.sandbox.faults().add(gone);
    let (github, now) = (world.sandbox.github(), world.clock.now());
    github.close_as(now, REPO, number, "ann");
    let codes = async || {
        let shown = world.backend.delivery_shown(&id_of(number)).await;
        let because = shown.expect("a delivery").because.into_iter();
        because.map(|reason| reason.code).collect::<Vec<_>>()
    };
    world.pass(MINUTE * 3).await;
    assert_eq!(
        codes().await,
        ["awaits_start", "issue_unreadable"],
        "{code}"
    );
    world.sandbox.faults().clear();
    github.reopen(world.clock.now(), REPO, number);
    world.pass(MINUTE * 3).await;
    assert_eq!(codes().await, ["awaits_start"], "{code}");
}
