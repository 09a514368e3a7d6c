//! Seed 001's tree and others like it, moved: nothing is lost, and a second time nothing changes.

use std::sync::Arc;

use include_dir::{Dir, include_dir};
use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::doctor::{Circumstances, Finding};
use crate::layout::EXCHANGE;
use crate::prompt::Trees;
use crate::tree::Mode;

static OLDER: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../tests/fixtures/older");

/// The tree that the tests of the command line have, too.
fn fixture() -> Tree {
    fn collect(dir: &Dir<'_>, tree: &mut Tree) {
        for file in dir.files() {
            let path = format!("{SYSTEM}/{}", file.path().to_str().unwrap());
            let text = file.contents_utf8().unwrap();
            tree.put(path.parse().unwrap(), Entry::text(text));
        }
        for inner in dir.dirs() {
            collect(inner, tree);
        }
    }
    let mut tree = Tree::default();
    collect(&OLDER, &mut tree);
    tree
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| (path.parse().unwrap(), Entry::text(*text));
    files.iter().map(file).collect()
}

fn findings(worker: &Tree) -> Vec<Finding> {
    let control = assets::control().into_iter();
    let mut control: Tree = control.map(|it| (it.path, Entry::text(it.text))).collect();
    let pin = ".jlo/.jlo-version".parse().unwrap();
    control.put(pin, Entry::text("1.2.3\n"));
    let trees = Trees {
        target: Arc::new(control),
        worker: Arc::new(worker.clone()),
    };
    let circumstances = Circumstances {
        today: date(2026, 2, 18),
        version: "1.2.3".to_owned(),
    };
    doctor::examine(&trees, &circumstances)
}

fn places(migration: &Migration) -> Vec<(&str, &str)> {
    let moved = migration.moved.iter();
    moved.map(|it| (it.from.as_str(), it.to.as_str())).collect()
}

fn moved(files: &[(&str, &str)]) -> (Migration, Tree) {
    let before = tree(files);
    let migration = migrate(&before).unwrap();
    let after = migration.applied(&before);
    (migration, after)
}

#[test]
fn nothing_is_wrong_with_the_older_tree_as_it_is() {
    let listed: Vec<_> = findings(&fixture())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(listed, [""; 0]);
}

#[test]
fn after_the_move_nothing_is_wrong_and_bootstrap_has_nothing_to_write() {
    let before = fixture();
    let migration = migrate(&before).unwrap();
    let after = migration.applied(&before);
    assert_eq!(Layout::find(&after), Ok(Layout::Exchange));
    let listed: Vec<_> = findings(&after).iter().map(ToString::to_string).collect();
    assert_eq!(listed, [""; 0]);
    for asset in doctor::system(&after, &[]).unwrap() {
        assert_eq!(
            after.text(asset.path.as_str()),
            Some(asset.text),
            "{}",
            asset.path
        );
    }
    assert_eq!(migrate(&after), Ok(Migration::default()));
}

#[test]
fn each_file_goes_where_the_newer_layout_has_it() {
    let migration = migrate(&fixture()).unwrap();
    let places = places(&migration);
    for (from, to) in [
        (".jules/changes/latest.yml", ".jules/exchange/changes.yml"),
        (
            ".jules/workstreams/generic/events/pending/aa11bb-a-leak.yml",
            ".jules/exchange/events/pending/aa11bb-a-leak.yml",
        ),
        (
            ".jules/workstreams/generic/issues/bugs/cc22dd-lock-the-file.yml",
            ".jules/exchange/requirements/cc22dd-lock-the-file.yml",
        ),
        (
            ".jules/roles/deciders/triage/role.yml",
            ".jules/older/roles/deciders/triage/role.yml",
        ),
        (".jules/JULES.md", ".jules/older/JULES.md"),
    ] {
        assert!(places.contains(&(from, to)), "{from}: {places:?}");
    }
    let paths =
        |paths: &[TreePath]| -> Vec<String> { paths.iter().map(ToString::to_string).collect() };
    assert_eq!(
        paths(&migration.dropped),
        [".jules/workstreams/generic/issues/docs/.gitkeep"]
    );
    assert_eq!(
        paths(&migration.left),
        [".jules/setup/.gitignore", ".jules/setup/tools.yml"]
    );
    assert_eq!(
        paths(&migration.schedules),
        [".jules/older/workstreams/generic/scheduled.toml"]
    );
    assert_eq!(migration.labelled, []);
    // The built-in role needs no file, and the other one is the user's.
    let [(place, text)] = &migration.roles[..] else {
        panic!("{:?}", migration.roles);
    };
    assert_eq!(place.as_str(), ".jlo/roles/observers/billing/role.yml");
    assert!(text.contains("Money"));
}

