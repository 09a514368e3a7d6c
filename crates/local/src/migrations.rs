//! The schema, as the list of steps that lead to it. A step that was released is never edited; a new one is appended.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as ours in SQLite's header: "Gafr" in ASCII.
const APPLICATION_ID: i64 = 0x4761_6672;

/// One step: its statements, and the newest schema of bodies that records may have after it.
///
/// An older gaffer must refuse a file that a newer one has used. So bodies get a new schema only together with a
/// step,
/// which may be empty: the file then has a version that the older one does not know.
struct Step {
    sql: &'static str,
    bodies: u32,
}

/// The steps; after step `n`, counted from 0, the schema version is `n + 1`.
const MIGRATIONS: &[Step] = &[
    Step {
        sql: include_str!("migrations/0001_records_and_queues.sql"),
        bodies: 1,
    },
    Step {
        sql: include_str!("migrations/0002_forgetting.sql"),
        bodies: 1,
    },
    Step {
        sql: include_str!("migrations/0003_words.sql"),
        bodies: 1,
    },
];

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
pub(crate) fn look(connection: &Connection) -> rusqlite::Result<Found> {
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
    for (version, step) in (1_i64..).zip(MIGRATIONS) {
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

/// Makes a file as the first schema had it, with one record.
#[cfg(test)]
pub(crate) fn first_schema(path: &std::path::Path) {
    let mut connection = Connection::open(path).unwrap();
    apply_step(&mut connection, 1, MIGRATIONS[0].sql).unwrap();
    let record = "INSERT INTO records (pk, sk, version, body) VALUES ('P', 'S', 3, '{}')";
    connection.execute(record, []).unwrap();
}
