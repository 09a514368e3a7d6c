//! A clock that is ahead for a while and is then set right: no wait lasts until the hour that it showed.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::effect::{Action, Effect, JulesAction};
use domain::ids::JobId;
use domain::job::JobPhase;
use domain::tick::TickTrigger;
use engine::backend::IndexEntry;
use engine::jobs::JobQuery;
use engine::keys;
use engine::ports::{Expect, Key, Record, Write};
use engine::ticks::{Holder, Ticks};
use jiff::{SignedDuration, Timestamp};
use local::{DATABASE_FILE, Database, LocalQueue};
use serde_json::{Value, json};
use tests::world::{MINUTE, Moment as Death, REPO, Setup, World, asking, hour, on_green, scenario};

/// How much later than by a right clock a job may be merged: a poll and a reading of its pull request.
const LATER: SignedDuration = SignedDuration::from_mins(3);

/// The same where the log showed an answer while the clock was wrong, older than the message: as long as for an
/// answer that the log does not show.
const UNCONFIRMED: SignedDuration = SignedDuration::from_mins(11);

/// Longest duration of any stage of these jobs.
const WITHIN: SignedDuration = SignedDuration::from_mins(40);

/// When the clock is set right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// It was right all the time.
    Never,
    /// The job was just handed over.
    Created,
    Working,
    Asking,
    /// The answer is on its way.
    Answered,
    /// The pull request exists.
    Reviewed,
}

async fn world(folder: Option<&std::path::Path>) -> World {
    World::with(Setup {
        scenario: scenario(vec![asking("ask me", "Which database?")]),
        source: on_green(),
        folder: folder.map(ToOwned::to_owned),
        ..Setup::default()
    })
    .await
}

async fn has_pull(world: &World, job: &JobId) -> bool {
    let found = world.backend.store.job(job).await.expect("a store");
    found.is_some_and(|found| match &found.value.phase {
        JobPhase::Watching(watch) => watch.pull.is_some(),
        JobPhase::Proposed { pull, .. } => pull.is_some(),
        JobPhase::Queued { .. } | JobPhase::Creating { .. } | JobPhase::Ended(_) => false,
    })
}

/// Continues until a moment, by a clock that may be wrong.
async fn until(world: &World, job: &JobId, moment: Moment) {
    if matches!(moment, Moment::Never | Moment::Created) {
        return;
    }
    world.until_is(WITHIN, job, "working").await;
    if moment == Moment::Working {
        return;
    }
    world.until_is(WITHIN, job, "asking").await;
    if moment == Moment::Asking {
        return;
    }
    world.answer(job, "PostgreSQL", "answer").await;
    if moment == Moment::Answered {
        return world.step().await;
    }
    let came = async |world: &World| has_pull(world, job).await;
    world.until(WITHIN, "a pull request", came).await;
}

/// From there to the merge.
async fn merge(world: &World, job: &JobId) {
    let is_asking = async |world: &World| {
        let state = world.state(job).await;
        state == "asking" || has_pull(world, job).await || state == "merged"
    };
    world.until(WITHIN, "a question", is_asking).await;
    if world.state(job).await == "asking" {
        world.answer(job, "PostgreSQL", "answer").await;
    }
    world.until_is(WITHIN, job, "merged").await;
}

/// How long it takes from the beginning to the merge.
async fn taken(ahead: SignedDuration, moment: Moment) -> SignedDuration {
    let world = world(None).await;
    let begun = world.clock.now();
    world.drift.be_ahead(ahead);
    let job = world.submit("ask me").await;
    until(&world, &job, moment).await;
    world.drift.be_ahead(SignedDuration::ZERO);
    merge(&world, &job).await;
    let taken = world.clock.now().duration_since(begun);
    world.pass(MINUTE * 10).await;
    world.finish().await;
    taken
}

#[tokio::test]
async fn a_clock_that_was_an_hour_ahead_and_is_set_right_keeps_no_job_waiting() {
    let usual = Box::pin(taken(SignedDuration::ZERO, Moment::Never)).await;
    for moment in [
        Moment::Created,
        Moment::Working,
        Moment::Asking,
        Moment::Answered,
        Moment::Reviewed,
    ] {
        let wrong = Box::pin(taken(hour(1), moment)).await;
        let later = match moment {
            Moment::Reviewed => UNCONFIRMED,
            Moment::Never
            | Moment::Created
            | Moment::Working
            | Moment::Asking
            | Moment::Answered => LATER,
        };
        assert!(
            wrong <= usual + later,
            "{moment:?}: {wrong:#}, usually {usual:#}"
        );
    }
}

