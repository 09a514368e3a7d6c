//! GitHub requests for a merged pull request: an ordinary repository on virtual time through the whole engine, counted at the sandbox.

mod count;

use anyhow::Result;
use jiff::SignedDuration;
use sandbox::github::{CheckSetup, CiSetup, Outcome, Protection, RepoSetup, RequiredCheck};
use sandbox::jules::AccountSetup;
use sandbox::{Logged, Scenario, Service};
use tests::world::{MINUTE, REPO, SECOND, Setup, World, on_green};

use crate::added;
use crate::figure::{Figure, Target};
use crate::machine::one_thread;
use count::Count;

/// The same repository with a test that fails on the first head of every branch.
const RED: &str = "acme/site";

/// One pull request in so many is red at first.
const RED_EVERY: usize = 10;

/// How long after one job the next one comes: two or three pull requests are open at a time.
const BETWEEN: SignedDuration = SignedDuration::from_mins(2);

/// Pull requests that are averaged.
struct Run {
    name: &'static str,
    webhooks: bool,
    /// Where the base says which checks it requires.
    protection: Protection,
    pulls: usize,
}

const RUNS: [Run; 3] = [
    Run {
        name: "with webhooks",
        webhooks: true,
        protection: Protection::Classic,
        pulls: 200,
    },
    Run {
        name: "with webhooks, checks required by a ruleset",
        webhooks: true,
        protection: Protection::Rulesets,
        pulls: 50,
    },
    Run {
        name: "without webhooks",
        webhooks: false,
        protection: Protection::Classic,
        pulls: 50,
    },
];

/// Pull requests that are ready at about the same time, without webhooks.
struct Crowd {
    name: &'static str,
    repos: usize,
    each: usize,
}

const CROWDS: [Crowd; 2] = [
    Crowd {
        name: "60 ready in one repository",
        repos: 1,
        each: 60,
    },
    Crowd {
        name: "20 in each of three",
        repos: 3,
        each: 20,
    },
];

/// Requests that one merge of a crowd may cost without webhooks.
const CROWD_REQUESTS: Target = Target::AtMost(15.0);

/// Merges a minute that one crowd has to come to.
const CROWD_PACE: Target = Target::AtLeast(20.0);

/// Requests that one merged pull request may cost with webhooks.
const REQUESTS: Target = Target::AtMost(12.0);

/// Points that it may cost, free repeats included: a share of free repeats would be met best by repeating what did not change.
const POINTS: Target = Target::AtMost(30.0);

/// One pull request by itself, request by request, and then the average of many.
pub(crate) fn measure() -> Result<Vec<Figure>> {
    let runtime = one_thread()?;
    let mut figures =
        Count::from_log(&runtime.block_on(alone())?).listed("one alone with webhooks");
    for run in RUNS {
        let count = Count::from_log(&runtime.block_on(many(&run))?);
        let averaged = count.averaged(run.name);
        figures.extend(if run.webhooks {
            aimed(averaged)
        } else {
            averaged
        });
    }
    for crowd in CROWDS {
        figures.extend(runtime.block_on(crowded(&crowd))?);
    }
    let added = added::measure()?.requests;
    let name = "a delivery adds to a bare job: counted requests";
    figures.push(Figure::new("requests", name, added, "requests"));
    Ok(figures)
}

/// What a crowd costs, and how many are merged a minute from the first merge to the last.
async fn crowded(crowd: &Crowd) -> Result<Vec<Figure>> {
    let names: Vec<String> = (0..crowd.repos).map(|n| format!("acme/r{n}")).collect();
    let quick = CheckSetup::new("build", Outcome::Success);
    let repo = |name: &str| RepoSetup::new(name).with_checks([quick.clone()]);
    let world = town_of(names.iter().map(|name| repo(name)).collect(), false).await?;
    let mut jobs = Vec::new();
    for at in 0..crowd.each {
        for name in &names {
            jobs.push(world.submit_to(name, &format!("add page {at}")).await);
        }
    }
    let first = async |world: &World| world.sandbox.counters().merges > 0;
    world.until(MINUTE * 30, "a merge", first).await;
    let began = world.clock.now();
    let merged = async |world: &World| world.all_merged(&jobs).await;
    world.until(MINUTE * 60, "all merged", merged).await;
    let minutes = world.clock.now().duration_since(began).as_secs_f64() / 60.0;
    world.pass(MINUTE * 2).await;
    let all = world.sandbox.requests().into_iter();
    let log: Vec<Logged> = all.filter(|it| it.service == Service::GitHub).collect();
    let count = Count::from_log(&log);
    let pace = f64::from(count.merged()) / minutes.max(1.0 / 60.0);
    let name = |what: &str| format!("{}: {what}", crowd.name);
    let mut figures = count.averaged(crowd.name);
    if let Some(requests) = figures.first_mut() {
        *requests = requests.clone().aimed(CROWD_REQUESTS);
    }
    let pace = Figure::new("requests", name("merges a minute"), pace, "/min");
    figures.insert(1, pace.aimed(CROWD_PACE));
    Ok(figures)
}

