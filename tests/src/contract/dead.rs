//! What the dead letters of every queue promise. The queue and the letters are of the same one.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::dead_letters::{self, DeadLetterQueue, DeadLetterView, Redriven};
use engine::ports::{DeadLetters, Queue};
use engine::work::Work;
use jiff::SignedDuration;

/// Maximum receives of a message before it is given up.
const RECEIVES_MAX: u32 = 5;

/// How long a received message is hidden here; none waits for it.
const VISIBILITY: SignedDuration = SignedDuration::from_secs(30);

/// A dead letter waits, is shown, is put back to work by one of two callers, is dropped; a malformed one stays.
pub async fn dead_letters_are_put_back_to_work_once(
    queue: Arc<dyn Queue>,
    dead: Arc<dyn DeadLetters>,
) {
    let work = |name: &str| {
        let account = name.parse().unwrap();
        Work::Slots { account }.to_body()
    };
    let bodies = [
        work("one"),
        work("two"),
        "{\"look_at\":\"nothing\"}".to_owned(),
    ];
    for body in &bodies {
        queue.send(body, SignedDuration::ZERO).await.unwrap();
    }
    give_up(&*queue).await;
    let found = letters(&*dead).await;
    let told: BTreeSet<&String> = found.iter().map(|letter| &letter.body).collect();
    assert_eq!(told, bodies.iter().collect());
    assert!(
        found
            .iter()
            .all(|letter| letter.malformed == (letter.body == bodies[2]))
    );
    // Looking at them takes nothing away, and a wake-up is no tick.
    let ticks = dead_letters::letters(&*dead, DeadLetterQueue::Ticks)
        .await
        .unwrap();
    assert!(ticks.len() == 3 && ticks.iter().all(|letter| letter.malformed));
    assert_eq!(letters(&*dead).await, found);
    let id = |body: &String| {
        let letter = found.iter().find(|letter| letter.body == *body);
        letter.unwrap().id.clone()
    };
    one_of_two_redrives(&*dead, &id(&bodies[0])).await;
    let received = queue.receive(10, VISIBILITY).await.unwrap();
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!((&received[0].body, received[0].receives), (&bodies[0], 1));
    queue.acknowledge(&received[0].receipt).await.unwrap();

    // All that can be read goes back, and what cannot stays where it is seen.
    let came = dead_letters::redrive(&*dead, DeadLetterQueue::Work, None)
        .await
        .unwrap();
    let expected = Redriven {
        redriven: [id(&bodies[1])].into(),
        malformed: [id(&bodies[2])].into(),
        gone: BTreeSet::new(),
    };
    assert_eq!(came, expected);
    let came = dead_letters::redrive(&*dead, DeadLetterQueue::Work, Some(&id(&bodies[2])))
        .await
        .unwrap();
    assert!(
        came.redriven.is_empty() && came.malformed.len() == 1,
        "{came:?}"
    );
    let unknown = [id(&bodies[0]), "no such".to_owned()].into();
    assert_eq!(dead.remove(&unknown).await.unwrap(), BTreeSet::new());
    assert_eq!(dead.redrive(&unknown).await.unwrap(), BTreeSet::new());
    let last: BTreeSet<String> = [id(&bodies[2])].into();
    assert_eq!(dead.remove(&last).await.unwrap(), last);
    assert_eq!(letters(&*dead).await, []);
    assert_eq!(queue.depth().await.unwrap(), (1, 0));
}

async fn one_of_two_redrives(dead: &dyn DeadLetters, id: &str) {
    let asked: BTreeSet<String> = [id.to_owned()].into();
    let (one, other) = tokio::join!(dead.redrive(&asked), dead.redrive(&asked));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.len() + other.len(), 1, "{one:?} {other:?}");
}

/// Receives everything until it is given up.
async fn give_up(queue: &dyn Queue) {
    for _ in 0..=RECEIVES_MAX {
        for delivery in queue.receive(10, VISIBILITY).await.unwrap() {
            let at_once = SignedDuration::ZERO;
            queue.release(&delivery.receipt, at_once).await.unwrap();
        }
    }
}

/// The dead letters of the queue of work.
async fn letters(dead: &dyn DeadLetters) -> Vec<DeadLetterView> {
    let found = dead_letters::letters(dead, DeadLetterQueue::Work).await;
    found.unwrap()
}
