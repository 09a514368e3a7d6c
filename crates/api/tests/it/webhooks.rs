//! The webhook endpoint: what is believed goes to the queue, and nothing else does anything.

mod forged;
mod rotation;

use std::sync::{Arc, Mutex};

use api::{SECRET_KEPT, SECRET_READ_AGAIN, WEBHOOK_BODY_BYTES_MAX, WebhookApi, WebhookCounters};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use client::wire::WebhookCounts;
use domain::ids::RepoId;
use domain::pull::DeliveryHint;
use engine::ports::{
    Clock, Delivery, Queue, QueueError, Receipt, SecretName, Secrets, SecretsError,
};
use engine::work::{IssueWebhook, WebhookEvent, Work};
use hmac::{Hmac, KeyInit, Mac};
use jiff::SignedDuration;
use local::{Database, LocalQueue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::world::{Answer, SHA, SetClock, send};

/// Secrets that remember what was asked of them.
#[derive(Default)]
struct Told {
    webhook: Mutex<Option<Result<String, SecretsError>>>,
    asked: Mutex<Vec<SecretName>>,
}

impl Told {
    fn set(&self, secret: Option<Result<&str, SecretsError>>) {
        *self.webhook.lock().unwrap() = secret.map(|it| it.map(str::to_owned));
    }

    fn reads(&self) -> usize {
        let asked = self.asked.lock().unwrap();
        assert!(asked.iter().all(|name| *name == SecretName::Webhook));
        asked.len()
    }
}

#[async_trait]
impl Secrets for Told {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        self.asked.lock().unwrap().push(name.clone());
        // A store takes its time, and others come in meanwhile.
        tokio::task::yield_now().await;
        match self.webhook.lock().unwrap().clone() {
            Some(secret) => secret.map(SecretString::from),
            None => Err(SecretsError::Missing(name.path())),
        }
    }

    async fn write(&self, _: &SecretName, value: &SecretString) -> Result<(), SecretsError> {
        panic!(
            "a webhook wrote a secret of {} bytes",
            value.expose_secret().len()
        );
    }

    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        panic!("a webhook removed {name:?}");
    }
}

/// The status of an answer: what is taken says nothing, and what is refused is a problem document.
fn described(answer: &Answer) -> u16 {
    let status = answer.status.as_u16();
    if status == 202 {
        assert_eq!(answer.text, "", "{answer:?}");
    } else {
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(answer.json()["status"], status, "{answer:?}");
    }
    status
}

struct Hook {
    clock: Arc<SetClock>,
    queue: Arc<LocalQueue>,
    secrets: Arc<Told>,
    counters: Arc<WebhookCounters>,
    router: Router,
}

impl Hook {
    fn new(secret: &str) -> Self {
        let database = Database::in_memory().unwrap();
        let clock = SetClock::at("2026-03-01T12:00:00Z");
        let queue = Arc::new(LocalQueue::new(&database, "work", clock.clone()));
        Self::over(queue.clone(), (clock, queue), secret)
    }

    fn over(
        behind: Arc<dyn Queue>,
        (clock, queue): (Arc<SetClock>, Arc<LocalQueue>),
        secret: &str,
    ) -> Self {
        let secrets = Arc::<Told>::default();
        secrets.set(Some(Ok(secret)));
        let counters = Arc::<WebhookCounters>::default();
        let router = api::webhook_router(WebhookApi {
            queue: behind,
            clock: clock.clone(),
            secrets: secrets.clone(),
            counters: counters.clone(),
        });
        Self {
            clock,
            queue,
            secrets,
            counters,
            router,
        }
    }

    async fn deliver(&self, body: &[u8], signature: &str) -> Answer {
        let request = Request::post("/github/webhook")
            .header("x-hub-signature-256", signature)
            // Not signed, so it must not matter.
            .header("x-github-event", "ping")
            .body(Body::from(body.to_vec()))
            .unwrap();
        send(&self.router, request).await
    }

