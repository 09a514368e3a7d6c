//! `gaffer weave OWNER/REPO` on a sandbox whose repository is real git, with nothing running and nothing stored.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use engine::machine::SystemClock;
use engine::ports::Clock;
use sandbox::Scenario;
use sandbox::github::{DEFAULT_TOKEN, GitHub, NewPull, RepoSetup, TokenSetup};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cart;
use crate::init::serve_prepared;
use crate::world::{Fields, Ran, World, ran};

const REPO: &str = "acme/shop";

/// Where git is.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A repository on a sandbox, and a clone of it.
pub(super) struct Stage {
    pub(super) world: World,
    pub(super) github: GitHub,
    folder: TempDir,
    base: String,
}

impl Stage {
    pub(super) fn new() -> Self {
        let cart = cart(&[]);
        let files = [
            ("src/cart.rs", cart.as_str()),
            ("README.md", "A shop.\n"),
            (".github/ci.yml", "on: push\n"),
        ];
        let scenario = Scenario {
            repos: vec![RepoSetup::new(REPO).with_files(files)],
            ..Scenario::default()
        };
        let (at, github) = serve_prepared(scenario, |sandbox| sandbox.github().clone());
        let base = format!("http://{at}/github");
        let world = World::new()
            .set("GITHUB_API_BASE", &base)
            .set("GITHUB_TOKEN", DEFAULT_TOKEN)
            .set("PATH", PATH);
        let stage = Self {
            world,
            github,
            folder: tempfile::tempdir().unwrap(),
            base,
        };
        let bare = stage.github.folder(REPO).unwrap();
        let place = stage.place().display().to_string();
        stage.git_in(
            stage.folder.path(),
            &["clone", "--quiet", bare.to_str().unwrap(), &place],
        );
        stage.git(&["config", "user.name", "Ann"]);
        stage.git(&["config", "user.email", "ann@example.com"]);
        stage
    }

    pub(super) fn place(&self) -> PathBuf {
        self.folder.path().join("clone")
    }

    #[track_caller]
    fn git_in(&self, folder: &std::path::Path, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.env_clear()
            .env("PATH", PATH)
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(folder)
            .args(arguments);
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    #[track_caller]
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.place(), arguments)
    }

    /// Every branch of the repository with its commit.
    pub(super) fn branches(&self) -> String {
        self.git(&["ls-remote", "--heads", "origin"])
    }

    /// Commits files to a branch and pushes it.
    pub(super) fn push(&self, branch: &str, files: &[(&str, &str)]) {
        for (path, text) in files {
            let place = self.place().join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "Change"]);
        self.git(&[
            "push",
            "--quiet",
            "origin",
            &format!("HEAD:refs/heads/{branch}"),
        ]);
    }

    /// Begins a branch at the newest `main`.
    pub(super) fn begin(&self) {
        self.git(&["fetch", "--quiet", "origin"]);
        self.git(&["checkout", "--quiet", "--detach", "origin/main"]);
    }

    /// A request to the sandbox.
    pub(super) fn asks(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut curl = Command::new("curl");
        let token = format!("Authorization: Bearer {DEFAULT_TOKEN}");
        let url = format!("{}/repos/{REPO}/{path}", self.base);
        curl.args([
            "-sS",
            "-X",
            method,
            "-H",
            &token,
            "-d",
            &body.to_string(),
            &url,
        ]);
        let output = curl.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A pull request of a branch that changes these files, and its number.
    pub(super) fn pull(&self, branch: &str, files: &[(&str, &str)]) -> u64 {
        self.begin();
        self.push(branch, files);
        let new = json!({ "head": branch, "base": "main", "title": branch, "body": "" });
        let opened = self.asks("POST", "pulls", &new);
        opened["number"]
            .as_u64()
            .unwrap_or_else(|| panic!("{opened}"))
    }

    pub(super) fn weave(&self, arguments: &[&str]) -> Ran {
        ran(
            self.world.command(&[&["weave", REPO], arguments].concat()),
            "",
        )
    }

    /// Three pull requests: two change the same lines of a file, and one another file.
    pub(super) fn with_three() -> Self {
        let stage = Self::new();
        let five = [10, 11, 12, 13, 14].map(|at| (at, "first"));
        let first = cart(&five);
        let first = [("src/cart.rs", first.as_str()), ("src/new.rs", "new\n")];
        assert_eq!(stage.pull("first", &first), 1);
        let second = cart(&[(12, "second")]);
        assert_eq!(stage.pull("second", &[("src/cart.rs", &second)]), 2);
        assert_eq!(stage.pull("third", &[("README.md", "A better shop.\n")]), 3);
        stage
    }

    /// The tree that git makes of the branches of pull requests that fit.
    pub(super) fn judged(&self, branches: &[&str]) -> String {
        self.begin();
        for branch in branches {
            self.git(&["merge", "--quiet", "--no-edit", &format!("origin/{branch}")]);
        }
        self.git(&["rev-parse", "HEAD^{tree}"])
    }
}

