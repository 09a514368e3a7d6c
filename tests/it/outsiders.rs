//! Other people's pull requests, forks, look-alike sessions and forged links: not one write, whatever the policy.

use domain::ids::JobId;
use domain::policy::Source;
use sandbox::github::NewPull;
use sandbox::story::Step;
use sandbox::{Foreign, ForeignPull, ForeignSession, Scenario, Service};
use tests::world::{
    MINUTE, REPO, SECOND, World, from_work, hour, on_green, progress, scenario, source, story,
};

fn pulls(count: u32, change: impl FnOnce(&mut NewPull)) -> ForeignPull {
    let mut foreign = ForeignPull {
        count,
        ..ForeignPull::default()
    };
    change(&mut foreign.pull);
    foreign
}

/// Thirty pull requests of others, some of them green and tempting.
fn strangers() -> Vec<ForeignPull> {
    let session = "10000000000000000001";
    vec![
        pulls(8, |_| {}),
        pulls(6, |it| {
            it.fork = Some("somebody/shop".to_owned());
            it.head_branch = "fork-{n}".to_owned();
        }),
        pulls(6, |it| {
            it.author_login = "google-labs-jules[bot]".to_owned();
            it.head_branch = format!("feature-{{n}}-{session}");
            it.body = format!(
                "PR created automatically by Jules for task [{session}](https://jules.google.com/task/{session})"
            );
        }),
        pulls(4, |it| {
            it.head_branch = "other-{n}".to_owned();
            it.body = "[gaffer tests/01j00000000000000000000000#1]".to_owned();
        }),
        pulls(3, |it| {
            it.draft = true;
            it.head_branch = "draft-{n}".to_owned();
        }),
        pulls(3, |it| {
            it.head_branch = "jules-1455038855433105511-0a1b2c3{n}".to_owned();
            it.labels = vec!["automerge".to_owned()];
        }),
    ]
}

/// Sessions that look like ours: of another installation, of none, with a marker of a job that does not exist.
fn look_alikes() -> Vec<Foreign> {
    let session = |title: &str, state: &str| ForeignSession {
        count: 3,
        title: title.to_owned(),
        state: state.to_owned(),
        steps: vec![Step::Stall { after: SECOND }],
        ..ForeignSession::default()
    };
    [
        session(
            "[gaffer other/01j00000000000000000000000#1] theirs {n}",
            "AWAITING_PLAN_APPROVAL",
        ),
        session(
            "[gaffer other/01j00000000000000000000000#1] theirs {n}",
            "AWAITING_USER_FEEDBACK",
        ),
        session(
            "[gaffer tests/01j00000000000000000000000#1] unknown {n}",
            "AWAITING_PLAN_APPROVAL",
        ),
        session("A person's own session {n}", "AWAITING_USER_FEEDBACK"),
        session("A person's own session {n}", "COMPLETED"),
        session("A person's own session {n}", "FAILED"),
    ]
    .map(Foreign::Session)
    .into()
}

async fn crowd(source: Source, webhooks: bool) -> World {
    let steps = from_work(vec![
        progress(SECOND, "Working"),
        progress(MINUTE * 6, "Still working"),
    ]);
    let played = Scenario {
        foreign: look_alikes(),
        ..scenario(vec![story("slow", steps)])
    };
    let world = World::hearing(played, source, webhooks).await;
    for foreign in strangers() {
        world
            .sandbox
            .add_foreign_pulls(&foreign)
            .expect("foreign pull requests");
    }
    assert_eq!(world.sandbox.github().pulls(REPO).len(), 30);
    world
}

/// Every write so far, by method and path.
fn writes(world: &World) -> Vec<String> {
    let writing = |it: &&sandbox::Logged| it.service != Service::Agent && it.method != "GET";
    world
        .sandbox
        .requests()
        .iter()
        .filter(writing)
        .map(|it| format!("{} {}", it.method, it.path))
        .collect()
}

async fn nobody_is_touched(source: Source, webhooks: bool) {
    let world = crowd(source, webhooks).await;
    world.pass(hour(2)).await;
    assert_eq!(writes(&world), Vec::<String>::new());
    let it = world.sandbox.counters();
    assert_eq!(
        (
            it.github_writes,
            it.message_calls,
            it.approve_calls,
            it.archives,
            it.creates
        ),
        (0, 0, 0, 0, 0)
    );
    assert_eq!((it.wakes_received, world.all_events().await.len()), (0, 0));
    // A glance at each is enough: nothing else of theirs is read.
    assert!(
        world
            .requests(Service::GitHub, "GET", "/check-runs")
            .is_empty()
    );
    assert!(
        world
            .ledger
            .everything()
            .await
            .iter()
            .all(|record| !record.key.pk.starts_with("PR#"))
    );
    world.finish().await;
}

