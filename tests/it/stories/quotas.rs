//! Quotas: kept before they are hit, and derived from refusals.

use domain::ids::JobId;
use domain::priority::START_INTERVAL;
use engine::jobs::Order;
use jiff::SignedDuration;
use sandbox::Scenario;
use sandbox::jules::{AccountSetup, QuotaRefusal, Switches};
use tests::world::{MINUTE, REPO, SECOND, World, asking, hour, scenario, stalling};

fn account(concurrent: u32, per_24h: u32) -> Scenario {
    Scenario {
        accounts: vec![AccountSetup {
            concurrent,
            per_24h,
            ..AccountSetup::default()
        }],
        ..Scenario::default()
    }
}

/// Sessions that work at this moment.
fn working(world: &World) -> usize {
    let sessions = world.sandbox.jules().sessions();
    sessions
        .iter()
        .filter(|session| !matches!(session.state.as_str(), "COMPLETED" | "FAILED"))
        .count()
}

#[tokio::test]
async fn six_jobs_share_three_slots() {
    let world = World::on_green(account(3, 100)).await;
    world.limit("default", 3, 100).await;
    let jobs = world.submit_many(6).await;
    let mut most = 0;
    world
        .until(MINUTE * 30, "all merged", async |world| {
            most = most.max(working(world));
            world.all_merged(&jobs).await
        })
        .await;
    assert_eq!(most, 3);
    // Nothing was ever refused: the limit was kept, not run into.
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.create_calls), (6, 6));
    world.finish().await;
}

#[tokio::test]
async fn a_list_that_still_shows_whoever_is_done_keeps_nobody_waiting() {
    let world = World::on_green(account(1, 100)).await;
    world.limit("default", 1, 100).await;
    world.ledger.let_lists_lag();
    let first = world.submit("first").await;
    let second = world.submit("second").await;
    world
        .until(MINUTE * 30, "done", async |world| {
            let job = world.backend.must_job(&first).await.expect("a job");
            !job.value.holds_slot() && world.state(&first).await != "queued"
        })
        .await;
    world
        .until(SECOND * 15, "started", async |world| {
            world.state(&second).await != "queued"
        })
        .await;
    let both = [first, second];
    world.until_merged(MINUTE * 30, &both).await;
    world.finish().await;
}

/// Hands over a piece of work that matters so much.
async fn submit_at(world: &World, prompt: &str, priority: u8) -> JobId {
    let order = Order {
        repo: REPO.parse().expect("a repository"),
        branch: None,
        prompt: prompt.to_owned(),
        title: None,
        agent: None,
        resume: None,
        terms: domain::policy::Terms::default(),
        priority: Some(priority.try_into().expect("a priority")),
    };
    world.backend.create_job(order).await.expect("a job").id
}

/// One job holds the only slot while others come, the last of them after a wait. Returns the order in which the others started.
async fn started_after(wait: SignedDuration) -> Vec<String> {
    let scenario = scenario(vec![asking("first", "Which database?")]);
    let world = World::on_green(Scenario {
        accounts: account(1, 300).accounts,
        ..scenario
    })
    .await;
    world.limit("default", 1, 300).await;
    let first = world.submit("first").await;
    world.until_is(MINUTE * 10, &first, "asking").await;
    let mut jobs = Vec::new();
    for (prompt, priority) in [("low", 0), ("usual", 5)] {
        jobs.push(submit_at(&world, prompt, priority).await);
    }
    world.pass(wait).await;
    jobs.push(submit_at(&world, "high", 9).await);
    world.answer(&first, "PostgreSQL", "answer").await;
    world.until_merged(MINUTE * 30, &jobs).await;
    let sessions = world.sandbox.jules().sessions();
    let words = sessions
        .iter()
        .skip(1)
        .filter_map(|it| it.title.rsplit(' ').next());
    words.map(str::to_owned).collect()
}

#[tokio::test]
async fn higher_priorities_start_first() {
    assert_eq!(started_after(SECOND).await, ["high", "usual", "low"]);
}

