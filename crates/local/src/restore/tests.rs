//! Backups and restores on real files: what is in them, who may read them, what is refused, and what a restore leaves as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::ports::{Expect, Key, Record, Records, Write};
use jiff::Timestamp;
use rusqlite::Connection;
use secrecy::SecretString;
use tempfile::TempDir;

use super::{DATABASE_FILE, Staged, occupied};
use crate::backup::back_up;
use crate::database::Database;
use crate::error::Error;
use crate::store::Store;

const MADE: Timestamp = Timestamp::constant(1_772_355_600, 5);
const CANARY: &str = "canary-0123456789";

fn record(sk: &str, body: &str) -> Record {
    Record {
        key: key(sk),
        version: 0,
        body: body.to_owned(),
        due: None,
        list: None,
        forget: None,
    }
}

fn key(sk: &str) -> Key {
    Key {
        pk: "JOB#1".to_owned(),
        sk: sk.to_owned(),
    }
}

async fn put(database: &Database, sk: &str, body: &str) {
    let write = Write::Put {
        record: record(sk, body),
        expect: Expect::Any,
    };
    Store::new(database).commit(vec![write]).await.unwrap();
}

async fn body(database: &Database, sk: &str) -> Option<String> {
    let found = Store::new(database).get(&key(sk)).await.unwrap();
    found.map(|record| record.body)
}

/// A data folder with a record, still open, and the place of its backup.
async fn world() -> (TempDir, PathBuf, Database, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    crate::prepare_folder(&data).unwrap();
    let database = Database::open(&data.join(DATABASE_FILE)).unwrap();
    put(&database, "META", "as backed up").await;
    let backup = folder.path().join("backup.db");
    (folder, data, database, backup)
}

fn take(data: &Path, to: &Path) -> Result<crate::BackupInfo, Error> {
    back_up(&data.join(DATABASE_FILE), to, &[], MADE)
}

