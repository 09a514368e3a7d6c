//! A repository of the older generation, which has no folder of the user's: it runs as it is, up to a merged requirement.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use domain::layer::Layer;
use domain::pipeline::{AgentState, EntryPoint, Exchange, Implement, PipelineAsk};
use domain::schedule::Schedule;
use engine::pipelines::PipelineOrder;
use sandbox::story::{Step, Story, Writing};
use scaffold::layout::Layout;
use tests::world::{REPO, SECOND, World, complete, hour, open_pull, story, without_change};

use super::{
    begin_and_end, findings, members, piped, push_from, requirements, rules, steps, tree,
    until_over, world_with,
};

/// The worker branch's folder as that generation left it.
const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/older");

const CHANGES: &str = ".jules/changes/latest.yml";
const LEAK: &str = ".jules/workstreams/generic/events/pending/aa11bb-a-leak.yml";
const SEEN: &str = ".jules/workstreams/generic/events/pending/eve001-a-name-says-less.yml";
const READY: &str = ".jules/workstreams/generic/issues/bugs/cc22dd-lock-the-file.yml";
const PLANNED: &str = ".jules/workstreams/generic/issues/refacts/cc11dd-own-the-file.yml";
const MADE: &str = ".jules/workstreams/generic/issues/bugs/iss001-say-more.yml";

const SEEN_TEXT: &str = "schema_version: 1\nid: eve001\nissue_id: \"\"\ncreated_at: \"2026-03-01\"\nauthor_role: qa\nconfidence: high\ntags: []\ntitle: A name says less than it could\nstatement: The name of a function says less than it does.\nevidence:\n  - path: src/lib.rs\n    loc: [\"1\"]\n    note: It begins here.\n";

const CODE: &str = "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";
const BETTER_CODE: &str = "pub fn sum(a: u32, b: u32) -> u32 {\n    a + b\n}\n";

/// The files of that folder, where the worker branch has them.
fn older() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![PathBuf::from(TREE)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let inside = path.strip_prefix(TREE).expect("a path below it");
            let place = format!(".jules/{}", inside.display());
            found.insert(place, fs::read_to_string(&path).expect("a text"));
        }
    }
    found
}

/// The same without what is waiting in it.
fn idle() -> BTreeMap<String, String> {
    let mut files = older();
    files.retain(|path, _| !path.starts_with(".jules/workstreams/") || path.ends_with(".toml"));
    files
}

/// Some code on the target branch, and these files beside it on the worker branch.
async fn world(stories: Vec<Story>, files: &BTreeMap<String, String>) -> World {
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let code = [("src/lib.rs".to_owned(), CODE.to_owned())];
    let world = world_with(source, stories, code.into()).await;
    let files = files.iter();
    let files: Vec<_> = files
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    push_from(&world, ("main", "jules"), &files);
    world
}

fn wrote(files: &[(&str, &str)]) -> Writing {
    let files = files.iter().copied();
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    Writing {
        after: SECOND,
        files: files.collect(),
        ..Writing::default()
    }
}

/// A session whose prompt holds a text makes one change.
fn plays(matches: &str, writing: Writing) -> Story {
    let plan = Step::Plan {
        after: SECOND,
        steps: vec!["Do what the section Output says".to_owned()],
    };
    let steps = vec![plan, Step::Write(writing), open_pull(), complete(SECOND)];
    story(matches, steps)
}

/// One session for each layer: each is known by what only its prompt holds.
fn stories() -> Vec<Story> {
    let files = older();
    let summary = files[CHANGES].replace("2026-02-17", "2026-03-01");
    let summary = summary.replace("ch0001", "ch0002");
    let nothing = without_change(SECOND);
    let planned = files[PLANNED].replace("deep_analysis: true", "deep_analysis: false");
    vec![
        plays(
            "Name your branch `jules-narrator-",
            wrote(&[(CHANGES, summary.as_str())]),
        ),
        plays(
            "# .jules/roles/observers/qa/role.yml",
            wrote(&[(SEEN, SEEN_TEXT)]),
        ),
        story("# .jules/roles/observers/billing/role.yml", vec![nothing]),
        plays("Name your branch `jules-decider-", decided(&files)),
        plays(
            "Name your branch `jules-planner-",
            wrote(&[(PLANNED, planned.as_str())]),
        ),
        plays(
            "Name your branch `jules-implementer-",
            wrote(&[("src/lib.rs", BETTER_CODE)]),
        ),
    ]
}

/// One issue of both events, which are moved and name it.
fn decided(files: &BTreeMap<String, String>) -> Writing {
    let named = |text: &str| text.replace("issue_id: \"\"", "issue_id: \"iss001\"");
    let place = |path: &str| path.replace("/pending/", "/decided/");
    let (leak, seen) = (place(LEAK), place(SEEN));
    let issue = files[READY].replace("cc22dd", "iss001");
    let issue = issue.replace("  - bb22cc\n", "  - aa11bb\n  - eve001\n");
    Writing {
        moves: vec![
            (LEAK.to_owned(), leak.clone()),
            (SEEN.to_owned(), seen.clone()),
        ],
        ..wrote(&[
            (leak.as_str(), named(&files[LEAK]).as_str()),
            (seen.as_str(), named(SEEN_TEXT).as_str()),
            (MADE, issue.as_str()),
        ])
    }
}

