//! A source is removed while a delivery is created in it: either both are there afterwards, or neither.

use engine::backend::Error;
use engine::in_use::SourceInUse;
use engine::open_work::OpenWork;

use super::*;

fn issue() -> IssueRef {
    IssueRef {
        repo: REPO.parse().expect("a repository"),
        number: 1,
    }
}

#[tokio::test]
async fn a_delivery_is_not_created_in_a_source_that_is_removed_meanwhile() {
    let world = world_with(taking(|_| {}), false).await;
    let backend = world.backend.clone();
    // The source was read, and the number of the delivery is drawn.
    world
        .fate
        .before_next("commit COUNT#deliveries", async move {
            let removed = backend.remove_source(&issue().repo).await;
            removed.expect("an answer").expect("a removed source");
        });
    let refused = world.backend.create_delivery(&of_issue(&issue())).await;
    assert!(
        matches!(refused, Err(Error::NoSuch { what: "source", .. })),
        "{refused:?}"
    );
    assert_eq!(delivery(&world, 1).await, None);
}

#[tokio::test]
async fn a_source_stays_in_which_a_delivery_is_created_meanwhile() {
    let world = world_with(taking(|_| {}), false).await;
    let (backend, repo) = (world.backend.clone(), issue().repo);
    // Nothing used the source when the removal looked.
    world.fate.before_next("commit CFG#source#", async move {
        let created = backend.create_delivery(&of_issue(&issue())).await;
        created.expect("an answer").expect("a delivery");
    });
    let refused = world.backend.remove_source(&repo).await.expect("an answer");
    assert!(
        matches!(
            refused,
            Err(SourceInUse {
                first: OpenWork::Delivery { .. },
                ..
            })
        ),
        "{refused:?}"
    );
    let source = world.backend.store.source(&repo).await.expect("a store");
    assert_eq!(source.map(|found| found.value.repo), Some(repo));
    world.pass(MINUTE).await;
    assert!(delivery(&world, 1).await.is_some());
}
