//! The demo's jobs, played by an agent that does what its wakes ask for.

use std::collections::BTreeSet;

use domain::ids::JobId;
use domain::policy::{PlanApproval, Timing};
use sandbox::Scenario;
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
use sandbox::story::Step;
use serde_json::Value;
use tokio::sync::Mutex;

use super::{
    MINUTE, REPO, SECOND, Setup, World, asking, ci, from_work, green_checks, on_green, open_pull,
    progress, stalling, story,
};
use crate::cloud::Storm;

/// A repository whose checks fail on the first head of every branch.
pub const RED: &str = "acme/site";

/// A world with four jobs under way: a question, a silence, a plan to approve, and checks that fail first.
pub struct Demo {
    /// Where they are.
    pub world: World,
    /// The jobs, in that order.
    pub jobs: [JobId; 4],
    /// The ids of wakes that were attended to.
    seen: Mutex<BTreeSet<String>>,
}

impl Demo {
    /// Hands the jobs over.
    pub async fn begin(webhooks: bool, storm: Option<Storm>) -> Self {
        Self::on(stage(), webhooks, storm).await
    }

    /// The same, with sessions that work for as long as sessions do: a quarter of an hour.
    pub async fn begin_at_usual_length() -> Self {
        let mut stage = stage();
        for story in &mut stage.stories {
            let opens = |step: &Step| matches!(step, Step::OpenPull { .. });
            let at = story.steps.iter().position(opens).unwrap_or(0);
            let work = || progress(MINUTE * 5, "Working");
            story.steps.splice(at..at, [work(), work(), work()]);
        }
        Self::on(stage, true, None).await
    }

    async fn on(scenario: Scenario, webhooks: bool, storm: Option<Storm>) -> Self {
        let mut source = on_green();
        source.policy.plan_approval = PlanApproval::Agent;
        if storm.is_some() {
            source.timing = brisk();
        }
        let world = World::with(Setup {
            scenario,
            source: source.clone(),
            webhooks,
            storm,
            ..Setup::default()
        })
        .await;
        source.repo = RED.parse().expect("a repository");
        world.put_source(&source).await;
        let jobs = [
            world.submit("ask me").await,
            world.submit("stall").await,
            world.submit("plan it").await,
            world.submit_to(RED, "red").await,
        ];
        Self {
            world,
            jobs,
            seen: Mutex::default(),
        }
    }

    /// Lets time pass until all are merged, and a little longer.
    pub async fn merged(&self) {
        self.world
            .until(MINUTE * 120, "all merged", async |world| {
                self.attend().await;
                world.all_merged(&self.jobs).await
            })
            .await;
        self.world.pass(MINUTE * 2).await;
    }

    /// Does what the wakes ask for, once each: answers, approves, cheers on. A process that dies as it takes an order is
    /// started again at once, and the client repeats the order.
    pub async fn attend(&self) {
        let world = &self.world;
        for (id, wake) in world.wake_ids().into_iter().zip(world.wakes()) {
            if !self.seen.lock().await.insert(id) {
                continue;
            }
            let mut done = self.respond(&wake).await;
            if world.fate.is_dead() {
                world.fate.revive();
                done = self.respond(&wake).await;
            }
            if let Err(error) = done {
                panic!("{}: {error}", wake["kind"]);
            }
        }
    }

    /// Does what one wake asks for.
    async fn respond(&self, wake: &Value) -> Result<(), engine::backend::Error> {
        let world = &self.world;
        let Some(job) = wake["job_id"].as_str() else {
            return Ok(());
        };
        let job: JobId = job.parse().expect("a job id");
        match wake["kind"].as_str() {
            Some("question") => world.say(&job, "PostgreSQL", "answer").await,
            Some("stuck") => world.say(&job, "Please go on", "cheer").await,
            Some("plan_approval") => {
                let job = world.named(&job);
                world.backend.approve_plan(&job, None).await.map(drop)
            }
            _ => Ok(()),
        }
    }
}

/// Waits that leave just enough time for the faults in between.
fn brisk() -> Timing {
    Timing {
        stuck_after: MINUTE * 4,
        settle: SECOND * 20,
        ci_repair_after: SECOND * 20,
        quiet: MINUTE,
        pull_poll: SECOND * 30,
        ..Timing::default()
    }
}

fn stage() -> Scenario {
    let plan = Step::plan(SECOND, &["Look around"]);
    let planned = story(
        "plan it",
        vec![
            plan,
            progress(SECOND, "Working"),
            open_pull(),
            Step::complete(SECOND),
        ],
    );
    let red = vec![
        CheckSetup::new("build", Outcome::FailsFirst(1)),
        CheckSetup::new("lint", Outcome::Success),
    ];
    Scenario {
        stories: vec![
            asking("ask me", "Which database?"),
            stalling("stall"),
            planned,
            story("red", from_work(Vec::new())),
        ],
        repos: vec![
            RepoSetup::new(REPO).with_ci(ci(green_checks())),
            RepoSetup::new(RED).with_ci(ci(red)),
        ],
        ..Scenario::default()
    }
}
