//! A repository of the older generation: read as it is, with and without the user's folder, and moved to the newer layout by one commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::examined::today;
use super::repository::Repository;
use crate::world::{Fields, Told};

/// The worker branch's folder as that generation left it.
const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/older");

const READY: &str = ".jules/workstreams/generic/issues/bugs/cc22dd-lock-the-file.yml";
const PLANNED: &str = ".jules/workstreams/generic/issues/refacts/cc11dd-own-the-file.yml";

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// With that tree on the worker branch.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.run(&["scaffold", "init"]).ok();
    repository.commit("Set Gaffer up");
    with_tree(repository)
}

/// The tree is of today, so that nothing waits for long.
fn with_tree(repository: Repository) -> Repository {
    repository.git(&["branch", "jules"]);
    let mut found = Vec::new();
    files(Path::new(TREE), &mut found);
    let texts = found.iter().map(|path| {
        let inside = path.strip_prefix(TREE).unwrap().to_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        (
            format!(".jules/{inside}"),
            text.replace("2026-02-17", &today()),
        )
    });
    let texts: Vec<_> = texts.collect();
    let written = texts
        .iter()
        .map(|(path, text)| (path.as_str(), Some(text.as_str())));
    repository.commit_to_worker(&written.collect::<Vec<_>>());
    repository
}

/// The blobs of the worker branch by their paths.
fn blobs(repository: &Repository) -> BTreeMap<String, String> {
    let listed = repository.git(&["ls-tree", "-r", "jules", "--", ".jules"]);
    let row = |line: &str| {
        let (facts, path) = line.split_once('\t').unwrap();
        let blob = facts.rsplit_once(' ').unwrap().1;
        (path.to_owned(), blob.to_owned())
    };
    listed.lines().map(row).collect()
}

#[test]
fn the_older_tree_is_read_as_it_is() {
    let repository = repository();
    let before = repository.state();
    let examined = repository.run(&["scaffold", "doctor", "--strict"]).ok();
    assert_eq!(examined.stdout, "0 errors, 0 warnings.\n");
    let preview = |arguments: &[&str]| {
        let line = [&["run"], arguments, &["--prompt-preview", "--json"]].concat();
        let told = repository.run(&line).ok().json();
        let included = told["included"].as_array().unwrap().iter();
        let paths: Vec<_> = included
            .map(|it| it["path"].as_str().unwrap().to_owned())
            .collect();
        (told["prompt"].as_str().unwrap().to_owned(), paths)
    };
    let (prompt, paths) = preview(&["observers", "--role", "billing"]);
    assert_eq!(
        paths[..3],
        [
            ".jules/JULES.md",
            ".jules/roles/observers/contracts.yml",
            ".jules/roles/observers/billing/role.yml",
        ]
    );
    assert!(!prompt.contains("Take the listed files"), "{prompt}");
    for (arguments, named) in [
        (&["narrator"][..], ".jules/changes/latest.yml"),
        (&["decider"], "aa11bb-a-leak.yml"),
        (&["planner", PLANNED], "cc11dd-own-the-file.yml"),
        (&["implementer", READY], "jules-implementer-bugs-"),
    ] {
        let (prompt, _) = preview(arguments);
        prompt.tells(&[named, "\n# Output\n"]);
    }
    let told = repository.json(&["exchange", "inspect"]);
    assert_eq!(told["requirements"][0]["path"], READY);
    assert_eq!(told["events"]["pending"][0]["id"], "aa11bb");
    let told = repository.json(&["scaffold", "bootstrap"]);
    told.holds(&json!({ "moved": false, "files": 0 }));
    let shown = repository.run(&["scaffold", "bootstrap"]).ok().stdout;
    assert!(shown.contains("`gaffer scaffold migrate`"), "{shown}");
    assert_eq!(repository.state(), before);
}

