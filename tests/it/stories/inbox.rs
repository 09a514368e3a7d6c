//! Agents that fetch their wakes: one at a time for each job, held on a lease, and never lost.

use std::collections::BTreeMap;

use domain::ids::{EventId, JobId};
use domain::policy::PlanApproval;
use domain::wake::{Channel, INBOX_HOLD, ReturnMode, Wake, WakeState};
use engine::backend::IndexEntry;
use engine::keys;
use engine::wakes::Replayed;
use jiff::SignedDuration;
use sandbox::agent::AgentSetup;
use sandbox::story::{Step, Story};
use tests::world::{AGENT, MINUTE, SECOND, World, asking_often, hour, on_green, scenario, silent};

/// A world whose agent's wakes go these ways, to a receiver that answers with this status.
pub(super) async fn going(ways: &[Channel], status: u16, stories: Vec<Story>) -> World {
    let mut played = scenario(stories);
    played.agents = vec![AgentSetup {
        name: AGENT.to_owned(),
        statuses: vec![status],
        ..AgentSetup::default()
    }];
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Auto;
    let world = World::of(played, source).await;
    let found = world.backend.store.agent(&world.agent()).await;
    let found = found.expect("a store").expect("an agent");
    let mut agent = found.value.clone();
    agent.channels = ways.to_vec();
    let mut unit = world.backend.unit();
    let place = IndexEntry {
        list: keys::listed(keys::AGENTS, AGENT),
        ..IndexEntry::default()
    };
    unit.put(keys::agent(&agent.name), &agent, Some(found.version), place);
    world.backend.commit(unit).await.expect("an agent");
    world
}

pub(super) async fn take(world: &World) -> Vec<Wake> {
    let taken = world.backend.take(&world.agent(), 10).await;
    taken.expect("an inbox")
}

/// Takes and acknowledges everything until nothing comes: returns the events by job.
async fn empty(world: &World) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    loop {
        let taken = take(world).await;
        if taken.is_empty() {
            return told;
        }
        for wake in taken {
            let job = wake.event.job.clone().expect("a job").to_string();
            told.entry(job)
                .or_default()
                .push(wake.event.what.kind().to_owned());
            let agent = world.agent();
            let done = world.backend.acknowledge(&agent, &wake.event.id).await;
            done.expect("an acknowledgement");
        }
    }
}

fn asking() -> Story {
    asking_often("ask", 2)
}

#[tokio::test]
async fn an_agent_that_was_away_finds_nothing_that_was_decided_without_it() {
    let plan = Step::Plan {
        after: SECOND,
        steps: vec!["Look around".to_owned()],
    };
    let mut story = asking();
    story.steps.insert(0, plan);
    let world = going(&[Channel::Inbox], 500, vec![story]).await;
    let mut source = on_green();
    source.policy.plan_approval = PlanApproval::Agent;
    world.put_source(&source).await;
    let job = world.submit("ask").await;
    for n in 1..=3 {
        world.until_events(MINUTE * 10, &job, n).await;
        match n {
            1 => world.approve_plan(&job).await,
            2 => world.answer(&job, "Yes", "answer").await,
            _ => world.say_upstream(&job, "Yes").await,
        }
    }
    world.until_is(MINUTE * 30, &job, "merged").await;
    let asked = ["question/plan_approval", "question/question"];
    assert_eq!(world.events(&job).await[..2], asked);
    let told = empty(&world).await;
    assert_eq!(told[&job.to_string()], ["completed"]);
    assert!(empty(&world).await.is_empty());
    assert!(world.wakes().is_empty(), "nothing was sent");
    world.finish().await;
}

