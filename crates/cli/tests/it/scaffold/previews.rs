//! The prompt of each layer, compared with a kept text.

use expect_test::{ExpectFile, expect_file};
use serde_json::Value;

use super::at_work::{PLANNED, READY};
use super::repository::Repository;
use crate::world::Told;

fn shown(repository: &Repository, arguments: &[&str]) -> Value {
    let run = [&["run"], arguments, &["--prompt-preview"]].concat();
    repository.json(&run)
}

/// The prompt with a fixed word for each id that was drawn and for each commit.
fn masked(repository: &Repository, told: &Value) -> String {
    let mut prompt = told["prompt"].as_str().unwrap().to_owned();
    for (number, id) in told["ids"].as_array().unwrap().iter().enumerate() {
        prompt = prompt.replace(id.as_str().unwrap(), &format!("id{number:04}"));
    }
    for sha in repository
        .git(&["log", "--format=%h", "--abbrev=7", "main"])
        .lines()
    {
        prompt = prompt.replace(sha, "0000000");
    }
    format!("{prompt}\n")
}

fn compare(repository: &Repository, arguments: &[&str], kept: ExpectFile) {
    let told = shown(repository, arguments);
    kept.assert_eq(&masked(repository, &told));
}

#[test]
fn the_prompt_of_each_layer_is_the_kept_one() {
    let repository = Repository::at_work("2026-02-17");
    compare(
        &repository,
        &["narrator"],
        expect_file!["previews/narrator.txt"],
    );
    let observer = ["observers", "--role", "taxonomy"];
    compare(
        &repository,
        &observer,
        expect_file!["previews/observer.txt"],
    );
    compare(&repository, &["d"], expect_file!["previews/decider.txt"]);
    compare(
        &repository,
        &["planners", PLANNED],
        expect_file!["previews/planner.txt"],
    );
    compare(
        &repository,
        &["i", READY],
        expect_file!["previews/implementer.txt"],
    );
    let innovator = [
        "x",
        "--role",
        "recruiter",
        "--task",
        "create_three_proposals",
    ];
    compare(
        &repository,
        &innovator,
        expect_file!["previews/innovator.txt"],
    );
}

#[test]
fn the_prompt_alone_is_on_stdout_and_what_is_in_it_on_stderr() {
    let repository = Repository::at_work("2026-02-17");
    let before = repository.state();
    let ran = repository.run(&["run", "planner", PLANNED, "--prompt-preview"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.begins("# ");
    ran.prints(&["\n# Output\n"]);
    assert!(!ran.stdout.ends_with('\n'), "a prompt has none: {ran:?}");
    let told: Vec<&str> = ran.stderr.lines().collect();
    let included = format!("included: {PLANNED} (");
    assert!(
        told.iter().any(|line| line.starts_with(&included)),
        "{ran:?}"
    );
    let skipped = "skipped: .jlo/roles/planner/role.yml";
    assert!(told.contains(&skipped), "{ran:?}");
    let whole = "of 32000 bytes as JSON, about ";
    assert!(told.last().unwrap().contains(whole), "{ran:?}");
    assert_eq!(repository.state(), before);
}

#[test]
fn a_narrator_gets_the_commits_since_its_last_summary() {
    let repository = Repository::set_up();
    let commits = |repository: &Repository| {
        let told = shown(repository, &["narrator"]);
        let prompt = told["prompt"].as_str().unwrap().to_owned();
        ["Open the shop", "Set Gaffer up"].map(|subject| prompt.contains(subject))
    };
    // As a run sends them, whatever each of them changed.
    assert_eq!(commits(&repository), [true, true]);
    let summary = |day: &str| format!("schema_version: 1\ncreated_at: \"{day}\"\nsummaries: []\n");
    let changes = ".jules/exchange/changes.yml";
    repository.commit_to_worker(&[(changes, Some(&summary("2026-02-17")))]);
    assert_eq!(commits(&repository), [true, true], "of its own day");
    repository.commit_to_worker(&[(changes, Some(&summary("2026-02-18")))]);
    assert_eq!(commits(&repository), [false, false]);
}

#[test]
fn a_narrator_gets_subjects_as_a_run_sends_them() {
    let repository = Repository::set_up();
    repository.write("long.txt", "x\n");
    repository.commit(&format!("Add {}", "x".repeat(500)));
    let told = shown(&repository, &["narrator"]);
    let prompt = told["prompt"].as_str().unwrap();
    let line = prompt.lines().find(|line| line.contains(" Add x")).unwrap();
    // The short id, a space, 120 characters, and the mark of the cut.
    assert_eq!(line.chars().count(), 7 + 1 + 120 + 1, "{line}");
}

#[test]
fn a_branch_takes_the_place_of_the_one_that_the_layer_starts_from() {
    let repository = Repository::at_work("2026-02-17");
    repository.git(&["branch", "trial", "jules"]);
    repository.commit_to("trial", &[(".jules/JULES.md", Some("Rules on trial.\n"))]);
    let prompt = |arguments: &[&str]| {
        let told = shown(&repository, &[arguments, &["--branch", "trial"]].concat());
        told["prompt"].as_str().unwrap().to_owned()
    };
    assert!(prompt(&["planner", PLANNED]).starts_with("Rules on trial."));
    let implementer = prompt(&["implementer", READY]);
    assert!(!implementer.contains("Rules on trial.") && implementer.contains("`trial`"));
    // A commit is read as it is, and the prompt names the branch of the settings.
    let sha = repository.git(&["rev-parse", "trial"]);
    let told = shown(&repository, &["planner", PLANNED, "--branch", &sha]);
    let at_commit = told["prompt"].as_str().unwrap();
    assert!(at_commit.starts_with("Rules on trial."));
    assert!(at_commit.contains("You work on the branch `jules`"));
    let unknown = "0".repeat(40);
    let run = ["run", "planner", PLANNED, "--prompt-preview", "--branch"];
    let run = [&run[..], &[unknown.as_str()]].concat();
    repository.refuses(&run, "there is no commit");
}

#[test]
fn the_repository_is_that_of_origin_or_of_the_environment() {
    let repository = Repository::set_up();
    let named = |environment: Option<&str>, arguments: &[&str]| {
        let mut command = repository.gaffer(&repository.root());
        command.envs(environment.map(|name| ("GITHUB_REPOSITORY", name)));
        let run = [&["run", "narrator", "--prompt-preview"], arguments].concat();
        super::repository::ran_in(command, &run)
    };
    assert!(
        named(Some("acme/actions"), &[])
            .stdout
            .contains("acme/shop")
    );
    assert!(
        named(None, &["--repo", "acme/named"])
            .stdout
            .contains("acme/named")
    );
    let elsewhere = "https://gitlab.com/acme/shop.git";
    repository.git(&["remote", "set-url", "origin", elsewhere]);
    assert!(
        named(Some("acme/actions"), &[])
            .stdout
            .contains("acme/actions")
    );
    let refused = named(None, &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(refused.stderr.contains("GITHUB_REPOSITORY"), "{refused:?}");
}
