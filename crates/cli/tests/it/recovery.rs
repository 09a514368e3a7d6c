//! `gaffer backup`, `gaffer restore` and `gaffer export` as they are typed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{Fields, KEY, Told, World, ran};

/// The user that a test runs a command as when it is itself allowed everything.
const NOBODY: u32 = 65_534;

fn with_source() -> World {
    let world = World::with_account();
    world.run(&["source", "add", "acme/shop"]).ok();
    world
}

/// A place beside the data folder.
fn beside(world: &World, name: &str) -> String {
    world.data().with_file_name(name).display().to_string()
}

fn sources(world: &World, folder: &str) -> Value {
    world.json(&["source", "list", "--data", folder])
}

#[test]
fn a_backup_is_put_into_an_empty_folder_and_keeps_its_secrets_to_itself() {
    let world = with_source();
    let (backup, copy) = (beside(&world, "backup.db"), beside(&world, "copy"));
    let made = world.json(&["backup", &backup]);
    assert_eq!(made["secrets"], 0);
    assert_eq!(fs::metadata(&backup).unwrap().mode() & 0o777, 0o600);
    assert!(!holds(Path::new(&backup), KEY), "the key is in the backup");

    let restored = world.json(&["restore", &backup, "--data", &copy]);
    assert_eq!(
        (
            &restored["made_at"],
            &restored["kept"],
            &restored["in_doubt"]
        ),
        (&made["made_at"], &Value::Null, &json!(0))
    );
    let told = sources(&world, &copy);
    assert_eq!(told, sources(&world, &world.data().display().to_string()));
    assert!(!Path::new(&copy).join("secrets").exists());

    world.refused(&["backup", &backup]).is(1, "exists");
    let occupied = world.refused(&["restore", &backup, "--data", &copy]);
    occupied.is(1, "occupied");
    occupied.tells("", "--replace");
    let kept = world.json(&["restore", &backup, "--replace", "--data", &copy]);
    let kept = Path::new(kept["kept"].as_str().unwrap()).join("gaffer.db");
    assert!(kept.is_file());
}

#[test]
fn secrets_are_in_a_backup_only_when_asked_for_and_then_it_says_so() {
    let world = with_source();
    let (backup, copy) = (beside(&world, "backup.db"), beside(&world, "copy"));
    let said = world.run(&["backup", &backup, "--with-secrets"]).ok();
    assert!(said.says("1 secrets") && said.says("0600"), "{said:?}");
    assert!(!said.says(KEY));
    assert_eq!(fs::metadata(&backup).unwrap().mode() & 0o777, 0o600);
    let said = world.run(&["restore", &backup, "--data", &copy]).ok();
    assert!(!said.says(KEY), "{said:?}");
    let key = Path::new(&copy).join("secrets/jules/default");
    assert_eq!(fs::read_to_string(&key).unwrap().trim(), KEY);
    assert_eq!(fs::metadata(&key).unwrap().mode() & 0o777, 0o600);
    assert!(!holds(&Path::new(&copy).join("gaffer.db"), KEY));
}

fn holds(file: &Path, text: &str) -> bool {
    let needle = text.as_bytes();
    fs::read(file)
        .unwrap()
        .windows(needle.len())
        .any(|window| window == needle)
}

#[test]
fn what_is_no_backup_changes_nothing() {
    let world = with_source();
    let folder = world.data().display().to_string();
    let before = sources(&world, &folder);
    let text = world.file("notes.txt", &"these are my notes ".repeat(90));
    let database = world.data().join("gaffer.db").display().to_string();
    let missing = beside(&world, "missing.db");
    for (file, exit, code) in [
        (&text, 1, "not_ours"),
        (&database, 1, "no_backup"),
        (&missing, 2, "usage"),
    ] {
        let refused = world.refused(&["restore", file, "--replace"]);
        refused.is(exit, code);
    }
    assert_eq!(sources(&world, &folder), before);
}

#[test]
fn a_folder_that_was_mistyped_is_named_and_not_made() {
    let world = with_source();
    let nothing = beside(&world, "nothing");
    for command in [
        &["backup", "x.db"][..],
        &["export"],
        &["status"],
        &["pause"],
        &["resume"],
        &["account", "list"],
        &["source", "list"],
        &["source", "pause", "acme/shop"],
        &["agent", "list"],
        &["github", "token"],
    ] {
        let refused = world.refused(&[command, &["--data", &nothing]].concat());
        let code = (refused.exit, refused.code.as_str());
        assert_eq!(code, (2, "usage"), "{command:?}: {refused:?}");
        assert!(refused.error.contains(&nothing), "{refused:?}");
        assert!(!Path::new(&nothing).exists(), "{command:?}");
    }
    let doctor = world.run(&["doctor", "--data", &nothing]);
    assert!(doctor.code == 1 && doctor.says(&nothing), "{doctor:?}");
    assert!(!Path::new(&nothing).exists());
}

