//! Every row of the error table, and that no failure shows the key.

use axum::http::header::{LOCATION, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use domain::failure::{CallEffect, Failure, FailureClass};
use engine::ports::{SessionsRead, SessionsWrite};
use jiff::SignedDuration;

use super::service::{
    CANARY, World, account, broken, check, client_of, ok, refusal, said, session,
};
use crate::Reader;

async fn failure_of(answer: impl Fn() -> Response + Send + Sync + 'static) -> Failure {
    let world = World::start(move |_| answer()).await;
    let read = world.get().await.unwrap_err();
    let written = world.send("Go on").await.unwrap_err();
    assert_eq!(
        (read.class, read.happened),
        (written.class, written.happened)
    );
    written
}

/// The error table: HTTP status, code and words of the envelope, and the class they have.
const TABLE: [(u16, &str, &str, FailureClass); 20] = [
    (304, "", "", FailureClass::Garbled),
    (
        400,
        "INVALID_ARGUMENT",
        "Invalid value at 'session'",
        FailureClass::Invalid,
    ),
    (
        400,
        "FAILED_PRECONDITION",
        "Precondition check failed.",
        FailureClass::Precondition,
    ),
    (
        400,
        "INVALID_ARGUMENT",
        "API key not valid. Please pass a valid API key.",
        FailureClass::Unauthorized,
    ),
    (
        400,
        "INVALID_ARGUMENT",
        "API key expired. Please renew the API key.",
        FailureClass::Unauthorized,
    ),
    (
        401,
        "UNAUTHENTICATED",
        "Invalid authentication credentials.",
        FailureClass::Unauthorized,
    ),
    (
        403,
        "PERMISSION_DENIED",
        "The caller does not have permission",
        FailureClass::Forbidden,
    ),
    (
        403,
        "PERMISSION_DENIED",
        "The application needs a quota project",
        FailureClass::Forbidden,
    ),
    (403, "RESOURCE_EXHAUSTED", "Enough", FailureClass::Throttled),
    (
        403,
        "PERMISSION_DENIED",
        "Rate Limit Exceeded",
        FailureClass::Throttled,
    ),
    (
        404,
        "NOT_FOUND",
        "Requested entity was not found.",
        FailureClass::NotFound,
    ),
    (408, "", "", FailureClass::Unavailable),
    (409, "ABORTED", "conflict", FailureClass::Invalid),
    (410, "", "gone", FailureClass::NotFound),
    (422, "", "", FailureClass::Invalid),
    (
        429,
        "RESOURCE_EXHAUSTED",
        "Quota exceeded",
        FailureClass::Throttled,
    ),
    (
        500,
        "INTERNAL",
        "Internal error encountered.",
        FailureClass::Unavailable,
    ),
    (502, "", "", FailureClass::Unavailable),
    (
        503,
        "UNAVAILABLE",
        "Currently unavailable.",
        FailureClass::Unavailable,
    ),
    (
        504,
        "DEADLINE_EXCEEDED",
        "Deadline expired",
        FailureClass::Unavailable,
    ),
];

#[tokio::test]
async fn each_status_has_its_class() {
    for (code, status, message, class) in TABLE {
        let failure = failure_of(move || refusal(code, status, message)).await;
        let open = matches!(class, FailureClass::Unavailable | FailureClass::Garbled);
        let happened = if open {
            CallEffect::Maybe
        } else {
            CallEffect::No
        };
        check(&failure, class, happened);
        assert!(failure.message.contains(&code.to_string()), "{failure}");
    }
}

#[tokio::test]
async fn details_tell_a_bad_key_and_a_wait() {
    let key = r#"{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT","details":[
        {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}"#;
    let failure = failure_of(move || said(400, key)).await;
    check(&failure, FailureClass::Unauthorized, CallEffect::No);
    let wait = r#"{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED","details":[
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"41.5s"}, 7, null]}}"#;
    let failure = failure_of(move || said(429, wait)).await;
    check(&failure, FailureClass::Throttled, CallEffect::No);
    assert_eq!(
        failure.retry_after,
        Some(SignedDuration::from_millis(41_500))
    );
}

#[tokio::test]
async fn the_asked_wait_is_kept_also_of_5xx() {
    for (code, header, secs) in [
        (429, "17", 17),
        (503, "5", 5),
        (429, "999999", 3600),
        (429, "Fri, 20 Nov 2026 12:01:30 GMT", 90),
    ] {
        let failure =
            failure_of(move || ([(RETRY_AFTER, header)], said(code, "")).into_response()).await;
        let got = failure.retry_after;
        assert_eq!(got, Some(SignedDuration::from_secs(secs)), "{header}");
    }
    let failure = failure_of(|| said(429, "{}")).await;
    assert_eq!(failure.retry_after, None);
}

