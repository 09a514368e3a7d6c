//! Who may enter.

use std::sync::{Arc, Mutex};

use api::{SECRET_KEPT, SECRET_READ_AGAIN};
use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::SecretString;

use crate::world::{Answer, TOKEN, World, send};

async fn knock(world: &World, path: &str, authorization: Option<&str>) -> Answer {
    let mut request = Request::builder().uri(path);
    if let Some(value) = authorization {
        request = request.header("authorization", value);
    }
    send(&world.router, request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn every_token_opens_and_nothing_else_does() {
    let world = World::new().await;
    for good in [
        format!("Bearer {TOKEN}"),
        format!("bearer {TOKEN}"),
        "Bearer gaf_second".to_owned(),
    ] {
        assert_eq!(
            knock(&world, "/jobs", Some(&good)).await.status,
            200,
            "{good}"
        );
    }
    for (given, code) in [
        (None, "no_token"),
        (Some(""), "no_token"),
        (Some("Bearer"), "no_token"),
        (Some("Basic Z2FmOng="), "no_token"),
        (Some("Bearer "), "wrong_token"),
        (Some("Bearer gaf_secon"), "wrong_token"),
        (Some("Bearer gaf_second2"), "wrong_token"),
        (Some("Bearer gaf_second,gaf_second"), "wrong_token"),
    ] {
        let answer = knock(&world, "/jobs", given).await;
        assert_eq!(answer.code(401), code, "{given:?}");
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"gaffer\"");
        assert!(!answer.text.contains("gaf_secon"), "{answer:?}");
    }
}

#[tokio::test]
async fn without_a_token_not_even_the_routes_are_told() {
    let world = World::new().await;
    for path in [
        "/nothing",
        "/status",
        "/metrics",
        "/jobs/x/why",
        "/jobs/%ff",
    ] {
        assert_eq!(
            knock(&world, path, None).await.code(401),
            "no_token",
            "{path}"
        );
    }
    assert_eq!(world.get("/nothing").await.code(404), "no_such_route");
}

#[tokio::test]
async fn a_door_without_tokens_opens_for_nobody() {
    let world = World::new().await;
    for tokens in [vec![], vec!["".into()], vec!["  ".into()]] {
        let router = api::router(api::ApiState::new(world.backend.clone(), tokens));
        for given in ["Bearer ", "Bearer  ", "Bearer x"] {
            let request = Request::builder()
                .uri("/jobs")
                .header("authorization", given);
            let answer = send(&router, request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.status, 401, "{given:?}");
        }
    }
}

#[tokio::test]
async fn health_is_for_everybody() {
    let world = World::new().await;
    let health = knock(&world, "/healthz", None).await.ok(200);
    assert_eq!(health["ok"], true);
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(health["webhooks"]["refused"], 0);
}

#[tokio::test]
async fn requests_have_a_name() {
    let world = World::new().await;
    assert_eq!(world.get("/jobs").await.header("x-request-id").len(), 26);
    let named = [("x-request-id", "from-the-caller.1")];
    let answer = world
        .call("GET".parse().unwrap(), "/jobs", (&named, ""))
        .await;
    assert_eq!(answer.header("x-request-id"), "from-the-caller.1");
    let forged = [("x-request-id", "a b\tc")];
    let answer = world
        .call("GET".parse().unwrap(), "/jobs", (&forged, ""))
        .await;
    assert_eq!(answer.header("x-request-id").len(), 26);
}

/// A store of secrets that holds a token, or does not answer.
struct Kept(Mutex<Option<&'static str>>);

#[async_trait]
impl Secrets for Kept {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        assert_eq!(*name, SecretName::ApiToken);
        let stored = *self.0.lock().unwrap();
        stored
            .map(SecretString::from)
            .ok_or_else(|| SecretsError::Unreachable {
                name: name.path(),
                message: "no answer".to_owned(),
            })
    }

    async fn write(&self, _: &SecretName, _: &SecretString) -> Result<(), SecretsError> {
        panic!("an API writes no secret")
    }

    async fn remove(&self, _: &SecretName) -> Result<(), SecretsError> {
        panic!("an API removes no secret")
    }
}

async fn opens(router: &Router, token: &str) -> bool {
    let request = Request::builder()
        .uri("/jobs")
        .header("authorization", format!("Bearer {token}"));
    let answer = send(router, request.body(Body::empty()).unwrap()).await;
    assert!([200, 401].contains(&answer.status.as_u16()), "{answer:?}");
    answer.status == 200
}

#[tokio::test]
async fn a_token_that_is_replaced_is_learned_and_the_one_before_ends_when_it_is_taken_away() {
    let world = World::new().await;
    let kept = Arc::new(Kept(Mutex::new(Some("gaf_old"))));
    let router = api::router(api::ApiState::with_stored_token(
        world.backend.clone(),
        kept.clone(),
    ));
    let is = |token| *kept.0.lock().unwrap() = token;
    assert!(opens(&router, "gaf_old").await && !opens(&router, "gaf_new").await);
    is(Some("gaf_new, gaf_old"));
    world.clock.advance(SECRET_READ_AGAIN);
    assert!(opens(&router, "gaf_new").await && opens(&router, "gaf_old").await);
    // A cached secret is accepted also while the store does not answer.
    is(None);
    world.clock.advance(SECRET_KEPT);
    assert!(opens(&router, "gaf_new").await && opens(&router, "gaf_old").await);
    is(Some("gaf_new"));
    world.clock.advance(SECRET_KEPT);
    assert!(opens(&router, "gaf_new").await && !opens(&router, "gaf_old").await);
}
