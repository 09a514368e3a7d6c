//! `gaffer workflow generate`: the files it writes, and each of their steps executed as GitHub Actions does it.

use std::path::Path;
use std::process::Command;

use scaffold::yaml::{self, Node};
use serde_json::json;

use super::repository::{Repository, ran_in, write_program};
use crate::jobs::{TOKEN, serve};
use crate::world::{Ran, Told, World};

pub(crate) const DOCTOR: &str = ".github/workflows/jules-doctor.yml";
pub(crate) const RELAY: &str = ".github/workflows/jules-relay.yml";
const CONFIG: &str = ".jlo/config.toml";

/// A repository whose settings have these lines.
pub(crate) fn repository(workflow: &str) -> Repository {
    let repository = Repository::set_up();
    set(&repository, workflow);
    repository
}

fn set(repository: &Repository, workflow: &str) {
    let (before, rest) = {
        let text = repository.read(CONFIG);
        let (before, rest) = text.split_once("[workflow]\n").unwrap();
        let rest = rest.find("[observers]").map(|at| rest[at..].to_owned());
        (before.to_owned(), rest.unwrap())
    };
    let text = format!("{before}[workflow]\n{workflow}\n{rest}");
    repository.write(CONFIG, &text);
}

fn generate(repository: &Repository, more: &[&str]) -> serde_json::Value {
    repository.json(&[&["workflow", "generate"], more].concat())
}

#[test]
fn workflows_are_written_once_and_follow_the_settings() {
    let repository = repository("cron = [\"0 20 * * *\"]");
    repository.write(".github/workflows/ci.yml", "name: ci\n");
    repository.write(".github/CODEOWNERS", "* @ann\n");
    let first = generate(&repository, &[]);
    assert_eq!(first, json!({ "written": [DOCTOR], "removed": [] }));
    let nothing = json!({ "written": [], "removed": [] });
    assert_eq!(generate(&repository, &[]), nothing);
    set(&repository, "clock = \"actions\"\ncron = [\"0 20 * * *\"]");
    let both = generate(&repository, &["self-hosted"]);
    assert_eq!(both["written"], json!([DOCTOR, RELAY]));
    assert_eq!(generate(&repository, &["self-hosted"]), nothing);
    let relay = repository.read(RELAY);
    assert!(relay.contains("runs-on: \"self-hosted\"") && relay.contains("- cron: \"0 20 * * *\""));
    // One clock at a time: the other one's file goes.
    set(
        &repository,
        "cron = [\"0 20 * * *\"]\nrunner_mode = \"self-hosted\"",
    );
    let back = generate(&repository, &[]);
    assert_eq!(back, json!({ "written": [], "removed": [RELAY] }));
    repository.git(&["add", "--all"]);
    let tracked = repository.git(&["ls-files", ".github"]);
    assert_eq!(
        tracked,
        format!(".github/CODEOWNERS\n.github/workflows/ci.yml\n{DOCTOR}")
    );
    assert_eq!(repository.read(".github/workflows/ci.yml"), "name: ci\n");
}

#[test]
fn deinit_removes_what_was_generated_and_committed() {
    let repository = repository("clock = \"actions\"");
    repository.write(".github/workflows/ci.yml", "name: ci\n");
    generate(&repository, &[]);
    let refused = repository.refused(&["scaffold", "deinit"]);
    refused.is(2, "uncommitted");
    repository.commit("Let Actions begin the runs");
    repository.write(RELAY, &format!("{}# changed\n", repository.read(RELAY)));
    let refused = repository.refused(&["scaffold", "deinit"]);
    assert!(refused.error.starts_with(RELAY), "{refused:?}");
    repository.git(&["checkout", "--", RELAY]);
    let gone = repository.json(&["scaffold", "deinit"]);
    let removed = gone["removed"].as_array().unwrap();
    assert!(removed.contains(&DOCTOR.into()) && removed.contains(&RELAY.into()));
    let left = repository.git(&["ls-files", "--deleted", ".github"]);
    assert_eq!(left, format!("{DOCTOR}\n{RELAY}"));
}

#[test]
fn a_workflow_of_a_persons_own_is_neither_replaced_nor_removed() {
    let repository = repository("clock = \"actions\"");
    repository.write(RELAY, "name: mine\n");
    let before = repository.state();
    let refused = repository.refused(&["workflow", "generate"]);
    refused.is(2, "own_workflow");
    refused.tells(RELAY, "");
    let told = repository.state();
    assert_eq!(told, before, "not even the other one is written");
    set(&repository, "clock = \"gaffer\"");
    let generated = generate(&repository, &[]);
    assert_eq!(generated, json!({ "written": [DOCTOR], "removed": [] }));
    assert_eq!(repository.read(RELAY), "name: mine\n");
}

