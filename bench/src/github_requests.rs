//! What a merged pull request costs at GitHub: the demo's stories on virtual time through the whole engine, counted at the sandbox's door.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use domain::ids::JobId;
use domain::policy::PlanApproval;
use jiff::SignedDuration;
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
use sandbox::story::Step;
use sandbox::{Logged, Scenario, Service};
use tests::world::{
    MINUTE, REPO, SECOND, Setup, World, asking, ci, from_work, on_green, open_pull, progress,
    stalling, story,
};

use crate::figure::{Figure, Target};

const SECTION: &str = "requests";

/// A repository whose checks fail on the first head of every branch.
const RED: &str = "acme/site";

/// How long after one job the next one comes.
const MINUTES_BETWEEN: u32 = 3;

/// What the secondary limit charges for a write; a read is one point.
const WRITE_POINTS: u32 = 5;

/// Requests that one merged pull request may cost with webhooks.
const TARGET: Target = Target::AtMost(12.0);

/// Per cent of repeated reads that may cost nothing.
const REPEATS: Target = Target::AtLeast(90.0);

/// Handed over: what to say to Jules, and where.
const JOBS: [(&str, &str); 8] = [
    ("add a test", REPO),
    ("ask me", REPO),
    ("stall", REPO),
    ("plan it", REPO),
    ("add a page", REPO),
    ("add a search box", REPO),
    ("red", RED),
    ("red again", RED),
];

/// Plays everything with webhooks, then without.
pub(crate) fn measure() -> Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting a runtime")?;
    let mut figures = Vec::new();
    for (name, webhooks) in [("with webhooks", true), ("without webhooks", false)] {
        let log = runtime.block_on(play(webhooks))?;
        figures.extend(counted(&log, name, webhooks));
    }
    Ok(figures)
}

/// Plays all jobs to their merge; answers every request that reached GitHub.
async fn play(webhooks: bool) -> Result<Vec<Logged>> {
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Agent;
    let world = World::with(Setup {
        scenario: stage(),
        source: source.clone(),
        webhooks,
        ..Setup::default()
    })
    .await;
    source.repo = RED.parse()?;
    world.put_source(&source).await;
    let (mut jobs, mut seen) = (Vec::new(), 0);
    for (prompt, repo) in JOBS {
        jobs.push(world.submit_to(repo, prompt).await);
        // Work does not come all at once, and the agent is quick.
        for _ in 0..MINUTES_BETWEEN * 4 {
            world.pass(SECOND * 15).await;
            attend(&world, &mut seen).await;
        }
    }
    world
        .until(MINUTE * 120, "all merged", async |world| {
            attend(world, &mut seen).await;
            world.all_merged(&jobs).await
        })
        .await;
    world.pass(MINUTE * 2).await;
    let all = world.sandbox.requests().into_iter();
    Ok(all.filter(|it| it.service == Service::GitHub).collect())
}

/// The agent does what its wakes ask for.
async fn attend(world: &World, seen: &mut usize) {
    for wake in world.wakes().into_iter().skip(*seen) {
        *seen += 1;
        let Some(job) = wake["job_id"]
            .as_str()
            .and_then(|id| id.parse::<JobId>().ok())
        else {
            continue;
        };
        // An order that comes too late is no part of what is counted.
        match wake["kind"].as_str() {
            Some("question") => drop(world.say(&job, "PostgreSQL", "answer").await),
            Some("stuck") => drop(world.say(&job, "Please go on", "cheer").await),
            Some("plan_approval") => drop(world.desk.approve_plan(&world.named(&job)).await),
            _ => {}
        }
    }
}