/// One job holds the only slot while so many wait for it: how much is written, and how often Jules is asked, in the next half hour.
async fn cost_of_waiting(waiting: usize) -> (usize, u64) {
    let scenario = scenario(vec![stalling("first")]);
    let world = World::on_green(Scenario {
        accounts: account(60, 300).accounts,
        ..scenario
    })
    .await;
    world.limit("default", 1, 300).await;
    let first = world.submit("first").await;
    world.until_is(MINUTE * 10, &first, "working").await;
    // The first of them finds that no slot is free, and sets the time of the next check.
    let next = world.submit("Job 0").await;
    world.step().await;
    for n in 1..waiting {
        world.submit(&format!("Job {n}")).await;
    }
    let (messages, _) = world.backend.queue.depth().await.expect("a queue");
    assert_eq!(messages, 0, "nobody need look at a job that has to wait");
    world.pass(MINUTE).await;
    let before = world.ledger.written().len();
    let calls = world.sandbox.counters().jules_calls;
    world.pass(MINUTE * 30).await;
    let written = world.ledger.written().len() - before;
    let calls = world.sandbox.counters().jules_calls - calls;
    world.cancel(&first).await;
    world
        .until(SECOND * 5, "the next one starts", async |world| {
            world.state(&next).await != "queued"
        })
        .await;
    (written, calls)
}

#[tokio::test]
async fn jobs_that_wait_for_a_slot_cost_nothing_meanwhile() {
    let (written, calls) = Box::pin(cost_of_waiting(1)).await;
    let many = Box::pin(cost_of_waiting(120)).await;
    assert_eq!(many, (written, calls));
}

#[tokio::test]
async fn after_three_intervals_nobody_who_came_later_starts_first() {
    let wait = START_INTERVAL * 3;
    assert_eq!(started_after(wait).await, ["low", "usual", "high"]);
}

#[tokio::test]
async fn creates_keep_a_distance_so_that_bursts_lose_nothing() {
    let switches = Switches {
        creates_per_second: Some(1),
        ..Switches::default()
    };
    let world = World::on_green(Scenario {
        switches,
        ..account(60, 300)
    })
    .await;
    let jobs = world.submit_many(10).await;
    world.until_merged(MINUTE * 30, &jobs).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.create_calls), (10, 10));
    world.finish().await;
}

async fn a_lower_limit_is_kept(refusal: QuotaRefusal, calls: u64) {
    let switches = Switches {
        quota_refusal: refusal,
        ..Switches::default()
    };
    let world = World::on_green(Scenario {
        switches,
        ..account(1, 100)
    })
    .await;
    let jobs = world.submit_many(3).await;
    world.until_merged(hour(6), &jobs).await;
    assert_eq!(world.sandbox.counters().creates, 3);
    assert_eq!(world.sandbox.counters().create_calls, calls);
    for job in &jobs {
        let job = world.backend.must_job(job).await.expect("a job").value;
        assert_eq!(job.attempt, 1, "a refusal burns no attempt");
    }
    assert!(
        world
            .all_events()
            .await
            .iter()
            .all(|event| event == "completed/completed")
    );
    world.finish().await;
}

#[tokio::test]
async fn a_failed_precondition_means_later() {
    // One refusal teaches the limit, and then nothing runs into it again.
    a_lower_limit_is_kept(QuotaRefusal::Precondition, 4).await;
}

#[tokio::test]
async fn so_does_a_429_with_a_wait() {
    // A 429 is about the pace of requests: it teaches nothing about slots, but every job of the account waits as long as it asks.
    let refusal = QuotaRefusal::Exhausted {
        retry_after_secs: Some(30),
        retry_info_secs: None,
    };
    a_lower_limit_is_kept(refusal, 5).await;
}

#[tokio::test]
async fn a_job_that_is_refused_for_a_day_starts_when_there_is_room() {
    let world = World::on_green(account(15, 1)).await;
    let jobs = world.submit_many(2).await;
    world.until_count(MINUTE * 10, |it| it.merges == 1).await;
    world.pass(hour(23)).await;
    assert_eq!(world.sandbox.counters().creates, 1);
    world.must_give(&jobs[1], "refused_for_now").await;
    world.pass(hour(3)).await;
    assert!(world.all_merged(&jobs).await, "{}", world.story().await);
    assert_eq!(
        world
            .backend
            .must_job(&jobs[1])
            .await
            .expect("a job")
            .value
            .attempt,
        1
    );
    world.finish().await;
}

#[tokio::test]
async fn the_day_rolls() {
    let world = World::on_green(account(15, 2)).await;
    world.limit("default", 15, 2).await;
    let jobs = world.submit_many(3).await;
    world.pass(hour(23)).await;
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.create_calls), (2, 2));
    assert_eq!(world.state(&jobs[2]).await, "queued");
    world.pass(hour(1) + MINUTE * 10).await;
    assert!(world.all_merged(&jobs).await, "{}", world.story().await);
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.create_calls), (3, 3));
    world.finish().await;
}
