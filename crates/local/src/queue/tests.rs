//! What the local queue promises beyond the contract, which is tested for all queues together.

use std::sync::{Arc, Mutex};
use std::task::Poll;

use engine::ports::{Clock, Queue, Receipt};
use jiff::{SignedDuration, Timestamp};

use super::{DEAD_LETTERS_KEPT, LocalQueue, RECEIVES_MAX};
use crate::database::Database;

const SOON: SignedDuration = SignedDuration::from_secs(30);

#[derive(Default)]
struct StandingClock(Mutex<SignedDuration>);

impl StandingClock {
    fn advance(&self, by: SignedDuration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for StandingClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + *self.0.lock().unwrap()
    }
}

fn world() -> (Database, Arc<StandingClock>, LocalQueue) {
    let database = Database::in_memory().unwrap();
    let clock = Arc::new(StandingClock::default());
    let queue = LocalQueue::new(&database, "work", Arc::<StandingClock>::clone(&clock));
    (database, clock, queue)
}

/// Whether a change was noticed already.
async fn is_changed(queue: &LocalQueue) -> bool {
    let mut changed = std::pin::pin!(queue.changed());
    std::future::poll_fn(|context| Poll::Ready(changed.as_mut().poll(context).is_ready())).await
}

#[tokio::test]
async fn sending_and_releasing_wake_the_waiting_loop() {
    let (_database, _clock, queue) = world();
    let waiting = queue.clone();
    assert!(!is_changed(&waiting).await);
    queue.send("x", SignedDuration::ZERO).await.unwrap();
    assert!(is_changed(&waiting).await);
    assert!(!is_changed(&waiting).await);
    let received = queue.receive(1, SOON).await.unwrap();
    assert!(!is_changed(&waiting).await);
    queue.release(&received[0].receipt, SOON).await.unwrap();
    assert!(is_changed(&waiting).await);
}

#[tokio::test]
async fn a_loop_that_waits_already_is_woken() {
    let (_database, _clock, queue) = world();
    let waiting = queue.clone();
    let task = tokio::spawn(async move { waiting.changed().await });
    tokio::task::yield_now().await;
    queue.send("x", SignedDuration::ZERO).await.unwrap();
    task.await.unwrap();
}

#[tokio::test]
async fn the_next_visible_time_counts_delayed_and_hidden_messages() {
    let (_database, clock, queue) = world();
    assert_eq!(queue.next_visible().await.unwrap(), None);
    queue.send("delayed", SOON * 2).await.unwrap();
    assert_eq!(
        queue.next_visible().await.unwrap(),
        Some(clock.now() + SOON * 2)
    );
    queue
        .send("now", SignedDuration::from_secs(-5))
        .await
        .unwrap();
    assert_eq!(queue.next_visible().await.unwrap(), Some(clock.now()));
    let received = queue.receive(10, SOON).await.unwrap();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].sent_at, clock.now());
    assert_eq!(
        queue.next_visible().await.unwrap(),
        Some(clock.now() + SOON)
    );
    assert_eq!(queue.depth().await.unwrap(), (2, 0));
}

#[tokio::test]
async fn queues_of_other_names_are_apart() {
    let (database, clock, work) = world();
    let ticks = LocalQueue::new(&database, "ticks", clock);
    ticks.send("tick", SignedDuration::ZERO).await.unwrap();
    assert_eq!(work.receive(10, SOON).await.unwrap(), []);
    assert_eq!(
        (
            work.depth().await.unwrap(),
            work.next_visible().await.unwrap()
        ),
        ((0, 0), None)
    );
    let tick = ticks.receive(10, SOON).await.unwrap().remove(0);
    work.acknowledge(&tick.receipt).await.unwrap();
    assert_eq!(ticks.depth().await.unwrap(), (1, 0));
}

#[tokio::test]
async fn the_longest_visible_message_comes_first() {
    let (_database, clock, queue) = world();
    queue.send("second", SOON).await.unwrap();
    queue.send("first", SignedDuration::ZERO).await.unwrap();
    clock.advance(SOON);
    let bodies: Vec<String> = queue
        .receive(10, SOON)
        .await
        .unwrap()
        .into_iter()
        .map(|d| d.body)
        .collect();
    assert_eq!(bodies, ["first", "second"]);
}

