//! `gaffer scaffold upgrade` and `deinit`, and the same commands as `jlo`.

use serde_json::json;

use super::repository::{Repository, ran_in};
use crate::world::{Fields, words};

const PIN: &str = ".jlo/.jlo-version";

#[test]
fn settings_without_a_version_get_it_by_an_upgrade() {
    let repository = Repository::set_up();
    std::fs::remove_file(repository.root().join(PIN)).unwrap();
    repository.commit("Lose the version");
    let refused = repository.refused(&["scaffold", "bootstrap"]);
    let next = "write it with `gaffer scaffold upgrade`, and commit it";
    assert_eq!(
        (refused.code.as_str(), refused.next.as_str()),
        ("not_begun", next)
    );
    let upgraded = repository.json(&["scaffold", "upgrade"]);
    assert_eq!(upgraded["advanced"], true);
}

#[test]
fn an_upgrade_adds_what_is_missing_and_keeps_what_is_there() {
    let repository = Repository::set_up();
    let ours = repository.read(PIN);
    let again = repository.json(&["scaffold", "upgrade"]);
    again.holds(&json!({ "advanced": false, "added": [] }));
    repository.write(PIN, "0.0.1\n");
    repository.write(".jlo/roles/observers/own/role.yml", "mine\n");
    repository.write(".jlo/config.toml", "# mine\n");
    std::fs::remove_dir_all(repository.root().join(".jlo/roles/innovators")).unwrap();
    let upgraded = repository.json(&["scaffold", "upgrade"]);
    let added = json!([".jlo/roles/innovators/.gitkeep"]);
    upgraded.holds(&json!({ "advanced": true, "added": added }));
    assert_eq!(repository.read(PIN), ours);
    assert_eq!(repository.read(".jlo/config.toml"), "# mine\n");
    for (pin, named) in [("999.0.0\n", "999.0.0"), ("newest\n", "is no version")] {
        repository.write(PIN, pin);
        let refused = repository.refused(&["scaffold", "upgrade"]);
        refused.is(2, "version");
        refused.tells(named, "");
        assert_eq!(repository.read(PIN), pin);
    }
    let refused = Repository::new().refused(&["scaffold", "upgrade"]);
    refused.is(2, "not_begun");
}

#[test]
fn nothing_is_written_beside_the_files_of_a_newer_version() {
    let repository = Repository::set_up();
    repository.write(".jlo/setup/tools.yml", "tools: [gh]\n");
    repository.write(PIN, "999.0.0\n");
    repository.commit("Come from the future");
    let before = repository.state();
    for command in [
        "role create observers billing",
        "role add observers librarian",
        "role delete observers qa",
        "workflow generate",
        "setup gen",
        "scaffold bootstrap",
        "scaffold upgrade",
        "scaffold migrate",
        "scaffold doctor --fix",
    ] {
        let refused = repository.refused(&words(command));
        let told = (refused.code.as_str(), refused.exit);
        assert_eq!(told, ("version", 2), "{command}: {refused:?}");
        assert_eq!(repository.state(), before, "{command}");
    }
    for command in ["role list", "setup list", "exchange inspect"] {
        repository.run(&words(command)).ok();
    }
}

#[test]
fn a_link_leads_no_file_out_of_the_repository() {
    let repository = Repository::set_up();
    let outside = tempfile::tempdir().unwrap();
    let roles = repository.root().join(".jlo/roles");
    std::fs::remove_dir_all(&roles).unwrap();
    std::os::unix::fs::symlink(outside.path(), &roles).unwrap();
    repository.refused(&["scaffold", "upgrade"]).is(2, "link");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn deinit_removes_what_git_can_bring_back_and_says_what_stays() {
    let repository = Repository::set_up();
    repository.write(".jlo/setup/tools.yml", "tools: [gh]\n");
    let refused = repository.refused(&["scaffold", "deinit"]);
    refused.is(2, "uncommitted");
    repository.commit("Choose tools");
    repository.write(".jlo/setup/secrets.toml", "mine\n");
    let tip = repository.git(&["rev-parse", "jules"]);
    repository.git(&["checkout", "--quiet", "-b", "jules-test-1"]);
    let refused = repository.refused(&["scaffold", "deinit"]);
    refused.is(2, "on_test_branch");
    repository.git(&["checkout", "--quiet", "jules"]);
    let refused = repository.refused(&["scaffold", "deinit"]);
    refused.is(2, "on_worker_branch");
    repository.git(&["checkout", "--quiet", "main"]);
    let ran = repository.run(&["scaffold", "deinit"]).ok();
    for told in [
        tip.as_str(),
        ".jlo/setup/secrets.toml stays",
        ".jlo/setup/.gitignore stays",
        "gaffer secret list",
        "Actions",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {ran:?}");
    }
    assert_eq!(repository.git(&["branch", "--list", "jules"]), "");
    assert_eq!(repository.read(".jlo/setup/secrets.toml"), "mine\n");
    // What is committed next has no secret in it.
    repository.git(&["add", "--all"]);
    let tracked = repository.git(&["ls-files", ".jlo"]);
    assert_eq!(tracked, ".jlo/setup/.gitignore");
    repository.git(&["reset", "--quiet"]);
    repository.git(&["checkout", "--", ".jlo"]);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    repository.git(&["branch", "jules", &tip]);
    assert_eq!(repository.run(&["scaffold", "doctor"]).code, 0);
}

#[test]
fn deinit_leaves_nothing_where_git_knows_everything() {
    let repository = Repository::set_up();
    let gone = repository.json(&["scaffold", "deinit"]);
    let removed = gone["removed"].as_array().unwrap();
    assert!(removed.contains(&".jlo/setup/.gitignore".into()), "{gone}");
    assert_eq!(gone["kept"], json!([]));
    assert!(!repository.root().join(".jlo").exists());
}

#[test]
fn jlo_has_the_same_commands_under_its_own_names() {
    let repository = Repository::new();
    assert_eq!(repository.types("jlo i").code, 0);
    repository.commit("Set Gaffer up");
    assert_eq!(repository.types("jlo bootstrap").code, 0);
    let examined = repository.types("jlo doctor --strict --json").json();
    assert_eq!(examined["errors"], 0);
    let prompt = repository.types("jlo r o --role qa --prompt-preview");
    assert!(prompt.stdout.contains("\n# Output\n"), "{prompt:?}");
    let nothing = repository.types("jlo");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (2, ""));
    assert!(nothing.stderr.contains("Usage: jlo"), "{nothing:?}");
    let odd = repository.types("jlo bootstrp --json").failure();
    odd.is(2, "usage");
    odd.tells("", "bootstrap");
    for line in ["jlo bootstrp", "jlo init"] {
        let refused = repository.types(line).stderr;
        assert!(refused.starts_with("jlo: "), "{line}: {refused}");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_jlo"));
    command.env_clear();
    assert_eq!(ran_in(command, &["--version"]).code, 0);
}
