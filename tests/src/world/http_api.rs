//! The HTTP API of a world, called without a network.

use api::ApiState;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use serde_json::Value;
use tower::ServiceExt;

use super::World;

/// The token of the API.
const TOKEN: &str = "gaf_token_of_the_world";

/// Longest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

impl World {
    /// Sends an order to the API; returns the status and the body.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let api = ApiState::new(self.backend.clone(), vec![TOKEN.into()]);
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("authorization", format!("Bearer {TOKEN}"))
            .body(Body::from(body.to_string()))
            .expect("a request");
        let Ok(answer) = api::router(api).oneshot(request).await;
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
        let body = serde_json::from_slice(&body.expect("a body")).expect("JSON");
        (status, body)
    }
}
