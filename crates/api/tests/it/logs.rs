//! What the log holds: names and routes, and nothing that was sent.

use std::io;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::world::{TOKEN, World};

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

#[tokio::test]
async fn requests_are_logged_by_name_and_route_without_what_was_sent() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let world = World::new().await;
    let order = json!({"repo": "acme/shop", "prompt": "canary-prompt", "title": "canary-title"});
    world
        .post_named("/jobs", &order, "canary-key")
        .await
        .ok(201);
    world.get("/jobs?limit=canary-query").await;
    world.get("/canary-path").await;
    world.post("/jobs", &json!({"canary-field": 1})).await;
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
    assert!(!log.contains(TOKEN), "{log}");
}
