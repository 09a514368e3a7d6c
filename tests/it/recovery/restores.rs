//! Stories of a store that was restored from an old backup while the world went on.

use std::collections::BTreeSet;
use std::path::PathBuf;

use domain::ids::JobId;
use domain::policy::PlanApproval;
use sandbox::github::{CheckSetup, Outcome};
use sandbox::{Counters, Fault, FaultKind, Service};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::world::{
    MINUTE, SECOND, Setup, World, asking, asks, ci, from_work, hour, on_green, scenario, story,
    with_ci,
};

/// A world on disk and the folder that its databases and backups are in.
struct Stage {
    world: World,
    folder: TempDir,
    backups: usize,
}

impl Stage {
    async fn start(setup: Setup) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        local::prepare_folder(&data).expect("a folder");
        let world = World::with(Setup {
            folder: Some(data),
            ..setup
        })
        .await;
        Self {
            world,
            folder,
            backups: 0,
        }
    }

    async fn asking() -> Self {
        Self::start(Setup {
            scenario: scenario(vec![asking("ask me", "Which database?")]),
            source: on_green(),
            ..Setup::default()
        })
        .await
    }

    /// Backs the store up and returns the file.
    fn back_up(&mut self) -> PathBuf {
        self.backups += 1;
        let file = self
            .folder
            .path()
            .join(format!("backup-{}.db", self.backups));
        self.world.back_up(&file);
        file
    }

    async fn restore(&mut self, backup: &std::path::Path) -> u64 {
        self.backups += 1;
        let folder = self
            .folder
            .path()
            .join(format!("restored-{}", self.backups));
        self.world.restore(backup, &folder).await
    }

    /// Plays on, answering like an agent that answers every time it is asked, until the job is merged.
    async fn play(&self, job: &JobId) {
        self.world
            .until(hour(2), "merged", async |world| {
                if world.state(job).await == "asking" {
                    world.answer(job, "PostgreSQL", "answer").await;
                }
                world.state(job).await == "merged"
            })
            .await;
        self.world.pass(MINUTE * 25).await;
    }

    /// Distinct ids of the wakes that the receiver got.
    fn wakes(&self) -> usize {
        let received = self.world.sandbox.agents().received(tests::world::AGENT);
        let ids: BTreeSet<_> = received.into_iter().map(|it| it.webhook_id).collect();
        ids.len()
    }
}

/// Actions on the world, without reads and repeated wakes.
fn done(counters: Counters) -> [u64; 8] {
    [
        counters.creates,
        counters.messages,
        counters.approvals,
        counters.merges,
        counters.merge_calls,
        counters.comments,
        counters.branch_deletes,
        counters.branch_updates,
    ]
}

/// One session, one answer, one merge.
const ONE_JOB: [u64; 8] = [1, 1, 0, 1, 1, 0, 1, 0];

#[tokio::test]
async fn a_backup_of_any_moment_put_back_after_the_end_does_nothing_once_more() {
    let mut stage = Stage::asking().await;
    let job = stage.world.submit("ask me").await;
    let mut backups = vec![("at the start", stage.back_up())];
    let mut written = 0;
    while stage.world.state(&job).await != "merged" {
        stage.world.clock.advance(SECOND);
        stage.world.step().await;
        if matches!(stage.world.state(&job).await, "asking" | "answered") {
            stage.world.answer(&job, "PostgreSQL", "answer").await;
            backups.push(("once the answer was wished for", stage.back_up()));
        }
        let now = stage.world.ledger.written().len();
        if now > written + 3 {
            written = now;
            backups.push(("midway", stage.back_up()));
        }
    }
    stage.world.pass(MINUTE * 25).await;
    assert_eq!(done(stage.world.sandbox.counters()), ONE_JOB);
    assert!(backups.len() > 10, "{} backups", backups.len());
    for (when, backup) in backups {
        stage.restore(&backup).await;
        stage.play(&job).await;
        let told = done(stage.world.sandbox.counters());
        assert_eq!(told, ONE_JOB, "{when} {backup:?}");
        assert_eq!(
            stage.world.events(&job).await.last().map(String::as_str),
            Some("completed/completed"),
            "{when} {backup:?}"
        );
        stage.world.finish().await;
    }
    let told = stage.wakes();
    assert_eq!(told, 2, "a question and a completion, each under its id");
}

