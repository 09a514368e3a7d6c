//! Trial runs: no session runs, everything else is real, and nothing of it stays.

use domain::ids::PipelineId;
use domain::layer::Layer;
use domain::pipeline::{EntryPoint, Exchange, Implement, MockTag, Pipeline, PipelineAsk};
use engine::pipelines::{LIST_MAX, PipelineOrder};
use sandbox::github::PullState;
use scaffold::mock;
use tests::world::{Moment, REPO, World, hour};

use super::{begin, findings, piped, push, requirements, rules, steps, tree, until_over, world_of};

fn tag() -> MockTag {
    "mock-1".parse().expect("a tag")
}

/// What agents wrote before the trial: no trial changes it.
pub(super) const REAL: [(&str, &str); 3] = [
    (
        ".jules/exchange/events/pending/rea001-a-name-lies.yml",
        "schema_version: 1\nid: \"rea001\"\nrequirement_id: \"\"\ncreated_at: \"2026-03-01\"\nauthor_role: \"qa\"\nconfidence: low\ntitle: \"The mock-1 server of the tests is never stopped\"\nstatement: \"A test starts mock-1 and leaves it.\"\nevidence:\n  - path: \"src/lib.rs\"\n    loc:\n      - \"1\"\n    note: \"It begins here.\"\n",
    ),
    (
        ".jules/exchange/events/decided/rea002-a-name-lies.yml",
        "schema_version: 1\nid: \"rea002\"\nrequirement_id: \"rea003\"\ncreated_at: \"2026-03-01\"\nauthor_role: \"qa\"\nconfidence: low\ntitle: \"A name says less\"\nstatement: \"The name of a function says less than it does.\"\nevidence:\n  - path: \"src/lib.rs\"\n    loc:\n      - \"1\"\n    note: \"It begins here.\"\n",
    ),
    (
        ".jules/exchange/requirements/rea003-say-more.yml",
        "schema_version: 2\nid: \"rea003\"\nsource_events:\n  - \"rea002\"\ntitle: \"Say more\"\nlabel: docs\npriority: low\nsummary: \"A name says less than it does.\"\ngoal: \"The name says it.\"\nproblem: \"Readers of the code are misled by it.\"\nimpact: \"Some time of each reader is lost.\"\ndesired_outcome: \"The name says what it does.\"\nconstraints: []\nrisks: []\naffected_areas:\n  - \"src/lib.rs\"\nacceptance_criteria:\n  - \"The name says what the function does.\"\nverification_commands:\n  - \"cargo test\"\nrequires_deep_analysis: true\ndeep_analysis_reason: \"Callers have to be found.\"\n",
    ),
];

async fn world() -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_of(source, Vec::new()).await;
    let bootstrap = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &bootstrap).await;
    for (path, text) in REAL {
        push(&world, "jules", (path, text));
    }
    assert_eq!(findings(&world), [""; 0]);
    world
}

async fn ordered(world: &World, order: PipelineOrder) -> Pipeline {
    let repo = REPO.parse().expect("a repository");
    let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
    until_over(world, &begun.expect("a run")).await
}

async fn tried(world: &World, layer: Layer, requirement: Option<&str>) -> Vec<String> {
    let ask = PipelineAsk {
        layer: Some(layer),
        requirement: requirement.map(str::to_owned),
        mock: Some(tag()),
        ..PipelineAsk::default()
    };
    steps(&ordered(world, PipelineOrder::Only(ask)).await)
}

async fn cleaned(world: &World) -> Vec<String> {
    steps(&ordered(world, PipelineOrder::Clean(tag())).await)
}

fn requirement_of_trial(world: &World) -> String {
    let worker = tree(world, "jules");
    let mut requirements = worker.below(".jules/exchange/requirements");
    let (path, _) = requirements
        .find(|(path, _)| path.as_str().contains("mock-1"))
        .expect("a requirement");
    path.as_str().to_owned()
}

/// Every layer up to the pull request of the code. Returns the number of that one.
async fn whole(world: &World) -> u64 {
    assert_eq!(tried(world, Layer::Narrator, None).await, ["narrator done"]);
    assert_eq!(
        tried(world, Layer::Observers, None).await,
        ["observers done"]
    );
    assert_eq!(tried(world, Layer::Decider, None).await, ["decider done"]);
    assert_eq!(tried(world, Layer::Planner, None).await, ["planner done"]);
    assert_eq!(findings(world), [""; 0]);
    let path = requirement_of_trial(world);
    assert_eq!(
        tried(world, Layer::Implementer, Some(&path)).await,
        ["implementer done"]
    );
    *world.sandbox.github().pulls(REPO).last().expect("a pull")
}

#[tokio::test]
async fn a_trial_run_needs_no_session_and_its_code_is_never_merged() {
    let world = world().await;
    let code = whole(&world).await;
    world.pass(hour(2)).await;
    let pull = world.pull(code);
    assert_eq!(
        (pull.base_ref.as_str(), pull.state),
        ("main", PullState::Open)
    );
    assert_eq!(world.sandbox.counters().creates, 0, "no session");
    assert!(!mock::traces(&tree(&world, "jules"), &tag()).is_empty());
}

