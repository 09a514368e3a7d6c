//! Why the database or its folder cannot be used. Later failures use the errors of the ports.

use std::path::PathBuf;

/// Why the database or its folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its folder does not exist.
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
    /// The file has other contents.
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
    /// The database is of an older version, and was opened only to be read.
    #[error(
        "the database {path} has schema {found}, and this gaffer reads {known}; start `gaffer up` once, which brings it up to date (nothing was changed)"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The schema version in the file.
        found: i64,
        /// The schema version that this program works with.
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
    /// Another process works over the folder.
    #[error(
        "{by} already works over {folder}: stop it first, or name another data folder with `--data`"
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Who, for people.
        by: String,
    },
    /// The file is a database of ours but no backup, or the other way round.
    #[error("{path} is no backup: only what `gaffer backup` wrote can be restored")]
    NoBackup {
        /// The file.
        path: PathBuf,
    },
    /// The file is a backup, and was put where a database to work with belongs.
    #[error(
        "{path} is a backup that was copied there by hand: what was done since it was made would be done once more; run `gaffer restore {path} --replace` (nothing was changed)"
    )]
    IsBackup {
        /// The file.
        path: PathBuf,
    },
    /// The file was damaged.
    #[error("{path} is damaged ({what}); restore another backup (nothing was changed)")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite found first.
        what: String,
    },
    /// An existing file would be overwritten.
    #[error("{path} exists already; name another file, or move it away")]
    Exists {
        /// What.
        path: PathBuf,
    },
    /// A step of a backup or a restore failed. Nothing that was there before was changed.
    #[error(
        "{doing} {path} failed; check that the disk has room and who owns the folder, then try again"
    )]
    Step {
        /// What we were doing.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system or SQLite said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