    async fn signed(&self, body: &Value, secret: &str) -> u16 {
        let body = body.to_string();
        let signature = sign(secret, body.as_bytes());
        let answer = self.deliver(body.as_bytes(), &signature).await;
        described(&answer)
    }

    async fn queued(&self) -> Vec<Work> {
        let got = self.queue.receive(100, SignedDuration::from_hours(1)).await;
        let got = got.unwrap();
        got.iter()
            .map(|it| serde_json::from_str(&it.body).unwrap())
            .collect()
    }

    fn counts(&self) -> (u64, u64, u64) {
        let WebhookCounts {
            accepted,
            ignored,
            refused,
        } = self.counters.counts();
        (accepted, ignored, refused)
    }
}

fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

fn pull_request() -> Value {
    json!({
        "action": "opened",
        "repository": {"id": 1, "full_name": "acme/shop"},
        "pull_request": {"number": 7, "head": {"sha": SHA}},
    })
}

fn status() -> Value {
    json!({
        "repository": {"id": 1, "full_name": "acme/shop"},
        "sha": SHA, "state": "success", "context": "ci",
    })
}

#[tokio::test]
async fn what_is_signed_and_followed_goes_to_the_queue() {
    let hook = Hook::new("right");
    assert_eq!(hook.signed(&pull_request(), "right").await, 202);
    assert_eq!(hook.signed(&status(), "right").await, 202);
    let received_at = hook.clock.now();
    assert_eq!(
        hook.queued().await,
        [
            Work::Webhook(WebhookEvent {
                repo: "acme/shop".parse().unwrap(),
                repo_id: RepoId(1),
                number: Some(7),
                sha: Some(SHA.parse().unwrap()),
                received_at,
                news: DeliveryHint::Changed,
            }),
            Work::Webhook(WebhookEvent {
                repo: "acme/shop".parse().unwrap(),
                repo_id: RepoId(1),
                number: None,
                sha: Some(SHA.parse().unwrap()),
                received_at,
                news: DeliveryHint::CheckEnded,
            }),
        ]
    );
    assert_eq!(hook.counts(), (2, 0, 0));
}

#[tokio::test]
async fn what_names_its_repository_without_a_number_is_looked_at_by_its_name() {
    let hook = Hook::new("right");
    for mut payload in [pull_request(), status()] {
        payload["repository"] = json!({"full_name": "acme/shop"});
        assert_eq!(hook.signed(&payload, "right").await, 202);
    }
    let received_at = hook.clock.now();
    assert_eq!(
        hook.queued().await,
        [
            Work::Pull {
                pull: "acme/shop#7".parse().unwrap(),
                job: None,
                received_at: Some(received_at),
            },
            Work::Commit {
                repo: "acme/shop".parse().unwrap(),
                sha: SHA.parse().unwrap(),
                received_at,
            },
        ]
    );
}

#[tokio::test]
async fn issues_and_their_comments_are_looked_at_and_those_of_pull_requests_are_not() {
    let hook = Hook::new("right");
    let about = |issue: Value, comment: Option<Value>| {
        let mut payload =
            json!({"repository": {"full_name": "acme/shop", "id": 5}, "issue": issue});
        if let (Some(fields), Some(comment)) = (payload.as_object_mut(), comment) {
            fields.insert("comment".to_owned(), comment);
        }
        payload
    };
    let said = || Some(json!({"id": 9, "body": "hello"}));
    let pull = json!({"number": 7, "pull_request": {"url": "https://api.github.com/repos/acme/shop/pulls/7"}});
    for payload in [
        about(json!({"number": 3}), None),
        about(json!({"number": 4, "pull_request": null}), said()),
        about(pull.clone(), said()),
        about(pull, None),
        about(json!({"number": 0}), None),
    ] {
        assert_eq!(hook.signed(&payload, "right").await, 202);
    }
    let nameless = json!({"repository": {"full_name": "acme/shop"}, "issue": {"number": 3}});
    assert_eq!(hook.signed(&nameless, "right").await, 202);
    let received_at = hook.clock.now();
    let intake = |number, repo_id: Option<u64>| Work::Intake {
        repo: "acme/shop".parse().unwrap(),
        number: Some(number),
        webhook: repo_id.map(|id| IssueWebhook {
            repo_id: RepoId(id),
            received_at,
        }),
    };
    assert_eq!(
        hook.queued().await,
        [intake(3, Some(5)), intake(4, Some(5)), intake(3, None)]
    );
    assert_eq!(hook.counts(), (3, 3, 0));
}

