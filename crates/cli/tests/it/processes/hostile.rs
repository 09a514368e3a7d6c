//! What strangers may send over a socket: each request is refused or answered once, nothing is stored, and the process goes on.

use super::*;

/// Longest wait for an answer on a socket. The process gives up an idle connection earlier.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Sent as one body; far more than any route takes.
const HUGE_BODY_BYTES: usize = 100 * 1024 * 1024;

/// A path that answers 200, so that a second answer would show.
const INNER: &str = "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

/// Sends bytes, closes the sending half, and returns the status of each answer.
fn statuses(host: &str, parts: &[&[u8]]) -> Vec<String> {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(ANSWER_WITHIN)).unwrap();
    stream.set_write_timeout(Some(ANSWER_WITHIN)).unwrap();
    // A refusal may close the connection while we still write.
    let sent = parts.iter().try_for_each(|part| stream.write_all(part));
    if sent.is_ok() {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    let heads = answer.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head.chars().take(3).collect()).collect()
}

/// Requests whose end two readers may see at different places.
fn ambiguous(token: &str) -> Vec<(&'static str, String)> {
    let begin = format!("POST /jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
    let size = INNER.len();
    let rest = [
        (
            "content-length and chunked",
            format!(
                "content-length: {}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{INNER}",
                size + 5
            ),
        ),
        (
            "chunked and content-length",
            format!(
                "transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n{size:x}\r\n{INNER}\r\n0\r\n\r\n"
            ),
        ),
        (
            "an unknown coding",
            format!("transfer-encoding: xchunked\r\ncontent-length: 3\r\n\r\nabc{INNER}"),
        ),
        (
            "a space in a name",
            "transfer-encoding : chunked\r\ncontent-length: 3\r\n\r\nabc".to_owned(),
        ),
        (
            "chunked is not last",
            format!("transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{INNER}"),
        ),
        (
            "two lengths",
            "content-length: 3\r\ncontent-length: 4\r\n\r\nabcd".to_owned(),
        ),
        (
            "a length with a sign",
            "content-length: +3\r\n\r\nabc".to_owned(),
        ),
        (
            "a negative length",
            "content-length: -1\r\n\r\nabc".to_owned(),
        ),
        (
            "a length beyond all numbers",
            "content-length: 99999999999999999999999\r\n\r\nabc".to_owned(),
        ),
        (
            "a chunk beyond all numbers",
            "transfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nabc".to_owned(),
        ),
        (
            "a folded header",
            "x: a\r\n b\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
        (
            "a lone carriage return",
            "x: a\rb\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
    ];
    rest.into_iter()
        .map(|(name, rest)| (name, format!("{begin}{rest}")))
        .collect()
}

/// Heads that no honest client sends.
fn floods() -> Vec<(&'static str, String)> {
    let head = |more: String| format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{more}\r\n");
    let many = |count: usize| head((0..count).map(|n| format!("x-{n}: a\r\n")).collect());
    vec![
        ("1,000 headers", many(1_000)),
        ("100,000 headers", many(100_000)),
        (
            "a header of 10 MB",
            head(format!("x: {}\r\n", "a".repeat(10 * 1024 * 1024))),
        ),
        (
            "a path of 1 MB",
            format!(
                "GET /jobs/{} HTTP/1.1\r\nhost: x\r\n\r\n",
                "a".repeat(1024 * 1024)
            ),
        ),
    ]
}

#[test]
fn hostile_requests_are_refused_once_each_and_store_nothing() {
    let stage = Stage::new();
    let up = stage.up_with(&[]);
    let url = up.text("url");
    let host = url.trim_start_matches("http://").to_owned();
    let token = std::fs::read_to_string(stage.world.data().join("secrets/token")).unwrap();
    let token = token.trim();
    let is_refusal = |status: &String| status.starts_with('4');
    for (name, request) in ambiguous(token).into_iter().chain(floods()) {
        let got = statuses(&host, &[request.as_bytes()]);
        assert!(got.len() <= 1, "{name}: {got:?}");
        assert!(got.iter().all(is_refusal), "{name}: {got:?}");
    }
    let huge = vec![b'a'; HUGE_BODY_BYTES];
    let signed = format!("x-hub-signature-256: sha256={}\r\n", "0".repeat(64));
    let by_token = format!("authorization: Bearer {token}\r\n");
    for (path, header) in [
        ("/jobs", ""),
        ("/jobs", by_token.as_str()),
        ("/mcp", by_token.as_str()),
        ("/webhooks/jules", by_token.as_str()),
        ("/github/webhook", ""),
        ("/github/webhook", signed.as_str()),
    ] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{header}content-length: {HUGE_BODY_BYTES}\r\n\r\n"
        );
        let got = statuses(&host, &[head.as_bytes(), &huge]);
        assert!(got.len() <= 1, "{path}: {got:?}");
        assert!(got.iter().all(is_refusal), "{path}: {got:?}");
    }
    // The process still answers, and has stored nothing.
    let listed = stage.world.json(&["job", "list", "--url", &url]);
    assert_eq!(listed["jobs"], json!([]));
    assert_eq!(up.stop(), Some(0));
}
