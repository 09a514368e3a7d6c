//! A member that asks to go first, where it goes first.

use domain::sprint::{MemberState, Way};

use super::mail::outbox;
use super::*;

/// A member that gives a file another name.
fn renames(id: &str, from: &str, to: &str) -> Story {
    let mut story = member(id, 1, &[], &[]);
    if let Some(Step::Write(writing)) = story.steps.first_mut() {
        writing.moves.push((from.to_owned(), to.to_owned()));
    }
    story
}

/// A file that was renamed is not there any more for a change of it; a rename that comes after the change takes it along.
#[tokio::test]
async fn who_asks_to_go_first_does_so_where_those_that_are_in_stay_in() {
    let first = r#"{"re": 1, "order": "first"}"#;
    let sum = [("src/cart.rs", cart(&[(10, "sum")]))];
    let stories = vec![
        renames("curator", "src/cart.rs", "src/basket.rs"),
        member("refactor", 4, &sum, &[outbox("first", first)]),
    ];
    let world = world_of(true, stories).await;
    begin_with(&world, "50", &["curator", "refactor"]).await;
    let over = ended_with(&world, &["curator #101 applied", "refactor #102 applied"]).await;
    assert_eq!((over.state.word(), over.ticks), ("done", 4));
    let conflicts: Vec<u32> = over.members.iter().map(|it| it.conflicts).collect();
    assert_eq!(conflicts, [0, 1], "the rename was in first");
    let came_in = over.members.iter().map(|it| (it.place, it.state.clone()));
    let came_in: Vec<_> = came_in.collect();
    let by = |way| MemberState::Applied { way };
    assert_eq!(
        came_in,
        [(Some(1), by(Way::Applied)), (Some(0), by(Way::Taken))]
    );
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert_eq!(texts["src/basket.rs"], cart(&[(10, "sum")]));
    assert!(!texts.contains_key("src/cart.rs"), "it is renamed");
    assert_eq!(world.sandbox.counters().creates, 2, "no new session");
    world.finish().await;
}
