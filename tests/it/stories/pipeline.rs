//! Runs of a pipeline on real git: agents that know nothing but their prompt and their branch, up to a merged requirement.

mod access;
mod cleaning;
mod deaths;
mod failures;
mod gates;
mod innovators;
mod labels;
mod narrators;
mod older;
mod planners;
mod plans;
mod proposals;
mod schedule;
mod streams;
mod trials;
mod whole;

use std::collections::BTreeMap;
use std::path::Path;

use domain::delivery::{Checkpoints, Endpoint, ReviewBy};
use domain::ids::{EffectId, JobId, RepoName};
use domain::pipeline::{
    AgentState, EntryPoint, Exchange, Implement, Pipeline, PipelineRules, Requirement,
};
use domain::policy::{MergePolicy, Source};
use engine::pipelines::PipelineOrder;
use engine::settings::Merges;
use sandbox::Scenario;
use sandbox::github::{CheckSetup, RepoSetup};
use sandbox::story::Story;
use scaffold::doctor::{self, Circumstances, Finding};
use scaffold::prompt::Trees;
use scaffold::tree::{Entry, Tree};
use tests::world::{MINUTE, REPO, World, ci, green_checks, hour, on_green};

const CONFIG: &str = r#"[run]
jlo_target_branch = "main"
jules_worker_branch = "jules"

[workflow]
wait_minutes_default = 45

[observers]
roles = [
  { name = "taxonomy", enabled = true },
  { name = "qa", enabled = true },
  { name = "cov", enabled = false },
]
"#;

/// The user's files and some code.
fn files() -> BTreeMap<String, String> {
    files_with(CONFIG)
}

fn files_with(config: &str) -> BTreeMap<String, String> {
    let control = scaffold::assets::control().into_iter();
    let mut files: BTreeMap<_, _> = control
        .map(|file| (file.path.to_string(), file.text.to_owned()))
        .collect();
    files.insert(".jlo/config.toml".to_owned(), config.to_owned());
    let version = format!("{}\n", env!("CARGO_PKG_VERSION"));
    files.insert(".jlo/.jlo-version".to_owned(), version);
    let code = "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";
    files.insert("src/lib.rs".to_owned(), code.to_owned());
    files
}

fn rules(exchange: Exchange, implement: Implement) -> PipelineRules {
    PipelineRules {
        exchange,
        implement,
        ..PipelineRules::default()
    }
}

/// A source whose pipeline runs, and whose deliveries need no person.
fn piped(rules: PipelineRules) -> Source {
    let mut source = on_green();
    source.pipeline = Some(rules);
    source.policy.merge = MergePolicy::OnGreen;
    source.deliveries.endpoint = Endpoint::VERIFY;
    source.deliveries.checkpoints = Checkpoints::none();
    source.deliveries.review_by = Some(ReviewBy::Nobody);
    source
}

async fn world_of(source: Source, stories: Vec<Story>) -> World {
    world_with(source, stories, files()).await
}

/// A world whose agents do what their layers do.
async fn layered(exchange: Exchange, implement: Implement) -> World {
    let source = piped(rules(exchange, implement));
    Box::pin(world_of(source, vec![Story::layer()])).await
}

async fn world_with(source: Source, stories: Vec<Story>, files: BTreeMap<String, String>) -> World {
    world_checked(source, stories, (files, green_checks())).await
}

/// The same with these checks of the repository's CI.
async fn world_checked(
    source: Source,
    stories: Vec<Story>,
    (files, checks): (BTreeMap<String, String>, Vec<CheckSetup>),
) -> World {
    let mut repo = RepoSetup::new(REPO).with_ci(ci(checks));
    repo.files = files;
    World::of(
        Scenario {
            repos: vec![repo],
            stories,
            ..Scenario::default()
        },
        source,
    )
    .await
}

/// A person changes a file on a branch.
pub(super) fn push(world: &World, branch: &str, file: (&str, &str)) {
    push_all(world, branch, &[file]);
}

