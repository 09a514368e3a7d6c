//! Runs whose process dies once, at each kind of act: they end the same, and nothing of them happens twice.

use std::collections::BTreeMap;

use domain::pipeline::{EntryPoint, Exchange, Implement, Pipeline};
use sandbox::story::Story;
use tests::world::{MINUTE, Moment, REPO, World, dies_after_each_act, hour};

use super::{
    CONFIG, begin, files_with, findings, innovators, piped, requirements, rules, run, steps,
    world_with,
};

/// Longer than what a death holds up: no step ends for want of time.
const PATIENCE: &str = "wait_minutes_default = 600\n";

/// A story that needs no person.
struct Play {
    entry: EntryPoint,
    config: String,
    /// How many sessions it takes.
    sessions: u64,
}

/// From the narrator to a requirement that is implemented, and whose files are gone. Its sessions are a narrator, two observers, a decider,
/// a planner and an implementer.
fn requirement() -> Play {
    Play {
        entry: EntryPoint::Narrator,
        config: CONFIG.replace("wait_minutes_default = 45\n", PATIENCE),
        sessions: 6,
    }
}

/// From two innovators to six issues.
fn proposals() -> Play {
    Play {
        entry: EntryPoint::Innovators,
        config: format!("{}\n[workflow]\n{PATIENCE}", innovators::CONFIG),
        sessions: 2,
    }
}

/// What came of it.
#[derive(Debug, PartialEq, Eq)]
struct End {
    steps: Vec<String>,
    /// The state of each requirement, and how many deliveries and planners it had.
    requirements: Vec<(&'static str, u32, u32)>,
    sessions: u64,
    merges: u64,
    /// Where each pull request goes, and its state.
    pulls: Vec<String>,
    /// The labels of each issue.
    issues: Vec<Vec<String>>,
    /// How many commits are on the target and on the worker branch.
    commits: [usize; 2],
    findings: Vec<String>,
}

async fn begun(play: &Play) -> (World, Pipeline) {
    let source = piped(rules(Exchange::Auto, Implement::Auto));
    let world = world_with(source, vec![Story::layer()], files_with(&play.config)).await;
    let begun = begin(&world, play.entry).await;
    (world, begun)
}

/// Lets time pass until all is done, and until every message has come back that a death has hidden.
async fn through(world: &World, begun: &Pipeline) -> End {
    Box::pin(until_done(world, begun)).await;
    Box::pin(world.pass(MINUTE * 20)).await;
    end(world, begun).await
}

async fn until_done(world: &World, begun: &Pipeline) {
    let is_done = async |world: &World| {
        let found = requirements(world).await;
        let are_tidied = found.iter().all(|it| it.state.word() == "tidied");
        are_tidied && run(world, begun).await.is_over()
    };
    Box::pin(world.until(hour(10), "all is done", is_done)).await;
}

async fn end(world: &World, begun: &Pipeline) -> End {
    let github = world.sandbox.github();
    let known = requirements(world).await.into_iter();
    let known = known.map(|it| (it.state.word(), it.attempt, it.planners));
    let pulls = github
        .pulls(REPO)
        .into_iter()
        .map(|number| world.pull(number));
    let pulls = pulls.map(|it| format!("{} {:?}", it.base_ref, it.state));
    let mut pulls: Vec<_> = pulls.collect();
    pulls.sort();
    let issues = github.issues(REPO).into_iter();
    let issues = issues.filter_map(|number| github.issue(REPO, number));
    let mut issues: Vec<_> = issues.map(|issue| issue.labels).collect();
    issues.sort();
    let commits = ["main", "jules"].map(|branch| {
        let log = github.log(REPO, branch).expect("a branch");
        log.iter().filter(|line| line.contains('*')).count()
    });
    let counters = world.sandbox.counters();
    End {
        steps: steps(&run(world, begun).await),
        requirements: known.collect(),
        sessions: counters.creates,
        merges: counters.merges,
        pulls,
        issues,
        commits,
        findings: findings(world),
    }
}

/// What an act does, without what it is about: a record by the kind of the first one in its commit, and messages alike.
fn kind(act: &str) -> &str {
    act.split(['#', '{']).next().unwrap_or(act)
}

/// Whether an act reaches Jules, GitHub or an agent.
fn is_outside(kind: &str) -> bool {
    let inside = ["commit ", "send ", "acknowledge"];
    !inside.iter().any(|begin| kind.starts_with(begin))
}

/// Where to die, by what an act does and where acts of that kind are.
type Deaths = fn(&str, &[usize]) -> Vec<(usize, Moment)>;

/// Plays it alive, and then each death in a world of its own.
async fn die(play: &Play, deaths: Deaths) {
    let (world, run) = Box::pin(begun(play)).await;
    let began = world.fate.count();
    let alive = Box::pin(through(&world, &run)).await;
    assert_eq!(alive.sessions, play.sessions, "{alive:?}");
    let are_merged = alive.pulls.iter().all(|pull| pull.ends_with(" Merged"));
    assert!(are_merged, "{alive:?}");
    assert_eq!(alive.findings, [""; 0]);
    let acts = world.fate.acts();
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, act) in acts.iter().enumerate().skip(began) {
        places.entry(kind(act)).or_default().push(at);
    }
    let places = places.iter();
    let chosen = places.flat_map(|(kind, at)| deaths(kind, at));
    let chosen: Vec<_> = chosen.collect();
    assert!(!chosen.is_empty(), "{acts:?}");
    for (at, moment) in chosen {
        let when = format!("dying {moment:?} act {at}, `{}`", acts[at]);
        Box::pin(dies(play, (at, moment), (&alive, &when))).await;
    }
}