#[tokio::test]
async fn what_is_signed_and_not_followed_is_well_received_and_leaves_nothing() {
    let hook = Hook::new("right");
    let star =
        json!({"repository": {"full_name": "acme/shop"}, "action": "created", "starred_at": "x"});
    for payload in [star, json!({"zen": "Keep it logically awesome."})] {
        assert_eq!(hook.signed(&payload, "right").await, 202);
    }
    assert_eq!(hook.queued().await, []);
    assert_eq!(hook.counts(), (0, 2, 0));
}

#[tokio::test]
async fn what_is_not_signed_rightly_leaves_nothing_but_a_counter() {
    let hook = Hook::new("right");
    let body = pull_request().to_string();
    let good = sign("right", body.as_bytes());
    let spaced = format!("{body} ");
    let upper = format!("SHA256={}", &good["sha256=".len()..]);
    for (sent, signature) in [
        (body.as_str(), sign("wrong", body.as_bytes()).as_str()),
        (spaced.as_str(), good.as_str()),
        (body.as_str(), ""),
        (body.as_str(), "sha256="),
        (body.as_str(), upper.as_str()),
        (body.as_str(), &good["sha256=".len()..]),
        ("not even json", good.as_str()),
    ] {
        let answer = hook.deliver(sent.as_bytes(), signature).await;
        assert_eq!(answer.code(401), "bad_signature", "{signature}");
    }
    let bare = Request::post("/github/webhook").body(Body::from(body.clone()));
    let answer = send(&hook.router, bare.unwrap()).await;
    assert_eq!(answer.code(401), "bad_signature");
    assert_eq!(answer.json()["field"], "x-hub-signature-256");
    assert!(!answer.headers.contains_key("www-authenticate"));
    let doubled = Request::post("/github/webhook")
        .header("x-hub-signature-256", &good)
        .header("x-hub-signature-256", sign("wrong", body.as_bytes()))
        .body(Body::from(body))
        .unwrap();
    assert_eq!(send(&hook.router, doubled).await.status, 401);
    assert_eq!(hook.queued().await, []);
    assert_eq!(hook.counts(), (0, 0, 9));
}

#[tokio::test]
async fn without_a_secret_nothing_is_believed() {
    let hook = Hook::new("right");
    for secret in [None, Some(Ok("")), Some(Ok(" , "))] {
        hook.secrets.set(secret);
        hook.clock.advance(SECRET_KEPT);
        assert_eq!(hook.signed(&pull_request(), "right").await, 401);
        assert_eq!(hook.signed(&pull_request(), "").await, 401);
    }
    assert_eq!(hook.queued().await, []);
}

#[tokio::test]
async fn a_secret_that_is_replaced_is_learned_from_the_first_mismatch() {
    let hook = Hook::new("old");
    assert_eq!(hook.signed(&pull_request(), "old").await, 202);
    hook.secrets.set(Some(Ok("new,old")));
    // Too soon after the last read: losing one delivery is better than a read for every wrong signature.
    assert_eq!(hook.signed(&pull_request(), "new").await, 401);
    hook.clock.advance(SECRET_READ_AGAIN);
    assert_eq!(hook.signed(&pull_request(), "new").await, 202);
    assert_eq!(hook.signed(&pull_request(), "old").await, 202);
    hook.secrets.set(Some(Ok("new")));
    hook.clock.advance(SECRET_KEPT);
    assert_eq!(hook.signed(&pull_request(), "old").await, 401);
    assert_eq!(hook.signed(&pull_request(), "new").await, 202);
}

