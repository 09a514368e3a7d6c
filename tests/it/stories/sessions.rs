//! Behaviour of sessions beyond their states: late, lost, repeated, unknown, and deleted.

use jiff::SignedDuration;
use sandbox::jules::{FieldMask, Switches};
use sandbox::story::Step;
use sandbox::{Lags, Scenario, Service};
use serde_json::json;
use tests::world::{
    MINUTE, SECOND, World, asking, asks, from_work, hour, on_green, open_pull, progress, scenario,
    source, story, work,
};

fn people_merge() -> domain::policy::Source {
    let mut source = source();
    source.policy.plan_approval = domain::policy::PlanApproval::Auto;
    source
}

async fn lagging(lags: Lags) -> World {
    World::on_green(Scenario {
        lags,
        ..Scenario::default()
    })
    .await
}

#[tokio::test]
async fn a_fresh_session_that_is_not_visible_yet_is_no_trouble() {
    let world = lagging(Lags {
        create: SECOND * 100,
        list: SECOND * 100,
        ..Lags::default()
    })
    .await;
    let jobs = world.submit_many(2).await;
    world.until_merged(MINUTE * 15, &jobs).await;
    assert!(
        world
            .sandbox
            .requests()
            .iter()
            .any(|it| it.service == Service::Jules && it.status == 404)
    );
    assert_eq!(
        world.all_events().await,
        ["completed/completed", "completed/completed"]
    );
    let counters = world.sandbox.counters();
    assert_eq!((counters.creates, counters.create_calls), (2, 2));
    world.finish().await;
}

#[tokio::test]
async fn a_list_that_lags_is_filled_up_with_single_reads() {
    let world = lagging(Lags {
        list: hour(2),
        ..Lags::default()
    })
    .await;
    let jobs = world.submit_many(3).await;
    world.until_merged(MINUTE * 15, &jobs).await;
    assert_eq!(world.sandbox.counters().creates, 3);
    world.finish().await;
}