/// The first two figures of an average are what was promised.
fn aimed(figures: Vec<Figure>) -> Vec<Figure> {
    let mut targets = [REQUESTS, POINTS].into_iter();
    let aim = |figure: Figure| match targets.next() {
        Some(target) => figure.aimed(target),
        None => figure,
    };
    figures.into_iter().map(aim).collect()
}

/// A pull request that has the repository to itself; another one went before, so that nothing is read for the first time.
async fn alone() -> Result<Vec<Logged>> {
    let world = town(true, Protection::Classic).await?;
    let first = [world.submit("add a page").await];
    finish(&world, &first).await;
    let before = world.sandbox.requests().len();
    let second = [world.submit("add a search box").await];
    finish(&world, &second).await;
    let all = world.sandbox.requests().into_iter().skip(before);
    Ok(all.filter(|it| it.service == Service::GitHub).collect())
}

/// So many pull requests, one every [`BETWEEN`].
async fn many(run: &Run) -> Result<Vec<Logged>> {
    let world = town(run.webhooks, run.protection).await?;
    let mut jobs = Vec::new();
    for at in 1..=run.pulls {
        let repo = if at.is_multiple_of(RED_EVERY) {
            RED
        } else {
            REPO
        };
        jobs.push(world.submit_to(repo, &format!("add page {at}")).await);
        world.pass(BETWEEN).await;
    }
    finish(&world, &jobs).await;
    let all = world.sandbox.requests().into_iter();
    Ok(all.filter(|it| it.service == Service::GitHub).collect())
}

async fn finish(world: &World, jobs: &[domain::ids::JobId]) {
    let merged = async |world: &World| world.all_merged(jobs).await;
    world.until(MINUTE * 120, "all merged", merged).await;
    world.pass(MINUTE * 2).await;
}

/// Two repositories, of which one has a test that fails at first.
async fn town(webhooks: bool, protection: Protection) -> Result<World> {
    let repos = [(REPO, Outcome::Success), (RED, Outcome::FailsFirst(1))];
    let repos = repos.map(|(name, test)| RepoSetup {
        protection,
        ..RepoSetup::new(name).with_ci(ci(test))
    });
    town_of(repos.to_vec(), webhooks).await
}

/// Repositories that merge on green, as often as it takes.
async fn town_of(repos: Vec<RepoSetup>, webhooks: bool) -> Result<World> {
    let mut source = on_green();
    source.policy.merges_per_day = u32::MAX;
    let names: Vec<String> = repos.iter().map(|repo| repo.full_name.clone()).collect();
    let world = World::with(Setup {
        scenario: Scenario {
            accounts: vec![AccountSetup {
                concurrent: 60,
                per_24h: 300,
                ..AccountSetup::default()
            }],
            repos,
            ..Scenario::default()
        },
        source: source.clone(),
        webhooks,
        ..Setup::default()
    })
    .await;
    for name in names {
        source.repo = name.parse()?;
        world.put_source(&source).await;
    }
    Ok(world)
}

/// Two workflows of minutes and a status that comes last; two of the checks are required.
fn ci(test: Outcome) -> CiSetup {
    let check = |name, workflow: &str, seconds: i64, outcome| CheckSetup {
        workflow: workflow.to_owned(),
        takes: SECOND * i32::try_from(seconds).unwrap_or(i32::MAX),
        starts_after: SECOND * 4,
        queued_for: SECOND * 5,
        ..CheckSetup::new(name, outcome)
    };
    let checks = vec![
        check("lint", "CI", 25, Outcome::Success),
        check("build", "CI", 60, Outcome::Success),
        check("test", "CI", 150, test),
        check("analyze", "CodeQL", 95, Outcome::Success),
        CheckSetup {
            takes: SECOND * 155,
            starts_after: SECOND * 4,
            ..CheckSetup::status("coverage", Outcome::Success)
        },
    ];
    CiSetup {
        checks,
        required: ["build", "test"].map(RequiredCheck::any).to_vec(),
        ..CiSetup::default()
    }
}
