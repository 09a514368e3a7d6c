//! How long the API waits, and what it says when it has.

use std::sync::Arc;
use std::time::Duration;

use api::ApiState;
use async_trait::async_trait;
use axum::body::Body;
use axum::http::Request;
use domain::effect::EffectState;
use domain::failure::{Failure, FailureClass};
use domain::ids::EventId;
use domain::job::{Announcement, Attention, Watch};
use domain::session::SessionState;
use engine::keys;
use engine::ports::{
    CommitError, Delivery, DueRow, Key, Page, PageToken, Queue, QueueError, Receipt, Record,
    Records, RecordsError, Write,
};
use engine::work::Work;
use jiff::{SignedDuration, Timestamp};
use local::{Database, LocalQueue};
use serde_json::json;
use tokio::time::Instant;

use crate::pages::{Browser, hidden, refused_with};
use crate::world::{SetClock, TOKEN, World, send};

#[tokio::test(start_paused = true)]
async fn without_a_dispatcher_an_order_is_noted_and_can_be_asked_for_again() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    world.messages().await;
    let began = Instant::now();
    let path = format!("/jobs/{id}/messages");
    let answer = world.post(&path, &json!({"message": "Go on."})).await;
    let later = answer.ok(202);
    assert!(began.elapsed() >= Duration::from_secs(10), "{began:?}");
    assert_eq!(later["effect"]["state"], "intent");
    assert_eq!(answer.header("location"), later["ask_again"]);
    assert_eq!(world.messages().await, [Work::Job { id: id.clone() }]);

    let effect = world.get(answer.header("location")).await.ok(200);
    assert_eq!(effect, later["effect"]);
    world.perform(&id, None).await;
    let effect = world.get(answer.header("location")).await.ok(200);
    assert_eq!(effect["state"], "done");
    assert_eq!(effect["next_look"], json!(null));
}

#[tokio::test(start_paused = true)]
async fn an_order_that_a_pause_holds_up_says_so() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let path = format!("/jobs/{id}/messages");
    let said = json!({"message": "Go on."});
    let later = world.post(&path, &said).await.ok(202);
    assert_eq!(later.get("reasons"), None);
    world.change_source(|source| source.paused = true).await;
    let later = world.post(&path, &said).await.ok(202);
    let paused = json!([{"code": "source_paused", "sentence": "Source acme/shop is paused."}]);
    assert_eq!(later["reasons"], paused);
    let job = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(job["waits_for"]["for"], "source_hold");
    world.job("acme/shop").await;
    let status = world.get("/status").await.ok(200);
    assert_eq!(status["waits_for"], json!({"person": 2}), "{status}");
}

#[tokio::test(start_paused = true)]
async fn an_answered_question_says_so_and_takes_the_same_answer_only_once() {
    let world = World::new().await;
    let id = world.watched(ask).await;
    let path = format!("/jobs/{id}/messages");
    let first = world.post(&path, &json!({"message": "Red."})).await;
    assert!(first.ok(202)["effect"].get("adds_to").is_none());
    let job = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(
        (
            &job["state"],
            &job["waiting"],
            &job["waits_for"]["sentence"]
        ),
        (
            &json!("answered"),
            &json!(null),
            &json!("Jules: answered, waiting for Jules to take it up"),
        )
    );
    let why = world.get(&format!("/jobs/{id}/why")).await.ok(200);
    assert_eq!(why["waits_for"], job["waits_for"]);
    let codes: Vec<_> = why["because"].as_array().unwrap().iter().collect();
    let has = |code: &str| codes.iter().any(|reason| reason["code"] == code);
    assert!(has("answered") && !has("persons_turn"), "{codes:?}");
    let again = world.post(&path, &json!({"message": " Red. "})).await;
    assert_eq!(again.code(409), "answered_already");
    let detail = again.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("\"Red.\""), "{detail}");
    let more = world.post(&path, &json!({"message": "Or blue."})).await;
    assert_eq!(more.ok(202)["effect"]["adds_to"], "2026-03-01T12:00:00Z");
}