#[test]
fn what_does_not_fit_a_workflow_is_named_and_nothing_is_written() {
    let repository = repository("");
    let refuses = |arguments: &[&str], named: &str| {
        let before = repository.state();
        repository.refuses(&[&["workflow"], arguments].concat(), named);
        assert_eq!(repository.state(), before, "{arguments:?}");
    };
    refuses(&["generate", "a b"], "`self-hosted`");
    refuses(&["generate", "remote", "more"], "more");
    refuses(&["genrate"], "generate");
    for (workflow, named) in [
        ("clock = \"sun\"", "config.toml:10: `clock` is"),
        (
            "clock = \"actions\"\ntimezone = \"Asia/Seoul\"",
            "`Asia/Seoul`",
        ),
        ("clock = \"actions\"\ncron = [\"@daily\"]", "`@daily`"),
        ("runner_mode = \"a b\"", "`runner_mode`"),
    ] {
        set(&repository, workflow);
        refuses(&["generate"], named);
    }
    let outside = tempfile::tempdir().unwrap();
    set(&repository, "");
    let folder = repository.root().join(".github");
    std::os::unix::fs::symlink(outside.path(), folder).unwrap();
    refuses(&["generate"], "is a link");
    let new = Repository::new();
    new.refuses(&["workflow", "generate"], "gaffer scaffold init");
}

/// A script with its environment.
type Step = (String, Vec<(String, String)>);

/// The scripts of a workflow, whose expressions have these values, or any.
pub(crate) fn steps(text: &str, values: Option<&[(&str, &str)]>) -> Vec<Step> {
    let node = yaml::parse("workflow", text.as_bytes()).unwrap();
    let word = |node: &Node, key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    let value = |text: &str| {
        let Some(values) = values else {
            return String::new();
        };
        let known = |(expression, _): &&(&str, &str)| text == format!("${{{{ {expression} }}}}");
        let known = values.iter().find(known);
        known
            .unwrap_or_else(|| panic!("no value for {text}"))
            .1
            .to_owned()
    };
    let jobs = node.get("jobs").and_then(Node::map).unwrap();
    let steps = jobs
        .iter()
        .flat_map(|job| job.node.get("steps").unwrap().list().unwrap());
    let scripts = steps.filter_map(|step| {
        let script = word(step, "run")?;
        assert_eq!(word(step, "shell").as_deref(), Some("bash"));
        let set = step.get("env").and_then(Node::map).unwrap_or_default();
        let set = set
            .iter()
            .map(|it| (it.key.clone(), value(it.node.text().unwrap())));
        Some((script, set.collect()))
    });
    scripts.collect()
}

/// Runs the scripts one after the other as Actions does, up to the first that fails.
fn executed(text: &str, values: &[(&str, &str)], here: &dyn Fn(&mut Command)) -> Vec<Ran> {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for (script, set) in steps(text, Some(values)) {
        let file = folder.path().join("step.sh");
        std::fs::write(&file, script).unwrap();
        let mut command = Command::new("bash");
        here(&mut command);
        command.envs(set);
        let file = file.to_str().unwrap();
        let ran = ran_in(command, &["--noprofile", "--norc", "-eo", "pipefail", file]);
        let failed = ran.code != 0;
        all.push(ran);
        if failed {
            break;
        }
    }
    all
}

/// The clone that Actions has checked out at a commit, with every branch of the repository.
fn checked_out(repository: &Repository, commit: &str) -> std::path::PathBuf {
    let folder = repository.root().with_file_name("runner");
    let place = folder.to_str().unwrap();
    repository.git(&["clone", "--quiet", ".", place]);
    repository.git_in(&folder, &["checkout", "--quiet", "--detach", commit]);
    repository.git_in(&folder, &["branch", "--delete", "--force", "main"]);
    folder
}

#[test]
fn every_step_of_the_doctors_workflow_runs() {
    let repository = Repository::at_work(&super::examined::today());
    generate(&repository, &[]);
    let workflow = repository.read(DOCTOR);
    repository.commit("Have the doctor called");
    let broken = ".jules/exchange/requirements/cc22dd-lock-the-file.yml";
    repository.git(&["branch", "session", "jules"]);
    repository.commit_to("session", &[(broken, Some("id: [\n"))]);
    let clone = checked_out(&repository, "origin/main");
    let built = Path::new(env!("CARGO_BIN_EXE_gaffer")).parent().unwrap();
    let here = |command: &mut Command| {
        repository.prepare(command, &clone);
        let path = format!("{}:/usr/bin:/bin", built.display());
        command.env("PATH", path);
    };
    let values = [("vars.GAFFER_GIT", "")];
    for commit in ["origin/main", "origin/jules"] {
        repository.git_in(&clone, &["checkout", "--quiet", "--detach", commit]);
        let ran = executed(&workflow, &values, &here);
        let [found, examined] = &ran[..] else {
            panic!("{ran:?}");
        };
        assert_eq!((found.code, examined.code), (0, 0), "{commit}: {ran:?}");
        assert_eq!(examined.stdout, "0 errors, 0 warnings.\n");
    }
    repository.git_in(
        &clone,
        &["checkout", "--quiet", "--detach", "origin/session"],
    );
    let ran = executed(&workflow, &values, &here);
    let examined = ran.last().unwrap();
    assert_eq!(examined.code, 1, "{ran:?}");
    examined.prints(&[&format!("[ERROR] {broken}:")]);
}

