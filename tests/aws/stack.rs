//! A deployed stack is found by its name alone.

use engine::ports::{DeadLetters, Queue, Records};
use jiff::SignedDuration;
use tests::cloud;

#[tokio::test]
async fn a_stack_is_found_by_its_name() {
    let name = cloud::new_stack().await;
    let stack = aws::Stack::find(cloud::config().await, &name).await;
    let stack = stack.expect("the stack");
    let written = tests::contract::records::record("JOB#1", "META", "x");
    tests::contract::records::put_new(&stack.table(), written).await;
    let told = stack.table().scan(None, 5).await.expect("a page").records;
    assert_eq!(told.len(), 1);
    assert!(stack.table().next_due().await.expect("a table").is_none());
    for queue in [stack.work().waiting(), stack.ticks()] {
        queue.send("x", SignedDuration::ZERO).await.expect("sent");
        let received = queue.receive(10, SignedDuration::from_secs(30)).await;
        assert_eq!(received.expect("received").len(), 1);
        assert_eq!(queue.list(10).await.expect("dead letters"), []);
    }
}

#[tokio::test]
async fn a_stack_that_is_not_there_is_told_with_what_was_looked_for() {
    let found = aws::Stack::find(cloud::config().await, "nobody-made-this").await;
    let error = found.expect_err("no stack").to_string();
    assert!(error.contains("`nobody-made-this-work`"), "{error}");
    assert!(error.contains("AWS_REGION"), "{error}");
}
