//! `gaffer setup`: the script of the tools, and the values that they take.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::repository::Repository;

const SECRETS: &str = ".jlo/setup/secrets.toml";
const INSTALL: &str = ".jlo/setup/install.sh";

fn mode(repository: &Repository, path: &str) -> u32 {
    let found = fs::metadata(repository.root().join(path)).unwrap();
    found.permissions().mode() & 0o777
}

#[test]
fn a_script_is_made_of_the_tools_and_every_value_stays() {
    let repository = Repository::set_up();
    repository.write(".jlo/setup/tools.yml", "tools: [gh, just]\n");
    repository.run(&["setup", "gen"]).ok();
    assert_eq!(
        (mode(&repository, INSTALL), mode(&repository, SECRETS)),
        (0o755, 0o600)
    );
    assert!(
        repository
            .read(INSTALL)
            .starts_with("#!/usr/bin/env bash\n")
    );
    repository.git(&["add", "--all"]);
    let tracked = repository.git(&["ls-files", ".jlo/setup"]);
    assert!(
        tracked.contains(INSTALL) && !tracked.contains(SECRETS),
        "{tracked}"
    );
    let given = repository
        .read(SECRETS)
        .replacen("value = \"\"", "value = \"mine\"", 1);
    repository.write(SECRETS, &given);
    repository.write(".jlo/setup/tools.yml", "tools: [gh, just, swift]\n");
    let again = repository.json(&["setup", "gen"]);
    assert!(
        again["written"]
            .as_array()
            .unwrap()
            .contains(&INSTALL.into())
    );
    assert!(repository.read(SECRETS).contains("value = \"mine\""));
    assert_eq!(mode(&repository, SECRETS), 0o600);
    let third = repository.json(&["setup", "gen"]);
    assert_eq!(third["written"], serde_json::json!([]));
    repository.commit("Install tools");
    repository.run(&["scaffold", "doctor", "--strict"]).ok();
}

#[test]
fn tools_are_listed_in_short_and_in_detail() {
    let repository = Repository::new();
    let listed = repository.run(&["setup", "list"]).ok();
    for name in ["gh", "just", "swift", "uv"] {
        assert!(
            listed.stdout.lines().any(|line| line.starts_with(name)),
            "{listed:?}"
        );
    }
    let detail = repository.run(&["setup", "list", "--detail", "gh"]).ok();
    assert!(
        detail.stdout.contains("GH_TOKEN") && !detail.stdout.contains("swift"),
        "{detail:?}"
    );
    let all = repository.json(&["setup", "list", "--detail"]);
    assert_eq!(all["components"].as_array().unwrap().len(), 4);
}

#[test]
fn what_cannot_be_set_up_is_named_and_nothing_is_written() {
    let repository = Repository::set_up();
    fs::remove_file(repository.root().join(".jlo/setup/tools.yml")).unwrap();
    let refused = repository.refused(&["setup", "gen"]);
    assert_eq!((refused.code.as_str(), refused.exit), ("no_tools", 2));
    let (list, line) = ("gaffer setup list", "correct that line");
    for (text, named, next) in [
        ("tools: []\n", "no tools are selected", list),
        ("tools: [ghh]\n", "`ghh`", list),
        ("tools: [gh\n", "tools.yml:", line),
        ("tols: [gh]\n", "tools.yml:1", line),
    ] {
        repository.write(".jlo/setup/tools.yml", text);
        let before = repository.state();
        let refused = repository.refused(&["setup", "gen"]);
        assert_eq!((refused.code.as_str(), refused.exit), ("setup", 2));
        assert!(refused.error.contains(named), "{text}: {refused:?}");
        assert!(refused.next.contains(next), "{text}: {refused:?}");
        assert_eq!(repository.state(), before);
    }
    repository.write(".jlo/setup/tools.yml", "tools: [gh]\n");
    repository.write(SECRETS, "GH_TOKEN = \n");
    let refused = repository.refused(&["setup", "gen"]);
    assert!(refused.error.contains("secrets.toml:1"), "{refused:?}");
    assert!(refused.next.contains(line), "{refused:?}");
    let refused = repository.refused(&["setup", "list", "--detail", "ghh"]);
    assert!(refused.error.contains("did you mean `gh`?"), "{refused:?}");
}
