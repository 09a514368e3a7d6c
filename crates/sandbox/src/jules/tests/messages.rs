//! What a message does in each posture of a session.

use jiff::SignedDuration;
use serde_json::json;

use crate::jules::MessageEffect;
use crate::tests::stand::{Stand, body, steps};
use crate::{DEFAULT_REPO, Scenario};

#[tokio::test]
async fn a_queued_session_answers_404_to_messages() {
    let stand = Stand::playing(steps(json!([{ "stall": {} }]))).await;
    let id = stand.create().await;
    assert_eq!(stand.say(&id, "hello").await.refusal().1, "NOT_FOUND");
    assert_eq!(stand.sandbox.counters().messages, 0);
    assert_eq!(stand.sandbox.counters().message_calls, 1);
    stand.pass(1_000);
    assert_eq!(stand.say(&id, "hello").await.status, 200);
    assert_eq!(stand.sandbox.counters().messages, 1);
}

#[tokio::test]
async fn a_blank_message_is_taken_and_moves_nothing() {
    let stand = Stand::playing(steps(
        json!([{ "ask": { "text": "Which?" } }, { "complete": {} }]),
    ))
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.say(&id, "").await.status, 200);
    let sent = stand
        .post(&format!("/sessions/{id}:sendMessage"), &json!({}))
        .await;
    assert_eq!(sent.status, 200);
    stand.pass(600_000);
    assert_eq!(stand.state(&id).await, "AWAITING_USER_FEEDBACK");
    let blank = stand.activities(&id).await.pop().unwrap();
    assert_eq!(blank["userMessaged"], json!({}));
    assert_eq!(
        stand.sandbox.jules().session(&id).unwrap().messages,
        ["", ""]
    );
}

#[tokio::test]
async fn an_answer_lets_the_story_go_on() {
    let stand = Stand::playing(steps(json!([
        { "ask": { "text": "Which?" } },
        { "complete": { "after": "3s" } },
    ])))
    .await;
    let id = stand.create().await;
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "AWAITING_USER_FEEDBACK");
    stand.pass(600_000);
    assert_eq!(stand.state(&id).await, "AWAITING_USER_FEEDBACK");
    stand.say(&id, "The first").await;
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    stand.pass(3_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
    assert_eq!(
        stand.kinds(&id).await,
        ["-", "agentMessaged", "userMessaged", "sessionCompleted"]
    );
}

