//! The contract of the record and queue ports on DynamoDB and SQS.

use jiff::SignedDuration;

use tests::cloud;

/// Makes a test of each check of the record contract, over a table of its own.
macro_rules! on_tables {
    ($($check:ident),* $(,)?) => {
        mod records {
            $(#[tokio::test]
            async fn $check() {
                tests::contract::records::$check(tests::cloud::table().await).await;
            })*
        }
    };
}

/// The same of records that share the item of their aggregate.
macro_rules! on_shared_items {
    ($($check:ident),* $(,)?) => {
        mod shared {
            use std::sync::Arc;

            use tests::contract::shared::Shared;

            $(#[tokio::test]
            async fn $check() {
                let table = Shared(tests::cloud::table().await);
                tests::contract::records::$check(Arc::new(table)).await;
            })*
        }
    };
}

/// Makes a test of each check of the queue contract, over a queue of its own.
macro_rules! on_queues {
    ($($check:ident),* $(,)?) => {
        mod queues {
            $(#[tokio::test]
            async fn $check() {
                tests::contract::queue::$check(tests::cloud::queue().await, super::waiting).await;
            })*
        }
    };
}

tests::every_check_of_records!(on_tables);
tests::every_check_of_records!(on_shared_items);
tests::every_check_of_queues!(on_queues);

#[expect(
    clippy::disallowed_methods,
    reason = "the clock of a service cannot be moved, and it says nothing when a message becomes visible"
)]
async fn waiting(time: SignedDuration) {
    tokio::time::sleep(time.unsigned_abs()).await;
}

#[tokio::test]
async fn no_account_is_polled_twice_in_an_interval() {
    let table = std::sync::Arc::new(cloud::new_table().await);
    tests::contract::pollers::no_account_is_polled_twice_in_an_interval(table.clone(), table).await;
}

#[tokio::test]
async fn dead_letters_are_put_back_to_work_once() {
    let queue = std::sync::Arc::new(cloud::new_queue().await);
    tests::contract::dead::dead_letters_are_put_back_to_work_once(queue.clone(), queue).await;
}

#[tokio::test]
async fn tables_are_scanned_page_by_page() {
    let table = cloud::new_table().await;
    let mut written: Vec<String> = (0..25).map(|at| format!("JOB#{at:02}")).collect();
    for pk in &written {
        tests::contract::records::put_new(
            &table,
            tests::contract::records::record(pk, "META", "x"),
        )
        .await;
    }
    let (mut found, mut after) = (Vec::new(), None);
    for _ in 0..written.len() {
        let page = table.scan(after, 7).await.expect("a page");
        found.extend(page.records.into_iter().map(|record| record.key.pk));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    found.sort();
    written.sort();
    assert_eq!(found, written);
}
