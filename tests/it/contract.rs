//! The contract of the record and queue ports: one suite, run on every adapter. Each check starts from an empty store or queue.

#![expect(
    clippy::unwrap_used,
    reason = "a check that cannot go on has failed; clippy knows only functions marked #[test]"
)]

mod adapters;
mod sqlite;
