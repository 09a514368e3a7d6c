//! Opens a database to read it, and changes nothing: no file, no schema, no record.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::{Database, during, open_as, refuse_backup, refuse_what_is_not_ours};
use crate::error::Error;
use crate::migrations::{self, Found};

impl Database {
    /// Opens an existing database so that nothing can be written through it. Blocks.
    ///
    /// It works while another process writes, and refuses what [`Database::open`] refuses.
    pub fn open_to_read(path: &Path) -> Result<Self, Error> {
        // Opened for writing, since only then SQLite can read a write-ahead log that a crash left; a file that may not be written is
        // opened read-only.
        let connection = open_as(OpenFlags::SQLITE_OPEN_READ_WRITE, path)?;
        connection
            .pragma_update(None, "query_only", true)
            .map_err(during(path, "opening it"))?;
        refuse_what_is_not_ours(&connection, path)?;
        refuse_older(&connection, path)?;
        refuse_backup(&connection, path)?;
        Ok(Self::new(connection))
    }
}

/// What is only read is not brought up to date.
pub(super) fn refuse_older(connection: &Connection, path: &Path) -> Result<(), Error> {
    let known = migrations::newest();
    match migrations::inspect(connection) {
        Ok(Found::Ours(found)) if found < known => Err(Error::Older {
            path: path.to_owned(),
            found,
            known,
        }),
        Ok(Found::Ours(_) | Found::Foreign) => Ok(()),
        Err(error) => Err(during(path, "reading it")(error)),
    }
}

#[cfg(test)]
mod tests {
    use engine::ports::{Expect, Key, Record, Records, Write};

    use super::*;
    use crate::store::Store;

    fn put(sk: &str) -> Vec<Write> {
        let key = Key {
            pk: "P".to_owned(),
            sk: sk.to_owned(),
        };
        let record = Record {
            key,
            version: 0,
            body: "{}".to_owned(),
            due: None,
            list: None,
            forget: None,
        };
        let expect = Expect::Absent;
        vec![Write::Put { record, expect }]
    }

    #[tokio::test]
    async fn it_reads_beside_a_writer_and_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gaffer.db");
        let writer = Store::new(&Database::open(&path).unwrap());
        writer.commit(put("A")).await.unwrap();
        let reader = Store::new(&Database::open_to_read(&path).unwrap());
        let found = reader.query("P", "", None, 10).await.unwrap().records.len();
        assert_eq!(found, 1);
        assert!(reader.commit(put("B")).await.is_err());
        writer.commit(put("C")).await.unwrap();
        assert_eq!(
            reader.query("P", "", None, 10).await.unwrap().records.len(),
            2
        );
    }

    #[test]
    fn what_is_not_there_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gaffer.db");
        assert!(matches!(
            Database::open_to_read(&path),
            Err(Error::File { .. })
        ));
        assert!(!path.exists());
    }
    /// An empty file stands for one that lacks a step: what creates a database may be stopped before the first.
    #[test]
    fn a_file_that_lacks_a_step_is_not_read_before_it_is_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gaffer.db");
        std::fs::write(&path, "").unwrap();
        let error = Database::open_to_read(&path).unwrap_err();
        assert!(matches!(error, Error::Older { found: 0, .. }), "{error:?}");
        assert!(error.to_string().contains("brings it up to date"));
        drop(Database::open(&path).unwrap());
        assert!(Database::open_to_read(&path).is_ok());
    }
}
