//! Why the database or its folder cannot be used. What fails later is told in the words of the ports.

use std::path::PathBuf;

/// Why the database or its folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder that should hold it is not there.
    #[error(
        "cannot open the database: the folder {folder} does not exist; create it with `mkdir -p -m 700 {folder}` or name another data folder"
    )]
    FolderMissing {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder could not be made.
    #[error("cannot create the folder {folder}; check who owns the folder above it")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be created, read or written.
    #[error(
        "cannot read and write the database {path}; check its owner and its mode, and that it is a file"
    )]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("{path} is not a database of gaffer; name another data folder, or move the file away")]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A newer gaffer wrote it. Nothing was changed.
    #[error(
        "the database {path} has schema {found}, this gaffer knows up to {known}; upgrade gaffer (nothing was changed)"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema version in the file.
        found: i64,
        /// The newest schema version that this program knows.
        known: i64,
    },
    /// It was opened, but could not be prepared.
    #[error(
        "cannot prepare the database {path} while {doing}; free disk space or restore a backup, then start again"
    )]
    Prepare {
        /// The file.
        path: PathBuf,
        /// What we were doing.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
}
