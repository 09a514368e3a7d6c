//! A target that moves while a sprint is under way: what does not matter is woven away, and what does is mended.

use domain::policy::MergePolicy;
use domain::sprint::{Against, MemberState};
use engine::mail::InboxQuery;

use super::super::pipeline::push;
use super::*;

/// The first message of a mailbox.
pub(super) async fn conflict_of(world: &World, persona: &str) -> String {
    let repo = REPO.parse().expect("a repository");
    let persona = persona.parse().expect("a persona");
    let query = InboxQuery {
        limit: 1,
        ..InboxQuery::default()
    };
    let page = world.backend.inbox_of(&repo, &persona, &query).await;
    let mut messages = page.expect("a mailbox").messages.into_iter();
    messages.next().expect("a message").body
}

#[tokio::test]
async fn a_target_that_moved_is_woven_away_and_what_conflicts_with_it_is_mended() {
    let both = [(10, "price, by ann and the curator")];
    let stories = vec![
        member(
            "curator",
            1,
            &[("src/cart.rs", cart(&[(10, "price")]))],
            &[("src/cart.rs", cart(&both))],
        ),
        member("refactor", 2, &[("src/sum.rs", "sum\n".to_owned())], &[]),
        member("visionary", 3, &[("VISION.md", "Far.\n".to_owned())], &[]),
    ];
    let mut by_people = source();
    by_people.policy.merge = MergePolicy::Human;
    let world = world_with(true, stories, by_people).await;
    begin(&world).await;
    push(&world, "main", ("NOTES.md", "By ann.\n"));
    let is_woven = async |world: &World| {
        let now = sprint(world).await;
        now.state.word() == "verifying"
    };
    Box::pin(world.until(hour(1), "all are in", is_woven)).await;
    push(
        &world,
        "main",
        ("src/cart.rs", &cart(&[(10, "price, by ann")])),
    );
    let is_refused = async |world: &World| {
        let now = sprint(world).await;
        let refusal = now.members[0].refusal.as_ref();
        refusal.is_some_and(|it| it.against == Against::StaleBase)
    };
    Box::pin(world.until(hour(1), "the curator conflicts with the target", is_refused)).await;
    let is_mended = async |world: &World| {
        let now = sprint(world).await;
        let is_in = |state: &MemberState| matches!(state, MemberState::Applied { .. });
        now.state.word() == "verifying" && now.members.iter().all(|it| is_in(&it.state))
    };
    Box::pin(world.until(hour(1), "the curator is in again", is_mended)).await;
    let told = conflict_of(&world, "curator").await;
    assert!(told.contains("-line 10\n+price, by ann\n"), "{told}");
    let integration = sprint(&world).await.integration;
    let is_asked = async |world: &World| {
        let is_it = |it: &serde_json::Value| {
            it["job_id"] == integration.to_string() && it["kind"] == "completed"
        };
        world.wakes().iter().any(is_it)
    };
    Box::pin(world.until(hour(1), "its agent is told that it waits", is_asked)).await;
    world.approve_merge(&integration).await;
    let over = until_over(&world).await;
    assert_eq!((over.state.word(), over.ticks), ("done", 5));
    assert_eq!(world.sandbox.github().pulls(REPO).len(), 4);
    let texts = world.sandbox.github().texts(REPO, "main").expect("main");
    assert_eq!(texts["src/cart.rs"], cart(&both));
    assert_eq!(texts["NOTES.md"], "By ann.\n");
    is_tidy(&world, &over).await;
    world.finish().await;
}
