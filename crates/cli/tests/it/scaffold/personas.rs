//! `gaffer persona`: the pack, a person's own, and what is wrong with a file.

use serde_json::json;

use super::repository::Repository;
use crate::world::{Fields, Told};

const CURATOR: &str = ".jules/personas/curator/prompt.md";

fn ids(repository: &Repository, which: impl Fn(&serde_json::Value) -> bool) -> Vec<String> {
    let told = repository.json(&["persona", "list"]);
    assert_eq!(told["faults"], json!([]));
    let rows = told["personas"].as_array().unwrap().iter();
    let rows = rows.filter(|row| which(row));
    rows.map(|row| row["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn twenty_three_personas_are_written_of_which_twenty_two_start() {
    let repository = Repository::set_up();
    let inside = repository.root().join("src");
    std::fs::create_dir(&inside).unwrap();
    let ran = repository.run_in(&inside, &["persona", "init"]).ok();
    ran.prints(&[&format!("{CURATOR} is written.\n")]);
    assert_eq!(ids(&repository, |_| true).len(), 23);
    let started = ids(&repository, |row| row["in_batch"] == true);
    assert_eq!(started.len(), 22);
    assert!(!started.contains(&"weaver".to_owned()));
    repository.run(&["persona", "validate"]).ok();
    let listed = repository.run(&["persona", "list"]).ok().stdout;
    let row = listed.lines().find(|row| row.starts_with("bolt ")).unwrap();
    row.tells(&["starts", "⚡ Makes one slow path"]);
    let shown = repository.run(&["persona", "show", "weaver"]).ok().stdout;
    shown.begins("# Weaver\n\nYou are `{persona_id}` in");
    // They lie on the branch of people, which stays theirs.
    repository.commit("Add personas");
    repository.run(&["role", "delete", "observers", "qa"]).ok();
    let examined = ["scaffold", "doctor", "--strict", "--ref", "main"];
    let told = repository.run(&examined).ok();
    assert_eq!(told.stdout, "0 errors, 0 warnings.\n");
}

#[test]
fn what_a_person_changed_is_written_over_only_where_that_is_wanted() {
    let repository = Repository::new();
    repository.run(&["persona", "init"]).ok();
    let ours = repository.read(CURATOR);
    let again = repository.json(&["persona", "init"]);
    again.holds(&json!({ "written": [], "unchanged": 23 }));
    repository.write(CURATOR, "mine\n");
    std::fs::remove_file(repository.root().join(".jules/personas/bolt/prompt.md")).unwrap();
    let state = repository.state();
    let refused = repository.refused(&["persona", "init"]);
    refused.is(2, "changed");
    refused.tells(CURATOR, "--replace");
    assert_eq!(
        (repository.state(), repository.read(CURATOR)),
        (state, "mine\n".to_owned())
    );
    let replaced = repository.json(&["persona", "init", "--replace"]);
    replaced.holds(&json!({ "written": [".jules/personas/bolt/prompt.md", CURATOR] }));
    assert_eq!(repository.read(CURATOR), ours);
}

#[test]
fn a_file_that_cannot_be_used_is_told_with_its_line() {
    let repository = Repository::new();
    repository.refuses(&["persona", "validate"], "gaffer persona init");
    repository.write(
        ".jules/personas/art/prompt.md",
        "---\nid: art\n---\nPaint.\n",
    );
    repository.write(CURATOR, "---\nid: artisan\n---\nCurate.\n");
    let fault = format!("{CURATOR}:2: `id` is `artisan` in the folder `curator`");
    let ran = repository.run(&["persona", "validate"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains(&fault), "{ran:?}");
    ran.prints(&["can be used: 1; that start with a sprint: 1."]);
    let told = repository.json(&["persona", "list"]);
    told["faults"][0].holds(&json!({ "file": CURATOR, "line": 2 }));
    repository.refuses(&["persona", "show", "curator"], &fault);
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let repository = Repository::set_up();
    repository.run(&["persona", "init"]).ok();
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().to_str().unwrap();
    let before = repository.state();
    for (arguments, named) in [
        (&["persona", "show", "Curator"][..], "Curator"),
        (&["persona", "show", "../x"], "../x"),
        (&["persona", "show", "curater"], "did you mean `curator`?"),
        (&["persona", "show", "qqq"], "no persona `qqq`"),
        (&["persona", "show", "curator", "nowhere"], "nowhere"),
        (&["persona", "init", elsewhere], elsewhere),
        (&["persona", "list", ""], "DIR"),
    ] {
        repository.refuses(arguments, named);
    }
    assert_eq!(repository.state(), before);
    repository.commit("Add personas");
    repository.git(&["switch", "--quiet", "jules"]);
    repository.refuses(&["persona", "init"], "`jules` is the worker branch");
}
