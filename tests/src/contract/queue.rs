//! What every queue promises. Waiting is handed in, because a real queue has no clock that a test could move.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::ports::{Delivery, Queue};
use jiff::SignedDuration;
use tokio::task::JoinSet;

/// How long a received message is hidden in these checks: short, because a real queue is really waited for.
const VISIBILITY: SignedDuration = SignedDuration::from_secs(2);

/// A little more than that.
const AFTER_VISIBILITY: SignedDuration = SignedDuration::from_secs(3);

/// How long a message is hidden or delayed where a check shows that it stays so: longer than a slow machine stalls.
const LONG: SignedDuration = SignedDuration::from_secs(60);

/// How long a message is hidden that is released for longer: it has to be released before that is over.
const BEFORE_RELEASE: SignedDuration = SignedDuration::from_secs(10);

/// A little more than that.
const AFTER_RELEASE: SignedDuration = SignedDuration::from_secs(11);

/// How often a message may be received.
const RECEIVES_MAX: u32 = 5;

async fn send(queue: &dyn Queue, body: &str) {
    queue.send(body, SignedDuration::ZERO).await.unwrap();
}

async fn receive(queue: &dyn Queue) -> Vec<Delivery> {
    queue.receive(10, VISIBILITY).await.unwrap()
}

async fn receive_one(queue: &dyn Queue) -> Delivery {
    receive_one_for(queue, VISIBILITY).await
}

async fn receive_one_for(queue: &dyn Queue, visibility: SignedDuration) -> Delivery {
    let mut received = queue.receive(10, visibility).await.unwrap();
    assert_eq!(received.len(), 1, "{received:?}");
    received.remove(0)
}

pub async fn a_message_is_received_as_it_was_sent(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    assert_eq!(receive(&*queue).await, []);
    let body = "{\"wake\":\"naïve — 日本語 🦀 'quoted'\"}";
    send(&*queue, body).await;
    let first = receive_one(&*queue).await;
    assert_eq!((first.body.as_str(), first.receives), (body, 1));
    wait(AFTER_VISIBILITY).await;
    let second = receive_one(&*queue).await;
    assert_eq!((second.body.as_str(), second.receives), (body, 2));
    assert_eq!(second.sent_at, first.sent_at);
}

pub async fn a_message_is_hidden_while_in_work(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    send(&*queue, "x").await;
    receive_one_for(&*queue, LONG).await;
    assert_eq!(receive(&*queue).await, []);
    wait(AFTER_VISIBILITY).await;
    assert_eq!(receive(&*queue).await, []);
}

pub async fn an_acknowledged_message_never_comes_again(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    send(&*queue, "x").await;
    let received = receive_one(&*queue).await;
    queue.acknowledge(&received.receipt).await.unwrap();
    wait(AFTER_VISIBILITY).await;
    assert_eq!(receive(&*queue).await, []);
    assert_eq!(queue.depth().await.unwrap(), (0, 0));
    queue.acknowledge(&received.receipt).await.unwrap();
}

/// SQS may or may not forget a message for a receipt that is out of date; neither is an error, and the newest receipt counts.
pub async fn an_older_receipt_is_no_error(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    send(&*queue, "x").await;
    let older = receive_one(&*queue).await;
    wait(AFTER_VISIBILITY).await;
    let newer = receive_one(&*queue).await;
    assert_ne!(older.receipt, newer.receipt);
    let hour = SignedDuration::from_hours(1);
    queue.release(&older.receipt, hour).await.unwrap();
    queue.acknowledge(&older.receipt).await.unwrap();
    queue.acknowledge(&newer.receipt).await.unwrap();
    queue.acknowledge(&older.receipt).await.unwrap();
    wait(AFTER_VISIBILITY).await;
    assert_eq!(receive(&*queue).await, []);
}

