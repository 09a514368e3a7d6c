//! Inspects a data folder without changing it: for `gaffer doctor`.

use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::doctor::{DataFacts, MachineFacts, SecretStatus};

use crate::database::Database;
use crate::error::Error;
use crate::lock::is_worked_over;
use crate::restore::DATABASE_FILE;
use crate::secrets::quoted;

/// What a data folder holds, and the database if it can be read. Blocks.
pub fn inspect(folder: &Path) -> (MachineFacts, Option<Database>) {
    let metadata = std::fs::metadata(folder);
    let mode = metadata
        .as_ref()
        .ok()
        .filter(|metadata| metadata.is_dir())
        .map(|metadata| metadata.permissions().mode() & 0o777);
    let (data, database) = match metadata {
        Err(error) if error.kind() == ErrorKind::NotFound => (DataFacts::Missing, None),
        Err(error) => (unreadable(&error), None),
        Ok(metadata) if !metadata.is_dir() => {
            let why = "it is not a folder".to_owned();
            (DataFacts::FolderUnreadable { why }, None)
        }
        Ok(_) => open(folder),
    };
    let machine = MachineFacts {
        folder: quoted(folder),
        data,
        mode,
        disk_free: free(folder),
        is_worked_over: is_worked_over(folder),
        api_token: SecretStatus::Missing,
    };
    (machine, database)
}

fn unreadable(error: &std::io::Error) -> DataFacts {
    DataFacts::FolderUnreadable {
        why: error.to_string(),
    }
}

fn open(folder: &Path) -> (DataFacts, Option<Database>) {
    use rustix::fs::{Access, access};
    if let Err(error) = access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        return (unreadable(&error.into()), None);
    }
    let path = folder.join(DATABASE_FILE);
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return (DataFacts::Missing, None),
        Err(error) => return (unreadable(&error), None),
        Ok(_) => {}
    }
    match Database::open_to_read(&path) {
        Ok(database) => (DataFacts::Readable, Some(database)),
        Err(error @ Error::Newer { .. }) => {
            let why = error.to_string();
            (DataFacts::StoreNewer { why }, None)
        }
        Err(error @ Error::Older { .. }) => {
            let why = error.to_string();
            (DataFacts::StoreOlder { why }, None)
        }
        Err(error @ Error::IsBackup { .. }) => {
            let why = error.to_string();
            (DataFacts::StoreIsBackup { why }, None)
        }
        Err(
            error @ (Error::FolderMissing { .. }
            | Error::Folder { .. }
            | Error::File { .. }
            | Error::NotOurs { .. }
            | Error::Prepare { .. }
            | Error::InUse { .. }
            | Error::NoBackup { .. }
            | Error::Damaged { .. }
            | Error::Exists { .. }
            | Error::Step { .. }),
        ) => {
            let why = error.to_string();
            (DataFacts::StoreUnreadable { why }, None)
        }
    }
}

/// Free bytes on the disk of a folder, or of the next existing folder above.
fn free(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|ancestor| ancestor.is_dir())?;
    let figures = rustix::fs::statvfs(there).ok()?;
    Some(figures.f_bavail.saturating_mul(figures.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_folder_is_told_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        let (machine, database) = inspect(&absent);
        assert!(machine.data == DataFacts::Missing && database.is_none());
        assert!(
            machine.disk_free.is_some(),
            "the disk of the folder above it"
        );
        assert!(!absent.exists());

        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let (machine, _) = inspect(folder.path());
        assert_eq!(
            (machine.data, machine.mode),
            (DataFacts::Missing, Some(0o755))
        );

        drop(Database::open(&folder.path().join(DATABASE_FILE)).unwrap());
        let (machine, database) = inspect(folder.path());
        assert!(machine.data == DataFacts::Readable && database.is_some());

        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(matches!(
            inspect(&file).0.data,
            DataFacts::FolderUnreadable { .. }
        ));
    }

    #[test]
    fn a_file_of_others_is_no_store() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DATABASE_FILE), "x".repeat(4_096)).unwrap();
        let (machine, database) = inspect(folder.path());
        assert!(database.is_none());
        assert!(
            matches!(machine.data, DataFacts::StoreUnreadable { .. }),
            "{machine:?}"
        );
    }
}
