//! The demo's jobs on the fake clock, played by an agent that does what its wakes ask for.

use tests::world::{Demo, RED, REPO, World};

/// Results that must be the same with and without webhooks.
#[derive(Debug, PartialEq)]
struct End {
    events: Vec<Vec<String>>,
    wakes: Vec<String>,
    merges: u64,
    merge_calls: u64,
    creates: u64,
    messages: u64,
    approvals: u64,
    archives: u64,
    branch_deletes: u64,
}

async fn play(webhooks: bool) -> End {
    let demo = Demo::begin(webhooks, None).await;
    demo.merged().await;
    let (world, jobs) = (&demo.world, &demo.jobs);
    every_merge_was_judged(world).await;
    world.finish().await;

    let mut events = Vec::new();
    for job in jobs {
        events.push(world.events(job).await);
    }
    let mut wakes = world.wake_names();
    wakes.sort();
    let it = world.sandbox.counters();
    End {
        events,
        wakes,
        merges: it.merges,
        merge_calls: it.merge_calls,
        creates: it.creates,
        messages: it.messages,
        approvals: it.approvals,
        archives: it.archives,
        branch_deletes: it.branch_deletes,
    }
}

/// The merged head is the last one, and its evidence is kept.
async fn every_merge_was_judged(world: &World) {
    for number in world.sandbox.github().pulls(REPO) {
        let pull = world.pull(number);
        assert_eq!(pull.merged_sha.as_ref(), Some(&pull.head_sha), "{pull:?}");
        assert!(world.evidence(number, &pull.head_sha).await.is_some());
    }
    let red = world.sandbox.github().pull(RED, 1).expect("the red one");
    assert_eq!(red.merged_sha.as_ref(), Some(&red.head_sha), "{red:?}");
}

#[tokio::test]
async fn four_jobs_at_once_end_merged_with_and_without_webhooks() {
    let with = play(true).await;
    assert_eq!(with.events[0], ["question/question", "completed/completed"]);
    assert_eq!(with.events[1], ["stuck/stuck", "completed/completed"]);
    assert_eq!(
        with.events[2],
        ["question/plan_approval", "completed/completed"]
    );
    assert_eq!(
        with.events[3],
        ["completed/completed", "completed/completed"]
    );
    assert_eq!(
        (with.creates, with.merges, with.merge_calls, with.approvals),
        (4, 4, 4, 1)
    );
    // An answer, a word to the silent one, and the failed checks back to their own session.
    assert_eq!(with.messages, 3);
    assert_eq!((with.archives, with.branch_deletes), (4, 4));
    assert_eq!(with.wakes.len(), 8);
    assert_eq!(with, play(false).await);
}