#[tokio::test]
async fn of_a_job_the_next_is_had_when_the_one_before_is_over() {
    let world = going(&[Channel::Inbox], 500, vec![silent("stall")]).await;
    let job = world.submit("stall").await;
    world.until_events(MINUTE * 20, &job, 1).await;
    let first = take(&world).await;
    assert_eq!(first.len(), 1);
    let (agent, event) = (world.agent(), first[0].event.id.clone());
    let held = (&agent, &event, 1);
    while world.events(&job).await.len() < 2 {
        world.pass(MINUTE * 5).await;
        world.backend.extend(held).await.expect("a lease");
    }
    assert_eq!(take(&world).await, []);
    let back = world
        .backend
        .give_back(held, "exit code 1", ReturnMode::AsPlanned)
        .await;
    back.expect("a lease");
    assert_eq!(take(&world).await, [], "not before its next try");
    world.pass(SECOND * 6).await;
    let again = take(&world).await;
    assert_eq!(again[0].event.id, event);
    world
        .backend
        .extend(held)
        .await
        .expect_err("the first lease");
    let done = world.backend.acknowledge(&agent, &event).await;
    done.expect("an acknowledgement");
    let next = take(&world).await;
    assert_ne!(next[0].event.id, event);
    // The taker dies: the wake comes again after its lease.
    world.pass(MINUTE * 9).await;
    assert_eq!(take(&world).await, []);
    world.pass(MINUTE * 2).await;
    assert_eq!(take(&world).await[0].event.id, next[0].event.id);
    world.finish().await;
}

#[tokio::test]
async fn two_takers_never_hold_the_same() {
    let world = going(&[Channel::Inbox], 500, Vec::new()).await;
    for n in 0..6 {
        world.submit(&format!("Add test {n}")).await;
    }
    world
        .until(hour(1), "six wakes", async |world| {
            let wakes = world.backend.store.wakes(&world.agent()).await;
            wakes.expect("wakes").len() == 6
        })
        .await;
    let (one, other) = tokio::join!(take(&world), take(&world));
    let mut ids: Vec<_> = one
        .iter()
        .chain(&other)
        .map(|wake| &wake.event.id)
        .collect();
    assert_eq!(ids.len(), 6);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    world.finish().await;
}

#[tokio::test]
async fn what_does_not_get_through_is_left_in_the_inbox() {
    let world = going(&[Channel::Http, Channel::Inbox], 410, Vec::new()).await;
    let first = world.submit("Add a test").await;
    world.until_wakes(MINUTE * 5, 1).await;
    let other = world.submit("Add another test").await;
    world
        .until_merged(hour(1), &[first.clone(), other.clone()])
        .await;
    assert_eq!(world.wakes().len(), 1, "whoever is gone is not asked again");
    let told = empty(&world).await;
    assert_eq!(told[&first.to_string()], ["completed"]);
    assert_eq!(told[&other.to_string()], ["completed"]);
    world.finish().await;
}

#[tokio::test]
async fn what_nobody_takes_is_given_up_where_a_person_sees_it_and_costs_nothing_before() {
    let world = going(&[Channel::Inbox], 500, Vec::new()).await;
    let job = world.submit("Add a test").await;
    world.until_is(hour(1), &job, "merged").await;
    world.pass(hour(1)).await;
    let of_wakes = |world: &World| {
        let written = world.ledger.written();
        let wakes = written.iter().filter(|key| key.sk.starts_with(keys::WAKE));
        wakes.count()
    };
    let before = of_wakes(&world);
    world.pass(INBOX_HOLD - hour(3)).await;
    assert_eq!(
        of_wakes(&world),
        before,
        "nothing is written while it waits"
    );
    world.pass(hour(2) + SignedDuration::from_mins(5)).await;
    let wakes = world
        .backend
        .store
        .wakes(&world.agent())
        .await
        .expect("wakes");
    let WakeState::Dead { why, .. } = &wakes[0].value.state else {
        panic!("{wakes:#?}")
    };
    assert_eq!(why, "nobody took it out of the inbox for 3 days");
    assert_eq!(take(&world).await, []);
    assert!(world.wakes().is_empty());
    world.finish().await;
}