#[test]
fn roles_below_a_folder_of_that_name_are_the_users_too() {
    let (migration, _) = moved(&[
        (".jules/changes/latest.yml", ""),
        (
            ".jules/layers/innovators/roles/gardener/role.yml",
            "role: gardener\n",
        ),
        (
            ".jules/layers/innovators/roles/recruiter/role.yml",
            "role: recruiter\n",
        ),
        (".jules/roles/mergers/one/role.yml", "role: one\n"),
        (".jules/roles/observers/..x/role.yml", "role: x\n"),
    ]);
    let roles: Vec<_> = migration
        .roles
        .iter()
        .map(|(path, _)| path.as_str())
        .collect();
    assert_eq!(roles, [".jlo/roles/innovators/gardener/role.yml"]);
}

#[test]
fn a_label_that_only_the_folder_had_stands_in_the_file() {
    let (migration, after) = moved(&[
        (".jules/workstreams/generic/issues/bugs/a.yml", "id: aa11bb"),
        (
            ".jules/workstreams/generic/issues/bugs/b.yml",
            "id: bb22cc\nlabel: docs\n",
        ),
        (
            ".jules/workstreams/generic/issues/bugs/c.yml",
            "{ id: cc33dd }\n",
        ),
        (".jules/workstreams/generic/issues/bugs/d.yml", "id: [\n"),
    ]);
    let text = |name: &str| after.text(&format!(".jules/exchange/requirements/{name}.yml"));
    assert_eq!(text("a"), Some("id: aa11bb\nlabel: bugs\n"));
    assert_eq!(text("b"), Some("id: bb22cc\nlabel: docs\n"));
    assert_eq!(text("c"), Some("{ id: cc33dd }\n"));
    assert_eq!(text("d"), Some("id: [\n"));
    assert_eq!(migration.labelled.len(), 1);
}

#[test]
fn files_of_one_name_go_side_by_side() {
    let (_, after) = moved(&[
        (
            ".jules/workstreams/generic/issues/bugs/a.yml",
            "id: a\nlabel: bugs\n",
        ),
        (
            ".jules/workstreams/generic/issues/docs/A.yml",
            "id: b\nlabel: docs\n",
        ),
        (
            ".jules/workstreams/generic/exchange/issues/docs/a.yml",
            "id: c\nlabel: docs\n",
        ),
        (
            ".jules/workstreams/generic/issues/bugs/A.yml",
            "id: d\nlabel: bugs\n",
        ),
        (".jules/older/mine.md", "mine"),
        (".jules/changes/notes.md", "notes"),
    ]);
    let requirements = after.below(&EXCHANGE.requirements);
    let names: Vec<_> = requirements.map(|(path, _)| path.file_name()).collect();
    assert_eq!(names, ["a.yml", "bugs-2-a.yml", "bugs-A.yml", "docs-A.yml"]);
    assert_eq!(after.text(".jules/older/mine.md"), Some("mine"));
    assert_eq!(after.text(".jules/older-2/changes/notes.md"), Some("notes"));
}

#[test]
fn a_named_stream_gets_an_exchange_of_its_own() {
    let (_, after) = moved(&[
        (".jules/workstreams/billing/events/pending/a.yml", "id: a\n"),
        (
            ".jules/workstreams/billing/issues/docs/b.yml",
            "label: docs\n",
        ),
        (
            ".jules/workstreams/billing/exchange/events/pending/a.yml",
            "id: c\n",
        ),
        (".jules/workstreams/billing/scheduled.toml", "version = 1\n"),
    ]);
    let files = after.below(".jules/workstreams/billing");
    let files: Vec<_> = files.map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        files,
        [
            ".jules/workstreams/billing/exchange/events/pending/a.yml",
            ".jules/workstreams/billing/exchange/events/pending/older-a.yml",
            ".jules/workstreams/billing/exchange/requirements/b.yml",
        ]
    );
}

