//! One process at a time works over a data folder: whoever does holds a lock on a file in it, which the system takes back when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::database::{FILE_MODE, prepare_folder};
use crate::error::Error;

/// The file that is locked; what is in it is only for people.
pub const LOCK_FILE: &str = "up.lock";

/// Longest process number that is believed, in bytes.
const PROCESS_BYTES_MAX: u64 = 20;

/// The right to work over a data folder, held until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::InUse {
                    folder: folder.to_owned(),
                    by: holder(&mut file),
                });
            }
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        sign(&mut file).map_err(failed)?;
        Ok(Self { _file: file })
    }
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

/// Writes who holds it, so that whoever is refused knows whom to stop.
fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", std::process::id())
}

/// Who holds it, in words; the holder may not have signed yet.
fn holder(file: &mut File) -> String {
    let mut signed = String::new();
    let read = file.take(PROCESS_BYTES_MAX).read_to_string(&mut signed);
    match (read, signed.trim().parse::<u32>()) {
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
        let held = FolderLock::take(&data).unwrap();
        let refused = FolderLock::take(&data).unwrap_err();
        assert!(
            matches!(&refused, Error::InUse { by, .. } if *by == format!("process {}", std::process::id())),
            "{refused:?}"
        );
        assert!(refused.to_string().contains("stop it first"), "{refused}");
        drop(held);
        FolderLock::take(&data).unwrap();
    }
}
