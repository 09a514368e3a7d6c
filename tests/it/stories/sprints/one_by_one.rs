//! Sprints of which not all members work at once, and sprints that are not woven.

use domain::reasoned::Reasoned;
use domain::sprint::{Integration, MemberState, NextSprint, Way};
use sandbox::github::PullState;
use sandbox::{FaultKind, Lags};
use tests::world::MINUTE;

use super::super::pipeline::push;
use super::broken::{PERSONAS, answers};
use super::deaths::dies_after_next;
use super::mail::inbox;
use super::odd::push_weave;
use super::*;

fn set(change: impl FnOnce(&mut Source)) -> Source {
    let mut source = on_green();
    change(&mut source);
    source
}

/// How many members had begun and were not through, at most, of all that was saved of the sprint.
fn most_at_once(world: &World, is_through: impl Fn(&MemberState) -> bool) -> usize {
    let repo = REPO.parse().expect("a repository");
    let key = engine::keys::sprint(&repo, "50".parse().expect("a number"));
    let saved = world.ledger.bodies();
    let saved = saved.iter().filter(|(at, _)| *at == key);
    let counts = saved.map(|(_, body)| {
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        let saved: Sprint = serde_json::from_value(body["it"].clone()).expect("a sprint");
        let busy = |it: &&SprintMember| it.state != MemberState::Pending && !is_through(&it.state);
        saved.members.iter().filter(busy).count()
    });
    counts.max().unwrap_or_default()
}

fn is_merged(state: &MemberState) -> bool {
    *state == MemberState::Applied { way: Way::Merged }
}

#[tokio::test]
async fn in_a_sequential_sprint_each_begins_when_the_one_before_is_merged() {
    let source = set(|source| {
        source.sprints.parallel = "only=7".parse().expect("a setting");
        source.sprints.at_once = Some(3);
    });
    let world = world_with(true, appendix_a(), source).await;
    let started = begin(&world).await;
    assert_eq!(
        members(&started),
        ["curator waiting", "refactor pending", "visionary pending"]
    );
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    assert!(over.members.iter().all(|it| is_merged(&it.state)));
    assert_eq!(most_at_once(&world, is_merged), 1);
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (3, 3));
    assert_eq!(world.requests(Service::GitHub, "POST", "/pulls").len(), 0);
    world.finish().await;
}

#[tokio::test]
async fn a_sprint_that_is_not_woven_merges_each_pull_request_by_itself() {
    let source = set(|source| source.sprints.integration = Integration::Individual);
    let world = world_with(false, appendix_a(), source).await;
    begin_with(&world, "50", &["curator", "visionary"]).await;
    let repo = REPO.parse().expect("a repository");
    for now in [false, true] {
        let refused = world.backend.integrate_sprint(&repo, None, now);
        assert!(refused.await.is_err(), "nothing is woven");
    }
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    assert!(over.members.iter().all(|it| is_merged(&it.state)));
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.merges), (2, 2));
    assert_eq!(world.requests(Service::GitHub, "POST", "/pulls").len(), 0);
    world.finish().await;
}

/// Its merge is decided, and its sprint is aborted before that is begun.
#[tokio::test]
async fn what_is_about_to_be_merged_as_its_sprint_is_aborted_stays_open() {
    let source = set(|source| source.sprints.integration = Integration::Individual);
    let world = world_with(false, appendix_a(), source).await;
    begin_with(&world, "50", &["curator"]).await;
    let backend = world.backend.clone();
    world.fate.before_next("commit LEASE#lane#", async move {
        let repo = REPO.parse().expect("a repository");
        let aborted = backend.abort_sprint(&repo, None, "ann").await;
        aborted.expect("an abort");
    });
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "aborted");
    Box::pin(world.pass(hour(1))).await;
    let pull = world.pull(101);
    let decided = world.evidence(101, &pull.head_sha).await;
    assert!(decided.is_some(), "its merge was decided");
    assert_eq!(pull.state, PullState::Open);
    assert_eq!(world.sandbox.counters().merge_calls, 0);
    world.finish().await;
}

/// Its merge is begun, and GitHub merges it after the abort: by itself, or woven.
#[tokio::test]
async fn what_is_being_merged_as_its_sprint_is_aborted_counts_as_merged() {
    for integration in [Integration::Individual, Integration::Consolidated] {
        let source = set(|source| source.sprints.integration = integration);
        let world = world_with(false, appendix_a(), source).await;
        begin_with(&world, "50", &["curator"]).await;
        let backend = world.backend.clone();
        world.fate.before_next("merge", async move {
            let repo = REPO.parse().expect("a repository");
            let aborted = backend.abort_sprint(&repo, None, "ann").await;
            aborted.expect("an abort");
        });
        until_over(&world).await;
        Box::pin(world.pass(hour(1))).await;
        let over = sprint(&world).await;
        assert_eq!(over.state.word(), "aborted");
        let story = world.story().await;
        assert_eq!(members(&over), ["curator #101 applied"], "{story}");
        assert_eq!(Figures::of_sprint(&over).merged, 1, "{story}");
        let merged = match integration {
            Integration::Individual => &over.members[0].job,
            Integration::Consolidated => &over.integration,
        };
        assert_eq!(world.state(merged).await, "merged", "{story}");
        let again = world.backend.retry_job(&world.named(merged), None).await;
        assert!(matches!(again, Err(Error::NotNow(it)) if it.code == "merged"));
        let why = world.backend.sprint_why(&over.repo, None).await;
        let told = why.expect("why").because;
        let is_said = |it: &Reasoned| it.sentence.ends_with("Merged members: 1 of 1.");
        assert!(told.iter().any(is_said), "{told:?}");
        assert_eq!(world.sandbox.counters().merges, 1);
        world.finish().await;
    }
}

