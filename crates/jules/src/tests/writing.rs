//! The writing methods: what is sent, and which answers count as done.

use domain::failure::{CallEffect, FailureClass};
use domain::policy::Automation;
use domain::session::SessionState;
use engine::ports::{NewSession, SessionsWrite};
use serde_json::json;

use super::service::{ID, World, account, check, ok, refusal, session};

fn new_session() -> NewSession {
    NewSession {
        prompt: "Add unit tests for auth".to_owned(),
        title: "[gaffer main/01jd8r3w6k0000000000000000#1] Add auth tests".to_owned(),
        repo: "acme/shop".parse().unwrap(),
        branch: "main".parse().unwrap(),
        require_plan_approval: true,
        automation: Automation::AutoCreatePr,
    }
}

#[tokio::test]
async fn create_says_everything_and_reads_the_answer() {
    let world = World::start(|asked| {
        let mut answer = asked.json();
        answer["name"] = json!(format!("sessions/{ID}"));
        answer["id"] = json!(ID);
        answer["url"] = json!(format!("https://jules.google.com/session/{ID}"));
        ok(answer.to_string())
    })
    .await;
    let view = world.create(&new_session()).await.unwrap();
    assert_eq!(view.id.as_str(), ID);
    assert_eq!(view.state, SessionState::Unspecified);
    assert_eq!(view.repo, Some("acme/shop".parse().unwrap()));
    assert_eq!(view.branch, Some("main".parse().unwrap()));
    let asked = world.asked().remove(0);
    assert_eq!(
        (asked.method.as_str(), asked.path.as_str()),
        ("POST", "/jules/v1alpha/sessions")
    );
    assert_eq!(asked.header("content-type"), "application/json");
    assert_eq!(
        asked.json(),
        json!({
            "prompt": "Add unit tests for auth",
            "title": "[gaffer main/01jd8r3w6k0000000000000000#1] Add auth tests",
            "sourceContext": { "source": "sources/github/acme/shop", "githubRepoContext": { "startingBranch": "main" } },
            "requirePlanApproval": true,
            "automationMode": "AUTO_CREATE_PR",
        })
    );
}

#[tokio::test]
async fn a_session_can_be_told_to_open_no_pull_request() {
    let world = World::start(|_| ok(r#"{"name":"sessions/7"}"#)).await;
    let new = NewSession {
        automation: Automation::AutomationModeUnspecified,
        ..new_session()
    };
    world.create(&new).await.unwrap();
    let asked = world.asked().remove(0).json();
    assert_eq!(asked["automationMode"], "AUTOMATION_MODE_UNSPECIFIED");
}

#[tokio::test]
async fn create_fills_in_what_a_bare_answer_leaves_out() {
    let world = World::start(|_| ok(r#"{"name":"sessions/7"}"#)).await;
    let view = world.create(&new_session()).await.unwrap();
    assert_eq!(view.title, new_session().title);
    assert_eq!(view.repo, Some("acme/shop".parse().unwrap()));
}

#[tokio::test]
async fn a_creation_without_an_id_may_have_happened() {
    for body in ["", "{}", "<html>", r#"{"id":"#] {
        let world = World::start(move |_| ok(body)).await;
        let failure = world.create(&new_session()).await.unwrap_err();
        check(&failure, FailureClass::Garbled, CallEffect::Maybe);
        assert_eq!(world.asked().len(), 1);
    }
}

#[tokio::test]
async fn a_creation_that_failed_is_not_repeated() {
    for (code, class, happened) in [
        (503, FailureClass::Unavailable, CallEffect::Maybe),
        (429, FailureClass::Throttled, CallEffect::No),
    ] {
        let world = World::start(move |_| refusal(code, "X", "no")).await;
        let failure = world.create(&new_session()).await.unwrap_err();
        check(&failure, class, happened);
        assert_eq!(world.asked().len(), 1);
    }
}

#[tokio::test]
async fn every_method_has_its_address_and_body() {
    for body in ["", " \n", "{}", r#"{"name":"sessions/1","archived":true}"#] {
        let world = World::start(move |_| ok(body)).await;
        let writer = world.writer();
        writer
            .send(&account(), &session(), "Yes: \"do\" it")
            .await
            .unwrap();
        writer.approve(&account(), &session()).await.unwrap();
        writer.archive(&account(), &session()).await.unwrap();
        writer.unarchive(&account(), &session()).await.unwrap();
        writer.delete(&account(), &session()).await.unwrap();
        let asked = world.asked().into_iter();
        let asked: Vec<_> = asked
            .map(|asked| (asked.method, asked.path, asked.body))
            .collect();
        let post = |method: &str, body: &str| {
            (
                "POST".to_owned(),
                format!("/jules/v1alpha/sessions/{ID}:{method}"),
                body.to_owned(),
            )
        };
        assert_eq!(
            asked,
            [
                post("sendMessage", r#"{"prompt":"Yes: \"do\" it"}"#),
                post("approvePlan", "{}"),
                post("archive", "{}"),
                post("unarchive", "{}"),
                (
                    "DELETE".to_owned(),
                    format!("/jules/v1alpha/sessions/{ID}"),
                    String::new()
                ),
            ]
        );
    }
}

#[tokio::test]
async fn empty_texts_are_refused_before_anything_is_sent() {
    let world = World::start(|_| ok("{}")).await;
    for text in ["", "  ", "\n\t\u{a0}"] {
        let failure = world.send(text).await.unwrap_err();
        check(&failure, FailureClass::Invalid, CallEffect::No);
        let new = NewSession {
            prompt: text.to_owned(),
            ..new_session()
        };
        let failure = world.create(&new).await.unwrap_err();
        check(&failure, FailureClass::Invalid, CallEffect::No);
    }
    assert_eq!(world.asked().len(), 0);
}

#[tokio::test]
async fn deleting_what_is_gone_succeeds_and_other_refusals_do_not() {
    let world =
        World::start(|_| refusal(404, "NOT_FOUND", "Requested entity was not found.")).await;
    world.writer().delete(&account(), &session()).await.unwrap();
    let failure = world
        .writer()
        .archive(&account(), &session())
        .await
        .unwrap_err();
    check(&failure, FailureClass::NotFound, CallEffect::No);
    let world = World::start(|_| refusal(403, "PERMISSION_DENIED", "no")).await;
    let failure = world
        .writer()
        .delete(&account(), &session())
        .await
        .unwrap_err();
    check(&failure, FailureClass::Forbidden, CallEffect::No);
}