#[tokio::test]
async fn the_older_tree_runs_as_it_is_up_to_a_merged_requirement() {
    let world = world(stories(), &older()).await;
    let over = begin_and_end(&world, EntryPoint::Narrator).await;
    assert_eq!(
        steps(&over),
        [
            "bootstrap skipped (the worker branch is up to date)",
            "narrator done",
            "observers done",
            "decider done",
            "planner done",
            "requirements done",
        ],
        "{}",
        world.story().await
    );
    let observers = members(&over, "observers");
    assert_eq!(observers.len(), 2, "those of its schedule: {observers:?}");
    let decider = &over.steps[3].members[0];
    assert_eq!(decider.state, AgentState::Merged);
    let role = decider.role.as_ref().map(|role| role.as_str());
    assert_eq!(role, Some("triage"), "it may have roles there");
    assert_eq!(findings(&world), [""; 0]);
    let found = requirements(&world).await;
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|it| it.state.word() == "ready"));
    let made = found.iter().find(|it| it.reference.path == MADE);
    let made = made.expect("the new one");
    assert_eq!(
        (made.label.as_str(), made.reference.events.len()),
        ("bugs", 2)
    );

    let repo = REPO.parse().expect("a repository");
    let id = &made.reference.id;
    let started = world.backend.start_requirement(&repo, id, false).await;
    assert_eq!(started.expect("a start").state.word(), "implementing");
    let is_tidied = async |world: &World| {
        let found = requirements(world).await;
        found.iter().any(|it| it.state.word() == "tidied")
    };
    Box::pin(world.until(hour(3), "tidied", is_tidied)).await;
    assert_eq!(tree(&world, "main").text("src/lib.rs"), Some(BETTER_CODE));
    let worker = tree(&world, "jules");
    for path in [MADE]
        .into_iter()
        .chain(made.reference.events.iter().map(String::as_str))
    {
        assert!(!worker.has(path), "{path}");
    }
    assert!(worker.has(READY) && worker.has(PLANNED));
    assert_eq!(Layout::find(&worker), Ok(Layout::Workstreams));
    assert_eq!(findings(&world), [""; 0]);
    let sessions = "narrator, two observers, decider, planner, implementer";
    assert_eq!(world.sandbox.counters().creates, 6, "{sessions}");
    let known = world.backend.store.get::<Schedule>(&repo).await;
    let known = known.expect("a store").expect("a schedule").value;
    assert_eq!(known.error, None, "it needs no settings");
    world.finish().await;
}

#[tokio::test]
async fn a_worker_branch_that_is_missing_begins_with_the_older_tree_and_nothing_beside_it() {
    let mut files = idle();
    files.insert("src/lib.rs".to_owned(), CODE.to_owned());
    let source = piped(rules(Exchange::Auto, Implement::Human));
    let world = world_with(source, Vec::new(), files).await;
    let over = begin_and_end(&world, EntryPoint::Requirements).await;
    assert_eq!(
        steps(&over),
        [
            "bootstrap done",
            "planner skipped (No requirement asks for deep analysis)",
            "requirements skipped (No requirement is ready)",
        ]
    );
    assert_eq!(tree(&world, "jules"), tree(&world, "main"));
    assert_eq!(world.sandbox.github().pulls(REPO).len(), 0);
    world.finish().await;
}

#[tokio::test]
async fn what_only_the_newer_layout_has_is_refused_there_and_costs_no_session() {
    let world = world(Vec::new(), &idle()).await;
    let trial = PipelineAsk {
        layer: Some(Layer::Observers),
        role: Some("qa".parse().expect("a role")),
        mock: Some("mock-1".parse().expect("a tag")),
        ..PipelineAsk::default()
    };
    let innovators = PipelineAsk {
        layer: Some(Layer::Innovators),
        ..PipelineAsk::default()
    };
    let unknown = PipelineAsk {
        layer: Some(Layer::Decider),
        stream: Some("billing".parse().expect("a stream")),
        ..PipelineAsk::default()
    };
    let migrate = "migrate the repository first";
    for (ask, why) in [
        (trial, migrate),
        (innovators, migrate),
        (unknown, "the stream `billing` has no folder"),
    ] {
        let repo = REPO.parse().expect("a repository");
        let order = PipelineOrder::Only(ask);
        let begun = world.backend.start_pipeline(&repo, &order, "ann").await;
        let over = until_over(&world, &begun.expect("a run")).await;
        let told = steps(&over);
        assert!(told[0].contains(why), "{told:?}");
    }
    assert_eq!(world.sandbox.counters().creates, 0);
    world.finish().await;
}