/// Two restores take much less than the second that the first one's folder is named by.
#[test]
fn restores_that_follow_each_other_keep_what_was_there_each_time() {
    let world = with_source();
    let backup = beside(&world, "backup.db");
    world.run(&["backup", &backup]).ok();
    let kept: Vec<String> = (0..4)
        .map(|_| {
            let said = world.json(&["restore", &backup, "--replace"]);
            said["kept"].as_str().unwrap().to_owned()
        })
        .collect();
    let folders: std::collections::BTreeSet<_> = kept.iter().collect();
    assert_eq!(folders.len(), 4, "{kept:?}");
    assert!(
        kept.iter()
            .all(|it| Path::new(it).join("gaffer.db").is_file())
    );
}

#[test]
fn an_export_is_lines_of_json_with_a_first_and_a_last_one() {
    let world = with_source();
    for (arguments, of) in [
        (&["export"][..], "jobs"),
        (&["export", "--jobs"], "jobs"),
        (&["export", "--all", "--format", "jsonl"], "records"),
    ] {
        let said = world.run(arguments).ok();
        assert!(!said.says(KEY));
        let lines: Vec<Value> = said
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let (first, last) = (&lines[0], &lines[lines.len() - 1]);
        first.holds(&json!({ "line": "export", "of": of, "schema": 1 }));
        let between = lines.len() - 2;
        assert_eq!(last, &json!({ "line": "end", "lines": between }));
        let kinds: Vec<&Value> = lines[1..=between]
            .iter()
            .map(|line| &line["line"])
            .collect();
        if of == "records" {
            assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "record"));
        } else {
            assert_eq!(kinds, ["source"], "{said:?}");
            assert_eq!(lines[1]["source"]["repo"], lines[1]["repo"]);
        }
    }
    let usage = world.refused(&["export", "--jobs", "--all"]);
    assert_eq!(usage.exit, 2);
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_left_as_it_is() {
    let world = with_source();
    let data = world.data();
    let close = |closed: bool| {
        let (folder, file) = if closed {
            (0o555, 0o444)
        } else {
            (0o755, 0o644)
        };
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        set(data.parent().unwrap(), 0o755);
        for entry in fs::read_dir(&data).unwrap() {
            let path = entry.unwrap().path();
            set(&path, if path.is_dir() { folder } else { file });
        }
        set(&data, folder);
    };
    close(true);
    let before = fs::read(data.join("gaffer.db")).unwrap();
    let is_root = fs::metadata(&data).unwrap().uid() == 0;
    for arguments in [
        &["up", "--listen", "127.0.0.1:0", "--json"][..],
        &["pause", "--json"],
        &["source", "add", "acme/other", "--json"],
    ] {
        let mut command = world.command(arguments);
        if is_root {
            command.uid(NOBODY);
        }
        let refused = ran(command, "");
        assert_eq!(refused.code, 1, "{refused:?}");
        refused.tells(&["check its owner and its mode"]);
        assert!(refused.says(&data.display().to_string()), "{refused:?}");
    }
    assert_eq!(fs::read(data.join("gaffer.db")).unwrap(), before);
    close(false);
    fs::set_permissions(data.join("gaffer.db"), fs::Permissions::from_mode(0o600)).unwrap();
    world.run(&["pause"]).ok();
}

#[test]
fn the_folder_of_a_newer_version_is_refused_and_left_as_it_is() {
    let world = with_source();
    let database = world.data().join("gaffer.db");
    let mut bytes = fs::read(&database).unwrap();
    // SQLite's `user_version` is a big-endian number of four bytes.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&database, &bytes).unwrap();
    for command in [
        &["up", "--listen", "127.0.0.1:0"][..],
        &["pause"],
        &["source", "list"],
        &["export", "--all"],
    ] {
        let refused = world.refused(command);
        let code = (refused.exit, refused.code.as_str());
        assert_eq!(code, (2, "newer"), "{refused:?}");
        for told in [database.to_str().unwrap(), "schema 99", "upgrade gaffer"] {
            assert!(refused.error.contains(told), "{refused:?}");
        }
        let same = fs::read(&database).unwrap() == bytes;
        assert!(same, "{command:?} wrote something");
    }
}