#[tokio::test]
async fn an_agent_without_an_address_has_an_inbox_and_a_removed_one_leaves_nothing_open() {
    let world = going(&[Channel::Http], 500, Vec::new()).await;
    let job = world.submit("Add a test").await;
    world.until_wakes(MINUTE * 10, 1).await;
    let found = world.backend.store.agent(&world.agent()).await;
    let found = found.expect("a store").expect("an agent");
    let mut agent = found.value.clone();
    agent.url = None;
    let mut unit = world.backend.unit();
    let version = Some(found.version);
    unit.put(
        keys::agent(&agent.name),
        &agent,
        version,
        IndexEntry::default(),
    );
    world.backend.commit(unit).await.expect("an agent");
    world.pass(MINUTE * 40).await;
    let taken = take(&world).await;
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].event.job.as_ref(), Some(&job));
    let found = world.backend.store.agent(&world.agent()).await;
    let found = found.expect("a store").expect("an agent");
    let mut unit = world.backend.unit();
    unit.delete(keys::agent(&agent.name), &found);
    world.backend.commit(unit).await.expect("no agent");
    world.pass(MINUTE * 15).await;
    let wakes = world
        .backend
        .store
        .wakes(&world.agent())
        .await
        .expect("wakes");
    let WakeState::Dead { why, .. } = &wakes[0].value.state else {
        panic!("{wakes:#?}")
    };
    assert_eq!(why, "its agent was removed");
    world.finish().await;
}

#[tokio::test]
async fn what_waits_for_an_earlier_one_is_held_as_long_as_it_has_to() {
    let (world, job) = silent_twice().await;
    world.cancel(&job).await;
    // The first one is tried for days, and given back each time.
    let agent = world.agent();
    let mut first = None;
    for _ in 0..200 {
        world.pass(hour(1)).await;
        for wake in take(&world).await {
            let event = wake.event.id.clone();
            assert_eq!(*first.get_or_insert(event.clone()), event, "in order");
            let WakeState::Leased { attempt, .. } = wake.state else {
                panic!("{wake:?}")
            };
            let held = (&agent, &event, attempt);
            let back = world
                .backend
                .give_back(held, "exit code 1", ReturnMode::AsPlanned)
                .await;
            if back.expect("a lease").is_settled() {
                // Then the other one still exists.
                assert_eq!(empty(&world).await[&job.to_string()], ["stuck"]);
                return world.finish().await;
            }
        }
    }
    panic!("the first one never ended");
}

/// Two wakes of one job in the inbox, which stay there whatever is done.
async fn silent_twice() -> (World, JobId) {
    let world = going(&[Channel::Inbox], 500, vec![silent("stall")]).await;
    let job = world.submit("stall").await;
    world.until_events(hour(1), &job, 2).await;
    (world, job)
}

/// The same, after the first was given up.
async fn with_the_first_given_up() -> (World, JobId, [EventId; 2]) {
    let (world, job) = silent_twice().await;
    let events = world.backend.store.events(&job).await.expect("events");
    let ids = [events[0].id.clone(), events[1].id.clone()];
    let agent = world.agent();
    for _ in 0..30 {
        for wake in take(&world).await {
            assert_eq!(wake.event.id, ids[0], "in order");
            let WakeState::Leased { attempt, .. } = wake.state else {
                panic!("{wake:?}")
            };
            let held = (&agent, &ids[0], attempt);
            let back = world
                .backend
                .give_back(held, "exit code 1", ReturnMode::After(SECOND))
                .await;
            if back.expect("a lease").is_settled() {
                return (world, job, ids);
            }
        }
        world.pass(SECOND * 2).await;
    }
    panic!("the first one never ended");
}

async fn wake_of(world: &World, event: &EventId) -> Wake {
    let found = world.backend.store.wake(&world.agent(), event).await;
    found.expect("a store").expect("a wake").value
}

#[tokio::test]
async fn a_lease_that_lapsed_behind_a_wake_that_was_sent_once_more_is_over() {
    let (world, _, [first, second]) = with_the_first_given_up().await;
    assert_eq!(take(&world).await[0].event.id, second);
    let replayed = world.backend.replay(&world.agent(), &first).await;
    assert_eq!(replayed.expect("a replay"), Replayed::Sent);
    world.pass(MINUTE * 12).await;
    let lapsed = wake_of(&world, &second).await;
    assert!(
        matches!(lapsed.state, WakeState::Pending { attempt: 2, .. }),
        "{lapsed:?}"
    );
    assert!(
        lapsed.due() > Some(world.backend.now()),
        "looked at for ever"
    );
    assert_eq!(take(&world).await[0].event.id, first);
    world.finish().await;
}