pub async fn a_delayed_message_waits(queue: Arc<dyn Queue>, wait: impl AsyncFn(SignedDuration)) {
    queue.send("last", LONG).await.unwrap();
    send(&*queue, "now").await;
    let now = receive_one_for(&*queue, LONG).await;
    assert_eq!(now.body, "now");
    queue.acknowledge(&now.receipt).await.unwrap();
    queue.send("later", VISIBILITY).await.unwrap();
    wait(AFTER_VISIBILITY).await;
    assert_eq!(receive_one(&*queue).await.body, "later");
}

pub async fn a_released_message_comes_again_after_its_delay(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    send(&*queue, "x").await;
    let first = receive_one(&*queue).await;
    queue
        .release(&first.receipt, SignedDuration::ZERO)
        .await
        .unwrap();
    let second = receive_one_for(&*queue, BEFORE_RELEASE).await;
    assert_eq!(second.receives, 2);
    queue.release(&second.receipt, LONG).await.unwrap();
    send(&*queue, "y").await;
    let other = receive_one_for(&*queue, LONG).await;
    queue.release(&other.receipt, VISIBILITY).await.unwrap();
    // Of the first one the old visibility is over by then, the asked delay is not; of the other one it is the other way round.
    wait(AFTER_RELEASE).await;
    let again = receive_one(&*queue).await;
    assert_eq!((again.body.as_str(), again.receives), ("y", 2));
}

pub async fn an_unacknowledged_message_dies_after_five_receives(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    send(&*queue, "poison").await;
    for turn in 1..=RECEIVES_MAX {
        assert_eq!(receive_one(&*queue).await.receives, turn);
        wait(AFTER_VISIBILITY).await;
    }
    send(&*queue, "healthy").await;
    let healthy = receive_one(&*queue).await;
    assert_eq!(healthy.body, "healthy");
    queue.acknowledge(&healthy.receipt).await.unwrap();
    assert_eq!(queue.depth().await.unwrap(), (0, 1));
}

pub async fn a_released_message_dies_after_five_receives(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    send(&*queue, "poison").await;
    for turn in 1..=RECEIVES_MAX {
        let received = receive_one(&*queue).await;
        assert_eq!(received.receives, turn);
        queue
            .release(&received.receipt, SignedDuration::ZERO)
            .await
            .unwrap();
    }
    assert_eq!(receive(&*queue).await, []);
    assert_eq!(queue.depth().await.unwrap(), (0, 1));
    wait(AFTER_VISIBILITY).await;
    assert_eq!(receive(&*queue).await, []);
}

pub async fn a_receive_keeps_to_its_limit(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    for turn in 0..5 {
        send(&*queue, &turn.to_string()).await;
    }
    assert_eq!(queue.depth().await.unwrap(), (5, 0));
    let mut bodies = BTreeSet::new();
    for most in [2, 2, 2] {
        let received = queue.receive(most, VISIBILITY).await.unwrap();
        assert!(received.len() <= most);
        for delivery in received {
            queue.acknowledge(&delivery.receipt).await.unwrap();
            bodies.insert(delivery.body);
        }
    }
    assert_eq!(bodies.into_iter().collect::<String>(), "01234");
    wait(AFTER_VISIBILITY).await;
    assert_eq!(receive(&*queue).await, []);
}

pub async fn parallel_receivers_share_the_messages(
    queue: Arc<dyn Queue>,
    wait: impl AsyncFn(SignedDuration),
) {
    for turn in 0..20 {
        send(&*queue, &turn.to_string()).await;
    }
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let queue = Arc::clone(&queue);
        tasks.spawn(async move { queue.receive(10, LONG).await.unwrap() });
    }
    let received: Vec<Delivery> = tasks.join_all().await.into_iter().flatten().collect();
    let bodies: BTreeSet<&str> = received
        .iter()
        .map(|delivery| delivery.body.as_str())
        .collect();
    assert_eq!((received.len(), bodies.len()), (20, 20));
    for delivery in &received {
        queue.acknowledge(&delivery.receipt).await.unwrap();
    }
    wait(AFTER_VISIBILITY).await;
    assert_eq!(queue.depth().await.unwrap(), (0, 0));
}