#[tokio::test]
async fn a_process_that_starts_after_the_clock_was_set_right_sets_its_store_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = world(Some(folder.path())).await;
    world.drift.be_ahead(hour(1));
    let job = world.submit("ask me").await;
    until(&world, &job, Moment::Reviewed).await;
    let newest = world.backend.store.newest().await.expect("a store");
    // Nothing ran while the clock was set right.
    world.drift.be_ahead(SignedDuration::ZERO);
    let ahead = newest.expect("a time").duration_since(world.backend.now());
    assert!(ahead > MINUTE * 55, "{ahead:#}");
    let database = Database::open(&folder.path().join(DATABASE_FILE)).expect("a database");
    world.work_over(&database);
    world.poller.tick().await.expect("a tick");
    let newest = world.backend.store.newest().await.expect("a store");
    assert!(newest <= Some(world.backend.now()), "{newest:?}");
    let begun = world.clock.now();
    merge(&world, &job).await;
    let taken = world.clock.now().duration_since(begun);
    assert!(taken < MINUTE * 15, "{taken:#}");
    world.finish().await;
}

/// Records that limit or delay work and have no due time of their own, by kind.
fn undue() -> Vec<(&'static str, Key)> {
    let repo = REPO.parse().expect("a repository");
    let account = "default".parse().expect("a name");
    vec![
        ("trouble with a credential", keys::credential_access()),
        ("budgets of GitHub", keys::budgets()),
        ("slots of an account", keys::slots(&account)),
        ("merges of a day", keys::merges(&repo)),
        ("trouble with a repository", keys::repository_access(&repo)),
        ("the last webhook", keys::webhook_activity(&repo)),
    ]
}

async fn body(world: &World, key: &Key) -> Value {
    let record = stored(world, key).await;
    let body: Value = serde_json::from_str(&record.body).expect("JSON");
    body["it"].clone()
}

#[tokio::test]
async fn limits_that_a_clock_that_was_ahead_left_behind_are_moved_back() {
    let world = world(None).await;
    world.drift.be_ahead(hour(1));
    let job = world.submit("ask me").await;
    until(&world, &job, Moment::Working).await;
    let (now, mut unit) = (world.backend.now(), world.backend.unit());
    for (_, key) in undue() {
        let found = world
            .backend
            .store
            .records()
            .get(&key)
            .await
            .expect("a store");
        let version = found.map(|found| found.version);
        let body = json!({ "begun": now, "until": now + MINUTE });
        unit.put(key, &body, version, IndexEntry::default());
    }
    world.backend.commit(unit).await.expect("saved");
    world.drift.be_ahead(SignedDuration::ZERO);
    let now = world.backend.now();
    world.backend.correct_clock_rollback().await;
    // The last poll shows by how much, and it was a few seconds ago.
    let latest = now + MINUTE * 2;
    for (what, key) in undue() {
        let found = body(&world, &key).await;
        for field in ["begun", "until"] {
            let at: Timestamp = serde_json::from_value(found[field].clone()).expect("a time");
            assert!(at < latest, "{what}: {found}, and it is {now}");
        }
    }
}

/// A job that is watched by a clock that is an hour ahead, which is then set right. No tick has come since.
async fn watched_in_the_future() -> (World, JobId) {
    let world = world(None).await;
    world.drift.be_ahead(hour(1));
    let job = world.submit("ask me").await;
    Box::pin(until(&world, &job, Moment::Working)).await;
    world.drift.be_ahead(SignedDuration::ZERO);
    (world, job)
}

async fn stored(world: &World, key: &Key) -> Record {
    let found = world.backend.store.records().get(key).await;
    found.expect("a store").expect("a record")
}

/// Whether any action has a future time.
async fn is_ahead(world: &World) -> bool {
    let newest = world.backend.store.newest().await.expect("a store");
    newest > Some(world.backend.now())
}

