//! `gaffer role`: what is scheduled, and the files of one's own.

use super::repository::Repository;
use crate::world::Told;

const OWN: &str = ".jlo/roles/observers/billing/role.yml";

fn row(repository: &Repository, role: &str) -> String {
    let told = repository.json(&["role", "list"]);
    let rows = told["roles"].as_array().unwrap();
    let found = rows.iter().find(|row| row["role"] == role);
    found.map_or(String::new(), |row| {
        format!("{} {} {}", row["own"], row["built_in"], row["scheduled"])
    })
}

#[test]
fn a_role_of_ones_own_is_created_checked_scheduled_and_deleted() {
    let repository = Repository::set_up();
    let settings = repository.read(".jlo/config.toml");
    repository
        .run(&["role", "create", "observers", "billing"])
        .ok();
    assert_eq!(row(&repository, "billing"), "true false null");
    let unfilled = repository.run(&["role", "validate", "observers", "billing"]);
    assert_eq!(unfilled.code, 1, "{unfilled:?}");
    unfilled.prints(&[&format!("[ERROR] {OWN}:")]);
    repository.commit("Begin a role");
    let preview = ["run", "o", "--role", "billing", "--prompt-preview"];
    repository.refuses(&preview, "gaffer role validate");
    let filled = repository
        .read(OWN)
        .replace(
            "<what this role does, in one sentence>",
            "It watches the money.",
        )
        .replace("<what it looks at, in one sentence>", "Money.");
    repository.write(OWN, &filled);
    repository.run(&["role", "validate"]).ok();
    repository
        .run(&["role", "add", "observers", "billing"])
        .ok();
    assert_eq!(row(&repository, "billing"), "true false true");
    repository.commit("Watch the money");
    repository.run(&["scaffold", "doctor", "--strict"]).ok();
    assert!(repository.run(&preview).stdout.contains("focus: Money."));
    repository
        .run(&["role", "delete", "observers", "billing"])
        .ok();
    assert_eq!(repository.read(".jlo/config.toml"), settings, "every byte");
    assert_eq!(row(&repository, "billing"), "");
    assert!(!repository.root().join(OWN).exists());
}

#[test]
fn a_built_in_role_is_taken_off_the_schedule_and_put_back() {
    let repository = Repository::set_up();
    assert_eq!(row(&repository, "qa"), "false true true");
    repository.run(&["role", "delete", "observers", "qa"]).ok();
    assert_eq!(row(&repository, "qa"), "false true null");
    let clock = "No clock begins the innovators";
    let added = repository.run(&["role", "add", "observers", "qa"]).ok();
    assert!(!added.says(clock), "{added:?}");
    assert_eq!(row(&repository, "qa"), "false true true");
    let added = ["role", "add", "innovators", "cli_seeder"];
    let added = repository.run(&added).ok();
    assert!(added.says(clock) && !added.says("schedule"), "{added:?}");
    let shown = repository.run(&["role", "show", "observers", "qa"]).ok();
    shown.begins("role: qa\nlayer: observers\n");
}

#[test]
fn roles_that_cannot_be_are_refused_and_nothing_changes() {
    let repository = Repository::set_up();
    let before = repository.state();
    for (arguments, named) in [
        (&["role", "add", "planner", "qa"][..], "is one agent"),
        (&["role", "create", "d", "mine"], "is one agent"),
        (&["role", "add", "observers", "qa"], "`qa` is there already"),
        (
            &["role", "create", "observers", "qa"],
            "add it with `gaffer role add observers qa`",
        ),
        (
            &["role", "add", "observers", "taxonmy"],
            "did you mean `taxonomy`?",
        ),
        (&["role", "show", "innovators", "qa"], "no role `qa`"),
        (
            &["role", "delete", "observers", "billing"],
            "no role `billing`",
        ),
        (&["role", "create", "observers", "../x"], "ROLE"),
        (&["role", "create", "observers", ""], "ROLE"),
        (&["role", "create", "cooks", "mine"], "no layer `cooks`"),
    ] {
        repository.refuses(arguments, named);
    }
    assert_eq!(repository.state(), before);
    let odd = "[run]\nparallel = true\n[workflow]\ntimezone = \"Europe/Berlon\"\n";
    repository.write(".jlo/config.toml", odd);
    for arguments in [&["role", "list"][..], &["role", "add", "observers", "cov"]] {
        let refused = repository.refused(arguments);
        let (first, second) = (".jlo/config.toml:2:", ".jlo/config.toml:4:");
        for part in [first, second, "; .jlo/config.toml:"] {
            assert!(refused.error.contains(part), "{part}: {refused:?}");
        }
        assert_eq!(refused.next, "correct the settings, and run it again");
    }
}
