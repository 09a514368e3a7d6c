//! Who may enter.

use axum::body::Body;
use axum::http::Request;

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
        let router = api::router(api::DoorState::new(world.desk.clone(), tokens));
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
