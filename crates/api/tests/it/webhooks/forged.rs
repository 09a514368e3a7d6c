//! Forged signatures and forged bodies: refused, and nothing but a counter knows of them.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};

use api::WEBHOOK_BODY_BYTES_MAX;
use axum::body::Bytes;
use axum::http::HeaderValue;
use futures::stream;

use super::*;

/// Deeper than any reader that calls itself for each level survives.
const DEPTH: usize = 100_000;

/// A request with these headers, in order.
async fn with_headers(hook: &Hook, headers: &[(&str, Vec<u8>)], body: &[u8]) -> u16 {
    let mut request = Request::post("/github/webhook").header("x-github-event", "pull_request");
    for (name, value) in headers {
        request = request.header(*name, HeaderValue::from_bytes(value).unwrap());
    }
    let request = request.body(Body::from(body.to_vec())).unwrap();
    let answer = send(&hook.router, request).await;
    described(&answer)
}

#[tokio::test]
async fn no_forged_signature_is_believed() {
    const NAME: &str = "x-hub-signature-256";
    let hook = Hook::new("right");
    let body = pull_request().to_string();
    let good = sign("right", body.as_bytes());
    let digits = &good["sha256=".len()..];
    let one = |value: &str| vec![(NAME, value.as_bytes().to_vec())];
    let sha1 = "sha1=0123456789abcdef0123456789abcdef01234567";
    let cases = [
        vec![],
        one(""),
        one(&sign("wrong", body.as_bytes())),
        one(&sign("", body.as_bytes())),
        one(&sign("right", b"")),
        one(&good[..good.len() - 1]),
        one(&good[..good.len() - 2]),
        one(&good[..40]),
        one("sha256="),
        one(digits),
        one(&format!("{good}00")),
        one(&format!("sha256={}", digits.to_uppercase())),
        one(&format!("SHA256={digits}")),
        one(&format!("sha256=0x{digits}")),
        one(&format!("sha256={}", "0".repeat(64))),
        one(&format!("sha256={}", "f".repeat(64))),
        one(&format!("sha512={digits}")),
        one(&format!("sha256:{digits}")),
        one(&format!("{good}, {good}")),
        one(&format!("{good} {good}")),
        one(sha1),
        // The older header alone, whatever it says.
        vec![("x-hub-signature", sha1.as_bytes().to_vec())],
        vec![("x-hub-signature", good.clone().into_bytes())],
        vec![("x-hub-signature-512", good.clone().into_bytes())],
        // Two headers: the same twice, and either order of right and wrong.
        [one(&good), one(&good)].concat(),
        [one(&good), one(sha1)].concat(),
        [one(sha1), one(&good)].concat(),
        vec![(NAME, [good.as_bytes(), b"\xff"].concat())],
        vec![(NAME, [b"\xef\xbb\xbf", good.as_bytes()].concat())],
    ];
    for headers in &cases {
        assert_eq!(
            with_headers(&hook, headers, body.as_bytes()).await,
            401,
            "{headers:?}"
        );
    }
    assert_eq!(hook.queued().await, []);
    assert_eq!(hook.counts(), (0, 0, cases.len() as u64));
    // The test's own signature is right, so the cases fail for what is wrong with them.
    assert_eq!(with_headers(&hook, &one(&good), body.as_bytes()).await, 202);
}

#[tokio::test]
async fn of_what_bears_no_signature_nothing_is_read() {
    let hook = Hook::new("right");
    let good = sign("right", b"{}");
    for (signatures, is_read) in [
        (vec![], false),
        (vec!["sha256=00"], false),
        (vec![&*good, &*good], false),
        (vec![&*good], true),
    ] {
        let read = Arc::new(AtomicBool::new(false));
        let reading = Arc::clone(&read);
        let piece = stream::once(async move {
            reading.store(true, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from("{}"))
        });
        let mut request = Request::post("/github/webhook");
        for signature in &signatures {
            request = request.header("x-hub-signature-256", *signature);
        }
        let request = request.body(Body::from_stream(piece)).unwrap();
        let status = send(&hook.router, request).await.status.as_u16();
        assert_eq!(read.load(Ordering::Relaxed), is_read, "{signatures:?}");
        assert_eq!(status == 401, !is_read, "{signatures:?}: {status}");
    }
}

#[tokio::test]
async fn no_other_body_goes_under_a_good_signature() {
    let hook = Hook::new("right");
    let body = pull_request().to_string();
    let good = sign("right", body.as_bytes());
    let bytes = body.as_bytes();
    let mut others: Vec<Vec<u8>> = vec![
        Vec::new(),
        [b"\xef\xbb\xbf", bytes].concat(),
        [bytes, b"\n"].concat(),
        [bytes, b"\0"].concat(),
        [b" ", bytes].concat(),
        [bytes, bytes].concat(),
        body.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        body.replace("\"action\":\"opened\"", "\"action\":\"closed\"")
            .into_bytes(),
        body.replace("acme/shop", "evil/shop").into_bytes(),
        body.replace("acme", "\\u0061cme").into_bytes(),
        b"payload=%7B%7D".to_vec(),
    ];
    // Cut anywhere, and one bit turned anywhere.
    others.extend((0..bytes.len()).map(|at| bytes[..at].to_vec()));
    others.extend((0..bytes.len() * 8).map(|bit| {
        let mut turned = bytes.to_vec();
        turned[bit / 8] ^= 1 << (bit % 8);
        turned
    }));
    for other in &others {
        assert_eq!(hook.deliver(other, &good).await.status.as_u16(), 401);
    }
    assert_eq!(hook.queued().await, []);
    assert_eq!(hook.counts(), (0, 0, others.len() as u64));
}