fn canary() -> Vec<(String, SecretString)> {
    vec![("jules/default".to_owned(), SecretString::from(CANARY))]
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_backup_holds_one_moment_of_a_database_that_is_in_use() {
    let (folder, data, database, backup) = world().await;
    let about = take(&data, &backup).unwrap();
    assert_eq!((about.made_at, about.secrets), (MADE, 0));
    assert_eq!(mode(&backup), 0o600);
    put(&database, "META", "later").await;
    let elsewhere = folder.path().join("elsewhere");
    crate::prepare_folder(&elsewhere).unwrap();
    let staged = Staged::new(&backup, &elsewhere).unwrap();
    assert_eq!(staged.about().made_at, MADE);
    assert!(!staged.put_in_place(&elsewhere.join("aside")).unwrap());
    assert_eq!(names(&elsewhere), [DATABASE_FILE]);
    assert_eq!(mode(&elsewhere.join(DATABASE_FILE)), 0o600);
    let restored = Database::open(&elsewhere.join(DATABASE_FILE)).unwrap();
    assert_eq!(body(&restored, "META").await.unwrap(), "as backed up");
    assert_eq!(names(folder.path()), ["backup.db", "data", "elsewhere"]);
}

#[tokio::test]
async fn what_was_there_is_kept_whole() {
    let (_folder, data, database, backup) = world().await;
    take(&data, &backup).unwrap();
    // In the log beside the file only.
    put(&database, "META", "newest").await;
    drop(database);
    let aside = data.join("aside");
    let staged = Staged::new(&backup, &data).unwrap();
    assert!(staged.put_in_place(&aside).unwrap());
    let restored = Database::open(&data.join(DATABASE_FILE)).unwrap();
    assert_eq!(body(&restored, "META").await.unwrap(), "as backed up");
    let kept = Database::open(&aside.join(DATABASE_FILE)).unwrap();
    assert_eq!(body(&kept, "META").await.unwrap(), "newest");
}

#[tokio::test]
async fn secrets_come_along_only_when_given_and_never_reach_the_database() {
    let (_folder, data, database, backup) = world().await;
    let file = data.join(DATABASE_FILE);
    back_up(&file, &backup, &canary(), MADE).unwrap();
    drop(database);
    let secret = data.join("secrets/jules/default");
    fs::create_dir_all(secret.parent().unwrap()).unwrap();
    fs::write(&secret, "an older one").unwrap();
    let staged = Staged::new(&backup, &data).unwrap();
    assert_eq!(staged.about().secrets, 1);
    staged.put_in_place(&data.join("aside")).unwrap();
    assert_eq!(fs::read_to_string(&secret).unwrap().trim(), CANARY);
    assert_eq!(mode(&secret), 0o600);
    let kept = data.join("aside/secrets/jules/default");
    assert_eq!(fs::read_to_string(kept).unwrap(), "an older one");
    let bytes = fs::read(&file).unwrap();
    let leaks = bytes
        .windows(CANARY.len())
        .any(|it| it == CANARY.as_bytes());
    assert!(!leaks, "the secret is in the database");
    let tables: i64 = Connection::open(&file)
        .unwrap()
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'backup%'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(tables, 0);
}

/// Staging has to fail; whatever the folder held is as it was.
#[track_caller]
fn refused(backup: &Path, data: &Path) -> Error {
    let before = fs::read(data.join(DATABASE_FILE)).unwrap();
    let error = Staged::new(backup, data).unwrap_err();
    assert_eq!(fs::read(data.join(DATABASE_FILE)).unwrap(), before);
    let left = names(data);
    assert!(
        !left.iter().any(|name| name.starts_with("restoring")),
        "{left:?}"
    );
    error
}

#[tokio::test]
async fn what_is_no_sound_backup_of_a_known_schema_is_refused() {
    let (folder, data, database, backup) = world().await;
    for number in 0..200 {
        put(&database, &format!("EV#{number:04}"), &"x".repeat(2_000)).await;
    }
    take(&data, &backup).unwrap();
    drop(database);

    let file = data.join(DATABASE_FILE);
    assert!(matches!(refused(&file, &data), Error::NoBackup { .. }));
    let text = folder.path().join("text");
    fs::write(&text, "no database at all, but long enough ".repeat(40)).unwrap();
    assert!(matches!(refused(&text, &data), Error::NotOurs { .. }));
    let missing = folder.path().join("missing");
    assert!(matches!(refused(&missing, &data), Error::File { .. }));

    let mut damaged = fs::read(&backup).unwrap();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8_192].fill(0x5a);
    let damaged_file = folder.path().join("damaged.db");
    fs::write(&damaged_file, damaged).unwrap();
    let error = refused(&damaged_file, &data);
    assert!(matches!(error, Error::Damaged { .. }), "{error}");

    Connection::open(&backup)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let error = refused(&backup, &data);
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("upgrade gaffer"));
}

#[tokio::test]
async fn a_backup_never_overwrites_and_leaves_nothing_half_written() {
    let (folder, data, _database, backup) = world().await;
    fs::write(&backup, "mine").unwrap();
    assert!(matches!(take(&data, &backup), Err(Error::Exists { .. })));
    assert_eq!(fs::read_to_string(&backup).unwrap(), "mine");
    let nowhere = folder.path().join("no/such/folder/backup.db");
    assert!(matches!(take(&data, &nowhere), Err(Error::Step { .. })));
    assert_eq!(names(folder.path()), ["backup.db", "data"]);
}

#[tokio::test]
async fn a_secret_is_put_back_only_below_the_folder_of_secrets() {
    let (_folder, data, database, backup) = world().await;
    drop(database);
    for path in ["../escaped", "/tmp/x", "a/b/c", "agents/../../x", ""] {
        let secrets = vec![(path.to_owned(), SecretString::from(CANARY))];
        let _ = fs::remove_file(&backup);
        back_up(&data.join(DATABASE_FILE), &backup, &secrets, MADE).unwrap();
        let error = refused(&backup, &data);
        assert!(matches!(error, Error::Damaged { .. }), "{path}: {error}");
    }
}

#[test]
fn a_folder_is_free_while_it_holds_nothing_but_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(occupied(&folder.path().join("missing")).unwrap(), None);
    for name in ["up.lock", "restoring.db", "restoring.db-wal"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    assert_eq!(occupied(folder.path()).unwrap(), None);
    fs::write(folder.path().join("notes.txt"), "").unwrap();
    assert_eq!(occupied(folder.path()).unwrap().unwrap(), "notes.txt");
}