/// Checks take minutes, as they do.
fn stage() -> Scenario {
    let check = |name, takes: SignedDuration, outcome| CheckSetup {
        takes,
        ..CheckSetup::new(name, outcome)
    };
    let green = vec![
        check("build", SECOND * 60, Outcome::Success),
        check("test", SECOND * 150, Outcome::Success),
    ];
    let red = vec![
        check("build", SECOND * 60, Outcome::FailsFirst(1)),
        check("lint", SECOND * 20, Outcome::Success),
    ];
    let planned = vec![
        Step::Plan {
            after: SECOND,
            steps: vec!["Look around".to_owned()],
        },
        progress(SECOND, "Working"),
        open_pull(),
        Step::Complete {
            after: SECOND,
            no_change: false,
        },
    ];
    Scenario {
        stories: vec![
            asking("ask me", "Which database?"),
            stalling("stall"),
            story("plan it", planned),
            story("red", from_work(Vec::new())),
        ],
        repos: vec![
            RepoSetup::new(REPO).with_ci(ci(green)),
            RepoSetup::new(RED).with_ci(ci(red)),
        ],
        ..Scenario::default()
    }
}

/// What a log comes to, for each of its merged pull requests.
fn counted(log: &[Logged], name: &str, aimed: bool) -> Vec<Figure> {
    let count = |holds: &dyn Fn(&Logged) -> bool| {
        u32::try_from(log.iter().filter(|it| holds(it)).count()).unwrap_or(u32::MAX)
    };
    let is_read = |it: &Logged| it.method == "GET";
    let merges = count(&|it| it.method == "PUT" && it.path.ends_with("/merge") && it.status == 200);
    let free = count(&|it| it.status == 304);
    let writes = count(&|it| !is_read(it));
    let all = count(&|_| true);
    let repeats = repeats(log);
    let each = |what: &str, requests: u32| {
        let value = f64::from(requests) / f64::from(merges.max(1));
        Figure::new(SECTION, format!("{name}: {what}"), value, "/merged PR")
    };
    let share = f64::from(free) * 100.0 / f64::from(repeats.max(1));
    let share = Figure::new(SECTION, format!("{name}: repeats answered 304"), share, "%");
    let requests = each("counted requests (a 304 is free)", all - free);
    let mut figures = vec![if aimed {
        requests.aimed(TARGET)
    } else {
        requests
    }];
    for kind in Kind::ALL {
        let of_kind = count(&|it| it.status != 304 && Kind::of(it) == kind);
        figures.push(each(kind.words(), of_kind));
    }
    figures.extend([
        each("reads answered 304", free),
        each(
            "points (a read 1, also a 304; a write 5)",
            all - writes + writes * WRITE_POINTS,
        ),
        share.aimed(REPEATS),
        Figure::new(
            SECTION,
            format!("{name}: merged pull requests"),
            f64::from(merges),
            "PRs",
        ),
    ]);
    figures
}

/// What a request was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pull,
    Checks,
    People,
    Files,
    Demands,
    Branch,
    Logs,
    Write,
    Other,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Pull,
        Self::Checks,
        Self::People,
        Self::Files,
        Self::Demands,
        Self::Branch,
        Self::Logs,
        Self::Write,
        Self::Other,
    ];

    fn of(request: &Logged) -> Self {
        if request.method != "GET" {
            return Self::Write;
        }
        let path = request.path.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').skip(3).collect();
        match parts.as_slice() {
            ["pulls", _] => Self::Pull,
            ["commits", _, "check-runs" | "status"] => Self::Checks,
            ["pulls", _, "reviews"] => Self::People,
            ["pulls", _, "files"] => Self::Files,
            ["rules", ..] | ["branches", ..] | ["compare", ..] => Self::Demands,
            ["pulls"] | ["git", ..] => Self::Branch,
            ["actions", ..] | ["check-runs", ..] => Self::Logs,
            _ => Self::Other,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Pull => "of these the pull request itself",
            Self::Checks => "of these check runs and statuses",
            Self::People => "of these reviews",
            Self::Files => "of these changed files",
            Self::Demands => "of these what the base demands",
            Self::Branch => "of these looks before a branch is deleted",
            Self::Logs => "of these logs of failed checks and clues to missing ones",
            Self::Write => "of these writes",
            Self::Other => "of these others",
        }
    }
}

/// Reads of an address that was read before.
fn repeats(log: &[Logged]) -> u32 {
    let mut known = BTreeSet::new();
    let reads = log.iter().filter(|it| it.method == "GET");
    let again = reads.filter(|it| !known.insert(it.path.as_str())).count();
    u32::try_from(again).unwrap_or(u32::MAX)
}
