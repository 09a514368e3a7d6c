//! Opening: what is refused, what is left untouched, and the modes of what is created.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use super::{Database, prepare_folder};
use crate::error::Error;
use crate::migrations;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn refused(path: &Path) -> Error {
    Database::open(path).map(|_| ()).unwrap_err()
}

fn version(path: &Path) -> i64 {
    Connection::open(path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

#[test]
fn a_new_file_and_folder_are_for_their_owner_alone() {
    let folder = folder();
    let data = folder.path().join("deep/data");
    prepare_folder(&data).unwrap();
    let path = data.join("gaffer.db");
    let database = Database::open(&path).unwrap();
    assert_eq!((mode(&data), mode(&path)), (0o700, 0o600));
    assert_eq!(mode(&data.join("gaffer.db-wal")), 0o600);
    assert_eq!(version(&path), migrations::newest());
    drop(database);
}

#[test]
fn a_file_that_others_may_read_is_closed_to_them() {
    let folder = folder();
    let path = folder.path().join("gaffer.db");
    drop(Database::open(&path).unwrap());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Database::open(&path).unwrap());
    assert_eq!(mode(&path), 0o600);
}

#[tokio::test]
async fn every_commit_is_synced() {
    let folder = folder();
    let database = Database::open(&folder.path().join("gaffer.db")).unwrap();
    let pragma = |name: &'static str| {
        database.run(move |c| {
            c.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
        })
    };
    assert_eq!(
        pragma("journal_mode").await.unwrap().unwrap(),
        "wal".to_owned().into()
    );
    assert_eq!(pragma("synchronous").await.unwrap().unwrap(), 2.into());
}

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("gaffer.db");
    drop(Database::open(&path).unwrap());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let before = fs::read(&path).unwrap();
    let error = refused(&path);
    assert!(
        matches!(error, Error::Newer { found: 99, known, .. } if known == migrations::newest()),
        "{error}"
    );
    assert!(error.to_string().contains("upgrade gaffer"));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_not_ours_is_refused_and_left_as_it_is() {
    let folder = folder();
    let text = folder.path().join("text.db");
    fs::write(
        &text,
        "just some text, long enough to have a header ".repeat(40),
    )
    .unwrap();
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    for path in [text, foreign] {
        let before = fs::read(&path).unwrap();
        let error = refused(&path);
        assert!(matches!(error, Error::NotOurs { .. }), "{error:?}");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_missing_folder_is_named() {
    let folder = folder();
    let error = refused(&folder.path().join("missing/gaffer.db"));
    assert!(matches!(error, Error::FolderMissing { .. }));
    assert!(error.to_string().contains("mkdir -p -m 700"), "{error}");
    assert!(!folder.path().join("missing").exists());
}

#[test]
fn a_folder_in_the_place_of_the_file_is_refused() {
    let folder = folder();
    let error = refused(folder.path());
    assert!(matches!(error, Error::File { .. }), "{error:?}");
}

#[test]
fn a_folder_below_a_file_cannot_be_made() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(
        prepare_folder(&file.join("data")),
        Err(Error::Folder { .. })
    ));
}

/// Which of them is first is left to chance, so they start more than once.
#[test]
fn many_processes_may_start_on_one_new_file() {
    for _ in 0..60 {
        let folder = folder();
        let path = folder.path().join("gaffer.db");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| Database::open(&path).unwrap());
            }
        });
        assert_eq!(version(&path), migrations::newest());
    }
}

#[test]
fn whoever_is_at_a_new_file_first_is_waited_for() {
    /// Time enough to be refused; a longer wait means that it waits.
    const REFUSED_WITHIN: Duration = Duration::from_millis(200);

    let folder = folder();
    let path = folder.path().join("gaffer.db");
    let first = Connection::open(&path).unwrap();
    first.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (told, outcome) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| told.send(Database::open(&path).map(drop)));
        let refused = outcome.recv_timeout(REFUSED_WITHIN);
        assert!(refused.is_err(), "{refused:?}");
        first.execute_batch("COMMIT").unwrap();
        outcome.recv().unwrap().unwrap();
    });
    assert_eq!(version(&path), migrations::newest());
}