#[test]
fn without_the_users_folder_it_is_read_all_the_same_and_its_branch_is_made() {
    let repository = with_tree(Repository::new());
    let before = repository.state();
    let examined = repository.run(&["scaffold", "doctor", "--strict"]).ok();
    assert_eq!(examined.stdout, "0 errors, 0 warnings.\n");
    let line = ["run", "observers", "--role", "qa", "--prompt-preview"];
    let prompt = repository.run(&line);
    let role = "# .jules/roles/observers/qa/role.yml\n";
    assert_eq!(prompt.code, 0);
    prompt.prints(&[role]);
    let told = repository.json(&["exchange", "inspect"]);
    let observers = told["schedule"]["observers"].as_array().unwrap();
    let names: Vec<_> = observers.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["qa", "billing"], "those of its own schedule");
    assert_eq!(repository.state(), before);

    let tip = repository.git(&["rev-parse", "jules"]);
    repository.git(&["update-ref", "refs/remotes/origin/jules", &tip]);
    repository.git(&["branch", "-D", "jules"]);
    let shown = repository.run(&["scaffold", "bootstrap"]).ok().stdout;
    assert!(shown.contains(&tip), "{shown}");
    assert!(!shown.contains("Push it"), "origin has it: {shown}");
    repository.git(&["branch", "-D", "jules"]);
    let told = repository.json(&["scaffold", "bootstrap"]);
    told.holds(&json!({ "moved": true, "commit": tip }));
    assert_eq!(repository.git(&["rev-parse", "jules"]), tip);
    repository.refuses(&["scaffold", "migrate"], "gaffer scaffold init");
}

#[test]
fn its_tools_and_values_count_until_newer_ones_are_chosen() {
    let repository = repository();
    repository.write(".jules/setup/env.toml", "GH_TOKEN = \"mine\"\n");
    repository.run(&["setup", "gen"]).ok();
    assert!(
        repository
            .read(".jlo/setup/install.sh")
            .contains("\n# gh\n")
    );
    let secrets = repository.read(".jlo/setup/secrets.toml");
    assert!(secrets.contains("GH_TOKEN = \"mine\"\n"), "{secrets}");
    repository.write(".jlo/setup/tools.yml", "tools: [uv]\n");
    repository.run(&["setup", "gen"]).ok();
    let script = repository.read(".jlo/setup/install.sh");
    script.tells(&["\n# uv\n"]);
    script.lacks(&["\n# gh\n"]);
    repository.write(".jlo/setup/tools.yml", "tools: []\n");
    repository.write(".jules/setup/tools.yml", "tools: [ghh]\n");
    repository.refuses(&["setup", "gen"], "`ghh`");
}

#[test]
fn one_commit_moves_it_and_a_second_time_nothing_changes() {
    let repository = repository();
    let (before, tip) = (blobs(&repository), repository.git(&["rev-parse", "jules"]));
    let state = repository.state();
    let tried = repository.json(&["scaffold", "migrate", "--dry-run"]);
    assert_eq!(
        (repository.state(), &tried["commit"]),
        (state, &json!(null))
    );
    let told = repository.json(&["scaffold", "migrate"]);
    let without = |mut told: serde_json::Value| {
        told["commit"] = json!(null);
        told
    };
    assert_eq!(without(told.clone()), tried, "the same without writing");
    assert_eq!(repository.git(&["rev-parse", "jules^"]), tip, "one commit");
    assert_eq!(told["commit"], repository.git(&["rev-parse", "jules"]));
    told.holds(&json!({ "left": [".jules/setup/.gitignore", ".jules/setup/tools.yml"] }));
    let own = ".jlo/roles/observers/billing/role.yml";
    assert_eq!(told["roles"], json!([own]));
    assert!(repository.read(own).contains("Money"));
    let after = blobs(&repository);
    let empty = repository.git(&["hash-object", "-t", "blob", "/dev/null"]);
    for (path, blob) in before.iter().filter(|(_, blob)| **blob != empty) {
        assert!(after.values().any(|it| it == blob), "{path} is lost");
    }
    let requirement = ".jules/exchange/requirements/cc22dd-lock-the-file.yml";
    assert_eq!(after[requirement], before[READY], "byte for byte");
    repository.git(&["fsck", "--strict"]);
    let moved = repository.git(&["rev-parse", "jules"]);
    let again = repository.json(&["scaffold", "migrate"]);
    again.holds(&json!({ "moved": [], "commit": null }));
    repository.run(&["scaffold", "bootstrap"]).ok();
    let told = repository.git(&["rev-parse", "jules"]);
    assert_eq!(told, moved, "bootstrap writes nothing more");
    let changed = repository.git(&["diff", "--name-only", "main", "jules", "--", ":!.jules"]);
    assert_eq!(changed, "");
}

