//! What the log holds: names and routes, and nothing that was sent. A process of its own, since a subscriber is for the whole process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io;
use std::sync::{Arc, Mutex};

use api::ApiState;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use domain::ids::RepoName;
use domain::policy::Source;
use engine::backend::{Backend, IndexEntry};
use engine::keys;
use engine::machine::SystemClock;
use engine::ports::Ids;
use jiff::Timestamp;
use local::{Database, LocalQueue, Store};
use serde_json::json;
use tower::ServiceExt;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use ulid::Ulid;

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

struct Counted(Mutex<u128>);

impl Ids for Counted {
    fn ulid(&self, _: Timestamp) -> Ulid {
        let mut last = self.0.lock().unwrap();
        *last += 1;
        Ulid::from_parts(1, *last)
    }
}

async fn api() -> Router {
    let database = Database::in_memory().unwrap();
    let clock = Arc::new(SystemClock);
    let backend = Backend::new(
        Arc::new(Store::new(&database)),
        Arc::new(LocalQueue::new(&database, "work", clock.clone())),
        clock,
        Arc::new(Counted(Mutex::new(0))),
        "gtest".parse().unwrap(),
    );
    let repo: RepoName = "acme/shop".parse().unwrap();
    let source = Source {
        branch: Some("main".parse().unwrap()),
        ..Source::new(repo.clone(), "default".parse().unwrap())
    };
    let mut unit = backend.unit();
    unit.put(keys::source(&repo), &source, None, IndexEntry::default());
    backend.commit(unit).await.unwrap();
    api::router(ApiState::new(backend, vec!["canary-token".into()]))
}

async fn send(api: &Router, method: &str, path: &str, body: &serde_json::Value) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", "Bearer canary-token")
        .header("idempotency-key", "canary-key")
        .body(Body::from(body.to_string()))
        .unwrap();
    api.clone()
        .oneshot(request)
        .await
        .unwrap()
        .status()
        .as_u16()
}

#[tokio::test]
async fn requests_are_logged_by_name_and_route_without_what_was_sent() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let api = api().await;
    let order = json!({"repo": "acme/shop", "prompt": "canary-prompt", "title": "canary-title"});
    assert_eq!(send(&api, "POST", "/jobs", &order).await, 201);
    assert_eq!(
        send(&api, "POST", "/jobs", &json!({"canary-field": 1})).await,
        422
    );
    assert_eq!(
        send(&api, "GET", "/jobs?limit=canary-query", &json!({})).await,
        400
    );
    assert_eq!(send(&api, "GET", "/canary-path", &json!({})).await, 404);
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for field in [
        r#""http.route":"/jobs""#,
        r#""http.status":201"#,
        r#""http.duration_ms":"#,
        r#""request.id":"#,
        r#""job.id":"#,
    ] {
        assert!(log.contains(field), "no {field}: {log}");
    }
    assert!(!log.contains("canary"), "{log}");
}