#[tokio::test]
async fn by_default_nobody_is_touched() {
    nobody_is_touched(source(), false).await;
}

#[tokio::test]
async fn nobody_is_touched_on_green_with_a_webhook_for_everyone() {
    nobody_is_touched(on_green(), true).await;
}

/// One job of ours in the crowd, and every write is about its session or its pull request.
async fn only_ours(world: &World, job: &JobId) {
    let session = world.session(job).await;
    let (_, number) = session.pull.clone().expect("a pull request");
    let branch = session.branch.clone().expect("a branch");
    for write in writes(world) {
        let ours = write == "POST /sessions"
            || write.contains(&format!("/sessions/{}:", session.id))
            || write.contains(&format!("/pulls/{number}/"))
            || write.ends_with(&format!("/git/refs/heads/{branch}"))
            || write == "POST /graphql";
        assert!(ours, "{write}");
    }
    // GraphQL is asked before a branch is deleted; the only thing it can change here was left alone.
    assert_eq!(world.sandbox.counters().ready_for_review, 0);
    assert_eq!(world.sandbox.counters().merges, 1);
    let others: Vec<_> = world
        .sandbox
        .jules()
        .sessions()
        .into_iter()
        .filter(|it| it.id != session.id)
        .collect();
    assert!(
        others
            .iter()
            .all(|it| !it.archived && it.messages.is_empty()),
        "{others:#?}"
    );
}

#[tokio::test]
async fn one_job_of_ours_in_the_crowd_is_the_only_one_served() {
    for webhooks in [false, true] {
        let world = crowd(on_green(), webhooks).await;
        let job = world.submit("Add a test").await;
        world.until_is(MINUTE * 15, &job, "merged").await;
        world.pass(MINUTE * 30).await;
        only_ours(&world, &job).await;
        assert_eq!(world.events(&job).await, ["completed/completed"]);
        world.finish().await;
    }
}

/// Pull requests that name our session, in every way that can be forged.
fn forgeries(session: &str) -> Vec<ForeignPull> {
    let body = format!(
        "PR created automatically by Jules for task [{session}](https://jules.google.com/task/{session}) started by @octo-owner"
    );
    vec![
        pulls(2, |it| it.body.clone_from(&body)),
        pulls(2, |it| it.head_branch = format!("tempting-{{n}}-{session}")),
        pulls(1, |it| {
            it.fork = Some("somebody/shop".to_owned());
            it.head_branch = format!("forked-{session}");
            it.body.clone_from(&body);
        }),
        pulls(1, |it| {
            it.head_branch = format!("both-{session}");
            it.body.clone_from(&body);
        }),
        pulls(1, |it| {
            it.head_branch = format!("jules-{session}-0a1b2c3d");
            it.body = format!("{body}\n\nhttps://jules.google.com/task/10000000000000000007");
        }),
    ]
}

async fn forged(at: impl AsyncFn(&World, &JobId) -> bool) {
    let world = crowd(on_green(), true).await;
    let job = world.submit("slow").await;
    world
        .until(MINUTE * 10, "the moment", async |world| {
            at(world, &job).await
        })
        .await;
    let session = world.session(&job).await.id;
    for foreign in forgeries(&session) {
        world
            .sandbox
            .add_foreign_pulls(&foreign)
            .expect("forged pull requests");
    }
    world.until_is(MINUTE * 30, &job, "merged").await;
    world.pass(hour(2)).await;
    only_ours(&world, &job).await;
    world.finish().await;
}

#[tokio::test]
async fn forged_links_to_a_session_that_has_its_pull_request_act_on_nothing() {
    forged(async |world, job| {
        world.state(job).await == "working" && world.session(job).await.pull.is_some()
    })
    .await;
}

#[tokio::test]
async fn forged_links_to_a_session_that_has_none_yet_act_on_nothing() {
    forged(async |world, _| world.sandbox.counters().creates == 1).await;
}

#[tokio::test]
async fn another_installation_on_the_same_account_is_left_alone() {
    // Theirs has our job's id in its marker, under their own name.
    let world = crowd(on_green(), false).await;
    let job = world.submit("slow").await;
    world.until_count(MINUTE, |it| it.creates == 1).await;
    let theirs = ForeignSession {
        title: format!("[gaffer other/{job}#1] theirs"),
        state: "IN_PROGRESS".to_owned(),
        ..ForeignSession::default()
    };
    let ids = world
        .sandbox
        .jules()
        .add_foreign(&theirs)
        .expect("a session");
    world.until_is(MINUTE * 30, &job, "merged").await;
    only_ours(&world, &job).await;
    assert!(
        !world
            .sandbox
            .jules()
            .session(&ids[0])
            .expect("theirs")
            .archived
    );
    world.finish().await;
}