/// The same with several files in one commit.
fn push_all(world: &World, branch: &str, files: &[(&str, &str)]) {
    push_from(world, (branch, branch), files);
}

/// The same on a branch that begins with another one.
fn push_from(world: &World, (start, branch): (&str, &str), files: &[(&str, &str)]) {
    let folder = world.sandbox.github().folder(REPO).expect("real git");
    let clone = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| {
        let names = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"];
        let mut git = std::process::Command::new("git");
        let done = git
            .current_dir(clone.path())
            .args(names)
            .args(args)
            .output();
        let done = done.expect("git");
        assert!(done.status.success(), "{args:?}: {done:?}");
    };
    let folder = folder.to_string_lossy();
    run(&["clone", "--quiet", "--branch", start, &folder, "."]);
    for (path, text) in files {
        let file = clone.path().join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    run(&["add", "--all"]);
    run(&["commit", "--quiet", "--message", "By hand"]);
    let place = format!("HEAD:refs/heads/{branch}");
    run(&["push", "--quiet", "origin", &place]);
    world.sandbox.advance();
}

/// What git says in a folder.
pub(super) fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    let done = git.current_dir(folder).args(args).output().expect("git");
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).expect("text")
}

/// A person removes a branch.
fn remove(world: &World, branch: &str) {
    let folder = world.sandbox.github().folder(REPO).expect("real git");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        let git = git.current_dir(elsewhere.path()).args(args);
        assert!(git.status().expect("git").success(), "{args:?}");
    };
    run(&["init", "--quiet"]);
    let folder = folder.to_string_lossy();
    run(&["push", "--quiet", "--delete", &folder, branch]);
    world.sandbox.advance();
    let is_there = world.sandbox.github().branch_exists(REPO, branch);
    assert_eq!(is_there, Some(false));
}

async fn begin(world: &World, entry: EntryPoint) -> Pipeline {
    let repo = REPO.parse().expect("a repository");
    let order = PipelineOrder::From(entry);
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    begun.expect("a run")
}

/// Calls a run off with the job of a step, at once.
fn call_off(
    world: &World,
    begun: &Pipeline,
    step: &'static str,
) -> impl Future<Output = ()> + Send + use<> {
    let (backend, id) = (world.backend.clone(), begun.id.clone());
    async move {
        let off = backend.cancel_pipeline(&id, "ann").await;
        assert!(off.expect("a run").is_over());
        let run = backend.must::<Pipeline>(&id).await.expect("a run").value;
        let (job, _) = members(&run, step)[0].clone();
        let order = engine::jobs::JobRef {
            job,
            session: None,
            by: Some("ann".to_owned()),
        };
        backend.cancel_job(&order, "ann").await.expect("a cancel");
    }
}

async fn run(world: &World, begun: &Pipeline) -> Pipeline {
    let found = world.backend.must::<Pipeline>(&begun.id).await;
    found.expect("a run").value
}

/// Lets time pass until a run is over.
async fn until_over(world: &World, begun: &Pipeline) -> Pipeline {
    let is_over = async |world: &World| run(world, begun).await.is_over();
    Box::pin(world.until(hour(3), "the run is over", is_over)).await;
    run(world, begun).await
}

/// A run from its beginning to its end.
async fn begin_and_end(world: &World, entry: EntryPoint) -> Pipeline {
    let begun = Box::pin(begin(world, entry)).await;
    until_over(world, &begun).await
}

/// The steps with how each ended.
fn steps(run: &Pipeline) -> Vec<String> {
    let told = run.steps.iter().map(|step| {
        let reason = step.state.reason().map(|why| format!(" ({why})"));
        let reason = reason.unwrap_or_default();
        format!("{} {}{reason}", step.kind, step.state.word())
    });
    told.collect()
}

fn members(run: &Pipeline, step: &str) -> Vec<(JobId, AgentState)> {
    let mut steps = run.steps.iter();
    let step = steps.find(|it| it.kind.name() == step).expect("a step");
    let members = step.members.iter();
    members
        .map(|it| (it.job.clone(), it.state.clone()))
        .collect()
}

