//! The files of a pipeline: every built-in prompt, the doctor over a large exchange, and what an exchange pull request costs at GitHub.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context, Result};
use domain::ids::{ArtefactId, BranchName, RoleName};
use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Pipeline, PipelineRules};
use engine::pipelines::PipelineOrder;
use jiff::civil::{Date, date};
use sandbox::github::{CheckSetup, Outcome, RepoSetup};
use sandbox::story::Story;
use sandbox::{Scenario, Service};
use scaffold::assets;
use scaffold::doctor::{self, Circumstances};
use scaffold::prompt::{Ask, Records, Trees, assemble, ids_wanted};
use scaffold::tree::{Entry, Tree};
use tests::world::{MINUTE, REPO, Setup, World, on_green};

use crate::figure::{Figure, Target};
use crate::machine::one_thread;
use crate::spread::time_each;

const SECTION: &str = "files";

/// Milliseconds that all built-in prompts may take together.
const PROMPTS: Target = Target::AtMost(50.0);

/// Seconds that the doctor may take over [`FILES`] files.
const DOCTOR: Target = Target::AtMost(2.0);

/// Files of the large exchange.
const FILES: usize = 10_000;

/// How often the prompts are put together, and how often the doctor looks.
const TIMES: [usize; 2] = [100, 10];

const TODAY: Date = date(2026, 2, 18);

const PLANNED: &str = ".jules/exchange/requirements/aaaaaa-plan-it.yml";
const READY: &str = ".jules/exchange/requirements/bbbbbb-do-it.yml";

pub(crate) fn measure() -> Result<Vec<Figure>> {
    Ok(vec![prompts()?, examined()?, requests()?])
}

/// Every prompt that can be made of Gaffer's own files: of each layer, and of each of its roles.
fn prompts() -> Result<Figure> {
    let trees = trees(own_files().chain([
        (PLANNED.to_owned(), requirement("aaaaaa", "plan00", true)),
        (READY.to_owned(), requirement("bbbbbb", "done00", false)),
    ]))?;
    let asks = asks()?;
    let count = asks.len();
    for ask in &asks {
        assemble(&trees, ask).with_context(|| format!("the prompt of the {}", ask.layer))?;
    }
    let all = time_each(TIMES[0], || {
        for ask in &asks {
            black_box(assemble(black_box(&trees), ask)).ok();
        }
    });
    let name = format!("all {count} built-in prompts, mean");
    Ok(Figure::new(SECTION, name, all.mean / 1e3, "ms").aimed(PROMPTS))
}

fn asks() -> Result<Vec<Ask>> {
    let mut asks = Vec::new();
    for layer in Layer::ALL {
        let requirement = match layer {
            Layer::Planner => Some(PLANNED),
            Layer::Implementer => Some(READY),
            Layer::Narrator | Layer::Observers | Layer::Decider | Layer::Innovators => None,
        };
        let roles = assets::roles(layer);
        let roles: Vec<Option<RoleName>> = match roles.is_empty() {
            true => vec![None],
            false => roles.into_iter().map(Some).collect(),
        };
        for role in roles {
            let ids = (0..ids_wanted(layer)).map(|n| format!("{n:06}").parse());
            asks.push(Ask {
                layer,
                role,
                stream: None,
                task: None,
                requirement: requirement.map(str::parse).transpose()?,
                repository: REPO.parse()?,
                target_branch: BranchName::main(),
                worker_branch: BranchName::jules(),
                range_description: "1a2b3c4 Add a search box".to_owned(),
                ids: ids.collect::<Result<Vec<ArtefactId>, _>>()?,
                records: Records::default(),
            });
        }
    }
    Ok(asks)
}

