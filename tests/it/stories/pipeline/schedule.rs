//! Runs that begin by themselves: at their times, once for all that were missed, and never against a pause.

use domain::ids::RepoName;
use domain::pipeline::{EntryPoint, Exchange, Implement, Pipeline};
use domain::policy::Source;
use domain::schedule::{ASK_EVERY, Schedule};
use jiff::{SignedDuration, Timestamp};
use sandbox::faults::{Fault, FaultKind, Service};
use sandbox::github::{DEFAULT_TOKEN, RepoSetup, TokenSetup};
use sandbox::story::Story;
use tests::world::{MINUTE, Moment, REPO, SECOND, World, hour};

use super::{CONFIG, begin, files, piped, rules, until_over, world_of, world_with};

/// Every day at 12:00 where the people are, which is 11:00 of UTC in winter. Stories begin at 9:00 of UTC.
const NOON: &str = "cron = [\"0 12 * * *\"]\ntimezone = \"Europe/Berlin\"\n";

const EVERY_HOUR: &str = "cron = [\"0 * * * *\"]\n";

fn repo() -> RepoName {
    REPO.parse().expect("a repository")
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// The settings with these lines in `[workflow]`.
fn config(times: &str) -> String {
    CONFIG.replace("[workflow]\n", &format!("[workflow]\n{times}"))
}

fn source() -> Source {
    piped(rules(Exchange::Auto, Implement::Human))
}

/// A world whose repository asks for runs at these times.
async fn scheduled(times: &str, source: Source) -> World {
    let mut files = files();
    files.insert(".jlo/config.toml".to_owned(), config(times));
    let world = world_with(source, vec![Story::layer()], files).await;
    Box::pin(world.step()).await;
    world
}

/// A person pushes other settings.
fn push(world: &World, settings: &str) {
    let files = [(".jlo/config.toml", settings)];
    let pushed = world.sandbox.github().push_files(
        world.clock.now(),
        (REPO, "main"),
        ("ann", "Change the settings"),
        &files,
    );
    pushed.expect("a push");
}

async fn schedule(world: &World) -> Schedule {
    let found = world.backend.store.get::<Schedule>(&repo()).await;
    found.expect("a store").expect("a schedule").value
}

/// The runs, the oldest first.
async fn runs(world: &World) -> Vec<Pipeline> {
    let listed = world.backend.pipelines(&repo(), 20).await;
    let mut runs = listed.expect("a list");
    runs.reverse();
    runs
}

async fn change(world: &World, change: impl FnOnce(&mut Source)) {
    let found = world.backend.store.source(&repo()).await.expect("a store");
    let mut source = found.expect("a source").value;
    change(&mut source);
    world.put_source(&source).await;
}

/// Nothing happens, and no process runs meanwhile.
fn sleep(world: &World, time: SignedDuration) {
    world.clock.advance(time);
}

/// Lets time pass until a time of the story.
async fn pass_to(world: &World, time: &str) {
    let left = at(time).duration_since(world.clock.now());
    Box::pin(world.pass(left)).await;
}

#[tokio::test]
async fn a_run_begins_at_its_time_where_the_people_are() {
    let world = scheduled(NOON, source()).await;
    assert_eq!(
        schedule(&world).await.next,
        Some(at("2026-03-01T11:00:00Z"))
    );
    pass_to(&world, "2026-03-01T10:59:59Z").await;
    assert_eq!(runs(&world).await, []);
    Box::pin(world.pass(SECOND * 2)).await;
    let [run] = &runs(&world).await[..] else {
        panic!("{:?}", runs(&world).await);
    };
    assert_eq!(run.by, "schedule");
    assert_eq!(run.created_at, at("2026-03-01T11:00:00Z"));
    assert_eq!(run.steps.len(), 6, "all of it");
    let known = schedule(&world).await;
    let begun = known.begun.expect("a run");
    assert_eq!((begun.run, begun.time), (run.id.clone(), run.created_at));
    assert_eq!(known.next, Some(at("2026-03-02T11:00:00Z")));
    let over = until_over(&world, run).await;
    assert_eq!(over.word(), "done");
    Box::pin(world.pass(hour(2))).await;
    assert_eq!(runs(&world).await.len(), 1);
    assert_eq!(world.wakes().len(), 0, "{:?}", world.wake_names());
    world.finish().await;
}

#[tokio::test]
async fn a_repository_that_names_no_time_has_no_run_of_its_own() {
    let clock = format!("clock = \"actions\"\n{EVERY_HOUR}");
    for (times, is_theirs) in [("", false), (&clock, true)] {
        let world = scheduled(times, source()).await;
        Box::pin(world.pass(hour(3))).await;
        assert_eq!(runs(&world).await, [], "{times}");
        let known = schedule(&world).await;
        assert_eq!(known.next, None);
        assert_eq!(known.settings.expect("settings").by_actions, is_theirs);
        world.finish().await;
    }
}

#[tokio::test]
async fn times_that_passed_while_no_process_ran_are_made_up_once() {
    let world = scheduled(NOON, source()).await;
    sleep(&world, hour(72) + MINUTE);
    Box::pin(world.pass(MINUTE)).await;
    let [run] = &runs(&world).await[..] else {
        panic!("{:?}", runs(&world).await);
    };
    let begun = schedule(&world).await.begun.expect("a run");
    assert_eq!(begun.run, run.id);
    assert_eq!(begun.time, at("2026-03-01T11:00:00Z"), "the first of three");
    assert!(begun.at >= at("2026-03-04T09:01:00Z"));
    until_over(&world, run).await;
    pass_to(&world, "2026-03-04T10:59:00Z").await;
    assert_eq!(runs(&world).await.len(), 1);
    pass_to(&world, "2026-03-04T11:01:00Z").await;
    assert_eq!(runs(&world).await.len(), 2, "the next time is as ever");
}

/// The process dies before each of its acts around the time, and after the last: one run begins, and no second one.
#[tokio::test]
async fn a_run_begins_once_whenever_the_process_dies() {
    let before = (0..6).map(|act| (act, Moment::Before));
    for (act, moment) in before.chain([(5, Moment::After)]) {
        let world = scheduled(NOON, source()).await;
        pass_to(&world, "2026-03-01T10:59:59Z").await;
        world.fate.kill_at(world.fate.count() + act, moment);
        Box::pin(world.pass(MINUTE * 30)).await;
        assert_eq!(world.deaths(), 1, "act {act}");
        assert_eq!(runs(&world).await.len(), 1, "act {act}, {moment:?}");
        let begun = schedule(&world).await.begun.expect("a run");
        assert_eq!(begun.time, at("2026-03-01T11:00:00Z"));
    }
}

#[tokio::test]
async fn a_time_at_which_a_run_goes_on_is_left_out() {
    let source = piped(rules(Exchange::Human, Implement::Human));
    let world = scheduled(NOON, source).await;
    let by_hand = begin(&world, EntryPoint::Decider).await;
    pass_to(&world, "2026-03-01T11:30:00Z").await;
    let left_out = schedule(&world).await.left_out.expect("a reason");
    assert_eq!(left_out.time, at("2026-03-01T11:00:00Z"));
    let why = format!("pipeline {} of acme/shop is running already", by_hand.id);
    assert!(left_out.reason.contains(&why), "{}", left_out.reason);
    let off = world.backend.cancel_pipeline(&by_hand.id, "ann").await;
    assert!(off.expect("a run").is_over());
    pass_to(&world, "2026-03-02T10:59:00Z").await;
    assert_eq!(runs(&world).await.len(), 1, "nothing makes up for it");
    pass_to(&world, "2026-03-02T11:01:00Z").await;
    assert_eq!(runs(&world).await.len(), 2);
    assert_eq!(schedule(&world).await.left_out, Some(left_out));
}

/// Pauses the source, or everything, or ends that.
async fn pause(world: &World, all: bool, paused: bool) {
    if !all {
        return change(world, |source| source.paused = paused).await;
    }
    world.pause(paused).await;
    if !paused {
        world.backend.go_on(None).await.expect("a queue");
    }
}

#[tokio::test]
async fn a_pause_holds_the_times_and_one_run_makes_up_for_them() {
    for all in [false, true] {
        let world = scheduled(EVERY_HOUR, source()).await;
        pause(&world, all, true).await;
        Box::pin(world.pass(hour(3) + MINUTE * 5)).await;
        assert_eq!(runs(&world).await, []);
        let known = schedule(&world).await;
        let left_out = known.left_out.expect("a reason");
        assert_eq!(left_out.time, at("2026-03-01T10:00:00Z"));
        assert!(left_out.reason.starts_with("it is paused"));
        assert_eq!(known.next, Some(at("2026-03-01T13:00:00Z")));
        pause(&world, all, false).await;
        Box::pin(world.pass(SECOND * 10)).await;
        assert_eq!(runs(&world).await.len(), 1, "at once, and one for all");
        Box::pin(world.pass(MINUTE * 30)).await;
        assert_eq!(runs(&world).await.len(), 1);
    }
}

#[tokio::test]
async fn by_hand_a_run_begins_in_a_pause_too() {
    let world = scheduled(EVERY_HOUR, source()).await;
    pause(&world, false, true).await;
    Box::pin(world.pass(hour(2))).await;
    let by_hand = begin(&world, EntryPoint::Decider).await;
    Box::pin(world.pass(hour(1) + MINUTE)).await;
    assert_eq!(runs(&world).await.len(), 1);
    pause(&world, false, false).await;
    let over = until_over(&world, &by_hand).await;
    assert_eq!(over.word(), "done");
    let known = schedule(&world).await;
    assert_eq!(known.begun, None, "it ran in place of the missed times");
    assert!(known.left_out.expect("a reason").reason.contains("already"));
}

#[tokio::test]
async fn settings_are_read_again_when_their_branch_has_moved_and_only_then() {
    let world = scheduled(NOON, source()).await;
    let broken = Fault::new(Service::GitHub, "/graphql", FaultKind::status(502));
    world.sandbox.faults().add(broken);
    Box::pin(world.pass(MINUTE * 40)).await;
    assert_eq!(schedule(&world).await.error, None, "no file was read");
    world.sandbox.faults().clear();
    push(&world, &config("cron = [\"30 10 * * *\"]\n"));
    Box::pin(world.pass(ASK_EVERY)).await;
    let known = schedule(&world).await;
    assert_eq!(known.next, Some(at("2026-03-01T10:30:00Z")));
    pass_to(&world, "2026-03-01T10:31:00Z").await;
    let [run] = &runs(&world).await[..] else {
        panic!("{:?}", runs(&world).await);
    };
    until_over(&world, run).await;
    push(&world, &config(""));
    Box::pin(world.pass(hour(24))).await;
    assert_eq!(runs(&world).await.len(), 1, "no time is named any more");
    world.finish().await;
}

#[tokio::test]
async fn settings_that_cannot_be_read_are_told_once_and_begin_nothing() {
    let world = scheduled(EVERY_HOUR, source()).await;
    push(&world, &config("cron = [\"0 25 * * *\"]\n"));
    Box::pin(world.pass(hour(3))).await;
    assert_eq!(world.wake_names(), ["error/schedule"]);
    assert_eq!(runs(&world).await, []);
    let known = schedule(&world).await;
    let error = known.error.expect("an error");
    assert!(error.reason.starts_with(".jlo/config.toml:6: `0 25 * * *`"));
    assert_eq!(known.next, None);
    push(&world, &config(EVERY_HOUR));
    Box::pin(world.pass(ASK_EVERY)).await;
    let known = schedule(&world).await;
    assert_eq!((known.error, known.next.is_some()), (None, true));
    Box::pin(world.pass(hour(1))).await;
    assert_eq!(runs(&world).await.len(), 1);
    assert_eq!(world.wake_names().len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_branch_that_is_missing_and_one_that_may_not_be_read_are_told_once() {
    let world = scheduled(EVERY_HOUR, source()).await;
    change(&world, |source| source.branch = "trunk".parse().ok()).await;
    Box::pin(world.pass(hour(2))).await;
    assert_eq!(world.wake_names(), ["error/schedule"]);
    let error = schedule(&world).await.error.expect("an error");
    assert!(error.reason.contains("has no branch `trunk`"), "{error:?}");
    change(&world, |source| source.branch = "main".parse().ok()).await;
    Box::pin(world.pass(MINUTE)).await;
    assert_eq!(schedule(&world).await.error, None);

    let refused = Fault::new(Service::GitHub, "/graphql", FaultKind::status(400));
    world.sandbox.faults().add(refused);
    change(&world, |_| {}).await;
    Box::pin(world.pass(hour(1))).await;
    push(&world, &config(NOON));
    Box::pin(world.pass(hour(1))).await;
    assert_eq!(world.wake_names(), ["error/schedule"; 2]);
    assert_eq!(runs(&world).await, []);
}

/// What passes by itself stops no run, and no agent is woken for it.
#[tokio::test]
async fn a_github_that_is_away_keeps_the_known_times() {
    let world = scheduled(NOON, source()).await;
    let broken = Fault::new(Service::GitHub, "/repos/acme/shop", FaultKind::status(502));
    world.sandbox.faults().add(broken);
    pass_to(&world, "2026-03-01T11:01:00Z").await;
    assert_eq!(runs(&world).await.len(), 1);
    let error = schedule(&world).await.error.expect("an error");
    assert!(error.since < at("2026-03-01T09:16:00Z"), "{error:?}");
    assert_eq!(world.wake_names(), [""; 0]);
}

#[tokio::test]
async fn a_run_that_may_not_read_its_files_holds_no_later_time() {
    let times = "cron = [\"0 11 * * *\", \"0 15 * * *\", \"0 17 * * *\"]\n";
    let world = scheduled(times, source()).await;
    pass_to(&world, "2026-03-01T11:01:00Z").await;
    let first = runs(&world).await.remove(0);
    until_over(&world, &first).await;
    let refused = Fault::new(Service::GitHub, "/git/trees", FaultKind::status(403));
    world.sandbox.faults().add(refused.on("GET"));
    pass_to(&world, "2026-03-01T17:30:00Z").await;
    let begun = runs(&world).await;
    let words: Vec<_> = begun.iter().map(Pipeline::word).collect();
    assert_eq!(words, ["done", "failed", "failed"]);
    assert_eq!(schedule(&world).await.left_out, None);
    assert_eq!(world.wake_names(), ["error/pipeline"]);
}

/// No other run would get further, so the one that began goes on once GitHub takes a credential.
#[tokio::test]
async fn a_credential_that_is_not_taken_is_told_once_and_the_run_goes_on_with_another_one() {
    let world = scheduled(NOON, source()).await;
    world.sandbox.github().revoke_token(DEFAULT_TOKEN);
    pass_to(&world, "2026-03-01T13:00:00Z").await;
    assert_eq!(world.wake_names(), ["error/github"]);
    let run = runs(&world).await.remove(0);
    assert_eq!(run.word(), "pending");
    let why = world.backend.pipeline_why(&run.id).await;
    let because = why.expect("an answer").because;
    let is_told = because.iter().any(|it| it.code == "github_sign_in");
    assert!(is_told, "{because:?}");
    world.secrets.put("github", "ghp_another");
    world.sandbox.github().add_token(TokenSetup {
        token: "ghp_another".to_owned(),
        ..TokenSetup::default()
    });
    let over = until_over(&world, &run).await;
    assert_eq!(over.word(), "done");
    assert_eq!(world.wake_names().len(), 1);
    world.finish().await;
}

/// The settings of a repository that only has the name of ours begin nothing, and its own event says so.
#[tokio::test]
async fn a_repository_that_took_the_place_of_ours_begins_nothing() {
    let world = scheduled(NOON, source()).await;
    let github = world.sandbox.github();
    github.remove_repo(REPO);
    let mut other = RepoSetup::new(REPO);
    other.files = files();
    other
        .files
        .insert(".jlo/config.toml".to_owned(), config(EVERY_HOUR));
    let made = github.add_repo(world.clock.now(), other);
    made.expect("a repository");
    Box::pin(world.pass(hour(3))).await;
    assert_eq!(runs(&world).await, []);
    assert_eq!(schedule(&world).await.settings, None);
    assert_eq!(world.wake_names(), ["error/github"]);
}

#[tokio::test]
async fn a_source_that_is_switched_off_or_removed_leaves_no_row() {
    let world = scheduled(EVERY_HOUR, source()).await;
    let rows = async || {
        let all = world.ledger.everything().await.into_iter();
        all.filter(|record| record.key.pk.starts_with("SCHEDULE#"))
            .count()
    };
    assert_eq!(rows().await, 1);
    change(&world, |source| source.pipeline = None).await;
    assert_eq!(rows().await, 0);
    change(&world, |it| it.pipeline = source().pipeline).await;
    assert_eq!(rows().await, 1);
    let removed = world.backend.remove_source(&repo()).await;
    removed.expect("an answer").expect("a removed source");
    assert_eq!(rows().await, 0);
    Box::pin(world.pass(hour(2))).await;
    assert_eq!(rows().await, 0);

    // What a crash leaves behind goes when it is due.
    let left = Schedule::default().asked_again(world.clock.now());
    let inserted = world.backend.insert(&repo(), &left).await;
    assert!(inserted.expect("a store"));
    Box::pin(world.pass(MINUTE)).await;
    assert_eq!(rows().await, 0);
}

/// Nothing but the source's own commit begins it.
#[tokio::test]
async fn a_schedule_is_looked_at_though_its_process_died_right_after_the_source_was_saved() {
    let mut off = source();
    let on = off.pipeline.take();
    let mut files = files();
    files.insert(".jlo/config.toml".to_owned(), config(NOON));
    let world = world_with(off, Vec::new(), files).await;
    let found = world.backend.store.source(&repo()).await.expect("a store");
    let mut next = found.clone().expect("a source").value;
    next.pipeline = on;
    world.fate.kill_at(world.fate.count(), Moment::After);
    let saved = world.backend.save_source(found.as_ref(), &next).await;
    assert!(saved.is_err(), "the process has died");
    world.fate.revive();
    Box::pin(world.pass(MINUTE)).await;
    assert!(schedule(&world).await.next.is_some());
}

/// Another commit between the look and the save decides anew.
#[tokio::test]
async fn a_pipeline_that_is_switched_off_meanwhile_begins_nothing() {
    let world = scheduled(NOON, source()).await;
    pass_to(&world, "2026-03-01T10:59:59Z").await;
    let (backend, off) = (
        world.backend.clone(),
        Source {
            pipeline: None,
            ..source()
        },
    );
    world.fate.before_next("commit PIPE#", async move {
        let found = backend.store.source(&off.repo).await.expect("a store");
        let saved = backend.save_source(found.as_ref(), &off).await;
        saved.expect("a saved source");
    });
    Box::pin(world.pass(MINUTE)).await;
    assert_eq!(runs(&world).await, []);
    let found = world.backend.store.get::<Schedule>(&repo()).await;
    assert_eq!(found.expect("a store"), None);
}

#[tokio::test]
async fn a_source_without_a_pipeline_has_no_schedule() {
    let mut off = source();
    off.pipeline = None;
    let world = world_of(off, Vec::new()).await;
    Box::pin(world.pass(hour(1))).await;
    let found = world.backend.store.get::<Schedule>(&repo()).await;
    assert_eq!(found.expect("a store"), None);
}

#[tokio::test]
async fn a_run_that_was_held_goes_on_at_once_when_work_resumes() {
    for all in [false, true] {
        let world = scheduled(NOON, source()).await;
        pause(&world, all, true).await;
        let begun = begin(&world, EntryPoint::Innovators).await;
        let first = async || {
            let run = super::run(&world, &begun).await;
            run.steps[0].state.word()
        };
        Box::pin(world.pass(SECOND * 10)).await;
        assert_eq!(first().await, "pending");
        pause(&world, all, false).await;
        if !all {
            let go_on = world.backend.go_on(Some(&repo())).await;
            go_on.expect("a queue");
        }
        Box::pin(world.pass(SECOND * 5)).await;
        assert_ne!(first().await, "pending");
    }
}
