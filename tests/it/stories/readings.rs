//! Reads of Jules through an API that holds no credential: the dispatcher reads, for a waiting caller.

use std::cell::Cell;
use std::time::Duration;

use domain::conversation::{ConversationCursor, Role};
use engine::backend::Error;
use engine::readings::{READINGS_MAX, READINGS_WINDOW, ReadMessages};
use sandbox::Service;
use tests::world::{MINUTE, SECOND, World, asking, asks, from_work, scenario, story};

/// Longer than any of this takes; what is waited for is an event.
const WITHIN: Duration = Duration::from_secs(60);

/// Runs a request while the dispatcher works, which is never stopped in the middle.
async fn read<T>(world: &World, asked: impl Future<Output = Result<Option<T>, Error>>) -> T {
    let is_there = Cell::new(false);
    let asked = async {
        let read = asked.await;
        is_there.set(true);
        read
    };
    let work = async {
        let handle = async || world.dispatcher.drain().await.expect("a queue");
        while handle().await > 0 || !is_there.get() {
            tokio::task::yield_now().await;
        }
    };
    let (read, ()) = tokio::join!(asked, work);
    read.expect("a store").expect("an answer in time")
}

async fn messages(
    world: &World,
    job: &domain::ids::JobId,
    cursor: &ConversationCursor,
) -> ReadMessages {
    let asked = world.backend.fresh_messages(job, cursor, WITHIN);
    Box::pin(read(world, asked)).await
}

fn messages_of(page: &ReadMessages) -> Vec<(Role, &str)> {
    let messages = page.messages.iter();
    messages.map(|it| (it.role, it.text.as_str())).collect()
}

#[tokio::test]
async fn a_conversation_is_read_from_where_the_reader_stands() {
    let world = World::on_green(scenario(vec![asking("ask", "Which database?")])).await;
    let job = world.submit("ask").await;
    let nothing = messages(&world, &job, &ConversationCursor::default()).await;
    assert_eq!(
        (messages_of(&nothing), nothing.next.as_str()),
        (vec![], "m1")
    );
    world.until_is(MINUTE * 5, &job, "asking").await;
    let first = messages(&world, &job, &ConversationCursor::default()).await;
    assert_eq!(messages_of(&first), [(Role::Assistant, "Which database?")]);
    let after: ConversationCursor = first.next.parse().expect("a cursor");
    let nothing = messages(&world, &job, &after).await;
    assert_eq!(
        (messages_of(&nothing), &nothing.next),
        (vec![], &first.next)
    );

    world.answer(&job, "PostgreSQL", "answer").await;
    world.until_is(MINUTE * 5, &job, "merged").await;
    let second = messages(&world, &job, &after).await;
    assert_eq!(messages_of(&second), [(Role::User, "PostgreSQL")]);
    let again = messages(&world, &job, &after).await;
    assert_eq!(messages_of(&again), messages_of(&second));
    let whole = messages(&world, &job, &ConversationCursor::default()).await;
    assert_eq!(messages_of(&whole).len(), 2);
}

#[tokio::test]
async fn a_job_is_shown_as_jules_shows_it_now() {
    let ask = asks(MINUTE, "Which database?");
    let world = World::on_green(scenario(vec![story("ask", from_work(vec![ask]))])).await;
    let job = world.submit("ask").await;
    world.until_is(MINUTE, &job, "working").await;
    // Time goes by without a poll.
    world.clock.advance(MINUTE * 2);
    assert_eq!(world.state(&job).await, "working");
    let looked = Box::pin(read(&world, world.backend.fresh_look(&job, WITHIN))).await;
    assert_eq!(looked.failure, None);
    assert_eq!(world.state(&job).await, "asking");

    // A caller that asks again at once gets the same, and Jules is not asked.
    let asked = world.sandbox.requests().len();
    let again = Box::pin(read(&world, world.backend.fresh_look(&job, WITHIN))).await;
    assert_eq!((again, world.sandbox.requests().len()), (looked, asked));
    world.clock.advance(SECOND * 5);
    Box::pin(read(&world, world.backend.fresh_look(&job, WITHIN))).await;
    assert!(world.sandbox.requests().len() > asked);
    assert_eq!(world.events(&job).await, ["question/question"]);
}