#[tokio::test]
async fn a_stalled_session_stirs_only_after_a_message() {
    let stand = Stand::playing(steps(
        json!([{ "progress": {} }, { "stall": {} }, { "complete": {} }]),
    ))
    .await;
    let id = stand.create().await;
    stand.pass(3_600_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    stand.say(&id, "go on").await;
    stand.pass(1);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn a_message_wakes_a_completed_session_after_a_while() {
    let stand = Stand::new(Scenario::default()).await;
    let id = stand.create().await;
    stand.pass(10_000);
    let head = |stand: &Stand| stand.pull().head_sha;
    let before = head(&stand);
    stand.switch(|it| it.wake_after = SignedDuration::from_secs(95));
    stand.say(&id, "rename it").await;
    stand.pass(94_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    assert_eq!(head(&stand), before);
    stand.pass(10_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
    assert_ne!(head(&stand), before);
    let kinds = stand.kinds(&id).await;
    assert_eq!(
        kinds.iter().filter(|it| *it == "sessionCompleted").count(),
        2
    );
    assert_eq!(stand.sandbox.github().pulls(DEFAULT_REPO), [1]);
}

#[tokio::test]
async fn a_message_to_a_failed_or_paused_session_does_what_the_switch_says() {
    for (step, state) in [("fail", "FAILED"), ("pause", "PAUSED")] {
        for (effect, status, after) in [
            (MessageEffect::Ignored, 200, state),
            (MessageEffect::Refused, 400, state),
            (MessageEffect::Resumes, 200, "IN_PROGRESS"),
        ] {
            let stand = Stand::playing(steps(json!([{ step: {} }]))).await;
            stand.switch(|it| match step {
                "fail" => it.message_to_failed = effect,
                _ => it.message_to_paused = effect,
            });
            let id = stand.create().await;
            stand.pass(1_000);
            assert_eq!(stand.state(&id).await, state);
            let reply = stand.say(&id, "go on").await;
            assert_eq!(reply.status, status, "{step} {effect:?}");
            assert_eq!(stand.state(&id).await, after, "{step} {effect:?}");
            let written = stand.sandbox.jules().session(&id).unwrap().messages.len();
            assert_eq!(written, usize::from(status == 200));
            assert_eq!(stand.sandbox.counters().messages, u64::from(status == 200));
        }
    }
}

#[tokio::test]
async fn a_message_to_a_waiting_plan_makes_a_new_plan() {
    let stand = Stand::playing(steps(json!([{ "plan": {} }, { "complete": {} }]))).await;
    let mut ask = body();
    ask["requirePlanApproval"] = json!(true);
    let id = stand.post("/sessions", &ask).await.id();
    stand.pass(1_000);
    stand.say(&id, "rather in Rust").await;
    assert_eq!(stand.state(&id).await, "PLANNING");
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "AWAITING_PLAN_APPROVAL");
    let kinds = stand.kinds(&id).await;
    assert_eq!(
        kinds,
        ["-", "planGenerated", "userMessaged", "planGenerated"]
    );
    stand.approve(&id).await;
    let all = stand.activities(&id).await;
    assert_eq!(
        all[4]["planApproved"]["planId"],
        all[3]["planGenerated"]["plan"]["id"]
    );
}

#[tokio::test]
async fn a_message_while_it_works_is_only_written_down() {
    let stand = Stand::playing(steps(
        json!([{ "progress": {} }, { "complete": { "after": "9s" } }]),
    ))
    .await;
    let id = stand.create().await;
    stand.pass(2_000);
    stand.say(&id, "hurry").await;
    stand.pass(7_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    stand.pass(1_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn prompts_and_messages_may_be_limited() {
    let stand = Stand::playing(steps(json!([{ "stall": {} }]))).await;
    let id = stand.create().await;
    stand.pass(1_000);
    stand.switch(|it| {
        it.message_limit = Some(5);
        it.prompt_limit = Some(5);
    });
    assert_eq!(stand.say(&id, "12345").await.status, 200);
    assert_eq!(
        stand.say(&id, "123456").await.refusal().1,
        "INVALID_ARGUMENT"
    );
    assert_eq!(
        stand
            .post("/sessions", &json!({ "prompt": "12345" }))
            .await
            .status,
        200
    );
    assert_eq!(
        stand
            .post("/sessions", &json!({ "prompt": "123456" }))
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn a_story_that_ran_out_goes_on_after_a_message() {
    let stand = Stand::playing(steps(json!([{ "progress": {} }]))).await;
    let id = stand.create().await;
    stand.pass(600_000);
    assert_eq!(stand.state(&id).await, "IN_PROGRESS");
    stand.say(&id, "finish it").await;
    stand.pass(5_000);
    assert_eq!(stand.state(&id).await, "COMPLETED");
}

#[tokio::test]
async fn waking_forgets_what_was_left_of_the_story() {
    let script = json!([{ "complete": {} }, { "fail": { "after": "10s" } }]);
    let stand = Stand::playing(steps(script)).await;
    stand.switch(|it| it.wake_after = SignedDuration::from_secs(60));
    let id = stand.create().await;
    stand.pass(1_000);
    stand.say(&id, "rename it").await;
    stand.pass(120_000);
    let kinds = stand.kinds(&id).await;
    assert!(!kinds.contains(&"sessionFailed".to_owned()), "{kinds:?}");
    assert_eq!(
        kinds.iter().filter(|it| *it == "sessionCompleted").count(),
        2
    );
}

#[tokio::test]
async fn a_plan_that_jules_approves_by_itself_is_not_made_anew() {
    let stand = Stand::playing(steps(json!([{ "plan": {} }, { "complete": {} }]))).await;
    let id = stand.create().await;
    stand.pass(1_500);
    stand.say(&id, "rather in Rust").await;
    stand.pass(60_000);
    let kinds = stand.kinds(&id).await;
    assert_eq!(
        kinds,
        [
            "-",
            "planGenerated",
            "userMessaged",
            "planApproved",
            "sessionCompleted"
        ]
    );
}
