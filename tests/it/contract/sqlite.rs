//! Runs the contract on SQLite in memory and in a file, and adds what only a file promises: it outlives its process and is shared.

use std::path::Path;
use std::sync::Arc;

use engine::ports::{Clock, Queue, Records};
use jiff::SignedDuration;
use local::{Database, LocalQueue, Store};
use tempfile::TempDir;
use tests::clock::FakeClock;
use tokio::task::JoinSet;

use super::records::{increment, key, put_new, record};

/// Runs each named check of the record contract on both kinds of database.
macro_rules! records_contract {
    ($($check:ident),* $(,)?) => {
        mod records_in_memory {
            $(#[tokio::test]
            async fn $check() {
                super::super::records::$check(super::store(&super::in_memory())).await;
            })*
        }
        mod records_in_a_file {
            $(#[tokio::test]
            async fn $check() {
                let folder = super::folder();
                super::super::records::$check(super::store(&super::in_file(folder.path()))).await;
            })*
        }
    };
}

/// Runs each named check of the queue contract on both kinds of database.
macro_rules! queue_contract {
    ($($check:ident),* $(,)?) => {
        mod queue_in_memory {
            $(#[tokio::test]
            async fn $check() {
                let (queue, clock) = super::queue(&super::in_memory());
                super::super::queue::$check(queue, super::waiting(&clock)).await;
            })*
        }
        mod queue_in_a_file {
            $(#[tokio::test]
            async fn $check() {
                let folder = super::folder();
                let (queue, clock) = super::queue(&super::in_file(folder.path()));
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

fn in_file(folder: &Path) -> Database {
    Database::open(&folder.join("gaffer.db")).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn store(database: &Database) -> Arc<dyn Records> {
    Arc::new(Store::new(database))
}

fn queue(database: &Database) -> (Arc<dyn Queue>, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::default());
    let told: Arc<dyn Clock> = Arc::<FakeClock>::clone(&clock);
    (Arc::new(LocalQueue::new(database, "work", told)), clock)
}

/// Waiting moves the clock, so no test sleeps.
fn waiting(clock: &Arc<FakeClock>) -> impl AsyncFn(SignedDuration) {
    let clock = Arc::clone(clock);
    async move |time| clock.advance(time)
}

#[tokio::test]
async fn records_and_messages_outlive_the_process() {
    let folder = folder();
    let written = record("JOB#1", "META", "kept");
    {
        let database = in_file(folder.path());
        put_new(&*store(&database), written.clone()).await;
        queue(&database)
            .0
            .send("kept", SignedDuration::ZERO)
            .await
            .unwrap();
    }
    let database = in_file(folder.path());
    let found = store(&database)
        .get(&key("JOB#1", "META"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.version, found.body.as_str()), (1, "kept"));
    let received = queue(&database)
        .0
        .receive(10, SignedDuration::from_secs(30))
        .await
        .unwrap();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].body, "kept");
}

#[tokio::test]
async fn two_handles_on_one_file_lose_no_update() {
    let folder = folder();
    let stores = [
        store(&in_file(folder.path())),
        store(&in_file(folder.path())),
    ];
    put_new(&*stores[0], record("COUNT#x", "META", "0")).await;
    let mut tasks = JoinSet::new();
    for turn in 0..16 {
        let store = Arc::clone(&stores[turn % 2]);
        tasks.spawn(async move { increment(&*store, &key("COUNT#x", "META")).await });
    }
    tasks.join_all().await;
    let counted = stores[1]
        .get(&key("COUNT#x", "META"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((counted.body.as_str(), counted.version), ("16", 17));
}

#[tokio::test]
async fn two_handles_on_one_file_share_the_messages() {
    let folder = folder();
    let (first, _clock) = queue(&in_file(folder.path()));
    let (second, _other_clock) = queue(&in_file(folder.path()));
    for turn in 0..20 {
        first
            .send(&turn.to_string(), SignedDuration::ZERO)
            .await
            .unwrap();
    }
    let mut bodies = Vec::new();
    for receiver in [&first, &second, &first, &second] {
        let received = receiver
            .receive(5, SignedDuration::from_secs(30))
            .await
            .unwrap();
        bodies.extend(received.into_iter().map(|delivery| delivery.body));
    }
    bodies.sort_by_key(|body| body.parse::<u32>().unwrap());
    assert_eq!(
        bodies,
        (0..20).map(|turn| turn.to_string()).collect::<Vec<_>>()
    );
}
