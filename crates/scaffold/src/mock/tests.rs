//! A trial run through every layer stays within its scope, and leaves files in which the doctor finds nothing.

use std::sync::Arc;

use domain::ids::BranchName;
use jiff::civil::date;

use super::*;
use crate::doctor::{Circumstances, examine};
use crate::layout::EXCHANGE;
use crate::prompt::{Records, ids_wanted};
use crate::scope::{ChangeKind, FileChange, Scope, Violation, violations};
use crate::tree::{Entry, Mode};

const TODAY: Date = date(2026, 2, 18);

fn tag() -> MockTag {
    "mock-run-1".parse().unwrap()
}

/// A repository after init and bootstrap.
fn repository() -> Tree {
    let files = assets::system().into_iter().chain(assets::control());
    let mut tree: Tree = files
        .map(|file| (file.path, Entry::text(file.text)))
        .collect();
    for (path, text) in [(".jlo/config.toml", ""), (".jlo/.jlo-version", "1.2.3\n")] {
        tree.put(path.parse().unwrap(), Entry::text(text));
    }
    tree
}

fn trees(tree: &Tree) -> Trees {
    let tree = Arc::new(tree.clone());
    Trees {
        target: Arc::clone(&tree),
        worker: tree,
    }
}

/// What is asked of a layer; `step` makes its ids fresh.
fn ask(layer: Layer, step: char, requirement: Option<&TreePath>) -> Ask {
    let role = match layer {
        Layer::Observers => Some("data_arch"),
        Layer::Innovators => Some("leverage_architect"),
        Layer::Narrator | Layer::Decider | Layer::Planner | Layer::Implementer => None,
    };
    let ids = (0..ids_wanted(layer)).map(|n| format!("{step}{n:05}").parse().unwrap());
    Ask {
        layer,
        role: role.map(|role| role.parse().unwrap()),
        stream: None,
        task: None,
        requirement: requirement.cloned(),
        repository: "acme/shop".parse().unwrap(),
        target_branch: BranchName::main(),
        worker_branch: "jules".parse().unwrap(),
        range_description: String::new(),
        ids: ids.collect(),
        records: Records::default(),
    }
}

/// What of these changes the layer may not do.
fn beyond_scope(tree: &Tree, ask: &Ask, changes: &[Change]) -> Vec<Violation> {
    let scope = Scope {
        layer: ask.layer,
        role: ask.role.as_ref(),
        requirement: ask.requirement.as_ref(),
        protected: &[],
    };
    let change = |change: &Change| match change {
        Change::Write(path, _) => FileChange {
            path: path.to_string(),
            old_path: None,
            kind: if tree.get(path).is_some() {
                ChangeKind::Changed
            } else {
                ChangeKind::Added
            },
            mode: Some(Mode::File),
        },
        Change::Remove(path) => FileChange {
            path: path.to_string(),
            old_path: None,
            kind: ChangeKind::Removed,
            mode: None,
        },
    };
    let changes: Vec<_> = changes.iter().map(change).collect();
    violations(&EXCHANGE, &scope, &changes)
}

#[track_caller]
fn run(tree: &mut Tree, ask: &Ask) -> Vec<TreePath> {
    let mut written = Vec::new();
    let made_up = changes(&trees(tree), ask, &tag(), TODAY).unwrap();
    assert_eq!(beyond_scope(tree, ask, &made_up), []);
    for change in made_up {
        match change {
            Change::Write(path, text) => {
                tree.put(path.clone(), Entry::text(text));
                written.push(path);
            }
            Change::Remove(path) => assert!(tree.remove(&path).is_some(), "{path}"),
        }
    }
    let circumstances = Circumstances {
        today: TODAY,
        version: "1.2.3".to_owned(),
    };
    assert_eq!(examine(&trees(tree), &circumstances), []);
    written
}

#[test]
fn a_trial_run_goes_through_every_layer_and_leaves_nothing_wrong() {
    let mut tree = repository();
    let whole = tree.clone();
    run(&mut tree, &ask(Layer::Narrator, 'n', None));
    run(&mut tree, &ask(Layer::Observers, 'o', None));
    run(&mut tree, &ask(Layer::Observers, 'q', None));
    let decided = run(&mut tree, &ask(Layer::Decider, 'd', None));
    assert_eq!(decided.len(), 3);
    let requirement = decided.last();
    run(&mut tree, &ask(Layer::Planner, 'p', requirement));
    let code = run(&mut tree, &ask(Layer::Implementer, 'i', requirement));
    assert_eq!(code[0].as_str(), "mock/mock-run-1.md");
    let proposals = run(&mut tree, &ask(Layer::Innovators, 'x', None));
    assert_eq!(proposals.len(), 3);

    let traces = traces(&tree, &tag());
    assert_eq!(traces.len(), 1 + 2 + 1 + 3);
    for path in traces.iter().chain(&code) {
        tree.remove(path);
    }
    assert_eq!(tree, whole);
}

#[test]
fn a_decider_without_events_has_nothing_to_do() {
    let mut tree = repository();
    assert_eq!(run(&mut tree, &ask(Layer::Decider, 'd', None)), []);
}