#[tokio::test(start_paused = true)]
async fn the_same_answer_under_the_same_name_is_the_same_wish() {
    let world = World::new().await;
    let id = world.watched(ask).await;
    let path = format!("/jobs/{id}/messages");
    let body = json!({"message": "Red."});
    let first = world.post_named(&path, &body, "once").await.ok(202);
    let again = world.post_named(&path, &body, "once").await.ok(202);
    assert_eq!(first, again);
}

/// A question is open.
fn ask(watch: &mut Watch) {
    watch.state = SessionState::AwaitingUserFeedback;
    watch.attention = Attention::Question {
        event: EventId::from_name("q"),
        since: watch.since,
        text: Some("Which colour?".to_owned()),
    };
    watch.announced.question = Some(Announcement {
        key: "a1".to_owned(),
        event: EventId::from_name("q"),
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
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_on_the_page_of_its_delivery() {
    let world = World::new().await;
    let id = world.watched(ask).await;
    let path = format!("/dashboard/deliveries/{id}");
    let mut browser = Browser::signed_in(&world.router, TOKEN).await;
    let page = browser.get(&path).await;
    assert!(page.text.contains("Which colour?"), "{page:?}");
    let form = hidden(&page.text, "say");
    let answer = browser.post(&format!("{path}/say"), &form).await;
    refused_with(&answer, 422, "message_empty");
    let words = format!("{form}&text=Red.");
    let answer = browser.post(&format!("{path}/say"), &words).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let job = world.get(&format!("/jobs/{id}")).await.ok(200);
    assert_eq!(job["waits_for"]["for"], "answered");
    let page = browser.get(&path).await;
    assert!(!page.text.contains("act-say"), "it was answered");
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_a_setting() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let state = ApiState {
        answer_within: Duration::from_millis(1),
        ..ApiState::new(world.backend.clone(), vec![TOKEN.into()])
    };
    let request = Request::post(format!("/jobs/{id}:say"))
        .header("authorization", format!("Bearer {TOKEN}"))
        .body(Body::from(r#"{"message":"Go on."}"#))
        .unwrap();
    let began = Instant::now();
    assert_eq!(send(&api::router(state), request).await.status, 202);
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_failed_effect_is_a_conflict_that_tells_why_and_no_secret() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let failure = Failure::new(
        FailureClass::Conflict,
        "Jules said 400 to ghp_0123456789abcdefghijABCDEFGHIJ012345",
    );
    let path = format!("/jobs/{id}:say");
    let body = json!({"message": "Go on."});
    let post = world.post(&path, &body);
    let (answer, effect) = tokio::join!(post, world.perform(&id, Some(&failure)));
    assert_eq!(answer.code(409), "effect_failed");
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert_eq!(detail, "`say` failed: Jules said 400 to [secret]");
    let shown = world
        .get(&format!("/jobs/{id}/effects/{}", effect.id))
        .await;
    assert_eq!(shown.ok(200)["failure"], "Jules said 400 to [secret]");
}

#[tokio::test(start_paused = true)]
async fn an_effect_of_unknown_outcome_is_for_later_at_once() {
    let world = World::new().await;
    let id = world.watched(|_| {}).await;
    let pk = keys::job_pk(&id);
    let unknown = async {
        let mut again = tokio::time::interval(Duration::from_millis(10));
        loop {
            again.tick().await;
            if let Some(found) = world.backend.store.effects(&pk).await.unwrap().pop() {
                let state = EffectState::Unknown {
                    attempt: 1,
                    look_at: "2026-03-01T12:01:00Z".parse().unwrap(),
                    negatives: 0,
                };
                let effect = domain::effect::Effect {
                    state,
                    ..found.value
                };
                return world.put(keys::effect(&pk, &effect.id), &effect).await;
            }
        }
    };
    let began = Instant::now();
    let path = format!("/jobs/{id}:say");
    let body = json!({"message": "Go on."});
    let (answer, ()) = tokio::join!(world.post(&path, &body), unknown);
    let later = answer.ok(202);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(later["effect"]["state"], "unknown");
    assert!(later["sentence"].as_str().unwrap().contains("12:01:00"));
}

/// A store or queue that lets nothing through, with error texts that must not leave the process.
struct Broken;

const INSIDE: &str = "disk /var/inside is full";

fn broken() -> RecordsError {
    RecordsError::Unavailable {
        doing: "reading".to_owned(),
        message: INSIDE.to_owned(),
    }
}

#[async_trait]
impl Records for Broken {
    async fn get(&self, _: &Key) -> Result<Option<Record>, RecordsError> {
        Err(broken())
    }
    async fn query(
        &self,
        _: &str,
        _: &str,
        _: Option<PageToken>,
        _: usize,
    ) -> Result<Page, RecordsError> {
        Err(broken())
    }
    async fn list(
        &self,
        _: &str,
        _: bool,
        _: Option<PageToken>,
        _: usize,
    ) -> Result<Page, RecordsError> {
        Err(broken())
    }
    async fn due(&self, _: Timestamp, _: usize) -> Result<Vec<DueRow>, RecordsError> {
        Err(broken())
    }
    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        Err(broken())
    }
    async fn commit(&self, _: Vec<Write>) -> Result<(), CommitError> {
        Err(CommitError::Unavailable(INSIDE.to_owned()))
    }
}

fn no_queue() -> QueueError {
    QueueError {
        doing: "sending".to_owned(),
        message: INSIDE.to_owned(),
    }
}

#[async_trait]
impl Queue for Broken {
    async fn send(&self, _: &str, _: SignedDuration) -> Result<(), QueueError> {
        Err(no_queue())
    }
    async fn receive(&self, _: usize, _: SignedDuration) -> Result<Vec<Delivery>, QueueError> {
        Err(no_queue())
    }
    async fn acknowledge(&self, _: &Receipt) -> Result<(), QueueError> {
        Err(no_queue())
    }
    async fn release(&self, _: &Receipt, _: SignedDuration) -> Result<(), QueueError> {
        Err(no_queue())
    }
    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        Err(no_queue())
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_used_is_503_and_tells_nothing_of_itself() {
    let whole = World::new().await;
    let backend = engine::backend::Backend::new(
        Arc::new(Broken),
        whole.queue.clone(),
        whole.clock.clone(),
        whole.backend.ids.clone(),
        "gtest".parse().unwrap(),
    );
    let router = api::router(ApiState::new(backend, vec![TOKEN.into()]));
    let id = "01j00000000000000000000000";
    for (method, path, body) in [
        ("GET", "/jobs".to_owned(), ""),
        (
            "POST",
            "/jobs".to_owned(),
            r#"{"repo":"acme/shop","prompt":"x"}"#,
        ),
        ("GET", format!("/jobs/{id}"), ""),
        ("POST", format!("/jobs/{id}:say"), r#"{"message":"x"}"#),
        ("POST", format!("/jobs/{id}:merge"), ""),
        ("GET", "/status".to_owned(), ""),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(&path)
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Body::from(body))
            .unwrap();
        let answer = send(&router, request).await;
        assert_eq!(answer.code(503), "unavailable", "{path}");
        assert_eq!(answer.header("retry-after"), "5");
        assert!(!answer.text.contains("inside"), "{answer:?}");
    }
}

#[tokio::test]
async fn without_a_queue_orders_are_taken_and_only_the_status_is_missing() {
    let database = Database::in_memory().unwrap();
    let clock = SetClock::at("2026-03-01T12:00:00Z");
    let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
    let records = Arc::new(local::Store::new(&database));
    let world = World::over(records, Arc::new(Broken), (clock, queue)).await;
    let order = json!({"repo": "acme/shop", "prompt": "x"});
    world.post("/jobs", &order).await.ok(201);
    let status = world.get("/status").await;
    assert_eq!(status.code(503), "unavailable");
    assert!(!status.text.contains("inside"), "{status:?}");
}
