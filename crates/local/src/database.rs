//! Opens the one SQLite file and lends its connection to one caller at a time, off the async threads.

use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use tokio::sync::Mutex;
use tokio::task::JoinError;

use crate::error::Error;
use crate::migrations::{self, Found};

mod inspect;

/// How long a statement waits for another process that is writing: far longer than any of our transactions takes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum attempts to switch a new file to the write-ahead log. Each but the first comes after a wait for the
/// others, which are at most as many processes as start in one moment.
const MAX_SWITCH_ATTEMPTS: u32 = 50;

/// Mode of a folder that only its owner enters.
pub(crate) const FOLDER_MODE: u32 = 0o700;

/// Mode of a file that only its owner reads.
pub(crate) const FILE_MODE: u32 = 0o600;

/// The open database. Clones share one connection: SQLite writes one transaction at a time in any case, and ours are short.
#[derive(Debug, Clone)]
pub struct Database {
    connection: Arc<Mutex<Connection>>,
}

/// Creates a folder, and those above it, that only their owner enters; leaves existing ones unchanged.
pub fn prepare_folder(folder: &Path) -> Result<(), Error> {
    private_folder(folder).map_err(|source| Error::Folder {
        folder: folder.to_owned(),
        source,
    })
}

pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(folder)
}

impl Database {
    /// Opens or creates the database and brings its schema up to date. Blocks; called once, at the start.
    ///
    /// The folder must exist ([`prepare_folder`]); the file is made readable by its owner alone.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            Some(_) | None => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(Error::FolderMissing {
                folder: folder.to_owned(),
            });
        }
        create_file(path).map_err(|source| Error::File {
            path: path.to_owned(),
            source,
        })?;
        let mut connection = connect(path)?;
        refuse_what_is_not_ours(&connection, path)?;
        refuse_backup(&connection, path)?;
        std::fs::set_permissions(path, Permissions::from_mode(FILE_MODE)).map_err(|source| {
            Error::File {
                path: path.to_owned(),
                source,
            }
        })?;
        prepare(&mut connection, path)?;
        Ok(Self::new(connection))
    }

    /// Opens an existing database as of this moment, read-only: it writes nothing, and does not see later writes.
    ///
    /// Meant for a reader of everything; the file keeps what this still sees, so do not hold it for long.
    pub fn open_as_it_is(path: &Path) -> Result<Self, Error> {
        let connection = connect_to_read(path)?;
        refuse_backup(&connection, path)?;
        inspect::refuse_older(&connection, path)?;
        // The first statement that reads fixes the moment.
        connection
            .execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")
            .map_err(during(path, "reading it"))?;
        Ok(Self::new(connection))
    }

    /// A database that vanishes with its last clone.
    pub fn in_memory() -> Result<Self, Error> {
        let path = PathBuf::from(":memory:");
        let doing = |doing| during(&path, doing);
        let mut connection = Connection::open_in_memory().map_err(doing("opening it"))?;
        migrations::apply(&mut connection).map_err(doing("updating its schema"))?;
        Ok(Self::new(connection))
    }

    fn new(connection: Connection) -> Self {
        Self {
            connection: Arc::new(Mutex::new(connection)),
        }
    }

    /// Runs blocking work on the connection. Callers queue up fairly before a thread is taken, so a burst occupies one thread.
    ///
    /// Work that has begun is finished even if the caller stops waiting.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, JoinError>
    where
        F: FnOnce(&mut Connection) -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut connection = Arc::clone(&self.connection).lock_owned().await;
        tokio::task::spawn_blocking(move || work(&mut connection)).await
    }
}

/// Creates the file before SQLite would, so that it is never readable by others; SQLite gives its log the same mode.
pub(crate) fn create_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path)
    {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// A connection to a file that is there.
fn open_as(flags: OpenFlags, path: &Path) -> Result<Connection, Error> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| refused(path, error))?;
    connection
        .busy_timeout(BUSY_TIMEOUT)
        .map_err(during(path, "opening it"))?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection, Error> {
    let connection = open_as(OpenFlags::SQLITE_OPEN_READ_WRITE, path)?;
    // SQLite falls back to reading when it may not write, and would complain at the first commit only.
    if connection
        .is_readonly("main")
        .map_err(during(path, "opening it"))?
    {
        return Err(refused(
            path,
            io::Error::from(io::ErrorKind::PermissionDenied),
        ));
    }
    Ok(connection)
}

/// A connection that cannot write, to a database of ours that exists.
pub(crate) fn connect_to_read(path: &Path) -> Result<Connection, Error> {
    let connection = open_as(OpenFlags::SQLITE_OPEN_READ_ONLY, path)?;
    refuse_what_is_not_ours(&connection, path)?;
    Ok(connection)
}

/// Reads the header before anything is written: a foreign file, or one of a newer gaffer, stays unchanged.
fn refuse_what_is_not_ours(connection: &Connection, path: &Path) -> Result<(), Error> {
    let known = migrations::newest();
    match migrations::inspect(connection) {
        Ok(Found::Ours(found)) if found > known => Err(Error::Newer {
            path: path.to_owned(),
            found,
            known,
        }),
        Ok(Found::Ours(_)) => Ok(()),
        Ok(Found::Foreign) => Err(Error::NotOurs {
            path: path.to_owned(),
        }),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(Error::NotOurs {
                path: path.to_owned(),
            })
        }
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            Err(refused(path, error))
        }
        Err(error) => Err(during(path, "reading it")(error)),
    }
}

/// Refuses a backup that was copied into place by hand: it does not know that time has passed, so effects since then
/// would be repeated.
pub(crate) fn refuse_backup(connection: &Connection, path: &Path) -> Result<(), Error> {
    match is_backup(connection) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::IsBackup {
            path: path.to_owned(),
        }),
        Err(error) => Err(during(path, "reading it")(error)),
    }
}

/// Whether a database is a backup and nothing to work with.
pub(crate) fn is_backup(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('backup_about', 'backup_secrets')",
        [],
        |row| row.get(0),
    )?;
    Ok(tables > 0)
}

/// Sets how the file is written.
///
/// The write-ahead log lets other processes read while we write. `synchronous = FULL` syncs that log at every commit:
/// under `NORMAL` a power cut takes back the last commits, and an effect whose `started` was taken back would be done twice.
fn prepare(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    switch_to_log(connection).map_err(during(path, "switching to the write-ahead log"))?;
    connection
        .pragma_update(None, "synchronous", "FULL")
        .map_err(during(path, "opening it"))?;
    migrations::apply(connection).map_err(during(path, "updating its schema"))
}

/// Switches a new file to the write-ahead log; leaves one that has it unchanged.
///
/// SQLite refuses the switch at once, without waiting, while another process is about to write. So we wait until we
/// could be alone with the file and try again:
/// by then either it was left to us or another process switched it.
fn switch_to_log(connection: &Connection) -> rusqlite::Result<()> {
    let switch = || connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()));
    for _ in 1..MAX_SWITCH_ATTEMPTS {
        match switch() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN EXCLUSIVE; COMMIT;")?;
            }
            outcome => return outcome,
        }
    }
    switch()
}

fn refused(path: &Path, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::File {
        path: path.to_owned(),
        source: io::Error::other(cause),
    }
}

pub(crate) fn during(path: &Path, doing: &'static str) -> impl FnOnce(rusqlite::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Prepare {
        path,
        doing,
        source,
    }
}

#[cfg(test)]
mod tests;
