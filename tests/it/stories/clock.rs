//! A clock that is ahead for a while and is then set right: nobody waits until the hour has come that it showed.

use domain::ids::JobId;
use domain::job::Phase;
use engine::desk::Place;
use engine::keys;
use engine::ports::Key;
use jiff::{SignedDuration, Timestamp};
use local::{DATABASE_FILE, Database};
use serde_json::{Value, json};
use tests::world::{MINUTE, REPO, Setup, World, asking, hour, on_green, scenario};

/// How much later than by a right clock a job may be merged: a poll and a look at its pull request.
const LATER: SignedDuration = SignedDuration::from_mins(3);

/// The same where the log showed an answer while the clock was wrong, older than it was said: as long as for an answer that the log does not show.
const UNCONFIRMED: SignedDuration = SignedDuration::from_mins(11);

/// Longest that any stage of these jobs takes by itself.
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
    /// The pull request is there.
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
    let found = world.desk.store.job(job).await.expect("a store");
    found.is_some_and(|found| match &found.value.phase {
        Phase::Watching(watch) => watch.pull.is_some(),
        Phase::Queued { .. } | Phase::Creating { .. } | Phase::Ended(_) => false,
    })
}

/// Goes on until a moment has come, by a clock that may be wrong.
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
    world.say(job, "PostgreSQL", "answer").await.expect("said");
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
        world.say(job, "PostgreSQL", "answer").await.expect("said");
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
    let newest = world.desk.store.newest().await.expect("a store");
    // Nothing ran while the clock was set right.
    world.drift.be_ahead(SignedDuration::ZERO);
    let ahead = newest.expect("a time").duration_since(world.desk.now());
    assert!(ahead > MINUTE * 55, "{ahead:#}");
    let database = Database::open(&folder.path().join(DATABASE_FILE)).expect("a database");
    world.work_over(&database);
    world
        .desk
        .set_times_right()
        .await
        .expect("a store that is right");
    let newest = world.desk.store.newest().await.expect("a store");
    assert!(newest <= Some(world.desk.now()), "{newest:?}");
    let begun = world.clock.now();
    merge(&world, &job).await;
    let taken = world.clock.now().duration_since(begun);
    assert!(taken < MINUTE * 15, "{taken:#}");
    world.finish().await;
}

/// What limits or delays work and is due by itself at no time, by what it is.
fn undue() -> Vec<(&'static str, Key)> {
    let repo = REPO.parse().expect("a repository");
    let account = "default".parse().expect("a name");
    vec![
        ("trouble with a credential", keys::access()),
        ("budgets of GitHub", keys::budgets()),
        ("slots of an account", keys::slots(&account)),
        ("merges of a day", keys::merges(&repo)),
        ("trouble with a repository", keys::reach(&repo)),
        ("the last webhook", keys::feed(&repo)),
        ("turns to merge", keys::lane(&repo, "main")),
    ]
}

async fn body(world: &World, key: &Key) -> Value {
    let found = world.desk.store.records().get(key).await;
    let record = found.expect("a store").expect("a record");
    let body: Value = serde_json::from_str(&record.body).expect("JSON");
    body["it"].clone()
}

#[tokio::test]
async fn limits_and_turns_that_a_clock_that_was_ahead_left_behind_are_moved_back() {
    // A pull request that waits for its turn, so that the turns of its base are looked for.
    let mut source = on_green();
    source.timing.settle = hour(2);
    let world = World::with(Setup {
        source,
        ..Setup::default()
    })
    .await;
    world.drift.be_ahead(hour(1));
    world.submit("Add a test").await;
    let reference = format!("{REPO}#1").parse().expect("a pull request");
    let is_ready = async |world: &World| {
        let found = world.desk.store.pull(&reference).await.expect("a store");
        found.is_some_and(|found| found.value.pull.ready.is_some())
    };
    world
        .until(WITHIN, "a pull request that is ready", is_ready)
        .await;
    let (now, mut unit) = (world.desk.now(), world.desk.unit());
    for (_, key) in undue() {
        let found = world.desk.store.records().get(&key).await.expect("a store");
        let version = found.map(|found| found.version);
        let body = json!({ "begun": now, "until": now + MINUTE });
        unit.put(key, &body, version, Place::default());
    }
    world.desk.commit(unit).await.expect("saved");
    world.drift.be_ahead(SignedDuration::ZERO);
    let now = world.desk.now();
    let right = world.desk.set_times_right().await;
    right.expect("a store that is right");
    // The last poll tells by how much, and it was a few seconds ago.
    let latest = now + MINUTE * 2;
    for (what, key) in undue() {
        let found = body(&world, &key).await;
        for field in ["begun", "until"] {
            let at: Timestamp = serde_json::from_value(found[field].clone()).expect("a time");
            assert!(at < latest, "{what}: {found}, and it is {now}");
        }
    }
}