/// The doctor over an exchange whose every file is in order: three events for each requirement.
fn examined() -> Result<Figure> {
    let groups = FILES / 4;
    let files = (0..groups).flat_map(|group| {
        let wanted = format!("r{group:05}");
        let events = (0..3).map(|at| format!("{}{group:05}", ["a", "b", "c"][at]));
        let sources: Vec<String> = events.collect();
        let text = requirement(&wanted, &sources.join(", "), false);
        let path = format!(".jules/exchange/requirements/{wanted}-it.yml");
        let events = sources.into_iter().map(move |id| {
            let path = format!(".jules/exchange/events/decided/{id}-it.yml");
            (path, event(&id, &wanted))
        });
        std::iter::once((path, text)).chain(events)
    });
    let trees = trees(own_files().chain(files))?;
    let circumstances = Circumstances {
        today: TODAY,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let found = doctor::examine(&trees, &circumstances);
    if let Some(odd) = found.first() {
        anyhow::bail!("the exchange is not in order: {odd}");
    }
    let each = time_each(TIMES[1], || {
        black_box(doctor::examine(black_box(&trees), &circumstances));
    });
    let name = format!("the doctor over {FILES} files of the exchange, mean");
    Ok(Figure::new(SECTION, name, each.mean / 1e6, "s").aimed(DOCTOR))
}

fn event(id: &str, requirement: &str) -> String {
    format!(
        "schema_version: 1\nid: {id}\nrequirement_id: {requirement}\ncreated_at: \"2026-02-17\"\nauthor_role: qa\nconfidence: high\n\
         title: A file stays open in {id}\nstatement: The file is opened and never closed.\n\
         evidence:\n  - path: src/read.rs\n    loc: [\"12\"]\n    note: There is no close.\n"
    )
}

fn requirement(id: &str, events: &str, analysis: bool) -> String {
    format!(
        "schema_version: 2\nid: {id}\nsource_events: [{events}]\ntitle: Close the file of {id}\nlabel: bugs\npriority: high\n\
         summary: A file stays open after reading.\ngoal: Every file is closed.\nproblem: Files stay open after reading.\n\
         impact: The process runs out of files.\ndesired_outcome: No file is open afterwards.\nconstraints: []\nrisks: []\n\
         affected_areas: [src/read.rs]\nacceptance_criteria: [A test counts open files.]\nverification_commands: [cargo test]\n\
         requires_deep_analysis: {analysis}\ndeep_analysis_reason: \"The owner has to be found.\"\n"
    )
}

/// The files of a repository after init and bootstrap.
fn own_files() -> impl Iterator<Item = (String, String)> {
    let files = assets::system().into_iter().chain(assets::control());
    let files = files.map(|file| (file.path.to_string(), file.text.to_owned()));
    let version = format!("{}\n", env!("CARGO_PKG_VERSION"));
    files.chain([(".jlo/.jlo-version".to_owned(), version)])
}

fn trees(files: impl Iterator<Item = (String, String)>) -> Result<Trees> {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.put(path.parse()?, Entry::text(text));
    }
    let tree = Arc::new(tree);
    Ok(Trees {
        target: Arc::clone(&tree),
        worker: tree,
    })
}

/// A whole run up to ready requirements, on real git: all requests to GitHub, for each pull request of the exchange that it merged.
fn requests() -> Result<Figure> {
    let runtime = one_thread()?;
    let each = runtime.block_on(run())?;
    let name = "requests to GitHub for each exchange pull request merged";
    Ok(Figure::new(SECTION, name, each, "requests"))
}

async fn run() -> Result<f64> {
    let mut source = on_green();
    source.pipeline = Some(PipelineRules {
        exchange: Exchange::Auto,
        ..PipelineRules::default()
    });
    let files = own_files().filter(|(path, _)| !path.starts_with(".jules/"));
    let mut files: BTreeMap<String, String> = files.collect();
    files.insert("src/lib.rs".to_owned(), "pub fn add() {}\n".to_owned());
    let check = CheckSetup::new("build", Outcome::Success);
    let mut repo = RepoSetup::new(REPO).with_checks([check]);
    repo.files = files;
    let world = World::with(Setup {
        scenario: Scenario {
            repos: vec![repo],
            stories: vec![Story::layer()],
            ..Scenario::default()
        },
        source,
        ..Setup::default()
    })
    .await;
    let order = PipelineOrder::From(EntryPoint::Narrator);
    let repo = REPO.parse()?;
    let begun = world.backend.start_pipeline(&repo, &order, "bench");
    let id = begun.await.context("beginning a run")?.id;
    let is_over = async |world: &World| {
        let found = world.backend.must::<Pipeline>(&id).await;
        found.is_ok_and(|found| found.value.is_over())
    };
    Box::pin(world.until(MINUTE * 180, "the run is over", is_over)).await;
    let merged = world.sandbox.counters().merges;
    anyhow::ensure!(merged > 0, "the run merged nothing");
    let all = world.sandbox.requests().into_iter();
    let count = all.filter(|it| it.service == Service::GitHub).count();
    Ok(count as f64 / merged as f64)
}
