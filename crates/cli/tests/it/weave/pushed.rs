//! What is woven and then written or pushed, beside what git merges.

use std::fs;

use serde_json::json;

use super::cart;
use super::pulls::Stage;
use crate::world::{Fields, Told, ran};

#[test]
fn a_weave_is_pushed_once_and_its_pull_request_stays_the_same() {
    let stage = Stage::with_three();
    let judged = stage.judged(&["third", "first"]);
    let push = ["1", "2", "3", "--push", "weave/one", "--pull", "--json"];
    let told = stage.weave(&push).json();
    let pushed = &told["pushed"];
    pushed.holds(&json!({ "new": true, "branch": "weave/one" }));
    stage.git(&["fetch", "--quiet", "origin"]);
    let commit = stage.git(&["rev-parse", "origin/weave/one"]);
    assert_eq!(pushed["commit"], commit.as_str());
    assert_eq!(stage.git(&["rev-parse", "origin/weave/one^{tree}"]), judged);
    let main = stage.git(&["rev-parse", "origin/main"]);
    let told = stage.git(&["log", "-1", "--format=%P", "origin/weave/one"]);
    assert_eq!(told, main);
    let trailers = stage.git(&[
        "log",
        "-1",
        "--format=%(trailers:only,unfold)",
        "origin/weave/one",
    ]);
    let third = stage.git(&["rev-parse", "origin/third"]);
    trailers.begins(&format!("Woven-Pull: acme/shop#3 {third} taken"));
    assert_eq!(trailers.lines().count(), 4, "{trailers}");
    assert!(
        trailers.ends_with(&format!("\nGaffer-Tree: {judged}")),
        "{trailers}"
    );
    let number = pushed["pull"].as_u64().unwrap();
    let view = stage.github.pull("acme/shop", number).unwrap();
    assert_eq!(view.title, "Weave 2 pull requests into main");
    assert!(view.body.contains("- #1 (taken)"), "{view:?}");
    assert!(view.body.contains("Not in: #2."), "{view:?}");

    // The same again is no second commit.
    let again = stage.weave(&push).json();
    again.holds(&json!({
        "pushed": { "branch": "weave/one", "commit": commit, "new": false, "pull": number },
    }));

    // The target went on: the branch takes it in, and only goes forward.
    stage.begin();
    stage.push("main", &[("notes.txt", "n\n")]);
    let judged = stage.judged(&["third", "first"]);
    let later = stage.weave(&push).json();
    later["pushed"].holds(&json!({ "new": true, "pull": number }));
    stage.git(&["fetch", "--quiet", "origin"]);
    assert_eq!(stage.git(&["rev-parse", "origin/weave/one^{tree}"]), judged);
    let main = stage.git(&["rev-parse", "origin/main"]);
    let parents = stage.git(&["log", "-1", "--format=%P", "origin/weave/one"]);
    assert_eq!(parents, format!("{commit} {main}"));
}

#[test]
fn where_nothing_is_woven_each_reason_is_told_and_nothing_is_pushed_or_written() {
    let stage = Stage::new();
    let number = stage.pull("protected", &[(".github/ci.yml", "on: []\n")]);
    let number = number.to_string();
    let before = stage.branches();
    let file = stage.place().parent().unwrap().join("woven.patch");
    let line = format!("❌ #{number} is left out: it changes .github/ci.yml, which is protected");
    for wanted in [["--push", "weave/one"], ["--patch", file.to_str().unwrap()]] {
        let arguments = [&[number.as_str()], &wanted[..]].concat();
        let ran = stage.weave(&arguments);
        assert!(ran.stdout.starts_with(&line), "{ran:?}");
        assert!(!ran.stdout.contains("The change is in"), "{ran:?}");
        assert!(ran.stderr.contains("nothing was woven"), "{ran:?}");
        assert_eq!(ran.code, 1, "{ran:?}");
        let ran = stage.weave(&[&arguments[..], &["--json"]].concat());
        let told = ran.json();
        assert_eq!(told["skipped"][0]["code"], "protected_path");
        assert_eq!(told["pushed"], serde_json::Value::Null);
        assert_eq!(told["patch"], serde_json::Value::Null);
        assert!(ran.stderr.contains("nothing_woven"), "{ran:?}");
        assert_eq!(ran.code, 1, "{ran:?}");
    }
    assert_eq!(stage.branches(), before);
    assert!(!file.exists());
}

#[test]
fn what_the_base_has_already_is_not_pushed_and_called_no_change() {
    let stage = Stage::with_three();
    stage.weave(&["3", "--push", "weave/one"]).ok();
    let before = stage.branches();
    let again = ["3", "--base", "weave/one", "--push", "weave/two", "--json"];
    let ran = stage.weave(&again);
    let told = ran.json();
    assert_eq!(
        (&told["members"][0]["verdict"], &told["files"]),
        (&json!("in"), &json!(0)),
        "{told}"
    );
    assert!(ran.stderr.contains("no_change"), "{ran:?}");
    assert!(!ran.stderr.contains("nothing was woven"), "{ran:?}");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(stage.branches(), before);
}

