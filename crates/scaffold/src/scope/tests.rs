//! One table for each layer: what passes, and what stops.

use super::ChangeKind::{Added, Changed, Removed};
use super::*;
use crate::assets;
use crate::layout::{EXCHANGE, WORKSTREAMS};

const CHANGES: &str = ".jules/exchange/changes.yml";
const PENDING: &str = ".jules/exchange/events/pending/aa11bb-a-leak.yml";
const DECIDED: &str = ".jules/exchange/events/decided/aa11bb-a-leak.yml";
const REQUIREMENT: &str = ".jules/exchange/requirements/cc22dd-close-it.yml";
const OTHER_REQUIREMENT: &str = ".jules/exchange/requirements/dd33ee-open-it.yml";
const OWN: &str = ".jules/workstations/leverage_architect/perspective.yml";
const OTHER: &str = ".jules/workstations/qa/perspective.yml";
const PROPOSAL: &str = ".jules/exchange/proposals/leverage-architect-one.yml";
const OTHER_PROPOSAL: &str = ".jules/exchange/proposals/recruiter-one.yml";
const CODE: &str = "src/lib.rs";
const WORKFLOW: &str = ".github/workflows/ci.yml";

fn change(path: &str, kind: ChangeKind) -> FileChange {
    FileChange {
        path: path.to_owned(),
        old_path: None,
        kind,
        mode: (kind != Removed).then_some(Mode::File),
    }
}

fn renamed(old: &str, new: &str) -> FileChange {
    FileChange {
        old_path: Some(old.to_owned()),
        ..change(new, Added)
    }
}

/// The paths that stop a pull request.
fn stopped(layer: Layer, changes: &[FileChange]) -> Vec<String> {
    let role: RoleName = "leverage_architect".parse().unwrap();
    let requirement: TreePath = REQUIREMENT.parse().unwrap();
    let scope = Scope {
        layer,
        role: Some(&role).filter(|_| matches!(layer, Layer::Observers | Layer::Innovators)),
        requirement: Some(&requirement).filter(|_| layer == Layer::Planner),
        protected: &[".github/".to_owned(), "Cargo.lock".to_owned()],
    };
    let found = violations(&EXCHANGE, &scope, changes);
    found.into_iter().map(|it| it.path).collect()
}

/// Everything that a layer may do to one file alone.
fn allowed(layer: Layer) -> Vec<(&'static str, ChangeKind)> {
    match layer {
        Layer::Narrator => vec![(CHANGES, Added), (CHANGES, Changed)],
        Layer::Observers => vec![(PENDING, Added), (OWN, Added), (OWN, Changed)],
        Layer::Decider => vec![
            (PENDING, Removed),
            (REQUIREMENT, Added),
            (REQUIREMENT, Changed),
            (OTHER_REQUIREMENT, Added),
            (OTHER_REQUIREMENT, Changed),
        ],
        Layer::Planner => vec![(REQUIREMENT, Changed)],
        Layer::Implementer => vec![(CODE, Added), (CODE, Changed), (CODE, Removed)],
        Layer::Innovators => vec![(PROPOSAL, Added), (OWN, Added), (OWN, Changed)],
    }
}

#[test]
fn each_layer_may_do_what_its_table_says_and_nothing_else() {
    let mut files = vec![
        CHANGES,
        PENDING,
        DECIDED,
        REQUIREMENT,
        OTHER_REQUIREMENT,
        OWN,
        OTHER,
        PROPOSAL,
        OTHER_PROPOSAL,
        CODE,
        WORKFLOW,
        "Cargo.lock",
        ".jlo/config.toml",
        ".jlo/roles/observers/qa/role.yml",
        ".jules",
        ".jlo",
        ".JULES/JULES.md",
        ".Jlo/x",
        ".jules/exchange/events/pending/notes.md",
        ".jules/exchange/events/pending/a/b.yml",
        ".jules/exchange/requirements/a/b.yml",
        ".jules/exchange/x.yml",
    ];
    let system = assets::system();
    files.extend(system.iter().map(|it| it.path.as_str()));
    for layer in Layer::ALL {
        for file in &files {
            for kind in [Added, Changed, Removed] {
                let passes = allowed(layer).contains(&(file, kind));
                let found = stopped(layer, &[change(file, kind)]);
                assert_eq!(found.is_empty(), passes, "{layer} {file} {kind:?}");
            }
        }
    }
}