/// Dies once after each act until all is done, each time in a world of its own.
async fn die_after_each(play: &Play) {
    let (world, run) = Box::pin(begun(play)).await;
    let began = world.fate.count();
    Box::pin(until_done(&world, &run)).await;
    let acts = world.fate.acts();
    let alive = Box::pin(through(&world, &run)).await;
    for (at, act) in acts.iter().enumerate().skip(began) {
        let when = format!("dying after act {at}, `{act}`");
        let death = (at, Moment::After);
        Box::pin(dies(play, death, (&alive, &when))).await;
    }
}

async fn dies(play: &Play, (at, moment): (usize, Moment), (alive, when): (&End, &str)) {
    let (world, run) = Box::pin(begun(play)).await;
    world.fate.kill_at(at, moment);
    let end = Box::pin(through(&world, &run)).await;
    assert_eq!(world.deaths(), 1, "{when}");
    assert_eq!(end, *alive, "{when}");
    world.finish().await;
}

#[tokio::test]
async fn a_run_that_dies_before_an_act_outside_does_everything_once() {
    let first: Deaths = |kind, at| match is_outside(kind) {
        true => vec![(at[0], Moment::Before)],
        false => Vec::new(),
    };
    Box::pin(die(&requirement(), first)).await;
}

#[tokio::test]
async fn a_run_that_dies_after_an_act_outside_does_everything_once() {
    let last: Deaths = |kind, at| match is_outside(kind) {
        true => vec![(at[at.len() - 1], Moment::After)],
        false => Vec::new(),
    };
    Box::pin(die(&requirement(), last)).await;
}

/// What a run saves and sends on its way: itself, jobs and their slots, pull requests, requirements and deliveries, and messages.
const SAVED: [&str; 8] = [
    "commit PIPE",
    "commit JOB",
    "commit RATE",
    "commit PR",
    "commit REQ",
    "commit DLV",
    "send ",
    "acknowledge",
];

/// After what was saved or sent last is before what is saved or sent next, so one moment is enough.
#[tokio::test]
async fn a_run_that_dies_after_it_saved_or_sent_something_does_everything_once() {
    let middle: Deaths = |kind, at| match SAVED.contains(&kind) {
        true => vec![(at[at.len() / 2], Moment::After)],
        false => Vec::new(),
    };
    if dies_after_each_act() {
        return Box::pin(die_after_each(&requirement())).await;
    }
    Box::pin(die(&requirement(), middle)).await;
}

#[tokio::test]
async fn innovators_whose_process_dies_while_issues_are_opened_open_each_once() {
    let deaths: Deaths = |kind, at| {
        let ends = [at[0], at[at.len() - 1]];
        match kind {
            "open_issue" => ends
                .into_iter()
                .flat_map(|at| [(at, Moment::Before), (at, Moment::After)])
                .collect(),
            // The last one removes the files.
            "open_pull" => vec![(ends[1], Moment::After)],
            _ => Vec::new(),
        }
    };
    if dies_after_each_act() {
        return Box::pin(die_after_each(&proposals())).await;
    }
    Box::pin(die(&proposals(), deaths)).await;
}