#[tokio::test]
async fn a_visibility_ends_at_its_very_nanosecond() {
    let (_database, clock, queue) = world();
    queue.send("x", SignedDuration::ZERO).await.unwrap();
    queue.receive(1, SOON).await.unwrap();
    clock.advance(SOON - SignedDuration::from_nanos(1));
    assert_eq!(queue.receive(1, SOON).await.unwrap(), []);
    clock.advance(SignedDuration::from_nanos(1));
    assert_eq!(queue.receive(1, SOON).await.unwrap()[0].receives, 2);
}

#[tokio::test]
async fn endless_delays_hide_and_never_show() {
    let (_database, _clock, queue) = world();
    queue.send("x", SignedDuration::MAX).await.unwrap();
    assert_eq!(queue.receive(1, SignedDuration::MAX).await.unwrap(), []);
    assert_eq!(queue.depth().await.unwrap(), (1, 0));
}

async fn kill_one(queue: &LocalQueue) {
    queue.send("poison", SignedDuration::ZERO).await.unwrap();
    for _ in 0..RECEIVES_MAX {
        let received = queue.receive(1, SOON).await.unwrap();
        // The asked delay does not keep a used-up message alive.
        let delay = if received[0].receives == RECEIVES_MAX {
            SOON
        } else {
            SignedDuration::ZERO
        };
        queue.release(&received[0].receipt, delay).await.unwrap();
    }
}

#[tokio::test]
async fn dead_letters_are_kept_for_their_time() {
    let (_database, clock, queue) = world();
    kill_one(&queue).await;
    assert_eq!(queue.depth().await.unwrap(), (0, 1));
    clock.advance(DEAD_LETTERS_KEPT);
    kill_one(&queue).await;
    assert_eq!(queue.depth().await.unwrap(), (0, 2));
    clock.advance(SignedDuration::from_nanos(1));
    kill_one(&queue).await;
    assert_eq!(queue.depth().await.unwrap(), (0, 2));
}

#[tokio::test]
async fn foreign_receipts_are_refused() {
    let (_database, _clock, queue) = world();
    for receipt in ["", "1", "x.1", "1.x", "1.1.1"] {
        let receipt = Receipt(receipt.to_owned());
        assert!(queue.acknowledge(&receipt).await.is_err(), "{receipt:?}");
        assert!(queue.release(&receipt, SOON).await.is_err(), "{receipt:?}");
    }
}

/// A clock that was an hour ahead sent and hid messages; it is set right, which moves this one back by as much.
#[tokio::test]
async fn what_a_clock_that_was_ahead_has_hidden_is_moved_back_and_the_loop_is_woken() {
    let (database, clock, queue) = world();
    let ahead = SignedDuration::from_hours(1);
    queue.send("before", SOON).await.unwrap();
    clock.advance(ahead);
    queue.send("sent", SignedDuration::ZERO).await.unwrap();
    queue.send("delayed", SOON).await.unwrap();
    clock.advance(-ahead);
    let other = LocalQueue::new(&database, "other", Arc::<StandingClock>::clone(&clock));
    other.send("another queue's", SOON * 2).await.unwrap();
    assert!(is_changed(&queue).await);
    queue.move_back(ahead).await.unwrap();
    assert!(
        is_changed(&queue).await,
        "there may be something to receive"
    );

    let received = queue.receive(10, SOON * 9).await.unwrap();
    let bodies: Vec<_> = received.iter().map(|it| it.body.as_str()).collect();
    assert_eq!(bodies, ["before", "sent"]);
    assert_eq!(received[1].sent_at, clock.now(), "nothing is sent later");
    assert_eq!(
        other.next_visible().await.unwrap(),
        Some(clock.now() + SOON * 2)
    );
    clock.advance(SOON);
    let received = queue.receive(10, SOON * 9).await.unwrap();
    assert_eq!(received[0].body, "delayed");
}

#[tokio::test]
async fn a_process_takes_over_what_a_killed_one_held_and_leaves_delays() {
    let (_database, clock, queue) = world();
    queue.send("held", SignedDuration::ZERO).await.unwrap();
    assert_eq!(queue.receive(1, SOON * 4).await.unwrap().len(), 1);
    queue.send("delayed", SOON).await.unwrap();
    clock.advance(SignedDuration::from_secs(1));
    assert!(queue.receive(2, SOON).await.unwrap().is_empty());
    queue.take_over().await.unwrap();
    let bodies: Vec<_> = queue.receive(2, SOON).await.unwrap();
    let bodies: Vec<_> = bodies.iter().map(|it| it.body.as_str()).collect();
    assert_eq!(bodies, ["held"]);
}
