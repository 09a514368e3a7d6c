//! Backups: one file with everything as of one moment, written whole or not at all.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use secrecy::{ExposeSecret, SecretString};

use crate::database::{FILE_MODE, connect_to_read, is_backup, refuse_backup};
use crate::error::Error;

/// Metadata of a backup. These tables are in backups only, never in a live database.
const TABLES: &str = "
    CREATE TABLE backup_about (made_ns INTEGER NOT NULL) STRICT;
    CREATE TABLE backup_secrets (path TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;";

/// Removes the tables of backups from a copy, down to the last byte: the copy is rewritten.
const DROP_TABLES: &str = "DROP TABLE backup_about; DROP TABLE backup_secrets; VACUUM;";

/// Metadata of a backup.
#[derive(Debug, Clone)]
pub struct BackupInfo {
    /// When it was made, by its maker's clock.
    pub made_at: Timestamp,
    /// The schema version of the database in it.
    pub schema: i64,
    /// How many secrets are in it.
    pub secrets: usize,
}

/// Writes a backup of a database, which other processes may use meanwhile, to a new file that only its owner reads.
/// Blocks.
///
/// `made_at` is now. Secrets are in it only if they are given.
pub fn back_up(
    database: &Path,
    to: &Path,
    secrets: &[(String, SecretString)],
    made_at: Timestamp,
) -> Result<BackupInfo, Error> {
    if to.exists() {
        return Err(Error::Exists {
            path: to.to_owned(),
        });
    }
    refuse_backup(&connect_to_read(database)?, database)?;
    let partial = beside(to);
    let outcome = copy(database, &partial)
        .and_then(|()| describe(&partial, secrets, made_at))
        .and_then(|about| {
            settle(&partial, to)?;
            Ok(about)
        });
    if outcome.is_err() {
        // Best effort: the first failure is the one that matters.
        let _ = std::fs::remove_file(&partial);
    }
    outcome
}

/// Copies a database as of one moment into a new file that only its owner reads.
pub(crate) fn copy(database: &Path, to: &Path) -> Result<(), Error> {
    let source = connect_to_read(database)?;
    // SQLite fills an empty file, and would make one that others may read.
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(to)
        .map_err(|error| step("creating", to)(error.into()))?;
    let name = to
        .to_str()
        .ok_or_else(|| step("creating", to)("its name is not UTF-8".into()))?;
    source
        .execute("VACUUM INTO ?1", [name])
        .map_err(|error| step("writing", to)(error.into()))?;
    Ok(())
}

/// Adds the metadata of a backup.
fn describe(
    copy: &Path,
    secrets: &[(String, SecretString)],
    made_at: Timestamp,
) -> Result<BackupInfo, Error> {
    let made_ns = i64::try_from(made_at.as_nanosecond()).unwrap_or(i64::MAX);
    let written = || {
        let mut connection = Connection::open(copy)?;
        let transaction = connection.transaction()?;
        transaction.execute_batch(TABLES)?;
        transaction.execute("INSERT INTO backup_about VALUES (?1)", [made_ns])?;
        for (path, value) in secrets {
            transaction.execute(
                "INSERT INTO backup_secrets VALUES (?1, ?2)",
                params![path, value.expose_secret()],
            )?;
        }
        transaction.commit()?;
        about(&connection)
    };
    match written() {
        Ok(Some(about)) => Ok(about),
        Ok(None) => Err(Error::NoBackup {
            path: copy.to_owned(),
        }),
        Err(error) => Err(step("writing", copy)(error.into())),
    }
}

/// The metadata of a database as a backup; `None` if it is no backup.
pub(crate) fn about(connection: &Connection) -> rusqlite::Result<Option<BackupInfo>> {
    if !is_backup(connection)? {
        return Ok(None);
    }
    let made_ns: Option<i64> = connection
        .query_row("SELECT made_ns FROM backup_about", [], |row| row.get(0))
        .optional()?;
    let schema = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let secrets: i64 =
        connection.query_row("SELECT count(*) FROM backup_secrets", [], |row| row.get(0))?;
    let made_at = made_ns.and_then(|ns| Timestamp::from_nanosecond(i128::from(ns)).ok());
    Ok(made_at.map(|made_at| BackupInfo {
        made_at,
        schema,
        secrets: usize::try_from(secrets).unwrap_or_default(),
    }))
}

/// The secrets in a backup, by their path.
pub(crate) fn secrets(connection: &Connection) -> rusqlite::Result<Vec<(String, SecretString)>> {
    let mut statement =
        connection.prepare("SELECT path, value FROM backup_secrets ORDER BY path")?;
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, SecretString::from(row.get::<_, String>(1)?)))
    })?;
    rows.collect()
}

/// Makes a copy of a backup an ordinary database again.
pub(crate) fn strip(copy: &Path) -> Result<(), Error> {
    let stripped = || {
        let connection = Connection::open(copy)?;
        connection.pragma_update(None, "secure_delete", true)?;
        connection.execute_batch(DROP_TABLES)
    };
    stripped().map_err(|error| step("preparing", copy)(error.into()))
}

/// Gives a finished file its name, and makes both last.
pub(crate) fn settle(from: &Path, to: &Path) -> Result<(), Error> {
    let settled = || {
        File::open(from)?.sync_all()?;
        std::fs::rename(from, to)?;
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    settled().map_err(|error| step("writing", to)(error.into()))
}

/// An unused name in the same folder.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    file.with_file_name(name)
}

pub(crate) fn step(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(Box<dyn std::error::Error + Send + Sync>) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Step {
        doing,
        path,
        source,
    }
}