#[test]
fn an_old_name_counts_like_a_removal() {
    let moved = |layer, old, new| stopped(layer, &[renamed(old, new)]);
    assert_eq!(moved(Layer::Decider, PENDING, DECIDED), [""; 0]);
    assert_eq!(moved(Layer::Decider, DECIDED, PENDING), [DECIDED, PENDING]);
    assert_eq!(moved(Layer::Observers, OTHER, OWN), [OTHER]);
    assert_eq!(
        moved(Layer::Observers, ".jules/JULES.md", PENDING),
        [".jules/JULES.md"]
    );
    assert_eq!(moved(Layer::Implementer, WORKFLOW, CODE), [WORKFLOW]);
    assert_eq!(
        moved(Layer::Implementer, ".jlo/config.toml", CODE),
        [".jlo/config.toml"]
    );
    assert_eq!(moved(Layer::Narrator, CODE, CHANGES), [CODE]);
}

#[test]
fn an_event_is_decided_under_its_own_name() {
    let parts = |decided| {
        stopped(
            Layer::Decider,
            &[change(PENDING, Removed), change(decided, Added)],
        )
    };
    assert_eq!(parts(DECIDED), [""; 0]);
    let other = ".jules/exchange/events/decided/zz99zz-made-up.yml";
    assert_eq!(parts(other), [other]);
    let changed = [change(PENDING, Changed), change(DECIDED, Added)];
    assert_eq!(stopped(Layer::Decider, &changed), [DECIDED, PENDING]);
}

#[test]
fn links_and_other_repositories_never_pass() {
    for layer in Layer::ALL {
        for (file, kind) in allowed(layer).into_iter().filter(|it| it.1 != Removed) {
            for mode in [Some(Mode::Link), Some(Mode::Submodule), None] {
                let odd = FileChange {
                    mode,
                    ..change(file, kind)
                };
                assert_eq!(stopped(layer, &[odd]), [file], "{layer} {mode:?}");
            }
        }
    }
}

#[test]
fn paths_that_leave_the_repository_or_hide_never_pass() {
    for path in [
        "../x",
        "/etc/x",
        "src/\u{202e}x",
        "src/../.jules/x",
        "",
        "src\\x",
    ] {
        for layer in Layer::ALL {
            assert_eq!(stopped(layer, &[change(path, Added)]).len(), 1, "{path:?}");
        }
        assert_eq!(
            stopped(Layer::Implementer, &[renamed(path, CODE)]).len(),
            1,
            "{path:?}"
        );
    }
}

#[test]
fn a_run_makes_three_proposals() {
    let proposals = |count| -> Vec<_> {
        let name = |n| format!(".jules/exchange/proposals/leverage-architect-{n}.yml");
        (0..count).map(|n| change(&name(n), Added)).collect()
    };
    assert_eq!(stopped(Layer::Innovators, &proposals(3)), [""; 0]);
    assert_eq!(stopped(Layer::Innovators, &proposals(4)).len(), 4);
}

#[test]
fn an_observer_adds_three_events() {
    let events = |count| -> Vec<_> {
        let name = |n| format!(".jules/exchange/events/pending/aa11b{n}-a-leak.yml");
        (0..count).map(|n| change(&name(n), Added)).collect()
    };
    let with_own = |count| [events(count), vec![change(OWN, Changed)]].concat();
    assert_eq!(stopped(Layer::Observers, &with_own(3)), [""; 0]);
    assert_eq!(stopped(Layer::Observers, &with_own(4)).len(), 4);
}

