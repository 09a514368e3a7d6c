//! Deliveries whose process dies once: they end as with one that lives on, and nothing of them happens twice.

use std::collections::BTreeSet;

use domain::delivery::RunStatus;
use sandbox::github::PullState;
use tests::world::dies_after_each_act;

use super::*;

/// What is played. Persons act before it begins only, so that each of its acts is one of the process.
#[derive(Clone, Copy, Debug)]
enum Play {
    /// A delivery without a person in it, until it is closed.
    Whole,
    /// One that a person has split, until its parts are there.
    Split,
    /// One whose change a person has rejected, until another one takes its place.
    Rejected,
}

impl Play {
    async fn begun(self) -> (World, u64) {
        let checkpoints: &[Phase] = match self {
            Self::Whole => &[],
            Self::Split => &[Phase::Plan],
            Self::Rejected => &[Phase::Implement],
        };
        let source = taking(|rules| {
            rules.checkpoints = Checkpoints::at(checkpoints).expect("checkpoints");
        });
        let world = world_with(source, false).await;
        let number = open_issue(&world, "Add a test", "");
        match self {
            Self::Whole => {}
            Self::Split => {
                until(&world, number, "plan/pending").await;
                split(&world, number).await;
            }
            Self::Rejected => {
                until(&world, number, "implement/succeeded").await;
                let reason = "Begin anew.".to_owned();
                order(&world, number, Act::Reject { reason }).await;
            }
        }
        (world, number)
    }

    /// Lets time pass until it is done, and what follows from that: transcripts are read a minute after the end of their run.
    async fn through(self, world: &World, number: u64) {
        match self {
            Self::Whole => until(world, number, "close/succeeded").await,
            Self::Split => {
                let are_there = async |world: &World| all(world).await.len() == 3;
                Box::pin(world.until(hour(1), "its parts", are_there)).await;
            }
            Self::Rejected => until(world, number, "implement/succeeded").await,
        }
        world.pass(MINUTE * 3).await;
    }

    /// The acts to die at. After one act is before the next, so every second one at both moments tries every gap; of the
    /// longest play one of each kind is tried, or all if they are asked for.
    fn deaths(self, acts: &[String], begun: usize) -> Vec<usize> {
        let mut kinds = BTreeSet::new();
        let mut chosen = Vec::new();
        for (at, act) in acts.iter().enumerate().skip(begun) {
            let is_tried = match self {
                Self::Whole | Self::Split => (at - begun).is_multiple_of(2),
                Self::Rejected => kinds.insert(kind(act)) || dies_after_each_act(),
            };
            if is_tried {
                chosen.push(at);
            }
        }
        chosen
    }

    /// Everything happened exactly once, also after what a death has hidden of messages came back.
    async fn once(self, world: &World, number: u64, when: &str) {
        world.pass(MINUTE * 17).await;
        let issue = world.sandbox.github().issue(REPO, number);
        let issue = issue.expect("an issue");
        assert_eq!(issue.comments.len(), 1, "{when}: {:?}", issue.comments);
        assert_eq!(issue.is_open, !matches!(self, Self::Whole), "{when}");
        match self {
            Self::Whole => closed_once(world, number, when).await,
            Self::Split => split_once(world, number, when).await,
            Self::Rejected => replaced_once(world, number, when).await,
        }
        world.finish().await;
    }
}

/// What an act does, without what it is about: a record by the kind of the first one in its commit, and messages alike.
fn kind(act: &str) -> &str {
    act.split(['#', '{']).next().unwrap_or(act)
}

/// All deliveries there are.
async fn all(world: &World) -> Vec<DeliveryId> {
    let any = DeliveryQuery::default();
    let all = world.backend.list_deliveries(&any, None, 10).await;
    let all = all.expect("a list").deliveries.into_iter();
    all.map(|it| it.delivery.id).collect()
}