#[test]
fn a_machine_without_gaffer_builds_it_or_says_what_it_needs() {
    let repository = repository("");
    generate(&repository, &[]);
    let workflow = repository.read(DOCTOR);
    let bin = repository.root().with_file_name("bin");
    std::fs::create_dir(&bin).unwrap();
    write_program(&bin.join("cargo"), "echo cargo \"$@\"\nexit 3");
    let here = |command: &mut Command| {
        repository.prepare(command, &repository.root());
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    };
    let without = executed(&workflow, &[("vars.GAFFER_GIT", "")], &here);
    let [without] = &without[..] else {
        panic!("{without:?}");
    };
    assert_eq!(without.code, 1);
    without.begins("::error::There is no gaffer");
    let git = "https://example.com/gaffer.git";
    let built = executed(&workflow, &[("vars.GAFFER_GIT", git)], &here);
    let [built] = &built[..] else {
        panic!("{built:?}");
    };
    let typed = format!("cargo install --locked --git {git} cli\n");
    assert_eq!((built.code, built.stdout.as_str()), (3, typed.as_str()));
}

/// The relay of a repository whose clock is that of Actions.
pub(crate) fn relay() -> String {
    let repository = repository("clock = \"actions\"\ncron = [\"0 20 * * *\"]");
    generate(&repository, &[]);
    repository.read(RELAY)
}

/// Runs the relay with an address and a token.
pub(crate) fn relayed(relay: &str, url: &str, token: &str, from: &str) -> Ran {
    let values = [
        ("vars.GAFFER_URL", url),
        ("secrets.GAFFER_TOKEN", token),
        ("inputs.from || 'narrator'", from),
    ];
    let here = |command: &mut Command| {
        command.env_clear().env("PATH", "/usr/bin:/bin");
        command.env("GITHUB_REPOSITORY", "acme/shop");
    };
    let mut ran = executed(relay, &values, &here);
    assert_eq!(ran.len(), 1);
    ran.remove(0)
}

#[test]
fn the_step_of_the_relay_begins_a_run() {
    let relay = relay();
    let world = World::with_account();
    world.run(&["source", "add", "acme/shop"]).ok();
    let url = format!("http://{}", serve(&world));
    let world = world
        .set("GAFFER_URL", url.clone())
        .set("GAFFER_TOKEN", TOKEN);
    let off = relayed(&relay, &url, TOKEN, "narrator");
    assert_eq!(off.code, 1, "{off:?}");
    off.prints(&["pipeline_off", "answered 409"]);
    world.json(&["pipeline", "on", "acme/shop"]);
    let begun = relayed(&relay, &format!("{url}/"), TOKEN, "decider");
    assert_eq!((begun.code, begun.stderr.as_str()), (0, ""), "{begun:?}");
    let listed = world.json(&["pipeline", "list", "acme/shop"]);
    let runs = listed["pipelines"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    let id = runs[0]["id"].as_str().unwrap();
    assert!(begun.stdout.contains(id), "{begun:?}");
    let shown = world.json(&["pipeline", "show", id]);
    assert_eq!(shown["pipeline"]["steps"][1]["step"], "decider");
    // A second one is none, and nothing has failed.
    let again = relayed(&relay, &url, TOKEN, "narrator");
    assert_eq!(again.code, 0, "{again:?}");
    again.prints(&["::notice::A run goes on already"]);
    let stranger = relayed(&relay, &url, "gaf_0", "narrator");
    assert_eq!(stranger.code, 1);
    stranger.prints(&["::error::Gaffer answered 401"]);
    for (url, token, named) in [
        ("", TOKEN, "GAFFER_URL"),
        ("http://gaffer.example.com", TOKEN, "GAFFER_URL"),
        (url.as_str(), "", "GAFFER_TOKEN"),
    ] {
        let ran = relayed(&relay, url, token, "narrator");
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stdout.contains(named) && !ran.says(TOKEN), "{ran:?}");
    }
}