#[tokio::test]
async fn a_backup_put_back_midway_goes_on_from_there() {
    // Seconds from the start to the backup, and from there to the restore.
    for (at, later) in [
        (0, 4),
        (0, 12),
        (1, 40),
        (4, 4),
        (4, 30),
        (7, 8),
        (9, 60),
        (12, 90),
        (20, 45),
    ] {
        let mut stage = Stage::asking().await;
        let job = stage.world.submit("ask me").await;
        let answer_until = async |stage: &Stage, seconds: i64| {
            for _ in 0..seconds {
                stage.world.pass(SECOND).await;
                if stage.world.state(&job).await == "asking" {
                    stage.world.answer(&job, "PostgreSQL", "answer").await;
                }
            }
        };
        answer_until(&stage, at).await;
        let backup = stage.back_up();
        answer_until(&stage, later).await;
        stage.restore(&backup).await;
        stage.play(&job).await;
        let when = format!("backed up at {at} s, put back {later} s later");
        assert_eq!(done(stage.world.sandbox.counters()), ONE_JOB, "{when}");
        assert_eq!(stage.wakes(), 2, "{when}");
        stage.world.finish().await;
    }
}

#[tokio::test]
async fn wishes_that_the_backup_holds_unfinished_are_looked_for_first() {
    for kind in [FaultKind::CutAfterEffect, FaultKind::CutBefore] {
        for path in ["/sessions", ":sendMessage", "/merge"] {
            let mut stage = Stage::asking().await;
            let method = if path == "/merge" { "PUT" } else { "POST" };
            let service = if path == "/merge" {
                Service::GitHub
            } else {
                Service::Jules
            };
            let fault = Fault::new(service, path, kind.clone()).on(method).next(1);
            stage.world.sandbox.faults().add(fault);
            let job = stage.world.submit("ask me").await;
            let calls = |stage: &Stage| stage.world.requests(service, method, path).len();
            while calls(&stage) == 0 {
                stage.world.pass(SECOND).await;
                if stage.world.state(&job).await == "asking" {
                    stage.world.answer(&job, "PostgreSQL", "answer").await;
                }
            }
            let backup = stage.back_up();
            stage.play(&job).await;
            assert!(stage.restore(&backup).await > 0, "{kind:?} {path}");
            stage.play(&job).await;
            let did = done(stage.world.sandbox.counters());
            // A call that was cut before it reached anything is made again, and counted again.
            assert_eq!((did[0], did[1], did[3]), (1, 1, 1), "{kind:?} {path}");
            stage.world.finish().await;
        }
    }
}

#[tokio::test]
async fn a_job_that_was_handed_over_after_the_backup_is_left_alone() {
    let mut stage = Stage::asking().await;
    let backup = stage.back_up();
    let job = stage.world.submit("ask me").await;
    stage.world.until_is(MINUTE * 5, &job, "asking").await;
    let before = done(stage.world.sandbox.counters());
    stage.restore(&backup).await;
    // Another job makes the poller list all sessions of the account.
    let other = stage.world.submit("Add a test").await;
    stage.play(&other).await;
    stage.world.pass(hour(1)).await;
    let after = done(stage.world.sandbox.counters());
    assert_eq!((after[0], after[1]), (before[0] + 1, before[1]));
    let told = stage.world.sandbox.counters();
    assert_eq!(told.archives, 1, "only the other job's session");
    stage.world.finish().await;
}