/// Readings of the log of a session so far.
fn logs_read(world: &World) -> usize {
    world.requests(Service::Jules, "GET", "/activities").len()
}

#[tokio::test]
async fn whoever_asks_again_and_again_has_jules_asked_no_more_often_than_the_limit() {
    let world = World::on_green(scenario(vec![asking("ask", "Which database?")])).await;
    let job = world.submit("ask").await;
    world.until_is(MINUTE * 5, &job, "asking").await;
    let begun = logs_read(&world);
    let first = messages(&world, &job, &ConversationCursor::default()).await;
    for _ in 0..10 {
        assert_eq!(
            messages(&world, &job, &ConversationCursor::default()).await,
            first
        );
    }
    assert_eq!(logs_read(&world) - begun, 1);
    world.clock.advance(SECOND * 5);
    let second = messages(&world, &job, &ConversationCursor::default()).await;
    assert!(second.read_at > first.read_at);
    assert_eq!(logs_read(&world) - begun, 2);

    // Anyone can make up as many cursors as they like.
    let session = world.session(&job).await.id;
    let asked = async |from: u32| {
        for second in from..from + 100 {
            let cursor = format!("m1.{session}.{second}");
            let cursor: ConversationCursor = cursor.parse().expect("a cursor");
            let asked = world.backend.fresh_messages(&job, &cursor, Duration::ZERO);
            asked.await.expect("a store");
        }
        while world.dispatcher.drain().await.expect("a queue") > 0 {}
        logs_read(&world) - begun
    };
    let most = usize::try_from(READINGS_MAX).expect("a number");
    assert_eq!(asked(0).await, most);
    let looked = world.backend.fresh_look(&job, Duration::ZERO).await;
    assert_eq!(looked.expect("a store"), None);
    world.clock.advance(READINGS_WINDOW);
    assert_eq!(asked(1_000).await, 2 * most);
}

#[tokio::test]
async fn a_job_without_a_session_is_as_it_is() {
    let world = World::on_green(scenario(Vec::new())).await;
    let job = world.submit("queued").await;
    let before = world.sandbox.requests().len();
    let looked = world.backend.fresh_look(&job, Duration::ZERO).await;
    assert_eq!(looked.expect("a store"), None);
    world.pause(true).await;
    let looked = Box::pin(read(&world, world.backend.fresh_look(&job, WITHIN))).await;
    assert_eq!(looked.failure, None);
    assert_eq!(world.sandbox.requests().len(), before);
}

#[tokio::test]
async fn a_long_patch_is_kept_in_pieces_and_read_to_its_end() {
    const LONG: usize = 100_000;
    let world = World::on_green(sandbox::Scenario {
        patch_bytes: LONG,
        ..scenario(vec![])
    })
    .await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 10, &job, "merged").await;
    let asked = world.backend.fresh_artifacts(&job, WITHIN);
    let first = Box::pin(read(&world, asked)).await;
    assert!(first.patch_bytes as usize >= LONG && !first.patch_cut);
    let mut whole = first.patch.expect("a patch");
    for page in 1..=first.further {
        let kept = world.backend.kept_artifacts(&job, page).await;
        let (again, piece) = kept.expect("a store").expect("a piece");
        assert_eq!(again.read_at, first.read_at);
        whole.push_str(&piece.patch);
    }
    assert_eq!(whole.len() as u64, first.patch_bytes);
    let beyond = world.backend.kept_artifacts(&job, first.further + 1).await;
    assert_eq!(beyond.expect("a store"), None);
    world.finish().await;
}