#[test]
fn what_was_moved_goes_on_in_the_newer_layout() {
    let repository = repository();
    assert_eq!(repository.types("jlo migrate").code, 0);
    let filled = "role: billing\nlayer: observers\ndescription: It watches the money.\nprofile:\n  focus: Money.\n";
    repository.write(".jlo/roles/observers/billing/role.yml", filled);
    repository
        .run(&["role", "add", "observers", "billing"])
        .ok();
    repository.commit("Take the older role along");
    let examined = repository.run(&["scaffold", "doctor", "--strict"]);
    assert_eq!(
        (examined.code, examined.stdout.as_str()),
        (0, "0 errors, 0 warnings.\n")
    );
    let requirement = ".jules/exchange/requirements/cc22dd-lock-the-file.yml";
    for arguments in [
        &["n"][..],
        &["o", "--role", "billing"],
        &["d"],
        &["i", requirement],
    ] {
        let line = [&["run"], arguments, &["--prompt-preview"]].concat();
        let prompt = repository.run(&line);
        assert_eq!(prompt.code, 0);
        prompt.prints(&["\n# Output\n"]);
    }
}

#[test]
fn files_of_any_kind_are_moved_as_they_are() {
    let repository = repository();
    let folder = repository.root().with_file_name("odd");
    repository.git(&[
        "worktree",
        "add",
        "--quiet",
        folder.to_str().unwrap(),
        "jules",
    ]);
    let issues = folder.join(".jules/workstreams/generic/issues/bugs");
    fs::write(issues.join("bytes.yml"), [0xff, 0xfe]).unwrap();
    fs::write(issues.join("large.yml"), "x".repeat(100_000)).unwrap();
    fs::write(issues.join("bare.yml"), "id: dd44ee\n").unwrap();
    std::os::unix::fs::symlink("../x", issues.join("link.yml")).unwrap();
    fs::write(folder.join(".jules/run.sh"), "#!/bin/sh\n").unwrap();
    repository.git_in(&folder, &["add", "--all"]);
    repository.git_in(&folder, &["commit", "--quiet", "-m", "Odd files"]);
    repository.git(&["worktree", "remove", folder.to_str().unwrap()]);
    let before = blobs(&repository);
    let told = repository.json(&["scaffold", "migrate"]);
    let after = blobs(&repository);
    for name in ["bytes", "large", "link"] {
        let old = format!(".jules/workstreams/generic/issues/bugs/{name}.yml");
        let new = format!(".jules/exchange/requirements/{name}.yml");
        assert_eq!(after[&new], before[&old], "{name}");
    }
    let mode = repository.git(&["ls-tree", "jules", ".jules/exchange/requirements/link.yml"]);
    assert!(mode.starts_with("120000 "), "{mode}");
    let bare = repository.git(&["show", "jules:.jules/exchange/requirements/bare.yml"]);
    assert_eq!(bare, "id: dd44ee\nlabel: bugs");
    assert_eq!(told["labelled"].as_array().unwrap().len(), 1);
    assert!(
        told["left"]
            .as_array()
            .unwrap()
            .contains(&".jules/run.sh".into())
    );
}

#[test]
fn what_cannot_be_moved_is_refused_and_nothing_changes() {
    let refuses = |repository: &Repository, named: &str| {
        let before = repository.state();
        repository.refuses(&["scaffold", "migrate"], named);
        assert_eq!(repository.state(), before);
    };
    refuses(&Repository::new(), "gaffer scaffold init");
    let both = repository();
    both.commit_to_worker(&[(".jules/exchange/changes.yml", Some("a: b\n"))]);
    refuses(&both, "two generations");
    let checked_out = repository();
    checked_out.git(&["checkout", "--quiet", "jules"]);
    refuses(&checked_out, "worker branch");
    let newer = Repository::set_up();
    let told = newer.run(&["scaffold", "migrate"]).ok();
    assert!(told.stdout.contains("newer layout already"), "{told:?}");
    let linked = repository();
    let roles = linked.root().join(".jlo/roles/observers");
    fs::remove_dir_all(&roles).unwrap();
    std::os::unix::fs::symlink("/", &roles).unwrap();
    refuses(&linked, "is a link");
    let kept = repository();
    kept.write(".jlo/roles/observers/billing/role.yml", "mine\n");
    let told = kept.json(&["scaffold", "migrate"]);
    assert_eq!(told["roles"], json!([]));
    assert_eq!(kept.read(".jlo/roles/observers/billing/role.yml"), "mine\n");
}
