//! Where mail lies on the disk: found upward, held under a lock, and written so that a crash leaves the old or the new.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use ::scaffold::layout::{MAIL, PERSONAS};
use ::scaffold::persona::path_of;
use anyhow::{Context, Result};
use domain::ids::PersonaName;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::scaffold::must_be_inside;

const LOG: &str = "events.jsonl";

/// The sealed pages in it.
const BACKUPS: &str = "backups";

/// What a rebuild takes out of the log.
const REJECTED: &str = "events.rejected";

/// A folder with mail, or one that is to have some.
#[derive(Debug)]
pub(super) struct MailFolder {
    root: PathBuf,
}

/// How a place is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// With other readers.
    Shared,
    /// Alone.
    Alone,
}

/// The lock of a place, which ends with it.
#[derive(Debug)]
pub(super) struct Held {
    _folder: File,
}

impl MailFolder {
    /// The nearest folder upward that has mail, within the repository that one is in; else the root of that
    /// repository, or the folder itself.
    pub(super) fn find(from: &Path) -> Self {
        for folder in from.ancestors() {
            let is_repository = folder.join(".git").exists();
            if folder.join(MAIL).exists() || is_repository {
                let root = folder.to_owned();
                return Self { root };
            }
        }
        let root = from.to_owned();
        Self { root }
    }

    /// The folder that has the mail below it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder().join(LOG)
    }

    /// The folder of the sealed pages.
    pub(super) fn backups(&self) -> PathBuf {
        self.folder().join(BACKUPS)
    }

    /// What a rebuild took out.
    pub(super) fn rejected(&self) -> PathBuf {
        self.folder().join(REJECTED)
    }

    fn folder(&self) -> PathBuf {
        self.root.join(MAIL)
    }

    /// The personas whose files lie beside the mail: those that have none yet are reached too.
    pub(super) fn personas(&self) -> Result<BTreeSet<PersonaName>> {
        let folder = self.root.join(PERSONAS);
        let doing = || format!("reading {}", folder.display());
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            read => read.with_context(doing)?,
        };
        let mut personas = BTreeSet::new();
        for entry in entries {
            let name = entry.with_context(doing)?.file_name();
            let name = name.to_string_lossy();
            if self.root.join(path_of(&name)).is_file() {
                personas.extend(name.parse::<PersonaName>());
            }
        }
        Ok(personas)
    }

    /// Makes the folder.
    pub(super) fn make(&self) -> Result<()> {
        must_be_inside(&self.root, MAIL)?;
        self.must_have_folders()?;
        let folder = self.folder();
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))
    }

    /// Refuses what is there in place of a folder.
    fn must_have_folders(&self) -> Result<()> {
        let (folder, backups) = (self.folder(), self.backups());
        let mut all = folder.parent().into_iter().chain([&*folder, &*backups]);
        match all.find(|path| path.exists() && !path.is_dir()) {
            Some(path) => Err(no_folder(path).into()),
            None => Ok(()),
        }
    }

    /// Waits for the lock; `None` where there is no mail. The lock is that of the folder, since a rebuild replaces the log.
    pub(super) fn hold(&self, how: Hold) -> Result<Option<Held>> {
        for name in [LOG, BACKUPS, REJECTED] {
            must_be_inside(&self.root, &format!("{MAIL}/{name}"))?;
        }
        self.must_have_folders()?;
        let doing = || format!("locking {}", self.folder().display());
        let folder = match File::open(self.folder()) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.with_context(doing)?,
        };
        let locked = match how {
            Hold::Shared => folder.lock_shared(),
            Hold::Alone => folder.lock(),
        };
        locked.with_context(doing)?;
        Ok(Some(Held { _folder: folder }))
    }
}

/// The bytes of a file; none where there is none.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let doing = || format!("reading {}", path.display());
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Ok(found) if !found.is_file() => return Err(no_file(path).into()),
        found => found.with_context(doing)?,
    };
    fs::read(path).with_context(doing)
}

fn no_file(path: &Path) -> Error {
    let what = format!("{} is no regular file", path.display());
    Error::unfit("no_file", what, "put a regular file in its place")
}

fn no_folder(path: &Path) -> Error {
    let what = format!("{} is no folder", path.display());
    Error::unfit(
        "no_folder",
        what,
        "move it away, or put a folder in its place",
    )
}

/// Appends in one write and waits until the disk has it. What cannot be written whole is taken back.
pub(super) fn append(path: &Path, text: &[u8]) -> Result<()> {
    let doing = || format!("appending to {}", path.display());
    let is_new = !path.exists();
    let mut options = File::options();
    let mut file = options
        .append(true)
        .create(true)
        .open(path)
        .with_context(doing)?;
    let length = file.metadata().with_context(doing)?.len();
    let written = file.write_all(text).and_then(|()| file.sync_data());
    if written.is_err() {
        // A disk that is full may still shorten a file; if not, the torn line is told at the next reading.
        let _ = file.set_len(length);
    }
    written.with_context(doing)?;
    match is_new {
        true => sync_folder(path),
        false => Ok(()),
    }
}

/// Puts a text in place of a file, so that a crash leaves the one or the other.
pub(super) fn replace(path: &Path, text: &[u8]) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    let folder = path.parent().with_context(doing)?;
    let mut file = NamedTempFile::new_in(folder).with_context(doing)?;
    if let Ok(before) = fs::metadata(path) {
        let kept = file.as_file().set_permissions(before.permissions());
        kept.with_context(doing)?;
    }
    file.write_all(text).with_context(doing)?;
    file.as_file().sync_all().with_context(doing)?;
    file.persist(path).with_context(doing)?;
    sync_folder(path)
}

/// A new name is safe once its folder is.
fn sync_folder(path: &Path) -> Result<()> {
    let doing = || format!("writing the folder of {}", path.display());
    let folder = path.parent().with_context(doing)?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(doing)
}