#[tokio::test]
async fn no_more_members_work_at_once_than_the_source_says() {
    let source = set(|source| source.sprints.at_once = Some(2));
    let world = world_with(true, appendix_a(), source).await;
    begin(&world).await;
    ended_with(
        &world,
        &[
            "curator #101 applied",
            "refactor #102 applied",
            "visionary #103 applied",
        ],
    )
    .await;
    let is_through = |state: &MemberState| match state {
        MemberState::PullOpen | MemberState::Applied { .. } => true,
        MemberState::Pending
        | MemberState::Waiting
        | MemberState::Working
        | MemberState::Conflicted
        | MemberState::Rerunning
        | MemberState::Unresolved
        | MemberState::Delegated
        | MemberState::TimedOut
        | MemberState::NoChange
        | MemberState::Skipped { .. }
        | MemberState::Withdrawn
        | MemberState::Failed { .. } => false,
    };
    assert_eq!(most_at_once(&world, is_through), 2);
    assert_eq!(world.sandbox.counters().merges, 1);
    world.finish().await;
}

/// The process dies as that is saved: the next sprint goes on, and the one before does not start it again.
#[tokio::test]
async fn the_next_sprint_starts_by_itself_until_a_person_aborts_one() {
    let source = set(|source| source.sprints.next = NextSprint::AtOnce);
    let world = world_with(true, appendix_a(), source).await;
    begin(&world).await;
    dies_after_next(&world, "commit SPRINT#acme/shop#51");
    let is_next = async |world: &World| sprint(world).await.number.number() == 51;
    Box::pin(world.until(hour(6), "the next sprint is there", is_next)).await;
    let next = sprint(&world).await;
    assert_eq!((next.by.as_str(), next.members.len()), ("sprint 50", 3));
    assert_eq!(world.deaths(), 1);
    world.until_count(hour(1), |it| it.creates == 6).await;
    let aborted = world.backend.abort_sprint(&next.repo, None, "ann").await;
    aborted.expect("an abort");
    Box::pin(world.pass(hour(2))).await;
    assert_eq!(sprint(&world).await.number.number(), 51);
    assert_eq!(inbox(&world, "human").await, [""; 0]);
    world.finish().await;
}

/// A push to the base has GitHub work out anew whether a pull request merges, long after its session began.
#[tokio::test]
async fn a_pull_request_that_waits_for_a_person_is_waited_for_although_its_base_moves() {
    let source = set(|source| {
        source.policy.merge = MergePolicy::Human;
        source.sprints.integration = Integration::Individual;
    });
    let world = world_with(false, appendix_a(), source).await;
    begin_with(&world, "50", &["curator"]).await;
    let is_ready = async |world: &World| sprint(world).await.members[0].is_offered();
    Box::pin(world.until(hour(1), "it is ready", is_ready)).await;
    Box::pin(world.pass(MINUTE * 40)).await;
    world.sandbox.faults().set_lags(Lags {
        mergeable: MINUTE * 10,
        ..Lags::default()
    });
    push(&world, "main", ("NOTES.md", "By ann.\n"));
    let job = sprint(&world).await.members[0].job.clone();
    for (what, is_wanted) in [("unknown", true), ("known", false)] {
        let is_so = async |world: &World| world.gives(&job, "mergeable_unknown").await == is_wanted;
        Box::pin(world.until(hour(1), what, is_so)).await;
    }
    let waits = sprint(&world).await;
    assert_eq!(members(&waits), ["curator #101 pr_open"]);
    assert_eq!(waits.state.word(), "verifying");
    world.approve_merge(&job).await;
    let over = until_over(&world).await;
    assert_eq!(over.state.word(), "done", "{}", world.story().await);
    assert!(is_merged(&over.members[0].state));
    world.finish().await;
}

/// Nor does it start on a branch of another hand.
#[tokio::test]
async fn a_read_that_fails_once_keeps_no_next_sprint_from_starting_unless_it_never_passes() {
    let repo = REPO.parse().expect("a repository");
    let once = |kind| Some(answers(PERSONAS, kind).next(1));
    let never = "new from weaver: Sprint 51 did not start";
    let (unread, taken) = ("its personas cannot be read", "jules-sprint-51-integration");
    for (fault, told) in [
        (once(FaultKind::status(502)), None),
        (once(FaultKind::status(404)), None),
        (once(FaultKind::HtmlInstead), None),
        (
            Some(answers(PERSONAS, FaultKind::status(404))),
            Some(unread),
        ),
        (None, Some(taken)),
    ] {
        let source = set(|source| source.sprints.next = NextSprint::AtOnce);
        let world = world_with(true, appendix_a(), source).await;
        begin(&world).await;
        let is_woven = async |world: &World| sprint(world).await.state.word() == "verifying";
        Box::pin(world.until(hour(6), "all are in", is_woven)).await;
        let case = format!("{fault:?}");
        match fault {
            Some(fault) => world.sandbox.faults().add(fault),
            None => push_weave(&world, ("main", taken)),
        }
        let is_dealt_with = async |world: &World| {
            let is_next = sprint(world).await.number.number() == 51;
            is_next || !inbox(world, "human").await.is_empty()
        };
        Box::pin(world.until(hour(6), "the next sprint", is_dealt_with)).await;
        let mail = inbox(&world, "human").await;
        let expected = told.map(|_| never);
        assert_eq!(mail.first().map(String::as_str), expected, "{case}");
        let log = world.backend.mail_block(&repo, 0).await;
        let log = log.expect("a log").concat();
        for words in [unread, taken] {
            let is_said = log.contains(words);
            assert_eq!(is_said, told == Some(words), "{case}: {log}");
        }
    }
}
