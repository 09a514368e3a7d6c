//! What does not fit is refused by name with exit code 2, and changes nothing.

use super::at_work::{PENDING, PLANNED, READY};
use super::repository::{Repository, ran_in};

/// Words after `gaffer`, and a part of what is told.
const WRONG: &str = "\
scaffold init | is there already
scaffold doctor --ref nothing | no commit `nothing`
scaffold doctor --ref=--all | no commit `--all`
scaffold doctor --ref jules --fix | --fix
run narrator --branch main | --prompt-preview
run n --wait --prompt-preview | --wait
run n --mock mock-1 --prompt-preview | --mock
run i READY --keep-files --prompt-preview | --keep-files
run narratr --prompt-preview | did you mean `narrator`?
run cook --prompt-preview | the layers are narrator
run integrator --prompt-preview | gaffer weave
run o --prompt-preview | taxonomy
run o --role taxonomi --prompt-preview | did you mean `taxonomy`?
run o --role ../x --prompt-preview | --role
run n --role taxonomy --prompt-preview | has no roles
run n --task x --prompt-preview | leave the task out
run x --role recruiter --task x --prompt-preview | no task `x`
run n READY --prompt-preview | leave it out
run p --prompt-preview | name its file
run p PENDING --prompt-preview | is no requirement
run p README.md --prompt-preview | is no requirement
run p ../x.yml --prompt-preview | never goes up
run p /etc/passwd --prompt-preview | root of a disk
run i .jules/exchange/requirements/none.yml --prompt-preview | is not there
run p READY --prompt-preview | no deep analysis
run i PLANNED --prompt-preview | asks for deep analysis
run n --branch none --prompt-preview | no branch `none`
run n --branch main --prompt-preview | bootstrap the repository first
run n --repo shop --prompt-preview | OWNER/REPO";

#[test]
fn what_does_not_fit_is_named_and_changes_nothing() {
    let repository = Repository::at_work("2026-02-17");
    let before = repository.state();
    for row in WRONG.lines() {
        let (line, named) = row.split_once(" | ").unwrap();
        let files = |word: &'static str| match word {
            "READY" => READY,
            "PENDING" => PENDING,
            "PLANNED" => PLANNED,
            word => word,
        };
        let arguments: Vec<&str> = line.split(' ').map(files).collect();
        repository.refuses(&arguments, named);
    }
    assert_eq!(repository.state(), before);
}

#[test]
fn a_refused_preview_says_what_to_do_about_what_was_asked_for() {
    let repository = Repository::at_work("2026-02-17");
    let missing = ".jules/exchange/requirements/none.yml";
    let innovator = ["run", "x", "--role", "recruiter", "--task", "y"];
    for (arguments, next) in [
        (&["run", "o"][..], "--role ROLE"),
        (&["run", "o", "--role", "taxonomi"], "gaffer role list"),
        (&["run", "n", "--role", "taxonomy"], "without that"),
        (&innovator, "--task TASK"),
        (&["run", "i", missing], "gaffer exchange inspect"),
        (&["run", "p"], "gaffer exchange inspect"),
        (&["run", "i", PLANNED], "gaffer run planner"),
        (&["run", "p", READY], "gaffer run implementer"),
        // Here the files are wrong.
        (&["run", "n", "--branch", "main"], "gaffer scaffold doctor"),
    ] {
        let refused = repository.refused(&[arguments, &["--prompt-preview"]].concat());
        assert_eq!(refused.code, "no_prompt", "{arguments:?}");
        assert!(refused.next.contains(next), "{arguments:?}: {refused:?}");
    }
}