#[tokio::test]
async fn words_that_come_very_late_join_the_open_question() {
    let mut played = scenario(vec![asking("ask me", "Which database?")]);
    played.lags.activities = MINUTE * 2;
    let world = World::on_green(played).await;
    let job = world.submit("ask me").await;
    world.until_wakes(MINUTE * 3, 1).await;
    world.pass(MINUTE * 10).await;
    assert_eq!(world.events(&job).await, ["question/question"]);
    let wakes = world.wakes();
    assert_eq!(wakes.len(), 1);
    assert!(wakes[0]["message"].is_null(), "{wakes:#?}");
    let why = world.backend.why(&job).await.expect("a why");
    let is_shown = |sentence: &str| sentence.contains("Which database?");
    let shown = why.because.iter().find(|it| is_shown(&it.sentence));
    assert_eq!(shown.expect("its words").code, "question_open");
    world.answer(&job, "PostgreSQL", "answer").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn a_question_hidden_behind_flapping_is_one_question_and_a_new_one_another() {
    let ask = |text: &str| asks(SECOND * 3, text);
    let flap = |state: &str| Step::State {
        after: SECOND * 30,
        state: state.to_owned(),
    };
    let steps = from_work(vec![
        ask("Which database?"),
        progress(SECOND * 5, "Thinking"),
        ask("Which version?"),
    ]);
    let mut played = scenario(vec![story("ask twice", steps)]);
    played.stories.push(story(
        "flap",
        vec![
            flap("AWAITING_USER_FEEDBACK"),
            flap("IN_PROGRESS"),
            flap("AWAITING_USER_FEEDBACK"),
        ],
    ));
    let world = World::on_green(played).await;
    let job = world.submit("ask twice").await;
    world.until_wakes(MINUTE * 3, 1).await;
    world.answer(&job, "PostgreSQL", "one").await;
    world.until_wakes(MINUTE * 3, 2).await;
    world.answer(&job, "17", "two").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(
        world.events(&job).await,
        [
            "question/question",
            "question/question",
            "completed/completed"
        ]
    );

    let flapping = world.submit("flap").await;
    world.pass(MINUTE * 15).await;
    assert_eq!(world.events(&flapping).await, ["question/question"]);
    world.finish().await;
}

#[tokio::test]
async fn a_session_that_was_deleted_ends_its_job_and_is_not_asked_for_again() {
    let stall = story(
        "stall",
        vec![progress(SECOND, "Working"), Step::Stall { after: SECOND }],
    );
    let world = World::on_green(scenario(vec![stall])).await;
    let job = world.submit("stall").await;
    world.pass(MINUTE).await;
    let session = world.session(&job).await.id;
    world.delete_upstream(&session).await;
    world.pass(MINUTE * 5).await;
    assert_eq!(world.state(&job).await, "lost");
    assert_eq!(world.events(&job).await, ["error/invalid_job"]);
    let asked = world.requests(Service::Jules, "GET", &session).len();
    world.pass(MINUTE * 30).await;
    assert_eq!(world.requests(Service::Jules, "GET", &session).len(), asked);
    assert_eq!(world.wake_names(), ["error/invalid_job"]);
    world.finish().await;
}

#[tokio::test]
async fn a_failure_ends_the_job_with_its_reason_and_a_retry_is_a_new_session() {
    let fail = Step::Fail {
        after: SECOND * 5,
        reason: "The machine ran out of disk.".to_owned(),
    };
    let world = World::on_green(scenario(vec![story(
        "fail",
        vec![progress(SECOND, "Working"), fail],
    )]))
    .await;
    let job = world.submit("fail").await;
    world.until_is(MINUTE * 3, &job, "failed").await;
    world.pass(MINUTE).await;
    assert_eq!(world.wake_names(), ["error/session_failed"]);
    assert_eq!(world.wakes()[0]["message"], "The machine ran out of disk.");
    let first = world.session(&job).await.id;

    let named = world.named(&job);
    let long = "x".repeat(domain::job::RETRY_REASON_CHARS_MAX + 1);
    let refused = world.backend.retry_job(&named, Some(&long)).await;
    refused.expect_err("a reason that is too long");
    let reason = Some("Use the large machine.");
    let retried = world.backend.retry_job(&named, reason).await;
    retried.expect("a retry");
    world.until_wakes(MINUTE * 3, 2).await;
    assert_eq!(world.sandbox.counters().creates, 2);
    let second = world.session(&job).await;
    assert_ne!(second.id, first);
    for told in [
        "The machine ran out of disk.",
        "Use the large machine.",
        "attempt 2",
    ] {
        assert!(second.prompt.contains(told), "{}", second.prompt);
    }
    let old = world.backend.find(&first).await.expect("the old session");
    assert_eq!(old.job, job);
    let refusal = world
        .backend
        .say(&old, "hello", "hello")
        .await
        .expect_err("an old session takes no orders");
    assert!(
        refusal.to_string().contains("no longer the current one"),
        "{refusal}"
    );
    world.finish().await;
}

#[tokio::test]
async fn outputs_that_vanish_are_remembered() {
    let mut steps = work();
    steps.push(Step::DropOutputs { after: SECOND * 30 });
    let world = World::of(scenario(vec![story("vanish", steps)]), people_merge()).await;
    let job = world.submit("vanish").await;
    world.pass(hour(2)).await;
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.approve_merge(&job).await;
    world.until_is(MINUTE * 5, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn outputs_that_never_show_are_made_up_for_by_webhooks() {
    let mut steps = work();
    steps.push(Step::DropOutputs {
        after: SignedDuration::ZERO,
    });
    let world = World::hearing(scenario(vec![story("vanish", steps)]), on_green(), true).await;
    let job = world.submit("vanish").await;
    world.until_is(MINUTE * 30, &job, "merged").await;
    world.finish().await;
}

#[tokio::test]
async fn a_finished_session_that_a_message_wakes_finishes_twice() {
    let world = World::of(Scenario::default(), people_merge()).await;
    let job = world.submit("Add a test").await;
    world.until_is(MINUTE * 5, &job, "in-review").await;
    world.pass(MINUTE * 5).await;
    let first = world.pull(1).head_sha;
    world.answer(&job, "Please rename it", "rename").await;
    world.pass(MINUTE * 10).await;
    assert_eq!(
        world.events(&job).await,
        ["completed/completed", "completed/completed"]
    );
    let second = world.pull(1).head_sha;
    assert_ne!(first, second);
    world.approve_merge(&job).await;
    world.until_is(MINUTE * 5, &job, "merged").await;
    assert_eq!(world.pull(1).merged_sha, Some(second));
    world.finish().await;
}

fn hanging() -> Scenario {
    scenario(vec![story(
        "hang",
        vec![
            progress(SECOND * 2, "Working"),
            open_pull(),
            Step::Hang { after: SECOND * 2 },
        ],
    )])
}

#[tokio::test]
async fn in_progress_for_ever_after_the_last_word_still_merges() {
    let world = World::on_green(hanging()).await;
    let job = world.submit("hang").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(world.session(&job).await.state, "IN_PROGRESS");
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn words_to_a_session_that_is_still_queued_arrive_once_it_works() {
    let mut slow = story(
        "queue",
        from_work(vec![
            progress(SECOND, "Working"),
            progress(MINUTE * 5, "Still working"),
        ]),
    );
    slow.queued_for = MINUTE * 6;
    let world = World::on_green(scenario(vec![slow])).await;
    let job = world.submit("queue").await;
    world.until_is(MINUTE, &job, "working").await;
    world.answer(&job, "Mind the tests", "hint").await;
    world.until_count(MINUTE * 20, |it| it.messages == 1).await;
    world.until_is(MINUTE * 30, &job, "merged").await;
    assert_eq!(world.session(&job).await.messages, ["Mind the tests"]);
    world.finish().await;
}

#[tokio::test]
async fn activities_count_as_progress() {
    let steps = from_work((0..10).map(|_| progress(MINUTE * 15, "Working")).collect());
    let world = World::on_green(scenario(vec![story("slow", steps)])).await;
    let job = world.submit("slow").await;
    world.until_is(hour(4), &job, "merged").await;
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn unknown_states_and_activities_are_kept_and_change_nothing() {
    let strange = |value: serde_json::Value| Step::Activity {
        after: SECOND * 5,
        activity: value.as_object().cloned().unwrap_or_default(),
    };
    let steps = from_work(vec![
        Step::State {
            after: SECOND * 5,
            state: "DREAMING".to_owned(),
        },
        strange(json!({ "dreamDreamt": { "sheep": 7 }, "originator": "android" })),
        strange(json!({})),
        strange(json!({ "progressUpdated": "not an object" })),
    ]);
    let world = World::on_green(scenario(vec![story("strange", steps)])).await;
    let job = world.submit("strange").await;
    world.until_is(MINUTE * 15, &job, "merged").await;
    assert_eq!(world.events(&job).await, ["completed/completed"]);
    world.finish().await;
}

#[tokio::test]
async fn heavy_lists_are_left_for_single_reads() {
    let switches = Switches {
        field_mask: FieldMask::Ignored,
        ..Switches::default()
    };
    let steps = from_work(vec![
        progress(SECOND, "Working"),
        progress(MINUTE * 18, "Still working"),
    ]);
    let heavy = Scenario {
        switches,
        patch_bytes: 300_000,
        stories: vec![story("slow", steps)],
        ..Scenario::default()
    };
    let world = World::on_green(heavy).await;
    // Two that are finished and heavy, two that go on.
    for _ in 0..2 {
        world.submit("Add a test").await;
    }
    let slow = [world.submit("slow").await, world.submit("slow").await];
    world.pass(MINUTE * 5).await;
    let listed = world.requests(Service::Jules, "GET", "/sessions?").len();
    world.pass(MINUTE * 8).await;
    let lists = world.requests(Service::Jules, "GET", "/sessions?").len() - listed;
    assert!(lists <= 1, "{lists} heavy lists in eight minutes");
    world.until_merged(MINUTE * 30, &slow).await;
    world.finish().await;
}

#[tokio::test]
async fn a_job_that_is_called_off_is_put_away_and_left_alone() {
    let world = World::on_green(Scenario::default()).await;
    let job = world.submit("Add a test").await;
    world.until_count(MINUTE, |it| it.creates == 1).await;
    world.cancel(&job).await;
    world.pass(hour(1)).await;
    assert_eq!(world.state(&job).await, "cancelled");
    let counters = world.sandbox.counters();
    assert_eq!(
        (
            counters.archives,
            counters.merges,
            counters.github_writes,
            counters.wakes_received
        ),
        (1, 0, 0, 0)
    );
    world.finish().await;
}
