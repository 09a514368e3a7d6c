//! The daily budgets of watching: requests to Jules, and money. As they run short polls become rarer, and a person is informed once.

use domain::account::{Account, Budget, Spent, day_of};
use domain::event::Audience;
use engine::backend::IndexEntry;
use engine::keys;
use engine::usage::{Allowance, Consumption, Used};
use jiff::SignedDuration;
use sandbox::Service;
use tests::world::{MINUTE, SECOND, World, from_work, hour, on_green, progress, scenario, story};

/// A world with one job that works for a given time before it opens its pull request.
async fn working_for(time: SignedDuration) -> (World, domain::ids::JobId) {
    let steps = vec![progress(SECOND, "Working"), progress(time, "Still working")];
    let mut source = on_green();
    source.timing.stuck_after = hour(100);
    let world = World::of(scenario(vec![story("slow", from_work(steps))]), source).await;
    let job = world.submit("slow").await;
    world.pass(SECOND * 20).await;
    (world, job)
}

async fn allow(world: &World, (requests, spent): (u32, Option<Spent>)) {
    let found = world.backend.store.account(&name()).await.expect("a store");
    let found = found.expect("an account");
    let account = Account {
        budget: Budget {
            requests_a_day: Some(requests),
            spent,
            ..Budget::default()
        },
        ..found.value
    };
    let mut unit = world.backend.unit();
    let place = IndexEntry {
        due: Some(account.next_poll),
        list: keys::listed(keys::ACCOUNTS, account.name.as_str()),
        forget: None,
    };
    unit.put(
        keys::account(&account.name),
        &account,
        Some(found.version),
        place,
    );
    world.backend.commit(unit).await.expect("an allowance");
}

fn name() -> domain::ids::AccountName {
    "default".parse().expect("a name")
}

fn asked(world: &World) -> usize {
    world.requests(Service::Jules, "GET", "").len()
}

/// Who received an announcement about a budget.
async fn audiences(world: &World) -> Vec<Audience> {
    let events = world
        .backend
        .store
        .recent_events(1_000)
        .await
        .expect("events");
    let events = events.iter().filter(|it| it.what.kind() == "budget");
    events.map(|event| event.audience).collect()
}

#[tokio::test]
async fn requests_last_for_the_day_and_nothing_is_missed() {
    let (world, job) = working_for(hour(10)).await;
    allow(&world, (300, None)).await;
    let before = asked(&world);
    world.pass(hour(8)).await;
    let spent = asked(&world) - before;
    assert!((151..=300).contains(&spent), "{spent}");
    assert!(audiences(&world).await.is_empty());
    let status = world.backend.status().await.expect("a status");
    let counted = status.accounts[0].requests.expect("an allowance");
    assert_eq!(counted.of, 300);
    let differ = counted.used.abs_diff(spent as u64);
    assert!(differ <= 3, "{counted:?}, and it was {spent}");
    world.until_is(hour(6), &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn when_nothing_is_left_a_person_hears_of_it_once_and_the_next_day_goes_on() {
    let (world, job) = working_for(hour(20)).await;
    let spent = Spent {
        day: day_of(world.clock.now()),
        requests: 99,
        last: 2,
        told: false,
        told_money: false,
    };
    allow(&world, (100, Some(spent))).await;
    world.pass(MINUTE * 2).await;
    assert_eq!(audiences(&world).await, [Audience::Human]);
    let before = asked(&world);
    let evening = midnight(&world).duration_since(world.clock.now()) - MINUTE;
    world.pass(evening).await;
    assert_eq!(asked(&world), before);
    assert_eq!(audiences(&world).await.len(), 1);
    world.until_is(hour(12), &job, "merged").await;
    world.finish().await;
}

fn midnight(world: &World) -> jiff::Timestamp {
    day_of(world.clock.now()) + hour(24)
}

/// Without a limit of money no usage is read, so what is stored of it ends no poll.
#[tokio::test]
async fn usage_that_cannot_be_read_ends_no_poll_without_a_limit() {
    let (world, _) = working_for(hour(1)).await;
    let swept = async || {
        let found = world.backend.store.account(&name()).await.expect("a store");
        let counters = found.expect("an account").value.counters;
        counters.linked.expect("a mark")
    };
    let mut unit = world.backend.unit();
    let unreadable = "none";
    let key = keys::usage("poller");
    unit.put(key, &unreadable, None, IndexEntry::default());
    world.backend.commit(unit).await.expect("a record");
    let before = swept().await;
    // The stored costs would be read every five minutes.
    world.pass(MINUTE * 12).await;
    assert!(swept().await > before);
}

#[tokio::test]
async fn when_the_money_is_spent_jules_is_asked_every_quarter_of_an_hour() {
    let (world, _) = working_for(hour(30)).await;
    let used = Used {
        invocations: 4_000_000,
        ..Used::default()
    };
    let today = Consumption::default().with(used, world.clock.now());
    let allowance = Allowance {
        dollars_a_day: Some(0.5),
    };
    let mut unit = world.backend.unit();
    unit.put(keys::usage("poller"), &today, None, IndexEntry::default());
    unit.put(keys::allowance(), &allowance, None, IndexEntry::default());
    world.backend.commit(unit).await.expect("an allowance");
    // The stored costs are read every five minutes.
    world.pass(MINUTE * 12).await;
    let before = asked(&world);
    world.pass(hour(2)).await;
    let spent = asked(&world) - before;
    assert!((7..=24).contains(&spent), "{spent}");
    assert_eq!(audiences(&world).await, [Audience::Human]);
    let spending = world.backend.status().await.expect("a status").spending;
    assert!(
        spending.is_over() && spending.dollars_today > 0.79,
        "{spending:?}"
    );

    let begun = asked(&world);
    world
        .pass(midnight(&world).duration_since(world.clock.now()) + MINUTE * 20)
        .await;
    let before = asked(&world);
    world.pass(MINUTE * 5).await;
    assert!(
        asked(&world) - before >= 20,
        "the next day is polled as usual"
    );
    assert_eq!(audiences(&world).await.len(), 1);
    assert!(before > begun);
}