#[test]
fn a_trial_refuses_what_a_session_would_not_be_asked() {
    let refused = |ask: &Ask| {
        let result = changes(&trees(&repository()), ask, &tag(), TODAY);
        result.unwrap_err().to_string()
    };
    assert!(refused(&ask(Layer::Planner, 'p', None)).contains("name its file"));
    let mut ask = ask(Layer::Observers, 'o', None);
    ask.role = None;
    assert!(refused(&ask).contains("name one of them"));
    ask.ids.clear();
    assert!(refused(&ask).contains("different ids"));
}

#[test]
fn an_event_keeps_every_byte_but_its_requirement() {
    let text = "a: 1\r\n  requirement_id: inner\r\nissue_id: \"\" # none\r\nz: 2";
    let expected = "a: 1\r\n  requirement_id: inner\r\nissue_id: \"cc22dd\"\r\nz: 2";
    assert_eq!(with_requirement(text, "cc22dd").as_deref(), Some(expected));
    assert_eq!(with_requirement("requirement: x\n", "cc22dd"), None);
}

#[test]
fn an_event_that_cannot_be_decided_is_named() {
    let mut tree = repository();
    let path: TreePath = ".jules/exchange/events/pending/a.yml".parse().unwrap();
    for text in ["id: aa11bb\n", "requirement_id: \"\"\n", "["] {
        let text = marked(text, &tag());
        tree.put(path.clone(), Entry::text(&text));
        let result = changes(
            &trees(&tree),
            &ask(Layer::Decider, 'd', None),
            &tag(),
            TODAY,
        );
        let said = result.unwrap_err().to_string();
        assert!(said.starts_with(&format!("`{path}` has no line")), "{said}");
    }
}

#[test]
fn the_traces_of_another_run_stay() {
    let mut tree = repository();
    run(&mut tree, &ask(Layer::Narrator, 'n', None));
    assert_eq!(traces(&tree, &"mock-run".parse().unwrap()), []);
    assert_eq!(traces(&tree, &"mock-run-11".parse().unwrap()), []);
    assert_eq!(traces(&tree, &tag()).len(), 1);
}

#[test]
fn real_layers_and_issues_leave_a_trial_out() {
    let mut tree = repository();
    run(&mut tree, &ask(Layer::Observers, 'e', None));
    run(&mut tree, &ask(Layer::Innovators, 'i', None));
    assert_eq!(pending(&tree, &EXCHANGE, &tag()).len(), 1);
    assert_eq!(exchange::pending(&tree, &EXCHANGE), []);
    assert_eq!(exchange::proposals(&tree, &EXCHANGE), []);
    run(&mut tree, &ask(Layer::Decider, 'd', None));
    assert_eq!(unplanned(&tree, &EXCHANGE, &tag()).len(), 1);
    assert_eq!(exchange::requirements(&tree, &EXCHANGE), []);
}

#[test]
fn a_planner_of_a_trial_takes_a_requirement_of_that_trial_only() {
    let mut tree = repository();
    for (layer, step) in [(Layer::Observers, 'e'), (Layer::Decider, 'd')] {
        run(&mut tree, &ask(layer, step, None));
    }
    let made = unplanned(&tree, &EXCHANGE, &tag());
    let [made] = made.as_slice() else {
        panic!("{made:?}");
    };
    let asked = |path: &str, tag: &MockTag| exchange::of_trial(&tree, &EXCHANGE, path, tag);
    let found = asked(made.as_str(), &tag()).unwrap();
    assert_eq!(found.reference.path, made.as_str());
    let other = asked(made.as_str(), &"mock-2".parse().unwrap()).unwrap_err();
    assert!(other.to_string().contains("of the trial run mock-run-1"));
    let real = format!("{}/rea002-say-more.yml", EXCHANGE.requirements);
    let text = "id: rea002\ntitle: Say more\nrequires_deep_analysis: true\n";
    let mut tree = tree.clone();
    tree.put(real.parse().unwrap(), Entry::text(text));
    let refused = exchange::of_trial(&tree, &EXCHANGE, &real, &tag());
    assert_eq!(refused, Err(exchange::NoRequirement::Real(real)));
}

#[test]
fn what_is_real_is_changed_by_no_trial() {
    let mut tree = repository();
    let pending = format!("{}/rea001-the-mock-run-1-server.yml", EXCHANGE.pending);
    let requirement = format!("{}/rea002-mock-run-1.yml", EXCHANGE.requirements);
    let files = [
        (pending.as_str(), "id: rea001\ntitle: mock-run-1\n"),
        (
            requirement.as_str(),
            "id: rea002\ntitle: mock-run-1\nrequires_deep_analysis: true\n",
        ),
        (
            EXCHANGE.changes,
            "created_at: \"2026-02-01\"\n# mock-run-1\n",
        ),
    ];
    for (path, text) in files {
        tree.put(path.parse().unwrap(), Entry::text(text));
    }
    assert_eq!(traces(&tree, &tag()), []);
    for layer in [Layer::Narrator, Layer::Decider] {
        let ask = ask(layer, 'n', None);
        assert_eq!(changes(&trees(&tree), &ask, &tag(), TODAY), Ok(Vec::new()));
    }
    assert_eq!(unplanned(&tree, &EXCHANGE, &tag()), []);
    let path: TreePath = requirement.parse().unwrap();
    let planner = ask(Layer::Planner, 'p', Some(&path));
    assert!(changes(&trees(&tree), &planner, &tag(), TODAY).is_err());
}
