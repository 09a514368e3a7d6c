//! Runs the contract on every adapter: SQLite in memory and in a file, and the table and the shelf of the simulations.

use std::sync::Arc;

use engine::ports::{Clock, Queue, Records};
use jiff::SignedDuration;
use local::Database;
use tests::clock::FakeClock;
use tests::memory::{MemoryQueue, MemoryRecords};

/// Runs each named check of the record contract on both kinds of database, and on the table in memory.
macro_rules! records_contract {
    ($($check:ident),* $(,)?) => {
        mod records_in_memory {
            use super::super::sqlite::store;

            $(#[tokio::test]
            async fn $check() {
                tests::contract::records::$check(store(&super::in_memory())).await;
            })*
        }
        mod records_in_a_file {
            use super::super::sqlite::{folder, in_file, store};

            $(#[tokio::test]
            async fn $check() {
                let folder = folder();
                tests::contract::records::$check(store(&in_file(folder.path()))).await;
            })*
        }
        mod records_in_a_table {
            $(#[tokio::test]
            async fn $check() {
                tests::contract::records::$check(super::table()).await;
            })*
        }
    };
}

/// Runs each named check of the queue contract on both kinds of database, and on the shelf in memory.
macro_rules! queue_contract {
    ($($check:ident),* $(,)?) => {
        mod queue_in_memory {
            use super::super::sqlite::queue;

            $(#[tokio::test]
            async fn $check() {
                let (queue, clock) = queue(&super::in_memory());
                tests::contract::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
        mod queue_in_a_file {
            use super::super::sqlite::{folder, in_file, queue};

            $(#[tokio::test]
            async fn $check() {
                let folder = folder();
                let (queue, clock) = queue(&in_file(folder.path()));
                tests::contract::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
        mod queue_on_a_shelf {
            $(#[tokio::test]
            async fn $check() {
                let (queue, clock) = super::shelf();
                tests::contract::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
    };
}

tests::every_check_of_records!(records_contract);

tests::every_check_of_queues!(queue_contract);

fn in_memory() -> Database {
    Database::in_memory().unwrap()
}

fn table() -> Arc<dyn Records> {
    Arc::new(MemoryRecords::default())
}

fn shelf() -> (Arc<dyn Queue>, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    let told: Arc<dyn Clock> = Arc::<FakeClock>::clone(&clock);
    (Arc::new(MemoryQueue::new(told)), clock)
}

/// Waiting moves the clock, so no test sleeps.
fn waiting(clock: &Arc<FakeClock>) -> impl AsyncFn(SignedDuration) {
    let clock = Arc::clone(clock);
    async move |time| clock.advance(time)
}
