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
                super::super::records::$check(store(&super::in_memory())).await;
            })*
        }
        mod records_in_a_file {
            use super::super::sqlite::{folder, in_file, store};

            $(#[tokio::test]
            async fn $check() {
                let folder = folder();
                super::super::records::$check(store(&in_file(folder.path()))).await;
            })*
        }
        mod records_in_a_table {
            $(#[tokio::test]
            async fn $check() {
                super::super::records::$check(super::table()).await;
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
                super::super::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
        mod queue_in_a_file {
            use super::super::sqlite::{folder, in_file, queue};

            $(#[tokio::test]
            async fn $check() {
                let folder = folder();
                let (queue, clock) = queue(&in_file(folder.path()));
                super::super::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
        mod queue_on_a_shelf {
            $(#[tokio::test]
            async fn $check() {
                let (queue, clock) = super::shelf();
                super::super::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
    };
}

records_contract! {
    an_absent_record_is_none,
    a_record_is_read_as_it_was_written,
    versions_count_the_puts,
    a_deleted_record_starts_again,
    puts_happen_only_under_their_condition,
    deletes_happen_only_under_their_condition,
    checks_only_check,
    a_commit_is_all_or_nothing,
    a_conflict_names_the_first_item_that_failed,
    limits_are_refused_and_write_nothing,
    what_is_just_within_the_limits_is_written,
    a_query_keeps_to_its_partition_and_prefix,
    a_query_is_read_page_by_page,
    a_query_goes_on_after_its_last_record_was_deleted,
    a_list_is_read_in_both_directions,
    a_list_is_read_page_by_page,
    a_record_moves_in_its_list_with_every_put,
    due_rows_come_longest_due_first,
    a_due_row_goes_with_its_due_time,
    the_next_due_time_is_the_earliest,
    concurrent_increments_are_never_lost,
    concurrent_first_puts_have_one_winner,
}

queue_contract! {
    a_message_is_received_as_it_was_sent,
    a_message_is_hidden_while_in_work,
    an_acknowledged_message_never_comes_again,
    an_older_receipt_changes_nothing,
    a_delayed_message_waits,
    a_released_message_comes_again_after_its_delay,
    an_unacknowledged_message_dies_after_five_receives,
    a_released_message_dies_after_five_receives,
    a_receive_keeps_to_its_limit,
    parallel_receivers_share_the_messages,
}

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