async fn closed_once(world: &World, number: u64, when: &str) {
    let it = world.sandbox.counters();
    assert_eq!((it.creates, it.approvals, it.messages), (1, 1, 0), "{when}");
    assert_eq!((it.merges, it.merge_calls), (1, 1), "{when}");
    assert_eq!((it.archives, it.branch_deletes), (1, 1), "{when}");
    assert_eq!(all(world).await.len(), 1, "{when}");
    transcripts::all_are_kept(world, number, when).await;
}

/// Each part waits for its own start, and the whole for both.
async fn split_once(world: &World, number: u64, when: &str) {
    assert_eq!(world.sandbox.counters().creates, 0, "{when}");
    let whole = delivery(world, number).await.expect("a delivery");
    assert_eq!(whole.run_status, RunStatus::Running, "{when}");
    let parts = whole.children.iter().map(|part| part.id.clone());
    let wanted: BTreeSet<DeliveryId> = parts.chain([whole.id.clone()]).collect();
    let found = all(world).await;
    assert_eq!(found.len(), 3, "{when}: {found:?}");
    assert_eq!(BTreeSet::from_iter(found), wanted, "{when}");
    for part in &whole.children {
        let part = world.backend.must::<Delivery>(&part.id).await;
        let part = part.expect("a part").value;
        assert!(part.awaits_start(), "{when}: {part:?}");
    }
}

/// The older pull request is closed with one pointer to the newer one.
async fn replaced_once(world: &World, number: u64, when: &str) {
    let it = world.sandbox.counters();
    assert_eq!((it.creates, it.approvals, it.messages), (2, 2, 0), "{when}");
    assert_eq!(all(world).await.len(), 1, "{when}");
    let found = delivery(world, number).await.expect("a delivery");
    assert_eq!(found.attempt, 2, "{when}");
    let newer = found.task.pull.expect("a pull request");
    let pulls = world.sandbox.github().pulls(REPO);
    let [first, second] = &pulls[..] else {
        panic!("{when}: {pulls:?}");
    };
    assert_eq!(*second, newer.number, "{when}");
    let (older, present) = (world.pull(*first), world.pull(*second));
    let states = (older.state, present.state);
    assert_eq!(states, (PullState::Closed, PullState::Open), "{when}");
    assert!(present.comments.is_empty(), "{when}");
    let [pointer] = &older.comments[..] else {
        panic!("{when}: {:?}", older.comments);
    };
    assert!(pointer.body.contains(&newer.url()), "{when}: {pointer:?}");
}

/// Plays it with a process that lives on, and then with each death in a world of its own.
async fn die_at_acts(play: Play, moment: Moment) {
    let (world, number) = Box::pin(play.begun()).await;
    let begun = world.fate.count();
    Box::pin(play.through(&world, number)).await;
    let acts = world.fate.acts();
    Box::pin(play.once(&world, number, "alive")).await;
    for at in play.deaths(&acts, begun) {
        let (world, number) = Box::pin(play.begun()).await;
        world.fate.kill_at(at, moment);
        Box::pin(play.through(&world, number)).await;
        let when = format!("{play:?} dying {moment:?} act {at}, `{}`", acts[at]);
        assert_eq!(world.fate.deaths(), 1, "{when}");
        Box::pin(play.once(&world, number, &when)).await;
    }
}

#[tokio::test]
async fn a_process_that_dies_before_an_act_closes_the_issue_once() {
    Box::pin(die_at_acts(Play::Whole, Moment::Before)).await;
}

#[tokio::test]
async fn a_process_that_dies_after_an_act_closes_the_issue_once() {
    Box::pin(die_at_acts(Play::Whole, Moment::After)).await;
}

#[tokio::test]
async fn a_process_that_dies_at_an_act_creates_each_part_once() {
    for moment in [Moment::Before, Moment::After] {
        Box::pin(die_at_acts(Play::Split, moment)).await;
    }
}

#[tokio::test]
async fn a_process_that_dies_before_an_act_replaces_a_rejected_change_once() {
    Box::pin(die_at_acts(Play::Rejected, Moment::Before)).await;
}

#[tokio::test]
async fn a_process_that_dies_after_an_act_replaces_a_rejected_change_once() {
    Box::pin(die_at_acts(Play::Rejected, Moment::After)).await;
}
