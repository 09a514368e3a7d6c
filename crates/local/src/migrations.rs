//! The schema, as the list of steps that lead to it. A step that was released is never edited; a new one is appended.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as ours in SQLite's header: "Gafr" in ASCII.
const APPLICATION_ID: i64 = 0x4761_6672;

/// One step: its statements, and the newest schema of bodies that records may have after it.
///
/// An older gaffer must refuse a file that a newer one has used. So bodies get a new schema only together with a step,
/// which may be empty: the file then has a version that the older one does not know.
struct Step {
    sql: &'static str,
    bodies: u32,
}

/// The steps; after step `n`, counted from 0, the schema version is `n + 1`.
const MIGRATIONS: &[Step] = &[Step {
    sql: include_str!("migrations/0001_initial.sql"),
    bodies: 1,
}];

// A new body schema without its migration step fails here.
const _: () = assert!(
    MIGRATIONS[MIGRATIONS.len() - 1].bodies == engine::store::BODY_SCHEMA,
    "bodies have a new schema: append a step that says so"
);

/// The newest schema version that this program knows.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// What a file that can be read as a database turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Ours, or empty, with this schema version.
    Ours(i64),
    /// Another program's.
    Foreign,
}

/// Determines what the file is, reading only.
///
/// It reads one snapshot: what another process, which is starting on the same new file, writes in between would look
/// foreign.
pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<Found> {
    let moment = connection.unchecked_transaction()?;
    let version: i64 = moment.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 = moment.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        moment.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    moment.finish()?;
    let untouched = version == 0 && application == 0 && tables == 0;
    Ok(if untouched || application == APPLICATION_ID {
        Found::Ours(version)
    } else {
        Found::Foreign
    })
}

/// Takes every step that is missing, each in its own transaction.
pub(crate) fn apply(connection: &mut Connection) -> rusqlite::Result<()> {
    apply_all(connection, MIGRATIONS)
}

fn apply_all(connection: &mut Connection, steps: &[Step]) -> rusqlite::Result<()> {
    for (version, step) in (1_i64..).zip(steps) {
        apply_step(connection, version, step.sql)?;
    }
    Ok(())
}

/// Applies one step unless it was applied before. The version is read inside the transaction, because another process
/// may be starting on the same file.
fn apply_step(connection: &mut Connection, version: i64, step: &str) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found < version {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIAL: &str = include_str!("migrations/0001_initial.sql");

    fn step(sql: &'static str) -> Step {
        Step { sql, bodies: 1 }
    }

    fn version(connection: &Connection) -> i64 {
        connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn each_missing_step_is_taken_once_and_the_records_stay() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection).unwrap();
        let record = "INSERT INTO records (pk, sk, version, body) VALUES ('a', 'b', 3, 'c')";
        connection.execute(record, []).unwrap();
        let next = [
            step(INITIAL),
            step("ALTER TABLE records ADD COLUMN next TEXT"),
        ];
        // A step that is taken again fails, since the column is there already.
        for _ in 0..2 {
            apply_all(&mut connection, &next).unwrap();
            assert_eq!(version(&connection), 2);
        }
        let kept = "SELECT version FROM records WHERE pk = 'a' AND next IS NULL";
        let kept: i64 = connection.query_row(kept, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 3);
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_at_the_step_before() {
        let mut connection = Connection::open_in_memory().unwrap();
        let steps = [
            step(INITIAL),
            step("CREATE TABLE half (x); this is no statement"),
        ];
        assert!(apply_all(&mut connection, &steps).is_err());
        assert_eq!(version(&connection), 1);
        let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
        let half: i64 = connection.query_row(half, [], |row| row.get(0)).unwrap();
        assert_eq!(half, 0);
    }
}
