//! The adapters' counters, compared with the requests.

use std::sync::Arc;

use engine::ports::{Queue, Records, Write};
use engine::usage::{Meter, Used};
use jiff::SignedDuration;
use tests::cloud;
use tests::contract::records::{key, put_new, record};

#[tokio::test]
async fn every_call_is_counted_once() {
    let counters = aws::Counters::default();
    let (table, queue) = cloud::metered(counters.clone()).await;
    let table: Arc<dyn Records> = Arc::new(table);
    assert_eq!(counters.take(), Used::default());
    put_new(&*table, record("JOB#1", "META", "x")).await;
    let written = counters.take();
    // What is new is written without being read before.
    assert_eq!((written.read_halves, written.write_halves), (0, 2));
    let found = table.get(&key("JOB#1", "META")).await.expect("a record");
    let read = counters.take();
    // A consistent read of less than 4 KB is one unit.
    assert_eq!((read.read_halves, read.write_halves), (2, 0));
    let both = [found.expect("a record"), record("JOB#2", "META", "x")];
    let puts = both.map(|record| Write::Put {
        record,
        expect: engine::ports::Expect::Any,
    });
    table.commit(puts.to_vec()).await.expect("a transaction");
    // Each of two small items in a transaction is two units.
    let transaction = counters.take();
    assert!(transaction.write_halves >= 8, "{transaction:?}");
    queue.send("x", SignedDuration::ZERO).await.expect("sent");
    let received = queue.receive(10, SignedDuration::from_secs(9)).await;
    let received = received.expect("received");
    queue.acknowledge(&received[0].receipt).await.expect("done");
    let requests = Used {
        queue_requests: 3,
        ..Used::default()
    };
    assert_eq!(counters.take(), requests);
}