#[test]
fn outside_a_repository_and_without_git_nothing_is_written() {
    let repository = Repository::new();
    let outside = tempfile::tempdir().unwrap();
    for command in ["init", "bootstrap", "doctor"] {
        let ran = repository.run_in(outside.path(), &["scaffold", command]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("git finds no repository"), "{ran:?}");
        let mut gaffer = repository.gaffer(&repository.root());
        gaffer.env("PATH", outside.path());
        let ran = ran_in(gaffer, &["scaffold", command]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("install git 2.38"), "{ran:?}");
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_worker_branch_is_no_place_for_these_commands() {
    let repository = Repository::set_up();
    repository.git(&["checkout", "--quiet", "jules"]);
    let before = repository.state();
    std::fs::rename(
        repository.root().join(".jlo"),
        repository.root().join("away"),
    )
    .unwrap();
    let refused = repository.refused(&["scaffold", "init"]);
    refused.is(2, "on_worker_branch");
    std::fs::rename(
        repository.root().join("away"),
        repository.root().join(".jlo"),
    )
    .unwrap();
    let refused = repository.refused(&["scaffold", "bootstrap"]);
    refused.is(2, "on_worker_branch");
    refused.tells("is checked out in", "");
    assert_eq!(repository.state(), before);
}

#[test]
fn files_of_the_system_on_the_target_branch_are_named_by_commands_and_doctor() {
    let repository = Repository::set_up();
    let stray = ".jules/exchange/events/pending/.gitkeep";
    repository.git(&["checkout", "--quiet", "jules", "--", stray]);
    repository.commit("Take a file of the system along");
    let refused = repository.refused(&["role", "add", "observers", "librarian"]);
    refused.is(2, "has_system_files");
    assert!(
        refused.error.starts_with("`main` has .jules/exchange/"),
        "{refused:?}"
    );
    let examined = repository.run(&["scaffold", "doctor"]);
    assert_eq!(examined.code, 1, "{examined:?}");
    examined.prints(&[&format!("{stray}:1: ")]);
    repository.git(&["rm", "--quiet", stray]);
    repository.commit("Take it off");
    repository.run(&["scaffold", "doctor"]).ok();
    repository
        .run(&["role", "add", "observers", "librarian"])
        .ok();
}

#[test]
fn a_repository_that_is_not_ready_says_what_is_missing() {
    let repository = Repository::new();
    let refused = repository.refused(&["scaffold", "bootstrap"]);
    refused.is(2, "not_begun");
    repository.run(&["scaffold", "init"]).ok();
    let refused = repository.refused(&["scaffold", "bootstrap"]);
    assert!(refused.error.contains("on the branch main"), "{refused:?}");
    repository.refuses(&["scaffold", "bootstrap"], "commit `.jlo/` on that branch");
    repository.write(
        ".jlo/config.toml",
        "[run]\njules_worker_branch = \"main\"\n",
    );
    repository.commit("Set Gaffer up");
    let refused = repository.refused(&["scaffold", "bootstrap"]);
    assert!(refused.error.contains(".jlo/config.toml:2:"), "{refused:?}");
    repository.write(".jlo/config.toml", "");
    repository.write(".jlo/.jlo-version", "999.0.0\n");
    repository.commit("Come from the future");
    let refused = repository.refused(&["scaffold", "bootstrap"]);
    refused.is(2, "version");
    assert_eq!(repository.git(&["branch", "--list", "jules"]), "");
}

/// The worker branch that is named as the target has settings of an older commit, which name another one.
#[test]
fn one_branch_for_both_is_told_in_whichever_key_it_is_named() {
    for key in ["jlo_target_branch", "jules_worker_branch"] {
        let repository = Repository::set_up();
        let branch = match key {
            "jlo_target_branch" => "jules",
            _ => "main",
        };
        repository.write(
            ".jlo/config.toml",
            &format!("[run]\n{key} = \"{branch}\"\n"),
        );
        repository.commit("Name one branch twice");
        let told = format!(".jlo/config.toml:2: `{key}` is the same branch");
        let refused = repository.refused(&["scaffold", "bootstrap"]);
        assert!(refused.error.contains(&told), "{refused:?}");
        let examined = repository.run(&["scaffold", "doctor"]);
        assert_eq!(examined.code, 1, "{examined:?}");
        assert!(examined.stdout.contains(&told), "{examined:?}");
        assert!(
            !examined.stdout.contains("stray-system-file"),
            "{examined:?}"
        );
    }
}
