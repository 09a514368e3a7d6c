//! Restoring: a backup is copied into the data folder and checked there, and replaces the present files in one step.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use secrecy::SecretString;

use crate::backup::{self, BackupInfo, step};
use crate::database::{Database, FOLDER_MODE, connect_to_read};
use crate::error::Error;
use crate::lock::LOCK_FILE;
use crate::secrets::{SecretFiles, is_path};

/// The name of the database in a data folder.
pub const DATABASE_FILE: &str = "gaffer.db";

/// The name of a copy that is being prepared.
const STAGED_FILE: &str = "restoring.db";

/// What SQLite keeps beside a database that was not closed.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A copy of a backup in the data folder: checked, brought up to the present schema, and not yet in its place.
#[derive(Debug)]
pub struct Staged {
    folder: PathBuf,
    about: BackupInfo,
    secrets: Vec<(String, SecretString)>,
}

/// The first name in a data folder that a restore would overwrite, or that shows that the folder belongs to something
/// else.
pub fn occupied(folder: &Path) -> io::Result<Option<String>> {
    let listed = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        listed => listed?,
    };
    let mut names = Vec::new();
    for entry in listed {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name != LOCK_FILE && !name.starts_with(STAGED_FILE));
    names.sort();
    Ok(names.into_iter().next())
}

impl Staged {
    /// Copies a backup into a folder that is locked and checks it. What is in use there is not touched. Blocks.
    pub fn new(backup: &Path, folder: &Path) -> Result<Self, Error> {
        let (about, secrets) = check(backup)?;
        let staged = Self {
            folder: folder.to_owned(),
            about,
            secrets,
        };
        let path = staged.database();
        // Left by a restore that was cut short.
        remove_with_companions(&path)?;
        let prepared = backup::copy(backup, &path)
            .and_then(|()| backup::strip(&path))
            .and_then(|()| Database::open(&path).map(drop));
        match prepared {
            Ok(()) => Ok(staged),
            Err(error) => {
                // Best effort: the first failure is the one that matters.
                let _ = remove_with_companions(&path);
                Err(error)
            }
        }
    }

    /// The backup's metadata.
    pub fn about(&self) -> &BackupInfo {
        &self.about
    }

    /// The prepared database, to be marked before it is worked with.
    pub fn database(&self) -> PathBuf {
        self.folder.join(STAGED_FILE)
    }

    /// Puts the copy in its place. Keeps the previous files in `aside`, a folder that must not exist yet; returns
    /// whether there were any.
    ///
    /// No process may have the prepared database open any more. The database takes its place by one rename, after the
    /// secrets.
    pub fn put_in_place(self, aside: &Path) -> Result<bool, Error> {
        let (from, to) = (self.database(), self.folder.join(DATABASE_FILE));
        fold(&from).map_err(|error| step("preparing", &from)(error.into()))?;
        let kept = self.keep(&to, aside)?;
        let files = SecretFiles::new(&self.folder.join("secrets"), Default::default());
        for (path, value) in &self.secrets {
            files
                .put_back(path, value)
                .map_err(|error| step("writing a secret into", &self.folder)(error.into()))?;
        }
        backup::settle(&from, &to)?;
        Ok(kept)
    }

    /// Keeps what is about to be replaced: the database, and the secrets if there are others in the backup.
    fn keep(&self, database: &Path, aside: &Path) -> Result<bool, Error> {
        let secrets = self.folder.join("secrets");
        let keeps_secrets = !self.secrets.is_empty() && secrets.is_dir();
        if !database.exists() && !keeps_secrets {
            return Ok(false);
        }
        let kept = || {
            DirBuilder::new().mode(FOLDER_MODE).create(aside)?;
            if keeps_secrets {
                copy_folder(&secrets, &aside.join("secrets"))?;
            }
            if database.exists() {
                keep_database(database, aside)?;
            }
            Ok::<_, io::Error>(())
        };
        kept().map_err(|error| step("keeping what was there in", aside)(error.into()))?;
        Ok(true)
    }
}

/// Checks a whole backup: that it is one, has a known schema, and is undamaged.
fn check(backup: &Path) -> Result<(BackupInfo, Vec<(String, SecretString)>), Error> {
    let connection = connect_to_read(backup)?;
    let damaged = |what: String| Error::Damaged {
        path: backup.to_owned(),
        what,
    };
    let unreadable = |error: rusqlite::Error| damaged(error.to_string());
    let sound: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(unreadable)?;
    if sound != "ok" {
        return Err(damaged(sound.replace('\n', " ")));
    }
    let Some(about) = backup::about(&connection).map_err(unreadable)? else {
        return Err(Error::NoBackup {
            path: backup.to_owned(),
        });
    };
    let secrets = backup::secrets(&connection).map_err(unreadable)?;
    if !secrets.iter().all(|(path, _)| is_path(path)) {
        return Err(damaged(
            "it holds a secret under a name that is none".to_owned(),
        ));
    }
    Ok((about, secrets))
}

/// Makes a database one file without companions.
fn fold(database: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(database)?;
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
}

/// Keeps the old database. Its file exists under both names until the new one takes its place.
fn keep_database(database: &Path, aside: &Path) -> io::Result<()> {
    // One that is too damaged for that keeps its companions, which must not meet the new database.
    let _ = fold(database);
    let kept = aside.join(DATABASE_FILE);
    if std::fs::hard_link(database, &kept).is_err() {
        std::fs::copy(database, &kept)?;
    }
    for companion in COMPANIONS {
        let name = format!("{DATABASE_FILE}{companion}");
        match std::fs::rename(database.with_file_name(&name), aside.join(&name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Copies a folder of files and folders, with their modes.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER_MODE).create(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

fn remove_with_companions(database: &Path) -> Result<(), Error> {
    let name = database.file_name().unwrap_or_default().to_string_lossy();
    for companion in [""].into_iter().chain(COMPANIONS) {
        let path = database.with_file_name(format!("{name}{companion}"));
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(step("removing", &path)(error.into()));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