#[test]
fn a_dry_run_says_who_fits_and_writes_nothing() {
    let stage = Stage::with_three();
    let before = stage.branches();
    let ran = stage.weave(&["1", "2", "3"]);
    let (told, calls) = ran.stdout.rsplit_once("Calls to GitHub: ").unwrap();
    assert_eq!(
        told,
        "✅ #3 applies cleanly (taken, 1 file)\n\
         ✅ #1 applies cleanly (taken, 2 files)\n\
         ❌ #2 has conflicts with #1: src/cart.rs lines 10–14\n\
         Order: #3, #1, #2.\n\
         #1, #2 share src/cart.rs.\n\
         2 of 3 are in, and change 3 files.\n"
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    let calls: u64 = calls.trim_end_matches(".\n").parse().unwrap();
    assert!((10..30).contains(&calls), "{calls}");
    assert_eq!(stage.branches(), before);
    let told = stage
        .weave(&["1", "3", "--order", "given", "--json"])
        .ok()
        .json();
    assert_eq!(told["order"], json!([1, 3]));
    assert_eq!(told["members"][0].get("name"), None);
    assert_eq!(told["base"], stage.git(&["rev-parse", "origin/main"]));
    told.holds(&json!({ "branch": "main", "pushed": null }));
    assert!(!stage.world.data().exists(), "nothing is stored");
}

#[test]
fn a_change_beside_the_target_is_applied_and_one_without_a_diff_is_merged() {
    let stage = Stage::new();
    let one = cart(&[(20, "theirs")]);
    let number = stage.pull("one", &[("src/cart.rs", &one)]);
    // Its diff has too many lines for GitHub, and its text is merged.
    let long = "x\n".repeat(20_001);
    let two = cart(&[(25, "theirs")]);
    let large = stage.pull("two", &[("src/cart.rs", &two), ("long.txt", &long)]);
    stage.begin();
    stage.push("main", &[("src/cart.rs", &cart(&[(2, "ours")]))]);
    let ran = stage.weave(&[&number.to_string(), &large.to_string()]).ok();
    ran.prints(&[
        &format!("✅ #{number} applies cleanly (applied, 1 file)"),
        &format!("✅ #{large} applies cleanly (three_way, 2 files)"),
    ]);
}

#[test]
fn a_deletion_of_what_the_branch_renamed_since_is_a_conflict() {
    let stage = Stage::new();
    stage.begin();
    stage.git(&["rm", "--quiet", "README.md"]);
    stage.push("gone", &[]);
    let new = json!({ "head": "gone", "base": "main", "title": "Gone", "body": "" });
    let number = stage.asks("POST", "pulls", &new)["number"].clone();
    stage.begin();
    stage.git(&["mv", "README.md", "ABOUT.md"]);
    stage.push("main", &[]);
    let ran = stage.weave(&[&number.to_string()]);
    let line = format!(
        "❌ #{number} does not apply to the base alone either: README.md: one renamed what the other deleted"
    );
    assert!(ran.stdout.starts_with(&line), "{ran:?}");
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn who_takes_no_part_is_told_with_what_to_do() {
    let stage = Stage::new();
    let file = |name: &str| stage.pull(name, &[(name, "x\n")]);
    let [fits, closed, merged, draft] = ["fits", "closed", "merged", "draft"].map(file);
    stage.asks(
        "PATCH",
        &format!("pulls/{closed}"),
        &json!({ "state": "closed" }),
    );
    stage.asks("PUT", &format!("pulls/{merged}/merge"), &json!({}));
    stage.github.set_draft(REPO, draft, true);
    let from_fork = NewPull {
        title: "Fork".to_owned(),
        head_branch: "fork".to_owned(),
        fork: Some("mallory/shop".to_owned()),
        author_login: "mallory".to_owned(),
        ..NewPull::default()
    };
    let fork = stage.github.open_pull(SystemClock.now(), REPO, from_fork);
    let idle = stage.pull("idle", &[]);
    let protected = stage.pull("protected", &[(".github/ci.yml", "on: [pull_request]\n")]);
    let numbers = [fits, closed, merged, draft, fork, idle, protected, 99];
    let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ran = stage.weave(&[&words[..], &["--json"]].concat());
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = ran.json();
    assert_eq!(told["order"], json!([fits]));
    let skipped = told["skipped"].as_array().unwrap().iter();
    let skipped: Vec<_> = skipped
        .map(|it| (it["number"].as_u64().unwrap(), it["code"].as_str().unwrap()))
        .collect();
    let expected = [
        (closed, "closed"),
        (merged, "merged"),
        (draft, "draft"),
        (fork, "fork"),
        (idle, "no_change"),
        (protected, "protected_path"),
        (99, "not_found"),
    ];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(skipped, expected);
    let ran = stage.weave(&[&protected.to_string()]);
    let line = format!(
        "❌ #{protected} is left out: it changes .github/ci.yml, which is protected; merge it by itself"
    );
    assert!(ran.stdout.contains(&line), "{ran:?}");
}

#[test]
fn what_is_wrong_is_named_before_anything_is_written() {
    let stage = Stage::with_three();
    let before = stage.branches();
    for (arguments, code, named) in [
        (&["weave", "shop", "1"][..], 2, "shop"),
        (&["weave", REPO], 2, "which pull requests"),
        (&["weave", REPO, "one"], 2, "one is no number"),
        (
            &["weave", REPO, "acme/other#3"],
            2,
            "acme/other#3 is of acme/other",
        ),
        (
            &["weave", REPO, "https://github.com/acme/other/pull/3"],
            2,
            "`gaffer weave acme/other 3`",
        ),
        (&["weave", REPO, "1", "acme/shop#1"], 2, "given twice"),
        (&["weave", REPO, "1", "1"], 2, "given twice"),
        (&["weave", REPO, "1", "--base", "none"], 2, "no branch none"),
        (&["weave", REPO, "1", "--pull"], 2, "--push"),
        (&["weave", REPO, "1", "--write"], 2, "--local"),
        (
            &["weave", REPO, "1", "--base", "main", "--write"],
            2,
            "--write",
        ),
        (
            &["weave", REPO, "1", "--push", "x", "--rev", "v1"],
            2,
            "--rev",
        ),
        (
            &["weave", REPO, "1", "--local", ".", "--push", "x"],
            2,
            "--push",
        ),
        (&["weave", REPO, "3", "--push", "main"], 2, "woven into"),
        (&["weave", "acme/none", "1"], 1, "acme/none"),
    ] {
        let ran = stage.world.run(arguments);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (code, ""),
            "{arguments:?}: {ran:?}"
        );
        assert!(ran.stderr.contains(named), "{arguments:?}: {ran:?}");
    }
    assert_eq!(stage.branches(), before);
}

#[test]
fn too_many_are_refused_before_any_is_read() {
    let stage = Stage::new();
    let numbers: Vec<String> = (1..=61).map(|number: u64| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    // None of them is there, which reading them would tell.
    let ran = stage.weave(&numbers);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    assert!(ran.stderr.contains("at most 60 members"), "{ran:?}");
}

#[test]
fn a_private_repository_is_woven_with_a_token_that_sees_it() {
    let stage = Stage::with_three();
    stage.github.change_repo(REPO, |setup| setup.private = true);
    stage.github.add_token(TokenSetup {
        token: "ghp_other".to_owned(),
        repos: Some(vec!["acme/other".to_owned()]),
        ..TokenSetup::default()
    });
    // Both diffs are needed, and one does not fit.
    let woven = stage.weave(&["1", "2"]);
    let conflict = "❌ #2 has conflicts with #1: src/cart.rs lines 10–14\n";
    assert!(woven.stdout.contains(conflict), "{woven:?}");
    let mut other = stage.world.command(&["weave", REPO, "1", "2", "--json"]);
    other.env("GITHUB_TOKEN", "ghp_other");
    let refused = ran(other, "").failure();
    refused.is(1, "no_access");
    refused.tells("", "let the token");
}
