//! Everything at once: two pollers and two dispatchers, every message twice, processes that die, and AWS itself at its worst.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::event::Occurrence;
use domain::ids::JobId;
use domain::wake::{Wake, WakeState};
use tests::cloud::{Gate, Storm, Trouble};
use tests::world::{Demo, MINUTE, World};

/// Actions that must happen once, however often they were tried: creates, merges, approvals, messages, archives, deleted branches.
const ONCE: [u64; 6] = [4, 4, 1, 3, 4, 4];

/// What each job has to say, in this order.
const TOLD: [[&str; 2]; 4] = [
    ["question/question", "completed/completed"],
    ["stuck/stuck", "completed/completed"],
    ["question/plan_approval", "completed/completed"],
    ["completed/completed", "completed/completed"],
];

/// One with webhooks, and one without.
const SEEDS: [u64; 2] = [1, 2];

/// Whether a wake is over that was never sent, and rightly so: a silence matters no more once its job has come to its end.
fn is_withdrawn(wake: &Wake) -> bool {
    let is_over = matches!(wake.state, WakeState::Acknowledged { .. });
    is_over && !wake.answered && matches!(wake.event.what, Occurrence::Stuck { .. })
}

/// The ids under which the agent received the events of a job: all, but for those whose wakes were withdrawn before.
async fn received(world: &World, job: &JobId, seed: u64) -> Vec<String> {
    let ids = world.wake_ids();
    let mut received = Vec::new();
    for wake in world.stored_wakes(job).await {
        let id = wake.event.id.to_string();
        if ids.contains(&id) {
            received.push(id);
        } else {
            assert!(is_withdrawn(&wake), "seed {seed}: lost {wake:?}");
        }
    }
    received
}

async fn play(seed: u64) -> BTreeSet<Trouble> {
    let gate = Arc::new(Gate::open().await);
    let storm = Storm {
        gate: gate.clone(),
        crews: 2,
        seed: Some(seed),
    };
    let demo = Demo::begin(seed.is_multiple_of(2), Some(storm)).await;
    gate.storm(seed);
    demo.merged().await;
    gate.calm();
    let world = &demo.world;
    world.pass(MINUTE * 10).await;
    let it = world.sandbox.counters();
    let done = [
        it.creates,
        it.merges,
        it.approvals,
        it.messages,
        it.archives,
        it.branch_deletes,
    ];
    assert_eq!(done, ONCE, "seed {seed}\n{}", world.story().await);
    let mut told = BTreeSet::new();
    for (job, expected) in demo.jobs.iter().zip(TOLD) {
        let mut events = world.events(job).await;
        told.extend(received(world, job, seed).await);
        // A late process lets another window of silence pass, or announces failed checks that are under repair.
        events.dedup_by(|one, other| one == other && one == "stuck/stuck");
        events.retain(|event| event != "error/merge_blocked");
        assert_eq!(events, expected, "seed {seed}");
    }
    let ids: BTreeSet<String> = world.wake_ids().into_iter().collect();
    assert_eq!(ids, told, "seed {seed}: {:?}", world.wake_names());
    world.finish().await;
    let troubles = gate.troubles();
    assert!(world.deaths() > 0, "seed {seed}: nobody died");
    troubles.into_iter().collect()
}

#[tokio::test]
async fn nothing_is_lost_or_doubled_whatever_goes_wrong_in_aws() {
    let mut struck = BTreeSet::new();
    for seed in SEEDS {
        struck.extend(play(seed).await);
    }
    assert_eq!(struck, BTreeSet::from(Trouble::ALL));
}
