//! Registering jobs, notes about them, and reads from Jules while the caller waits.

use domain::conversation::{ConversationCursor, Message, Role};
use domain::session::SessionState;
use engine::keys;
use engine::ports::Clock;
use engine::readings::{ReadMessages, SessionCheck};
use engine::work::Work;
use serde_json::json;

use crate::world::{SESSION, World};

const LEAKED: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

#[tokio::test]
async fn registering_twice_is_one_job_with_its_notes_merged() {
    let world = World::new().await;
    let id = world.watched(|_| ()).await;
    let path = format!("/jobs/{id}:register");
    let first = json!({"metadata": {"task": "login", "tries": 1}});
    let told = world.post(&path, &first).await.ok(200);
    let kept = json!({"registered": true, "job_id": id.to_string(), "metadata": {"task": "login", "tries": 1}});
    assert_eq!(told, kept);
    let second = json!({"metadata": {"tries": 2, "task": null}});
    let by_session = format!("/jobs/{SESSION}/register");
    let told = world.post(&by_session, &second).await.ok(200);
    assert_eq!(told["metadata"], json!({"tries": 2}));
    let shown = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(shown["metadata"], json!({"tries": 2}));
    let all = world.get("/jobs").await.ok(200);
    assert_eq!(all["jobs"].as_array().unwrap().len(), 1);
    // Nothing to note is no change.
    assert_eq!(
        world.post(&path, &json!({})).await.ok(200)["metadata"],
        told["metadata"]
    );
}

#[tokio::test]
async fn what_cannot_be_noted_is_refused_and_changes_nothing() {
    let world = World::new().await;
    let id = world.watched(|_| ()).await;
    let path = format!("/jobs/{id}:register");
    world
        .post(&path, &json!({"metadata": {"task": "login"}}))
        .await
        .ok(200);
    for (metadata, code) in [
        (json!({"key": LEAKED}), "secret"),
        (json!({"text": "a\u{202e}b"}), "bad_field"),
        (json!({"": 1}), "bad_field"),
        (json!({"text": "x".repeat(9_000)}), "too_large"),
        (json!(["task"]), "bad_field"),
    ] {
        let answer = world.post(&path, &json!({ "metadata": metadata })).await;
        assert_eq!(answer.code(422), code);
        assert_eq!(answer.json()["field"], "metadata", "{answer:?}");
        assert!(!answer.text.contains(LEAKED));
    }
    let shown = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(shown["metadata"], json!({"task": "login"}));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_watches_is_adopted_if_it_is_said_where() {
    let world = World::new().await;
    world.messages().await;
    let answer = world.post("/jobs/4711:register", &json!({})).await;
    assert_eq!(answer.code(404), "no_such_job");
    assert_eq!(answer.json()["field"], "job_id");
    let unknown = world
        .post("/jobs/4711:register", &json!({"repo": "acme/unknown"}))
        .await;
    assert_eq!(unknown.code(422), "unknown_name");
    assert!(world.messages().await.is_empty());
    let later = world
        .post("/jobs/4711:register", &json!({"repo": "acme/shop"}))
        .await;
    assert_eq!(later.ok(202)["ask_again"], "/jobs/4711:register");
    let wished = world.messages().await;
    assert!(matches!(wished[..], [Work::Adopt { .. }]), "{wished:?}");
}

#[tokio::test]
async fn messages_are_shown_from_a_cursor_with_the_question_marked() {
    let world = World::new().await;
    let id = world
        .watched(|watch| {
            watch.state = SessionState::AwaitingUserFeedback;
            watch.announced.question = Some(domain::job::Announcement {
                key: "a2".to_owned(),
                event: domain::ids::EventId::from_name("q"),
                at: watch.since,
                without_text: false,
                shown: true,
                after: None,
                through: None,
                to: None,
                later: Vec::new(),
                turn: None,
                suppressed: false,
                sent: Vec::new(),
            });
        })
        .await;
    let message = |id: &str, role, text: &str| Message {
        id: id.parse().unwrap(),
        role,
        at: world.clock.now(),
        text: text.to_owned(),
    };
    let read = ReadMessages {
        read_at: world.clock.now(),
        session: Some(SESSION.parse().unwrap()),
        messages: vec![
            message("a1", Role::User, "Tidy the shop."),
            message("a2", Role::Assistant, &format!("May I use {LEAKED}?")),
        ],
        next: "m1.1.2.a2".to_owned(),
        more: false,
        failure: None,
    };
    let key = keys::messages(&id, &ConversationCursor::default().digest());
    world.put(key.clone(), &read).await;
    let path = format!("/jobs/{id}/messages");
    let shown = world.get(&path).await.ok(200);
    let now = "2026-03-01T12:00:00Z";
    let lines = json!([
        {"role": "user", "content": "Tidy the shop.", "created_at": now, "tags": []},
        {"role": "assistant", "content": "May I use [secret]?", "created_at": now, "tags": ["question"]},
    ]);
    assert_eq!(
        (&shown["messages"], &shown["next_cursor"]),
        (&lines, &json!("m1.1.2.a2"))
    );
    assert_eq!(world.get(&format!("{path}?cursor=")).await.ok(200), shown);
    let failed = ReadMessages {
        failure: Some("503".to_owned()),
        ..read
    };
    world.put(key, &failed).await;
    assert_eq!(world.get(&path).await.code(502), "jules_unread");
    for bad in [
        "cursor=x",
        "cursor=m1&cursor=m1",
        "curser=m1",
        "cursor=m1.1",
    ] {
        let answer = world.get(&format!("{path}?{bad}")).await;
        assert_eq!(answer.code(400), "bad_parameter", "{bad}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_has_read_in_time_is_for_later() {
    let world = World::new().await;
    let id = world.watched(|_| ()).await;
    world.messages().await;
    let later = world.get(&format!("/jobs/{id}/messages?cursor=m1")).await;
    let path = format!("/jobs/{id}/messages?cursor=m1");
    assert_eq!(later.ok(202)["ask_again"], path);
    let after = "m1".to_owned();
    assert_eq!(
        world.messages().await,
        [Work::Messages {
            id: id.clone(),
            after
        }]
    );
    let later = world.get(&format!("/jobs/{id}?fresh=1")).await;
    assert_eq!(later.ok(202)["ask_again"], format!("/jobs/{id}?fresh=1"));
    let look = Work::Look {
        id: id.clone(),
        pushed_at: None,
    };
    assert_eq!(world.messages().await, [look]);
    let looked = |failure: Option<&str>| SessionCheck {
        read_at: world.clock.now(),
        failure: failure.map(str::to_owned),
    };
    world.put(keys::session_check(&id), &looked(None)).await;
    let shown = world.get(&format!("/jobs/{id}?fresh=true")).await.ok(200);
    assert_eq!(shown["job_id"], id.to_string());
    world
        .put(keys::session_check(&id), &looked(Some("503")))
        .await;
    let failed = world.get(&format!("/jobs/{id}?fresh=1")).await;
    assert_eq!(failed.code(502), "jules_unread");
    assert_eq!(
        world.get(&format!("/jobs/{id}?fresh=0")).await.ok(200)["state"],
        "working"
    );
    let bad = world.get(&format!("/jobs/{id}?fresh=maybe")).await;
    assert_eq!(bad.code(400), "bad_parameter");
}