async fn requirements(world: &World) -> Vec<Requirement> {
    let repo = REPO.parse().expect("a repository");
    world.backend.requirements(&repo).await.expect("a list")
}

/// Branches as trees, and what the doctor says of both.
fn tree(world: &World, branch: &str) -> Tree {
    let texts = world.sandbox.github().texts(REPO, branch);
    let texts = texts.expect("a branch").into_iter();
    texts
        .map(|(path, text)| (path.parse().expect("a path"), Entry::text(text)))
        .collect()
}

fn findings(world: &World) -> Vec<String> {
    let found = examined(tree(world, "main"), tree(world, "jules"));
    found.iter().map(ToString::to_string).collect()
}

fn examined(target: Tree, worker: Tree) -> Vec<Finding> {
    let trees = Trees {
        target: target.into(),
        worker: worker.into(),
    };
    let circumstances = Circumstances {
        today: jiff::civil::date(2026, 3, 1),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    doctor::examine(&trees, &circumstances)
}

#[tokio::test]
async fn a_run_makes_requirements_and_a_second_one_finds_little_to_do() {
    let world = layered(Exchange::Auto, Implement::Human).await;
    let over = begin_and_end(&world, EntryPoint::Narrator).await;
    assert_eq!(
        steps(&over),
        [
            "bootstrap done",
            "narrator done",
            "observers done",
            "decider done",
            "planner done",
            "requirements done",
        ],
        "{}",
        world.story().await
    );
    assert_eq!(findings(&world), [""; 0]);
    let counters = world.sandbox.counters();
    assert_eq!(
        counters.creates, 5,
        "narrator, two observers, decider, planner"
    );
    assert_eq!(counters.merges, 6, "theirs, and the bootstrap");
    let found = requirements(&world).await;
    let states: Vec<_> = found.iter().map(|it| it.state.word()).collect();
    assert_eq!(states, ["ready"]);
    assert_eq!(found[0].reference.events.len(), 2);
    assert_eq!(world.wakes().len(), 0, "{:?}", world.wake_names());
    let over = begin_and_end(&world, EntryPoint::Decider).await;
    assert_eq!(
        steps(&over),
        [
            "bootstrap skipped (the worker branch is up to date)",
            "decider skipped (No pending events)",
            "planner skipped (No requirement asks for deep analysis)",
            "requirements done",
        ]
    );
    assert_eq!(world.sandbox.counters().creates, 5);
    assert_eq!(requirements(&world).await, found);
    world.finish().await;
}

#[tokio::test]
async fn a_requirement_that_is_merged_takes_its_files_with_it() {
    let world = layered(Exchange::Auto, Implement::Human).await;
    begin_and_end(&world, EntryPoint::Narrator).await;
    let [ready] = &requirements(&world).await[..] else {
        panic!("{:?}", requirements(&world).await);
    };
    let id = &ready.reference.id;
    let repo = REPO.parse().expect("a repository");
    let started = world.backend.start_requirement(&repo, id, false).await;
    assert_eq!(started.expect("a start").state.word(), "implementing");
    let refused = world.backend.start_requirement(&repo, id, false).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("implemented already")));
    let is_tidied = async |world: &World| {
        let found = requirements(world).await;
        found.iter().all(|it| it.state.word() == "tidied")
    };
    Box::pin(world.until(hour(3), "tidied", is_tidied)).await;
    assert_eq!(findings(&world), [""; 0]);
    let worker = tree(&world, "jules");
    let gone = [&ready.reference.path]
        .into_iter()
        .chain(&ready.reference.events);
    for path in gone {
        assert!(!worker.has(path), "{path}");
    }
    let before = files();
    let code = tree(&world, "main");
    assert_ne!(
        code.text("src/lib.rs"),
        before.get("src/lib.rs").map(String::as_str)
    );
    assert_eq!(world.sandbox.counters().creates, 6);
    let github = world.sandbox.github();
    let pulls = github.pulls(REPO).into_iter();
    let pulls: Vec<_> = pulls.map(|number| world.pull(number)).collect();
    let of_code: Vec<_> = pulls
        .iter()
        .filter(|pull| pull.base_ref == "main")
        .collect();
    let [of_code] = of_code[..] else {
        panic!("{pulls:?}");
    };
    assert_eq!(of_code.labels, [ready.label.as_str()]);
    let of_worker = pulls.iter().filter(|pull| pull.base_ref == "jules");
    let heads: Vec<_> = of_worker.map(|pull| pull.head_sha.clone()).collect();
    // A pull request that is merged needs its statuses no more, so the last of them may come after it.
    let are_shown = async |world: &World| {
        let github = world.sandbox.github();
        let shown = heads.iter().map(|head| github.statuses(REPO, head));
        shown.into_iter().all(|mut of| {
            of.sort();
            of == ["jules/doctor success", "jules/scope success"]
        })
    };
    Box::pin(world.until(hour(1), "the two checks of each", are_shown)).await;
    world.finish().await;
}