#[tokio::test]
async fn the_same_words_to_a_later_question_are_said_again() {
    let ask = |text: &str| asks(SECOND * 3, text);
    let mut stage = Stage::start(Setup {
        scenario: scenario(vec![story(
            "ask twice",
            from_work(vec![
                ask("May I use a crate?"),
                ask("May I rename the module?"),
            ]),
        )]),
        source: on_green(),
        ..Setup::default()
    })
    .await;
    let job = stage.world.submit("ask twice").await;
    let backup = stage.back_up();
    let asked = async |world: &World| world.state(&job).await == "asking";
    stage.world.until(MINUTE * 2, "asked", asked).await;
    stage.world.answer(&job, "Yes", "first").await;
    stage.world.until_events(MINUTE * 2, &job, 2).await;
    stage.restore(&backup).await;
    stage.world.until(hour(1), "asked again", asked).await;
    stage.world.answer(&job, "Yes", "second").await;
    stage.world.until_is(hour(1), &job, "merged").await;
    assert_eq!(stage.world.sandbox.counters().messages, 2);
    stage.world.pass(MINUTE * 10).await;
    stage.world.finish().await;
}

async fn approve_if_it_waits(world: &World, job: &JobId) {
    if world.state(job).await == "plan-waits" {
        drop(world.backend.approve_plan(&world.named(job), None).await);
    }
}

#[tokio::test]
async fn a_plan_is_approved_once_and_a_red_check_is_told_of_once() {
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Human;
    let mut stage = Stage::start(Setup {
        scenario: with_ci(ci(vec![CheckSetup::new("build", Outcome::FailsFirst(1))])),
        source,
        ..Setup::default()
    })
    .await;
    let job = stage.world.submit("Add a test").await;
    let approved = async |stage: &Stage| {
        stage
            .world
            .until(hour(2), "merged", async |world| {
                approve_if_it_waits(world, &job).await;
                world.state(&job).await == "merged"
            })
            .await;
        stage.world.pass(MINUTE * 25).await;
    };
    let mut backups = vec![stage.back_up()];
    for _ in 0..12 {
        stage.world.pass(SECOND * 4).await;
        approve_if_it_waits(&stage.world, &job).await;
        backups.push(stage.back_up());
    }
    approved(&stage).await;
    let before = done(stage.world.sandbox.counters());
    for backup in backups {
        stage.restore(&backup).await;
        approved(&stage).await;
        assert_eq!(done(stage.world.sandbox.counters()), before, "{backup:?}");
        stage.world.finish().await;
    }
}

#[tokio::test]
async fn what_failed_after_the_restore_is_not_doubted_again() {
    let mut stage = Stage::asking().await;
    let job = stage.world.submit("ask me").await;
    let backup = stage.back_up();
    stage.restore(&backup).await;
    let full = FaultKind::Status {
        code: 400,
        retry_after_secs: None,
        body: Some(json!({ "error": { "code": 400, "status": "FAILED_PRECONDITION" } })),
    };
    let fault = Fault::new(Service::Jules, "/sessions", full);
    stage.world.sandbox.faults().add(fault.on("POST").next(1));
    let states = |stage: &Stage| -> Vec<&'static str> {
        let of_the_create = |body: &String| body.contains("create_session");
        let bodies = stage.world.ledger.bodies().into_iter();
        let state = |body: String| {
            let body: Value = serde_json::from_str(&body).expect("JSON");
            let all = ["intent", "started", "unknown", "done", "failed"];
            let is = |name: &&&str| body["it"]["state"]["state"] == **name;
            *all.iter().find(is).expect("a state")
        };
        let mut states: Vec<_> = bodies
            .map(|(_, body)| body)
            .filter(of_the_create)
            .map(state)
            .collect();
        // A row is also written when it is handled.
        states.dedup();
        states
    };
    stage.play(&job).await;
    // After the search its refusal is certain.
    assert_eq!(
        states(&stage),
        [
            "unknown", "intent", "started", "failed", "intent", "started", "done"
        ]
    );
    stage.world.finish().await;
}