/// Bodies that only the holder of the secret could sign, and that are no webhook of GitHub's.
fn odd_bodies() -> Vec<Vec<u8>> {
    let body = pull_request().to_string();
    let with = |field: &str| {
        let rest = &body[1..];
        format!("{{{field},{rest}").into_bytes()
    };
    let utf16 = |bytes: fn(u16) -> [u8; 2]| body.encode_utf16().flat_map(bytes).collect();
    vec![
        [b"\xef\xbb\xbf", body.as_bytes()].concat(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
        format!("{body}{body}").into_bytes(),
        format!("{body}]").into_bytes(),
        format!("[{body}]").into_bytes(),
        format!("payload={body}").into_bytes(),
        body.as_bytes()[..body.len() - 1].to_vec(),
        // The same key twice, where only one of the two names us.
        with(r#""repository":{"full_name":"evil/shop"}"#),
        with(r#""pull_request":{"number":8}"#),
        with("\"check_run\":null,\"check_run\":null"),
        b"{\"repository\":{\"full_name\":\"acme/sh\xffop\"},\"pull_request\":{\"number\":7}}".to_vec(),
        br#"{"repository":{"full_name":"acme/shop/../../x"},"pull_request":{"number":7}}"#.to_vec(),
        br#"{"repository":{"full_name":"acme/..\/x"},"pull_request":{"number":7}}"#.to_vec(),
        br#"{"repository":{"full_name":"acme/shop"},"pull_request":{"number":-7}}"#.to_vec(),
        br#"{"repository":{"full_name":"acme/shop"},"pull_request":{"number":7.5}}"#.to_vec(),
        br#"{"repository":{"full_name":"acme/shop"},"pull_request":{"number":"7"}}"#.to_vec(),
        br#"{"repository":{"full_name":"acme/shop"},"pull_request":{"number":18446744073709551616}}"#
            .to_vec(),
        br#"{"repository":{"full_name":"acme/shop"},"pull_request":"acme/shop#7"}"#.to_vec(),
        br#"{"repository":"acme/shop","pull_request":{"number":7}}"#.to_vec(),
        b"null".to_vec(),
        b"NaN".to_vec(),
        b"{".repeat(DEPTH),
        b"[".repeat(DEPTH),
        b"{\"pull_request\":".repeat(DEPTH),
        Vec::new(),
    ]
}

#[tokio::test]
async fn signed_bodies_that_are_no_webhook_are_refused_whole() {
    let hook = Hook::new("right");
    let odd = odd_bodies();
    for body in &odd {
        let shown = String::from_utf8_lossy(&body[..body.len().min(90)]).into_owned();
        let answer = hook.deliver(body, &sign("right", body)).await;
        assert_eq!(answer.code(422), "bad_json", "{shown}");
    }
    assert_eq!(hook.queued().await, []);
    assert_eq!(hook.counts(), (0, 0, odd.len() as u64));
}

#[tokio::test]
async fn a_depth_bomb_in_a_field_that_nobody_reads_costs_no_more_than_its_bytes() {
    let hook = Hook::new("right");
    let body = pull_request().to_string();
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let bomb = format!("{}1{}", open.repeat(DEPTH), close.repeat(DEPTH));
        for field in ["unread", "comment", "review", "before"] {
            let body = format!("{{\"{field}\":{bomb},{}", &body[1..]);
            let answer = hook
                .deliver(body.as_bytes(), &sign("right", body.as_bytes()))
                .await;
            assert_eq!(answer.status, 202, "{field}");
        }
    }
    // Each is one small message, whatever was in it.
    assert_eq!(hook.queued().await.len(), 8);
}

#[tokio::test]
async fn the_largest_body_that_github_sends_is_a_small_message() {
    let hook = Hook::new("right");
    let body = pull_request().to_string();
    let frame = format!("{{\"unread\":\"\",{}", &body[1..]);
    let padding = "x".repeat(WEBHOOK_BODY_BYTES_MAX - frame.len());
    let whole = format!("{{\"unread\":\"{padding}\",{}", &body[1..]);
    assert_eq!(whole.len(), WEBHOOK_BODY_BYTES_MAX);
    let good = sign("right", whole.as_bytes());
    assert_eq!(
        hook.deliver(whole.as_bytes(), &good).await.status.as_u16(),
        202
    );
    let longer = format!("{whole} ");
    let signature = sign("right", longer.as_bytes());
    assert_eq!(
        hook.deliver(longer.as_bytes(), &signature).await.status,
        413
    );
    assert_eq!(hook.queued().await.len(), 1);
}

/// Far more than GitHub repeats anything.
const REPLAYS: usize = 10_000;

const FORGERIES: usize = 5_000;

#[tokio::test]
async fn thousands_of_replays_and_forgeries_leave_hints_and_counts_alone() {
    let hook = Hook::new("right");
    let body = pull_request().to_string();
    let (good, bad) = (
        sign("right", body.as_bytes()),
        sign("wrong", body.as_bytes()),
    );
    for _ in 0..FORGERIES {
        assert_eq!(
            hook.deliver(body.as_bytes(), &bad).await.status.as_u16(),
            401
        );
    }
    assert_eq!(hook.queue.depth().await.unwrap(), (0, 0));
    for _ in 0..REPLAYS {
        assert_eq!(
            hook.deliver(body.as_bytes(), &good).await.status.as_u16(),
            202
        );
    }
    let (accepted, ignored, refused) = hook.counts();
    assert_eq!(
        (accepted + ignored, refused),
        (REPLAYS as u64, FORGERIES as u64)
    );
}