#[tokio::test]
async fn a_requirement_whose_branch_is_gone_is_tidied() {
    let world = layered(Exchange::Auto, Implement::Auto).await;
    begin_and_end(&world, EntryPoint::Observers).await;
    world.until_count(hour(3), |it| it.creates == 5).await;
    remove(&world, "jules");
    let is_tidied = async |world: &World| requirements(world).await[0].state.word() == "tidied";
    Box::pin(world.until(hour(3), "tidied", is_tidied)).await;
    world.finish().await;
}

/// Sixty merges of the exchange, whose day is over in ten minutes.
async fn fill_day(world: &World) {
    let at = world.clock.now() - hour(24) + MINUTE * 10;
    let ids = (0..60).map(|number: u32| EffectId::from_name(&number.to_string()));
    let merges = Merges {
        exchange: ids.map(|id| (id, at)).collect(),
        ..Merges::default()
    };
    let repo: RepoName = REPO.parse().expect("a repository");
    assert!(world.backend.insert(&repo, &merges).await.expect("a store"));
}

/// Merges of the exchange are counted by themselves: its day is full at first, and that of the code allows the one merge of this run.
#[tokio::test]
async fn without_a_person_a_requirement_is_implemented_by_itself_where_the_source_says_so() {
    let mut source = piped(rules(Exchange::Auto, Implement::Auto));
    source.policy.merges_per_day = 1;
    let world = world_of(source, vec![Story::layer()]).await;
    fill_day(&world).await;
    let begun = begin(&world, EntryPoint::Observers).await;
    Box::pin(world.pass(MINUTE * 5)).await;
    let waits = run(&world, &begun).await;
    let [(job, _)] = &members(&waits, "bootstrap")[..] else {
        panic!("{waits:?}");
    };
    let why = world.why(job).await;
    assert!(world.gives(job, "daily_cap").await, "{why:?}");
    until_over(&world, &begun).await;
    let is_tidied = async |world: &World| {
        let found = requirements(world).await;
        !found.is_empty() && found.iter().all(|it| it.state.word() == "tidied")
    };
    Box::pin(world.until(hour(3), "tidied", is_tidied)).await;
    let merged = "bootstrap, two observers, decider, planner, the code, and tidying";
    assert_eq!(world.sandbox.counters().merges, 7, "{merged}");
    world.finish().await;
}

#[tokio::test]
async fn what_people_merge_waits_for_them_however_long() {
    let world = layered(Exchange::Human, Implement::Human).await;
    let begun = begin(&world, EntryPoint::Decider).await;
    world.pass(hour(2)).await;
    let waits = run(&world, &begun).await;
    assert_eq!(waits.word(), "waiting_merge", "{:?}", steps(&waits));
    let [(job, _)] = &members(&waits, "bootstrap")[..] else {
        panic!("{waits:?}");
    };
    assert!(
        world.gives(job, "needs_approval").await,
        "{:?}",
        world.why(job).await
    );
    world.approve_merge(job).await;
    let over = until_over(&world, &begun).await;
    assert_eq!(steps(&over)[0], "bootstrap done");
    world.finish().await;
}
