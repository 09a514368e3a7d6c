//! What a merge would make, and which errors of it are new.

use super::repository::{CHANGES, DECIDED, PENDING, REQUIREMENT};
use super::*;
use crate::tree::TreePath;

fn paths(paths: &[&str]) -> Vec<TreePath> {
    paths.iter().map(|path| path.parse().unwrap()).collect()
}

/// The new errors of a head that changed some paths, as rule and file.
fn new(base: &Repository, head: &Repository, changed: &[&str]) -> Vec<(Rule, String)> {
    let changed = paths(changed);
    let tree = merged(&base.tree, &head.tree, &changed);
    let after = Repository { tree }.examine();
    let found = new_errors(&base.examine(), &after).into_iter();
    found.map(|it| (it.rule, it.file)).collect()
}

#[test]
fn what_others_merged_meanwhile_stays() {
    let base = Repository::at_work().replaced(CHANGES, "One", "Newer");
    let head = Repository::at_work().without(PENDING).with("src/x", "");
    let tree = merged(&base.tree, &head.tree, &paths(&[PENDING, "src/x"]));
    assert!(tree.text(CHANGES).unwrap().contains("Newer"));
    assert!(!tree.has(PENDING) && tree.has("src/x"));
    assert_eq!(tree.len(), base.tree.len());
}

#[test]
fn an_error_that_comes_of_both_sides_is_new() {
    // Each side alone is in order: the one took the event, the other one deleted it.
    let other = ".jules/exchange/requirements/dd33ee-again.yml";
    let text = Repository::at_work()
        .tree
        .text(REQUIREMENT)
        .unwrap()
        .replace("cc22dd", "dd33ee");
    let base = Repository::at_work().without(DECIDED).without(REQUIREMENT);
    let head = Repository::at_work()
        .without(REQUIREMENT)
        .with(other, &text);
    assert_eq!(
        new(&base, &head, &[other]),
        [(Rule::Link, other.to_owned())]
    );
}

#[test]
fn errors_of_the_base_do_not_count_even_where_lines_move() {
    let base = Repository::at_work().replaced(PENDING, "confidence: high", "confidence: certain");
    let head = Repository {
        tree: base.tree.clone(),
    }
    .replaced(PENDING, "id: aa11bb", "# moved\nid: aa11bb");
    assert_eq!(new(&base, &head, &[PENDING]), []);
    let worse = Repository {
        tree: head.tree.clone(),
    }
    .replaced(PENDING, "2026-02-17", "soon");
    assert_eq!(
        new(&base, &worse, &[PENDING]),
        [(Rule::Date, PENDING.to_owned())]
    );
    let mended = Repository::at_work();
    assert_eq!(new(&base, &mended, &[PENDING]), []);
}

#[test]
fn the_same_error_once_more_is_new_and_a_warning_never() {
    let empty = "  - path: a.rs\n    loc: []\n    note: Nothing.\n";
    let with = |count: usize| {
        let more = format!("evidence:\n{}", empty.repeat(count));
        Repository::at_work().replaced(PENDING, "evidence:\n", &more)
    };
    assert_eq!(
        new(&with(1), &with(2), &[PENDING]),
        [(Rule::Entries, PENDING.to_owned())]
    );
    let vague = Repository::at_work().replaced(REQUIREMENT, "cargo test -p read", "todo");
    assert_eq!(new(&Repository::at_work(), &vague, &[REQUIREMENT]), []);
}