#[tokio::test]
async fn what_could_not_be_set_right_is_set_right_by_the_next_tick() {
    let (world, _) = watched_in_the_future().await;
    world.fate.kill_at(world.fate.count(), Death::Before);
    assert!(world.poller.tick().await.is_err());
    world.fate.revive();
    assert!(is_ahead(&world).await);
    world.poller.tick().await.expect("a tick");
    assert!(!is_ahead(&world).await);
}

#[tokio::test]
async fn what_somebody_changes_meanwhile_is_moved_all_the_same() {
    let (world, job) = watched_in_the_future().await;
    let key = keys::job(&job);
    let before = stored(&world, &key).await;
    let due = before.due.expect("a due");
    let act: &'static str = format!("commit {} {}", key.pk, key.sk).leak();
    let records = world.backend.store.clone();
    world.fate.before_next(act, async move {
        let expect = Expect::Version(before.version);
        let put = Write::Put {
            record: before,
            expect,
        };
        let changed = records.records().commit(vec![put]).await;
        changed.expect("somebody else's change");
    });
    world.poller.tick().await.expect("a tick");
    let moved = stored(&world, &key).await.due.expect("a due");
    let by = due.duration_since(moved);
    assert!(by > MINUTE * 55, "{by:#}");
}

#[tokio::test]
async fn what_was_begun_since_the_clock_was_set_right_is_held_as_long_as_it_was() {
    let (world, job) = watched_in_the_future().await;
    let now = world.backend.now();
    let action = Action::Jules(JulesAction::Archive {
        session: "14550388554331055113".parse().expect("a session"),
    });
    let effect = Effect::new(action, now).start(now).expect("a start");
    let key = keys::effect(&keys::job_pk(&job), &effect.id);
    let mut unit = world.backend.unit();
    unit.put(key.clone(), &effect, None, IndexEntry::due(effect.due()));
    world.backend.commit(unit).await.expect("an effect");
    let begun = stored(&world, &key).await;
    world.poller.tick().await.expect("a tick");
    assert!(!is_ahead(&world).await);
    assert_eq!(stored(&world, &key).await, begun);
}

#[tokio::test]
async fn the_list_of_jobs_leaves_none_out_that_was_created_while_the_clock_was_ahead() {
    let world = world(None).await;
    world.drift.be_ahead(hour(1));
    let mut created = BTreeSet::new();
    for _ in 0..3 {
        created.insert(world.submit("ask me").await);
        world.step().await;
    }
    world.drift.be_ahead(SignedDuration::ZERO);
    created.insert(world.submit("ask me").await);
    world.step().await;
    // They keep the time that they were created at, and that is no sign of a wrong clock.
    assert!(!is_ahead(&world).await);
    let (mut listed, mut after) = (BTreeSet::new(), None);
    loop {
        let asked = JobQuery::default();
        let page = world.backend.list_jobs(&asked, after.as_ref(), 1).await;
        let page = page.expect("a page");
        listed.extend(page.jobs.into_iter().map(|job| job.id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed, created);
}

#[tokio::test]
async fn machines_of_a_stack_move_nothing_while_their_clocks_differ() {
    let world = world(None).await;
    let job = world.submit("ask me").await;
    until(&world, &job, Moment::Working).await;
    let database = Database::in_memory().expect("a database");
    let queue = LocalQueue::new(&database, "ticks", world.backend.clock.clone());
    let ticks = Ticks::new(
        world.backend.clone(),
        world.another_poller(),
        Arc::new(queue),
    );
    let holder = Holder::new(world.backend.clone(), world.another_poller());
    world.drift.be_ahead(MINUTE * 2);
    let ticked = ticks.called(TickTrigger::Schedule, Timestamp::MAX).await;
    assert!(ticked.expect("a tick").is_some());
    world.drift.be_ahead(SignedDuration::ZERO);
    assert!(is_ahead(&world).await);
    let before = stored(&world, &keys::job(&job)).await;
    let ticked = ticks.called(TickTrigger::Schedule, Timestamp::MAX).await;
    ticked.expect("an answer");
    holder.tick().await.expect("an answer");
    assert_eq!(stored(&world, &keys::job(&job)).await, before);
}
