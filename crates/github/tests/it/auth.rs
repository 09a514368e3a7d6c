//! Signing in: a token or an App, how long each is held, and what follows a 401.

use std::sync::{Arc, Mutex};

use domain::failure::{CallEffect, FailureClass};
use engine::ports::{PullsRead, PullsWrite};
use github::{Reader, Writer};
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::server::{Asked, Backend, Reply, Server, TOKEN, failed, pull};

const KEY: &str = include_str!("keys/app.pem");
const INSTALLATION: &str = "GET /repos/acme/shop/installation";
const MAKE_TOKEN: &str = "POST /app/installations/55/access_tokens";

fn main_branch() -> Reply {
    Reply::ok(&json!({ "default_branch": "main" }))
}

/// Accepts only this bearer.
fn wants(bearer: &'static str) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked| match asked.header("authorization") {
        Some(given) if given == format!("Bearer {bearer}") => main_branch(),
        _ => Reply::refusal(401, "Bad credentials"),
    }
}

/// An App's GitHub: numbers the installation tokens it makes and accepts only the newest.
fn app_world(
    lives: SignedDuration,
    backend: &Backend,
) -> (
    impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    Arc<Mutex<u32>>,
) {
    let made = Arc::new(Mutex::new(0));
    let (counter, clock) = (Arc::clone(&made), backend.clone());
    let script = move |asked: &Asked| match asked.line().as_str() {
        INSTALLATION => Reply::ok(&json!({ "id": 55 })),
        MAKE_TOKEN => {
            let mut made = counter.lock().unwrap();
            *made += 1;
            let expires = engine::ports::Clock::now(&clock) + lives;
            Reply::json(
                201,
                &json!({ "token": format!("ghs_{made}"), "expires_at": expires.to_string() }),
            )
        }
        _ if asked.header("authorization")
            == Some(format!("Bearer ghs_{}", counter.lock().unwrap()).as_str()) =>
        {
            main_branch()
        }
        _ => Reply::refusal(401, "Bad credentials"),
    };
    (script, made)
}

fn claims(jwt: &str) -> Value {
    let part = jwt.split('.').nth(1).unwrap();
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits = part
        .bytes()
        .fold((0u32, 0, Vec::new()), |(word, held, mut bytes), c| {
            let value = u32::try_from(alphabet.iter().position(|a| *a == c).unwrap()).unwrap();
            let (word, held) = ((word << 6) | value, held + 6);
            if held >= 8 {
                bytes.push(u8::try_from((word >> (held - 8)) & 0xff).unwrap());
                return (word & 0xff, held - 8, bytes);
            }
            (word, held, bytes)
        });
    serde_json::from_slice(&bits.2).unwrap()
}

#[tokio::test]
async fn a_token_is_read_once_in_five_minutes() {
    let server = Server::start(wants(TOKEN)).await;
    let backend = Backend::new(TOKEN);
    let reader = Reader::new(backend.client(&server, None));
    for _ in 0..3 {
        reader.default_branch(&pull().repo).await.unwrap();
    }
    assert_eq!(backend.reads(), 1);
    backend.pass(SignedDuration::from_mins(5));
    reader.default_branch(&pull().repo).await.unwrap();
    assert_eq!(backend.reads(), 2);
}

#[tokio::test]
async fn a_replaced_token_is_noticed_by_the_first_refusal() {
    let server = Server::start(wants("new")).await;
    let backend = Backend::new("new");
    let reader = Reader::new(backend.client(&server, None));
    backend.replace("old");
    assert_eq!(
        reader.default_branch(&pull().repo).await.unwrap_err().class,
        FailureClass::Unauthorized
    );
    backend.pass(SignedDuration::from_mins(1));
    backend.replace("new");
    reader.default_branch(&pull().repo).await.unwrap();
}

#[tokio::test]
async fn after_a_refusal_the_secret_is_read_again_once_a_minute() {
    let server = Server::start(wants("right")).await;
    let backend = Backend::new("wrong");
    let reader = Reader::new(backend.client(&server, None));
    for _ in 0..5 {
        let failure = reader.default_branch(&pull().repo).await.unwrap_err();
        failed(&failure, FailureClass::Unauthorized, CallEffect::No);
    }
    assert_eq!(backend.reads(), 2);
    assert_eq!(
        server.asked().len(),
        5,
        "the same token is not tried twice in one call"
    );
    backend.pass(SignedDuration::from_mins(1));
    reader.default_branch(&pull().repo).await.unwrap_err();
    assert_eq!(backend.reads(), 3);
}

#[tokio::test]
async fn a_lost_store_of_secrets_leaves_the_held_one_in_use() {
    let server = Server::start(wants(TOKEN)).await;
    let backend = Backend::new(TOKEN);
    let reader = Reader::new(backend.client(&server, None));
    reader.default_branch(&pull().repo).await.unwrap();
    backend.lose();
    backend.pass(SignedDuration::from_mins(10));
    reader.default_branch(&pull().repo).await.unwrap();
}

