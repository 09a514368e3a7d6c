//! What is refused before a step is planned.

use std::sync::Arc;

use scaffold::tree::{Entry, Tree};

use super::*;

fn said(target: &[(&str, &str)], worker: &[&str]) -> Result<Config, String> {
    let tree = |files: &[(&str, &str)]| {
        let file = |(path, text): &(&str, &str)| (path.parse().unwrap(), Entry::text(*text));
        let tree: Tree = files.iter().map(file).collect();
        Arc::new(tree)
    };
    let worker: Vec<_> = worker.iter().map(|path| (*path, "")).collect();
    let trees = Trees {
        target: tree(target),
        worker: tree(&worker),
    };
    let trunk: BranchName = "trunk".parse().unwrap();
    settings(&trees, &trunk, &BranchName::jules())
}

const OLDER: &str = ".jules/changes/latest.yml";
const NEWER: &str = ".jules/exchange/changes.yml";

#[test]
fn without_settings_nothing_is_planned_as_the_doctor_says() {
    let refused = said(&[(pin::PIN, "0.0.1\n")], &[NEWER]);
    let why = "`.jlo/config.toml` is not there: make it with `gaffer scaffold init`";
    assert!(refused.is_err_and(|said| said.starts_with(why)));
    let refused = said(&[], &[NEWER]);
    assert!(refused.is_err_and(|said| said.starts_with("`.jlo/.jlo-version` is not on")));
}

#[test]
fn the_older_generation_is_planned_without_settings_on_the_branches_of_its_source() {
    let planned = said(&[], &[OLDER]).unwrap();
    assert!(planned.workflow.cron.is_empty());
    // What is there counts, as in the newer one.
    let refused = said(&[(pin::PIN, "999.0.0\n")], &[OLDER]);
    assert!(refused.is_err_and(|said| said.contains("999.0.0")));
    let refused = said(&[(CONFIG, "")], &[OLDER]);
    assert!(refused.is_err_and(|said| said.contains("`trunk`")));
    let named = "[run]\njlo_target_branch = \"trunk\"\n";
    assert!(said(&[(CONFIG, named)], &[OLDER]).is_ok());
}