#[tokio::test]
async fn the_secret_is_read_seldom_and_no_other_ever() {
    let hook = Hook::new("right");
    for _ in 0..20 {
        hook.signed(&pull_request(), "right").await;
        hook.signed(&pull_request(), "wrong").await;
    }
    assert_eq!(hook.secrets.reads(), 1);
    hook.clock.advance(SECRET_READ_AGAIN);
    hook.signed(&pull_request(), "right").await;
    assert_eq!(hook.secrets.reads(), 1);
    for _ in 0..20 {
        hook.signed(&pull_request(), "wrong").await;
    }
    assert_eq!(hook.secrets.reads(), 2);
    hook.clock.advance(SECRET_KEPT);
    hook.signed(&pull_request(), "right").await;
    assert_eq!(hook.secrets.reads(), 3);
}

#[tokio::test]
async fn a_store_of_secrets_that_fails_takes_no_secret_away() {
    let hook = Hook::new("right");
    assert_eq!(hook.signed(&pull_request(), "right").await, 202);
    hook.secrets.set(Some(Err(SecretsError::Unusable {
        name: "webhook".to_owned(),
        message: "it is away".to_owned(),
    })));
    hook.clock.advance(SECRET_KEPT);
    assert_eq!(hook.signed(&pull_request(), "right").await, 202);
    assert_eq!(hook.signed(&pull_request(), "wrong").await, 401);
}

#[tokio::test]
async fn a_body_beyond_githubs_limit_is_refused() {
    let hook = Hook::new("right");
    let body = vec![b' '; WEBHOOK_BODY_BYTES_MAX + 1];
    let answer = hook.deliver(&body, &sign("right", &body)).await;
    assert_eq!(answer.status, 413);
    let whole = &body[..WEBHOOK_BODY_BYTES_MAX];
    let answer = hook.deliver(whole, &sign("right", whole)).await;
    assert_eq!(answer.status, 422);
    assert_eq!(hook.counts(), (0, 0, 2));
}

/// A queue that takes nothing.
struct Full;

fn full() -> QueueError {
    QueueError {
        doing: "sending".to_owned(),
        message: "it is full".to_owned(),
    }
}

#[async_trait]
impl Queue for Full {
    async fn send(&self, _: &str, _: SignedDuration) -> Result<(), QueueError> {
        Err(full())
    }
    async fn receive(&self, _: usize, _: SignedDuration) -> Result<Vec<Delivery>, QueueError> {
        panic!("a webhook received a message");
    }
    async fn acknowledge(&self, _: &Receipt) -> Result<(), QueueError> {
        panic!("a webhook acknowledged a message");
    }
    async fn release(&self, _: &Receipt, _: SignedDuration) -> Result<(), QueueError> {
        panic!("a webhook released a message");
    }
    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        panic!("a webhook counted messages");
    }
}

#[tokio::test]
async fn a_queue_that_takes_nothing_is_503() {
    let whole = Hook::new("right");
    let hook = Hook::over(Arc::new(Full), (whole.clock, whole.queue), "right");
    assert_eq!(hook.signed(&pull_request(), "right").await, 503);
    assert_eq!(hook.signed(&json!({"zen": "x"}), "right").await, 202);
    assert_eq!(hook.counts(), (0, 1, 0));
}

#[tokio::test]
async fn both_doors_share_a_house_and_their_counters() {
    let hook = Hook::new("right");
    let world = crate::world::World::new().await;
    let state = api::ApiState::new(world.backend.clone(), Vec::new());
    let house = api::router(state.counting(hook.counters.clone())).merge(hook.router.clone());
    assert_eq!(hook.signed(&pull_request(), "wrong").await, 401);
    let health = Request::get("/healthz").body(Body::empty()).unwrap();
    let health = send(&house, health).await.ok(200);
    assert_eq!(health["webhooks"]["refused"], 1);
    // The webhook has its own proof: it needs no bearer token.
    let body = pull_request().to_string();
    let delivery = Request::post("/github/webhook")
        .header("x-hub-signature-256", sign("right", body.as_bytes()))
        .body(Body::from(body))
        .unwrap();
    assert_eq!(send(&house, delivery).await.status, 202);
}