#[test]
fn without_a_record_of_role_or_requirement_nothing_passes() {
    let scope = |layer| Scope {
        layer,
        role: None,
        requirement: None,
        protected: &[],
    };
    for (layer, file, kind) in [
        (Layer::Observers, OWN, Changed),
        (Layer::Innovators, PROPOSAL, Added),
        (Layer::Planner, REQUIREMENT, Changed),
    ] {
        let found = violations(&EXCHANGE, &scope(layer), &[change(file, kind)]);
        assert_eq!(found.len(), 1, "{layer}");
    }
}

#[test]
fn a_violation_says_what_and_why() {
    let scope = Scope {
        layer: Layer::Planner,
        role: None,
        requirement: None,
        protected: &[],
    };
    let path = format!("src/ghp_{}", "A1b2".repeat(9));
    let found = violations(&EXCHANGE, &scope, &[change(&path, Added)]);
    let said = found[0].to_string();
    assert!(
        said.ends_with("`: a planner changes its own requirement only"),
        "{said}"
    );
    assert!(!said.contains("A1b2"), "{said}");
}

#[test]
fn an_agent_of_a_stream_touches_no_other_one() {
    let paths = EXCHANGE.of_stream(&crate::tree::Tree::default(), &"backend".parse().unwrap());
    let role: RoleName = "qa".parse().unwrap();
    let stops = |layer, path: &str, kind| {
        let scope = Scope {
            layer,
            role: Some(&role).filter(|_| layer == Layer::Observers),
            requirement: None,
            protected: &[],
        };
        !violations(&paths, &scope, &[change(path, kind)]).is_empty()
    };
    let own = ".jules/workstreams/backend";
    for (layer, path, kind) in [
        (
            Layer::Observers,
            "exchange/events/pending/aa11bb-a.yml",
            Added,
        ),
        (Layer::Observers, "workstations/qa/perspective.yml", Changed),
        (
            Layer::Decider,
            "exchange/events/pending/aa11bb-a.yml",
            Removed,
        ),
        (Layer::Decider, "exchange/requirements/cc22dd-a.yml", Added),
    ] {
        assert!(!stops(layer, &format!("{own}/{path}"), kind), "{path}");
        assert!(stops(layer, &format!(".jules/{path}"), kind), "{path}");
        let other = format!(".jules/workstreams/other/{path}");
        assert!(stops(layer, &other, kind), "{other}");
    }
}

#[test]
fn the_older_generation_has_the_same_scopes_at_paths_of_its_own() {
    let role: RoleName = "qa".parse().unwrap();
    let stops = |layer, path: &str, kind| {
        let scope = Scope {
            layer,
            role: Some(&role),
            requirement: None,
            protected: &[],
        };
        !violations(&WORKSTREAMS, &scope, &[change(path, kind)]).is_empty()
    };
    let event = ".jules/workstreams/generic/events/pending/aa11bb-a.yml";
    let issue = ".jules/workstreams/generic/issues/bugs/cc22dd-a.yml";
    for (layer, path, kind) in [
        (Layer::Narrator, ".jules/changes/latest.yml", Changed),
        (Layer::Observers, event, Added),
        (Layer::Decider, event, Removed),
        (Layer::Decider, issue, Added),
    ] {
        assert!(!stops(layer, path, kind), "{path}");
    }
    for (layer, path, kind) in [
        (Layer::Observers, issue, Added),
        (Layer::Observers, PENDING, Added),
        (Layer::Decider, REQUIREMENT, Added),
        (
            Layer::Decider,
            ".jules/workstreams/generic/scheduled.toml",
            Changed,
        ),
        (
            Layer::Decider,
            ".jules/roles/deciders/triage/prompt.yml",
            Changed,
        ),
        (Layer::Implementer, issue, Changed),
    ] {
        assert!(stops(layer, path, kind), "{path}");
    }
}