#[test]
fn a_commit_of_another_hand_is_never_built_upon() {
    let stage = Stage::with_three();
    stage.weave(&["1", "3", "--push", "weave/one"]).ok();
    stage.git(&["fetch", "--quiet", "origin"]);
    stage.git(&["checkout", "--quiet", "--detach", "origin/weave/one"]);
    // It keeps the message, and has other files.
    fs::write(stage.place().join("mine.txt"), "mine\n").unwrap();
    stage.git(&["add", "--all"]);
    stage.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    stage.git(&["push", "--quiet", "origin", "HEAD:refs/heads/weave/two"]);
    stage.git(&["checkout", "--quiet", "--detach", "origin/weave/one"]);
    stage.push("weave/one", &[("mine.txt", "mine\n")]);
    let before = stage.branches();
    for branch in ["weave/one", "weave/two", "second"] {
        for numbers in [&["1", "3"][..], &["3"]] {
            let push = [numbers, &["--push", branch, "--json"]].concat();
            let refused = stage.weave(&push).failure();
            refused.is(1, "not_ours");
            refused.tells(branch, "");
        }
    }
    assert_eq!(stage.branches(), before);
}

#[test]
fn the_default_branch_and_those_of_sprints_are_never_pushed_to() {
    let stage = Stage::with_three();
    stage.begin();
    let base = ["push", "--quiet", "origin", "HEAD:refs/heads/release"];
    stage.git(&base);
    stage.weave(&["1", "3", "--push", "weave/one"]).ok();
    stage.git(&["fetch", "--quiet", "origin"]);
    // The weave lands with its message and its files.
    let land = "origin/weave/one:refs/heads/main";
    stage.git(&["push", "--quiet", "origin", land]);
    let before = stage.branches();
    for numbers in [&["1", "3"][..], &["3"]] {
        let push = [numbers, &["--base", "release", "--push", "main"]].concat();
        let ran = stage.weave(&push);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains("main is the default branch"), "{ran:?}");
    }
    let of_sprint = ["1", "3", "--push", "jules-sprint-2-integration", "--json"];
    let refused = stage.weave(&of_sprint).failure();
    refused.is(2, "usage");
    let instead = "gaffer sprint integrate acme/shop 2";
    assert!(refused.next.contains(instead), "{refused:?}");
    assert_eq!(stage.branches(), before);
}

#[test]
fn a_pull_request_into_another_base_is_named_before_anything_is_written() {
    let stage = Stage::with_three();
    stage.begin();
    let base = ["push", "--quiet", "origin", "HEAD:refs/heads/release"];
    stage.git(&base);
    stage.weave(&["1", "3", "--push", "weave/one"]).ok();
    let new = json!({ "head": "weave/one", "base": "release", "title": "Release", "body": "" });
    let number = stage.asks("POST", "pulls", &new)["number"]
        .as_u64()
        .unwrap();
    let before = stage.branches();
    let push = ["3", "--push", "weave/one", "--pull", "--json"];
    let refused = stage.weave(&push).failure();
    refused.is(1, "other_base");
    let told = format!("#{number} goes into release, and this is woven into main");
    assert!(refused.error.contains(&told), "{refused:?}");
    assert_eq!(stage.branches(), before);
    let view = stage.github.pull("acme/shop", number).unwrap();
    assert_eq!(view.title, "Release");
}

#[test]
fn a_patch_of_what_is_woven_is_what_git_merges() {
    let stage = Stage::new();
    let one = stage.pull(
        "one",
        &[
            ("src/cart.rs", &cart(&[(3, "one")])),
            ("new/file", "no end"),
        ],
    );
    let two = stage.pull(
        "two",
        &[("src/cart.rs", &cart(&[(20, "two")])), ("README.md", "")],
    );
    let judged = stage.judged(&["one", "two"]);
    let file = stage.place().parent().unwrap().join("woven.patch");
    let name = file.to_str().unwrap();
    let told = stage
        .weave(&[&one.to_string(), &two.to_string(), "--patch", name])
        .ok();
    told.prints(&[&format!("The change is in {name}.")]);
    // A hook's environment leads nowhere else.
    let woven = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    let (one, two) = (one.to_string(), two.to_string());
    let arguments = ["weave", "acme/shop", &one, &two, "--patch", name];
    let mut hooked = stage.world.command(&arguments);
    let elsewhere = stage.place().parent().unwrap().join("elsewhere");
    hooked.env("GIT_DIR", &elsewhere);
    hooked.env("GIT_INDEX_FILE", elsewhere.join("index"));
    ran(hooked, "").ok();
    assert_eq!(fs::read(&file).unwrap(), woven);
    assert!(!elsewhere.exists());
    stage.begin();
    stage.git(&["apply", "--index", name]);
    assert_eq!(stage.git(&["write-tree"]), judged);
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("No newline at end of file")
    );
}