#[tokio::test]
async fn refusals_that_are_no_envelope_still_have_a_class() {
    for (code, body, class) in [
        (400, String::new(), FailureClass::Invalid),
        (400, "<html>Bad</html>".to_owned(), FailureClass::Invalid),
        (
            400,
            format!(
                "{{\"error\":{{\"status\":\"FAILED_PRECONDITION\",\"x\":\"{}",
                "y".repeat(9000)
            ),
            FailureClass::Precondition,
        ),
        (
            400,
            "API key not valid".to_owned(),
            FailureClass::Unauthorized,
        ),
        (404, "[]".to_owned(), FailureClass::NotFound),
        (
            503,
            r#"{"error":"down"}"#.to_owned(),
            FailureClass::Unavailable,
        ),
    ] {
        let failure = failure_of(move || said(code, body.clone())).await;
        assert_eq!(failure.class, class, "{failure}");
    }
}

#[tokio::test]
async fn a_refusal_is_shown_short_clean_and_without_secrets() {
    let world = World::start(|asked| {
        let key = asked.header("x-goog-api-key").to_owned();
        let google = format!("AIza{}", "x".repeat(35));
        let words = format!(
            "\u{1b}[31mkey {key} {google} AQ.{g} ghp_{g}\r\n{w}",
            g = "a1".repeat(18),
            w = "w ".repeat(3000)
        );
        refusal(400, "INVALID_ARGUMENT", &words)
    })
    .await;
    let failure = world.get().await.unwrap_err();
    check(&failure, FailureClass::Invalid, CallEffect::No);
    for shape in ["AIza", "AQ.", "ghp_", "a1a1"] {
        assert!(!failure.message.contains(shape), "{failure}");
    }
    assert!(
        failure
            .message
            .contains("key [secret] [secret] [secret] [secret] w"),
        "{failure}"
    );
}

#[tokio::test]
async fn success_that_cannot_be_read_is_garbled() {
    for body in [
        "<html><body>Sign in</body></html>",
        "{\"id\":\"1",
        "[]",
        "7",
        "\"ok\"",
    ] {
        let failure = failure_of(move || ok(body)).await;
        check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    }
    for body in [
        "",
        "<html></html>",
        "{\"sessions\":[{",
        "[]",
        "{\"sessions\":7}",
        "{\"error\":{\"code\":500}}",
    ] {
        let world = World::start(move |_| ok(body)).await;
        let failure = world.list(5, None).await.unwrap_err();
        check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_a_network_failure() {
    let failure = failure_of(broken).await;
    check(&failure, FailureClass::Network, CallEffect::Maybe);
}

#[tokio::test]
async fn a_connection_that_is_refused_never_sent_anything() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1alpha", listener.local_addr().unwrap());
    drop(listener);
    let (_, _, client) = client_of(&base, |_| ());
    let failure = Reader::new(client)
        .get(&account(), &session())
        .await
        .unwrap_err();
    check(&failure, FailureClass::Network, CallEffect::No);
    assert!(
        failure.message.contains("could not be reached"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_name_that_does_not_exist_never_sent_anything() {
    let (_, _, client) = client_of("http://jules.invalid/v1alpha", |_| ());
    let failure = Reader::new(client)
        .get(&account(), &session())
        .await
        .unwrap_err();
    check(&failure, FailureClass::Network, CallEffect::No);
}

#[tokio::test]
async fn a_connection_that_is_reset_may_have_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1alpha", listener.local_addr().unwrap());
    tokio::spawn(async move {
        use tokio::io::AsyncReadExt;
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut some = [0; 64];
        assert!(socket.read(&mut some).await.unwrap() > 0);
    });
    let (_, _, client) = client_of(&base, |_| ());
    let failure = crate::Writer::new(client)
        .approve(&account(), &session())
        .await
        .unwrap_err();
    check(&failure, FailureClass::Network, CallEffect::Maybe);
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time_may_have_worked() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1alpha", listener.local_addr().unwrap());
    let (_, _, client) = client_of(&base, |settings| {
        settings.call_timeout = SignedDuration::from_millis(50)
    });
    let failure = crate::Writer::new(client)
        .approve(&account(), &session())
        .await
        .unwrap_err();
    check(&failure, FailureClass::Network, CallEffect::Maybe);
    assert!(failure.message.contains("in time"), "{failure}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let world = World::start(|asked| {
        let there = format!("http://{}/stolen", asked.header("host"));
        let mut answer = said(302, "");
        answer
            .headers_mut()
            .insert(LOCATION, there.parse().unwrap());
        answer
    })
    .await;
    let failure = world.get().await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    assert!(
        failure.message.contains("redirects are not followed"),
        "{failure}"
    );
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_garbled() {
    let small = |settings: &mut crate::Settings| settings.body_bytes_max = 1000;
    let world = World::with(small, |_| ok(format!("{{\"x\":\"{}\"}}", "y".repeat(1000)))).await;
    let failure = world.list(5, None).await.unwrap_err();
    check(&failure, FailureClass::Garbled, CallEffect::Maybe);
    assert!(
        failure.message.contains("larger than 1000 bytes"),
        "{failure}"
    );
}

#[tokio::test]
async fn the_key_travels_only_in_its_header() {
    let world = World::start(|_| ok(r#"{"id":"1"}"#)).await;
    world.get().await.unwrap();
    let asked = world.asked().remove(0);
    assert_eq!(asked.header("x-goog-api-key"), CANARY);
    assert_eq!(
        asked.header("user-agent"),
        concat!("gaffer/", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(asked.query.len(), 0);
    assert!(!format!("{:?}", world.client).contains(CANARY));
}