#[tokio::test]
async fn a_list_that_lags_lets_no_wake_overtake_an_earlier_one() {
    let (world, _, [first, second]) = with_the_first_given_up().await;
    world.ledger.let_lists_lag();
    // The list shows only the second one for a while.
    assert_eq!(take(&world).await[0].event.id, second);
    let agent = world.agent();
    let back = world
        .backend
        .give_back((&agent, &second, 1), "not now", ReturnMode::Untried)
        .await;
    back.expect("a lease");
    let replayed = world.backend.replay(&agent, &first).await;
    assert_eq!(replayed.expect("a replay"), Replayed::Sent);
    let mut taken = Vec::new();
    for _ in 0..20 {
        taken.extend(take(&world).await);
    }
    let ids: Vec<_> = taken.iter().map(|wake| &wake.event.id).collect();
    assert_eq!(ids, [&first]);
    world.finish().await;
}

#[tokio::test]
async fn what_was_answered_while_it_was_held_is_not_handed_out_again() {
    let world = going(&[Channel::Inbox], 500, vec![asking()]).await;
    let job = world.submit("ask").await;
    let agent = world.agent();
    for n in 1..=2 {
        world.until_events(MINUTE * 10, &job, n).await;
        let [wake] = &take(&world).await[..] else {
            panic!("one wake")
        };
        world.answer(&job, "Yes", &format!("answer {n}")).await;
        let held = (&agent, &wake.event.id, 1);
        // The agent that answers may go on with it.
        world.backend.extend(held).await.expect("a lease");
        assert_eq!(take(&world).await, []);
        if n == 1 {
            let back = world
                .backend
                .give_back(held, "exit code 1", ReturnMode::AsPlanned)
                .await
                .expect("a lease");
            assert!(matches!(back.state, WakeState::Acknowledged { .. }));
            let done = world.backend.acknowledge(&agent, &wake.event.id).await;
            done.expect("an acknowledgement");
        } else {
            // Or die.
            world.pass(MINUTE * 12).await;
            let over = wake_of(&world, &wake.event.id).await;
            assert!(matches!(over.state, WakeState::Acknowledged { .. }));
        }
    }
    world.finish().await;
}

#[tokio::test]
async fn what_was_answered_while_it_was_held_holds_up_nothing_after_it() {
    let world = going(&[Channel::Inbox], 500, vec![asking()]).await;
    let (job, agent) = (world.submit("ask").await, world.agent());
    let mut held = Vec::new();
    for n in 1..=2 {
        world.until_events(MINUTE * 10, &job, n).await;
        let [wake] = &take(&world).await[..] else {
            panic!("the wake {n} is to be had at once")
        };
        held.push(wake.event.id.clone());
        world.answer(&job, "Yes", &format!("answer {n}")).await;
        let why = world.backend.why(&job).await.expect("a why");
        let awaited = |code: &str| why.because.iter().any(|reason| reason.code == code);
        assert!(!awaited("wake_leased"), "{why:?}");
    }
    assert!(held[0] != held[1]);
    for event in &held {
        assert!(wake_of(&world, event).await.answered);
        let done = world.backend.acknowledge(&agent, event).await;
        done.expect("an acknowledgement");
    }
    world.finish().await;
}

#[tokio::test]
async fn what_is_said_again_under_its_old_name_ends_no_wake() {
    let world = going(&[Channel::Inbox], 500, vec![asking()]).await;
    let job = world.submit("ask").await;
    for n in 1..=2 {
        world.until_events(MINUTE * 10, &job, n).await;
        world.answer(&job, "Yes", "the key").await;
    }
    let events = world.backend.store.events(&job).await.expect("events");
    let told = take(&world).await.into_iter();
    let told: Vec<_> = told.map(|wake| wake.event.id).collect();
    assert_eq!(told, [events[1].id.clone()]);
    assert_eq!(world.sandbox.counters().messages, 1);
}