/// A whole run after a trial takes nothing of it for real.
#[tokio::test]
async fn real_layers_leave_a_trial_alone() {
    let source = piped(rules(Exchange::Auto, Implement::Auto));
    let world = world_of(source, Vec::new()).await;
    let bootstrap = begin(&world, EntryPoint::Requirements).await;
    until_over(&world, &bootstrap).await;
    whole(&world).await;
    let real = begin(&world, EntryPoint::Decider).await;
    assert_eq!(
        steps(&until_over(&world, &real).await),
        [
            "bootstrap skipped (the worker branch is up to date)",
            "decider skipped (No pending events)",
            "planner skipped (No requirement asks for deep analysis)",
            "requirements skipped (No requirement is ready)",
        ]
    );
    assert_eq!(requirements(&world).await, []);
    let path = requirement_of_trial(&world);
    for layer in [Layer::Planner, Layer::Implementer] {
        let ask = PipelineAsk {
            layer: Some(layer),
            requirement: Some(path.clone()),
            ..PipelineAsk::default()
        };
        let told = steps(&ordered(&world, PipelineOrder::Only(ask)).await);
        assert!(
            told[0].contains("failed") && told[0].contains("of the trial run mock-1"),
            "{told:?}"
        );
    }
    assert_eq!(requirements(&world).await, []);
    let ask = PipelineAsk {
        layer: Some(Layer::Planner),
        requirement: Some(path.clone()),
        mock: Some("mock-2".parse().expect("a tag")),
        ..PipelineAsk::default()
    };
    let told = steps(&ordered(&world, PipelineOrder::Only(ask)).await);
    let why =
        format!("`{path}` is a file of the trial run mock-1, and only that trial works on it");
    assert_eq!(told, [format!("planner failed ({why})")]);
    assert_eq!(world.sandbox.counters().creates, 0);
}

/// More runs than one list shows.
async fn many_runs(world: &World) {
    let repo = REPO.parse().expect("a repository");
    let known = world.backend.pipelines(&repo, 1).await.expect("a list");
    for number in 0..=LIST_MAX as u128 {
        let id = PipelineId::from_ulid(ulid::Ulid(number));
        let created_at = world.clock.now();
        let other = Pipeline {
            id: id.clone(),
            ask: PipelineAsk::default(),
            created_at,
            ..known[0].clone()
        };
        assert!(world.backend.insert(&id, &other).await.expect("a store"));
    }
}

#[tokio::test]
async fn nothing_of_a_trial_run_stays() {
    let world = world().await;
    let before = tree(&world, "jules");
    let code = whole(&world).await;
    many_runs(&world).await;
    assert_eq!(cleaned(&world).await, ["clean done"]);
    world.pass(hour(1)).await;
    let pull = world.pull(code);
    assert_eq!(pull.state, PullState::Closed);
    let branch = world.sandbox.github().branch_exists(REPO, &pull.head_ref);
    assert_eq!(branch, Some(false));
    let after = tree(&world, "jules");
    assert_eq!(mock::traces(&after, &tag()), []);
    for (path, _) in after.iter() {
        assert!(before.has(path.as_str()), "{path}");
    }
    for (path, text) in REAL {
        assert_eq!(after.text(path), Some(text), "{path}");
    }
    assert_eq!(requirements(&world).await, []);
    assert_eq!(findings(&world), [""; 0]);
    let again = cleaned(&world).await;
    assert_eq!(
        again,
        ["clean skipped (Nothing of the trial run mock-1 is left)"]
    );
}

/// A trial of which nothing is left but an open pull request.
async fn tried_code() -> World {
    let world = world().await;
    let (path, text) = REAL[2];
    let planned = text.replace("deep_analysis: true", "deep_analysis: false");
    push(&world, "jules", (path, &planned));
    let told = tried(&world, Layer::Implementer, Some(path)).await;
    assert_eq!(told, ["implementer done"]);
    world
}

#[tokio::test]
async fn a_role_that_a_run_refuses_is_refused_by_a_trial() {
    let world = world().await;
    let path = ".jlo/roles/observers/billing/role.yml";
    push(&world, "main", (path, "role: billing\nlayer: decider\n"));
    let ask = PipelineAsk {
        layer: Some(Layer::Observers),
        role: Some("billing".parse().expect("a role")),
        mock: Some(tag()),
        ..PipelineAsk::default()
    };
    let over = ordered(&world, PipelineOrder::Only(ask)).await;
    assert_eq!(over.steps[0].state.word(), "failed");
    let why = over.steps[0].members[0].state.reason().expect("a reason");
    assert!(why.contains(path), "{why}");
}

#[tokio::test]
async fn the_code_of_a_trial_gets_the_label_of_its_requirement() {
    let world = tried_code().await;
    let pulls = world.sandbox.github().pulls(REPO);
    let code = pulls.into_iter().max().expect("a pull request");
    let is_labelled = async |world: &World| !world.pull(code).labels.is_empty();
    Box::pin(world.until(hour(1), "its label", is_labelled)).await;
    assert_eq!(world.pull(code).labels, ["docs"]);
}

/// What a run has called off, it still knows after its process died.
#[tokio::test]
async fn a_removal_whose_process_dies_says_what_it_removed() {
    let alive = tried_code().await;
    let began = alive.fate.count();
    assert_eq!(cleaned(&alive).await, ["clean done"]);
    let acts = alive.fate.acts();
    let is_save = |act: &str| act.starts_with("commit JOB#");
    let mut saves = (began..acts.len()).filter(|at| is_save(&acts[*at]));
    let at = saves.next().expect("a cancelled job");
    let world = tried_code().await;
    world.fate.kill_at(at, Moment::After);
    assert_eq!(cleaned(&world).await, ["clean done"]);
    assert_eq!(world.deaths(), 1);
}