#[test]
fn two_generations_or_none_are_refused_and_the_newer_one_stays() {
    let both = tree(&[
        (".jules/changes/latest.yml", ""),
        (".jules/exchange/changes.yml", ""),
    ]);
    assert!(matches!(migrate(&both), Err(LayoutError::Both { .. })));
    assert_eq!(migrate(&Tree::default()), Err(LayoutError::Missing));
    let newer: Tree = assets::system()
        .into_iter()
        .map(|it| (it.path, Entry::text(it.text)))
        .collect();
    assert!(migrate(&newer).unwrap().is_empty());
}

/// A part of a path, of what stands there in such trees and of what does not.
fn part() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "roles",
        "layers",
        "schemas",
        "workstreams",
        "changes",
        "exchange",
        "events",
        "issues",
        "proposals",
        "requirements",
        "pending",
        "decided",
        "bugs",
        "generic",
        "billing",
        "observers",
        "deciders",
        "qa",
        "older",
        "older-2",
        "workstations",
        "setup",
        "narrator",
    ])
    .prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a.yml",
        "A.yml",
        "b.yml",
        ".gitkeep",
        "latest.yml",
        "prompt.yml",
        "role.yml",
        "scheduled.toml",
        "JULES.md",
        "notes.md",
        "contracts.yml",
        "changes.yml",
        "x",
    ])
    .prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    let stream = (
        prop::sample::select(vec!["generic", "billing"]),
        prop::sample::select(vec!["", "exchange/"]),
        prop::sample::select(vec![
            "events/pending",
            "events/decided",
            "issues/bugs",
            "issues/docs",
            "proposals",
        ]),
        name(),
    )
        .prop_map(|(stream, inner, folder, name)| {
            format!("workstreams/{stream}/{inner}{folder}/{name}")
        });
    let any = (prop::collection::vec(part(), 0..5), name()).prop_map(|(parts, name)| {
        parts
            .iter()
            .map(|part| format!("{part}/"))
            .collect::<String>()
            + &name
    });
    prop_oneof![stream, any].prop_map(|path| format!("{SYSTEM}/{path}"))
}

fn entry() -> impl Strategy<Value = Entry> {
    let text = prop::sample::select(vec![
        "",
        "id: aa11bb\n",
        "label: bugs\n",
        "[",
        "text\n",
        "{ a: b }",
    ]);
    prop_oneof![
        6 => text.prop_map(Entry::text),
        1 => Just(Entry { mode: Mode::Link, blob: None, content: Content::Text("../x".to_owned()) }),
        1 => Just(Entry { mode: Mode::File, blob: None, content: Content::NotText }),
    ]
}

/// Files of which none is the folder of another one.
fn any_tree() -> impl Strategy<Value = Tree> {
    let files = prop::collection::btree_map(path(), entry(), 0..12);
    let older = Just((
        ".jules/changes/latest.yml".to_owned(),
        Entry::text("id: ch0001\n"),
    ));
    (files, older).prop_map(|(mut files, (path, entry))| {
        files.insert(path, entry);
        let file = |(path, entry): (String, Entry)| (path.parse().unwrap(), entry);
        files.into_iter().map(file).collect()
    })
}

/// Each text that is not empty, with how often it is there. A line with a label is no loss.
fn contents(tree: &Tree) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (_, entry) in tree.iter() {
        let mut shown = format!("{:?} {:?}", entry.mode, entry.content);
        // Every folder of issues is a label, whatever it is called.
        while let Some(begin) = shown.find("label: ")
            && let Some(len) = shown[begin..].find("\\n")
        {
            shown.replace_range(begin..begin + len + 2, "");
        }
        *found.entry(shown).or_default() += 1;
    }
    found
}

proptest! {
    #[test]
    fn nothing_is_lost_and_twice_is_once(before in any_tree()) {
        let Ok(migration) = migrate(&before) else {
            return Ok(());
        };
        let after = migration.applied(&before);
        prop_assert_eq!(Layout::find(&after), Ok(Layout::Exchange));
        prop_assert_eq!(migrate(&after), Ok(Migration::default()));
        let (had, has) = (contents(&before), contents(&after));
        for (content, count) in had {
            let is_empty = content.contains("Text(\"\")");
            let still = has.get(&content).copied().unwrap_or_default();
            prop_assert!(is_empty || still >= count, "{}: {} of {}", content, still, count);
        }
        for path in &migration.left {
            prop_assert_eq!(after.get(path), before.get(path));
        }
        for asset in doctor::system(&after, &[]).unwrap() {
            prop_assert_eq!(after.text(asset.path.as_str()), Some(asset.text));
        }
        prop_assert!(!after.has_folder(".jules/roles/deciders"));
    }
}