#[tokio::test]
async fn without_a_secret_nothing_is_sent() {
    let server = Server::start(wants(TOKEN)).await;
    let backend = Backend::new(TOKEN);
    backend.lose();
    let failure = Writer::new(backend.client(&server, None))
        .label(&pull(), "x")
        .await
        .unwrap_err();
    failed(&failure, FailureClass::Unauthorized, CallEffect::No);
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_token_that_no_header_may_hold_is_never_sent_and_never_shown() {
    let server = Server::start(wants(TOKEN)).await;
    let client = Backend::new("canary\nvalue").client(&server, None);
    let failure = Reader::new(client)
        .default_branch(&pull().repo)
        .await
        .unwrap_err();
    assert_eq!(failure.happened, CallEffect::No);
    assert!(!failure.to_string().contains("canary"), "{failure}");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn an_app_makes_one_token_for_many_calls() {
    let backend = Backend::new(KEY);
    let (script, made) = app_world(SignedDuration::from_hours(1), &backend);
    let server = Server::start(script).await;
    let reader = Reader::new(backend.client(&server, Some(77)));
    let repo = pull().repo;
    let calls = (0..6).map(|_| reader.default_branch(&repo));
    for outcome in futures::future::join_all(calls).await {
        outcome.unwrap();
    }
    assert_eq!(*made.lock().unwrap(), 1);
    let lines = server.lines();
    assert_eq!(lines.iter().filter(|line| *line == INSTALLATION).count(), 1);
    let asked = server.asked();
    let jwt = asked[0]
        .header("authorization")
        .unwrap()
        .strip_prefix("Bearer ")
        .unwrap();
    let claims = claims(jwt);
    assert_eq!(claims["iss"], json!(77));
    assert!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap() <= 600);
}

#[tokio::test]
async fn a_token_of_an_installation_is_replaced_five_minutes_before_it_ends() {
    let backend = Backend::new(KEY);
    let (script, made) = app_world(SignedDuration::from_hours(1), &backend);
    let server = Server::start(script).await;
    let reader = Reader::new(backend.client(&server, Some(77)));
    reader.default_branch(&pull().repo).await.unwrap();
    backend.pass(SignedDuration::from_mins(54));
    reader.default_branch(&pull().repo).await.unwrap();
    assert_eq!(*made.lock().unwrap(), 1);
    backend.pass(SignedDuration::from_mins(1));
    reader.default_branch(&pull().repo).await.unwrap();
    assert_eq!(*made.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_revoked_token_of_an_installation_is_replaced_at_once() {
    let backend = Backend::new(KEY);
    let (script, made) = app_world(SignedDuration::from_hours(1), &backend);
    let server = Server::start(script).await;
    let reader = Reader::new(backend.client(&server, Some(77)));
    reader.default_branch(&pull().repo).await.unwrap();
    // Another process made a newer one, and ours is refused from now on.
    *made.lock().unwrap() += 1;
    reader.default_branch(&pull().repo).await.unwrap();
    assert_eq!(*made.lock().unwrap(), 3);
}

#[tokio::test]
async fn a_key_in_one_line_works_and_no_key_says_so() {
    let one_line = KEY.replace('\n', "\\n");
    for (secret, works) in [(one_line.as_str(), true), ("canary-no-key", false)] {
        let backend = Backend::new(secret);
        let (script, _) = app_world(SignedDuration::from_hours(1), &backend);
        let server = Server::start(script).await;
        let outcome = Reader::new(backend.client(&server, Some(77)))
            .default_branch(&pull().repo)
            .await;
        assert_eq!(outcome.is_ok(), works);
        if let Err(failure) = outcome {
            failed(&failure, FailureClass::Unauthorized, CallEffect::No);
            assert!(
                failure.message.contains("PEM") && !failure.message.contains("canary"),
                "{failure}"
            );
        }
    }
}

#[tokio::test]
async fn a_repository_without_the_app_is_named() {
    let server = Server::start(|_: &Asked| Reply::refusal(404, "Not Found")).await;
    let failure = Writer::new(Backend::new(KEY).client(&server, Some(77)))
        .label(&pull(), "x")
        .await
        .unwrap_err();
    failed(&failure, FailureClass::Forbidden, CallEffect::No);
    assert!(
        failure.message.contains("not installed on acme/shop"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_write_whose_sign_in_failed_certainly_did_not_happen() {
    let script = |asked: &Asked| {
        if asked.line() == INSTALLATION {
            Reply::ok(&json!({ "id": 55 }))
        } else {
            Reply::refusal(502, "down")
        }
    };
    let server = Server::start(script).await;
    let writer = Writer::new(Backend::new(KEY).client(&server, Some(77)));
    let failure = writer.label(&pull(), "x").await.unwrap_err();
    failed(&failure, FailureClass::Unavailable, CallEffect::No);
    assert_eq!(server.lines(), [INSTALLATION, MAKE_TOKEN]);
}

#[tokio::test]
async fn a_secret_of_another_kind_is_not_sent_to_github() {
    for (secret, told) in [
        (KEY, "GAFFER_GITHUB_APP_ID"),
        ("AIzaSyCanary", "a key of Google's"),
        ("gaf_canary", "a token of Gaffer's own API"),
    ] {
        let server = Server::start(|_: &Asked| main_branch()).await;
        let reader = Reader::new(Backend::new(secret).client(&server, None));
        let failure = reader.default_branch(&pull().repo).await.unwrap_err();
        failed(&failure, FailureClass::Unauthorized, CallEffect::No);
        assert!(failure.message.contains(told), "{failure}");
        assert!(!failure.message.contains(secret.trim()), "{failure}");
        assert_eq!(server.lines(), [""; 0]);
    }
}
