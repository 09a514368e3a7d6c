//! What is woven fails its checks, and one of its members fails its own.

use sandbox::github::{CheckState, Conclusion, Outcome, PullState};
use tests::world::{MINUTE, complete};

use super::*;

#[tokio::test]
async fn who_fails_its_own_checks_by_now_is_left_out_of_what_is_red() {
    let price = [("src/cart.rs", cart(&[(10, "price")]))];
    let worse = [("README.md", "A worse shop.\n".to_owned())];
    let mut refactor = member("refactor", 4, &worse, &[]);
    // It is sent the check that fails, and changes nothing.
    refactor.on_message = vec![complete(SECOND)];
    let mut checks = green_checks();
    checks.push(CheckSetup {
        // The member's own check has failed and was read before this one ends.
        takes: MINUTE * 10,
        on_branch: "jules-sprint-50-integration".to_owned(),
        ..CheckSetup::new("together", Outcome::FailsFirst(1))
    });
    let stories = vec![member("curator", 1, &price, &[]), refactor];
    let world = world_checked(true, stories, (source(), checks)).await;
    begin_with(&world, "50", &["curator", "refactor"]).await;
    let is_woven = async |world: &World| sprint(world).await.state.word() == "verifying";
    Box::pin(world.until(hour(1), "it is woven", is_woven)).await;
    assert_eq!(
        members(&sprint(&world).await),
        ["curator #101 applied", "refactor #102 applied"]
    );
    let (head, now) = (world.pull(102).head_sha, world.clock.now());
    let failed = CheckState::Completed(Conclusion::Failure);
    let github = world.sandbox.github();
    github.set_check(now, REPO, (&head, "test"), failed);
    let over = ended_with(&world, &["curator #101 applied", "refactor #102 skipped"]).await;
    let counted = (over.state.word(), over.ticks, over.weaves);
    assert_eq!(counted, ("partially_done", 3, 2));
    let reason = over.state.reason().expect("a reason");
    assert_eq!(reason, "refactor: its own checks fail by now");
    assert!(over.weaver().is_none(), "there is nothing to mend");
    let texts = github.texts(REPO, "main").expect("main");
    assert_eq!(texts["src/cart.rs"], cart(&[(10, "price")]));
    assert_eq!(texts["README.md"], "A shop.\n", "it was taken out");
    assert_eq!(world.sandbox.counters().merges, 1);
    assert_eq!(world.pull(102).state, PullState::Open, "it is left");
    world.finish().await;
}
