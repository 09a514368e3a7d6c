//! One process at a time uses a data folder: it holds a lock on a file in it, which the system releases when the
//! process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread::yield_now;

use crate::database::{FILE_MODE, prepare_folder};
use crate::error::Error;

/// The file that is locked; what is in it is only for people.
pub const LOCK_FILE: &str = "up.lock";

/// Longest process number that is believed, in bytes.
const PROCESS_BYTES_MAX: u64 = 20;

/// Maximum attempts to take the lock: a process that only checks whether it is held has it for a moment.
const ATTEMPTS: u32 = 1_000;

/// Longest notes that are read, in bytes.
const NOTES_BYTES_MAX: u64 = 64 * 1024;

/// The right to work over a data folder, held until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl FolderLock {
    /// Takes the lock of a folder, which is made when it is new; refuses at once when another process holds it.
    pub fn take(folder: &Path) -> Result<Self, Error> {
        prepare_folder(folder)?;
        let path = folder.join(LOCK_FILE);
        let failed = |source| Error::File {
            path: path.clone(),
            source,
        };
        let mut file = open(&path).map_err(failed)?;
        for attempts_left in (0..ATTEMPTS).rev() {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempts_left > 0 => yield_now(),
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::InUse {
                        folder: folder.to_owned(),
                        by: holder(&mut file),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        sign(&mut file).map_err(failed)?;
        Ok(Self { file })
    }

    /// Notes down how the process was set up, a word a line, for [`noted`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note(&mut self, words: &[String]) -> io::Result<()> {
        sign(&mut self.file)?;
        words
            .iter()
            .try_for_each(|word| write!(self.file, "\n{word}"))
    }
}

/// What the process that works over a folder noted down; `None` when there is no such process.
pub fn noted(folder: &Path) -> Option<Vec<String>> {
    if !is_worked_over(folder) {
        return None;
    }
    let file = File::open(folder.join(LOCK_FILE)).ok()?;
    let mut text = String::new();
    file.take(NOTES_BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text.lines().skip(1).map(str::to_owned).collect())
}

/// Whether a process works over a folder. Where that cannot be found out, none is said to.
pub fn is_worked_over(folder: &Path) -> bool {
    let Ok(file) = File::open(folder.join(LOCK_FILE)) else {
        return false;
    };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn open(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
}

/// Writes the holder into the file, so that a refused user knows which process to stop.
fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

/// The holder, as text; it may not have signed yet.
fn holder(file: &mut File) -> String {
    let mut signed = String::new();
    let read = file.take(PROCESS_BYTES_MAX).read_to_string(&mut signed);
    let process = signed.lines().next().unwrap_or_default();
    match (read, process.trim().parse::<u32>()) {
        (Ok(_), Ok(process)) => format!("process {process}"),
        (_, _) => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_worked_over_by_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("new/data");
        assert!(!is_worked_over(&data));
        assert_eq!(noted(&data), None);
        let mut held = FolderLock::take(&data).unwrap();
        assert!(is_worked_over(&data));
        assert_eq!(noted(&data), Some(Vec::new()));
        let notes = ["127.0.0.1:9000".to_owned(), "localhost".to_owned()];
        held.note(&notes).unwrap();
        assert_eq!(noted(&data), Some(notes.to_vec()));
        let refused = FolderLock::take(&data).unwrap_err();
        assert!(
            matches!(&refused, Error::InUse { by, .. } if *by == format!("process {}", std::process::id())),
            "{refused:?}"
        );
        assert!(refused.to_string().contains("stop it first"), "{refused}");
        drop(held);
        assert!(!is_worked_over(&data));
        FolderLock::take(&data).unwrap();
    }
}
