//! The data folder, its secrets, and the clock.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::backend::IndexEntry;
use engine::keys;
use expect_test::expect;
use jiff::SignedDuration;
use sandbox::Scenario;

use super::clinic::Clinic;
use crate::world::{KEY, Told};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn empty() -> Clinic {
    Clinic::empty(Scenario::default(), SignedDuration::ZERO)
}

/// A backup beside the data folder.
fn backed_up(clinic: &Clinic) -> String {
    let backup = clinic.world.file("backup.db", "");
    fs::remove_file(&backup).unwrap();
    clinic.ok(&["backup", &backup]);
    backup
}

#[test]
fn nothing_was_set_up() {
    let clinic = empty();
    expect![[r#"
        error    data_missing  data folder DATA: it holds no database | cause: nothing was set up in this data folder yet | mend: run `gaffer init`, or name the right folder with `--data DIR`
    "#]].assert_eq(&clinic.ills(&[]));
    assert!(!clinic.world.data().exists(), "looking made the folder");
}

#[test]
fn the_data_folder_is_a_file() {
    let clinic = empty();
    fs::write(clinic.world.data(), "x").unwrap();
    expect![[r#"
        error    data_unreadable  data folder DATA: it is not a folder | cause: Gaffer keeps everything in its data folder and has to read and write there | mend: run `chown -R "$USER" DATA && chmod 700 DATA`, or name another folder with `--data DIR`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn others_may_enter_the_data_folder() {
    let clinic = Clinic::new();
    mode(&clinic.world.data(), 0o755);
    expect![[r#"
        warning  data_open  data folder DATA: its mode is 755 | cause: others on this machine may enter the data folder and see its files | mend: run `chmod 700 DATA`
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_database_is_something_else() {
    let clinic = Clinic::new();
    let backup = backed_up(&clinic);
    fs::write(clinic.world.data().join("gaffer.db"), "x".repeat(8_192)).unwrap();
    expect![[r#"
        error    store_unreadable  data folder DATA: DATA/gaffer.db is not a database of gaffer; name another data folder, or move the file away | cause: the database cannot be read, so nothing can be done or remembered | mend: free disk space if there is none, check who owns DATA/gaffer.db, or run `gaffer restore FILE --replace --data DATA` with a backup
    "#]].assert_eq(&clinic.ills(&[]));
    clinic.ok(&["restore", &backup, "--replace"]);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn a_newer_gaffer_wrote_the_database() {
    let clinic = Clinic::new();
    let backup = backed_up(&clinic);
    // The schema version is in SQLite's header, big-endian at offset 60.
    let path = clinic.world.data().join("gaffer.db");
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(60)).unwrap();
    file.write_all(&99_u32.to_be_bytes()).unwrap();
    expect![[r#"
        error    store_newer  data folder DATA: the database DATA/gaffer.db has schema 99, this gaffer knows up to 1; upgrade gaffer (nothing was changed) | cause: a newer Gaffer wrote the database; this one does not know what it means and changes nothing | mend: run the newer gaffer again, or run `gaffer restore FILE --replace --data DATA` with a backup of before the upgrade
    "#]].assert_eq(&clinic.ills(&[]));
    clinic.ok(&["restore", &backup, "--replace"]);
    assert_eq!(clinic.ills(&[]), "");
}

#[test]
fn an_older_gaffer_wrote_the_database() {
    let clinic = Clinic::new();
    // The schema version is in SQLite's header, big-endian at offset 60.
    let path = clinic.world.data().join("gaffer.db");
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(60)).unwrap();
    file.write_all(&0_u32.to_be_bytes()).unwrap();
    expect![[r#"
        error    store_older  data folder DATA: the database DATA/gaffer.db has schema 0, and this gaffer reads 1; start `gaffer up` once, which brings it up to date (nothing was changed) | cause: an older Gaffer wrote the database, and what only looks at it does not bring it up to date | mend: start `gaffer up --data DATA` once: it brings the database up to date and keeps everything in it
    "#]].assert_eq(&clinic.ills(&[]));
}

/// Restoring is what makes a store know that it is old; a copy in its place would do things twice.
#[test]
fn a_backup_was_copied_over_the_database() {
    let clinic = Clinic::new();
    let database = clinic.world.data().join("gaffer.db");
    let database = database.display().to_string();
    let backup = backed_up(&clinic);
    fs::copy(&backup, &database).unwrap();
    expect![[r#"
        error    store_is_backup  data folder DATA: its database is a backup that was copied there by hand | cause: a backup that is only copied does not know that time has passed: what was done since it was made would be done once more, so nothing is done over it | mend: run `gaffer restore DATA/gaffer.db --replace --data DATA`, which marks what may have been done since
    "#]]
    .assert_eq(&clinic.ills(&[]));
    let other = clinic.world.data().join("again.db").display().to_string();
    for command in [
        &["status"][..],
        &["up", "--no-webhooks"],
        &["source", "list"],
        &["export"],
        &["backup", &other],
    ] {
        let told = clinic.world.refused(command);
        told.is(2, "is_backup");
        told.tells("gaffer restore", "");
    }
    assert_eq!(fs::read(&backup).unwrap(), fs::read(&database).unwrap());
    clinic.ok(&["restore", &database, "--replace"]);
    assert_eq!(clinic.ills(&[]), "");
    clinic.ok(&["backup", &other]);
}

#[test]
fn others_can_read_a_secret() {
    let clinic = Clinic::new();
    clinic.world.feed(&["account", "add", "work"], KEY).ok();
    mode(&clinic.world.data().join("secrets/jules/work"), 0o644);
    expect![[r#"
        error    secret_unusable  secret `jules/work`: its mode is 644, so others can read it; run `chmod 600 DATA/secrets/jules/work` | cause: a secret that others can read, or that we cannot, is not used | mend: run `chmod 600 DATA/secrets/jules/work`, check that it is yours and not empty, and replace the secret if others may have read it
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn a_key_of_googles_is_the_token_of_our_own_door() {
    let clinic = Clinic::new().set("GAFFER_TOKEN", KEY);
    expect![[r#"
        error    gaffer_token_kind  GAFFER_TOKEN: it is a key of Google's | cause: Gaffer's own API would ask its callers for a credential of another service and so spread it | mend: give GAFFER_TOKEN (or the secret `token`) a random text of its own, and replace the credential that stood there
    "#]].assert_eq(&clinic.ills(&[]));
}

#[test]
fn the_clock_is_wrong() {
    let ahead = SignedDuration::from_mins(20);
    let clinic = Clinic::ahead(Scenario::default(), ahead);
    let ills = clinic.ills(&[]);
    // The seconds depend on when the answer came.
    ills.begins("error    clock_skew  this machine's clock: it is ");
    ills.tells(&[" behind GitHub's | cause: ", "timedatectl set-ntp true"]);
}

#[test]
fn the_clock_was_ahead_and_was_set_right() {
    let clinic = Clinic::new();
    clinic.with_backend(async |backend| {
        let found = backend.store.accounts().await.unwrap().remove(0);
        let mut account = found.value;
        account.counters.last = Some(backend.now() + SignedDuration::from_hours(2));
        let place = IndexEntry {
            list: keys::listed(keys::ACCOUNTS, account.name.as_str()),
            ..IndexEntry::default()
        };
        let mut unit = backend.unit();
        let key = keys::account(&account.name);
        unit.put(key, &account, Some(found.version), place);
        backend.commit(unit).await.unwrap();
    });
    let (told, code) = clinic.report(&[]);
    // The seconds depend on the time of the check.
    let ill =
        "warning  clock_was_ahead  this machine's clock: the newest time in the store is 1h 59m";
    told.tells(&[ill, "start `gaffer up` again"]);
    assert_eq!(code, 0, "it is a warning");
}

#[test]
fn the_disk_is_full() {
    let clinic = Clinic::new();
    expect![[r#"
        error    not_running  data folder DATA: `gaffer up` is not running on this data folder | cause: no process watches Jules, merges what is green or wakes an agent | mend: start `gaffer up --data DATA`
        error    disk_full  data folder DATA: 11 MiB are free on its disk | cause: without room nothing can be recorded, and what cannot be recorded is not done | mend: free space on the disk of DATA, or move the folder and name it with `--data DIR`
    "#]]
    .assert_eq(&clinic.ills_on_a_disk_of("12m"));
}

#[test]
fn the_disk_is_nearly_full() {
    let clinic = Clinic::new();
    expect![[r#"
        error    not_running  data folder DATA: `gaffer up` is not running on this data folder | cause: no process watches Jules, merges what is green or wakes an agent | mend: start `gaffer up --data DATA`
        warning  disk_low  data folder DATA: 99 MiB are free on its disk | cause: the disk of the data folder is nearly full, and without room nothing is done any more | mend: free space on the disk of DATA
    "#]]
    .assert_eq(&clinic.ills_on_a_disk_of("100m"));
}
