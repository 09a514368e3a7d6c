//! Connections that say nothing, too many of them, and what a stop waits for.

use std::future::pending;

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;

/// TestServer on a socket of their own.
struct TestServer {
    addr: std::net::SocketAddr,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

/// Answers a little later than at once.
async fn soon() {
    let _ = timeout(LAST_ANSWERS_WITHIN / 2, pending::<()>()).await;
}

async fn server(limits: Limits) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let router = Router::new()
        .route("/", get(|| async { "here" }))
        .route("/soon", get(soon))
        .route("/never", get(pending::<()>))
        .route("/panic", get(|| async { panic!("a handler fails") as () }))
        .route("/long", get(|| async { vec![b'x'; LONG] }));
    let (stop, stopped) = watch::channel(false);
    let serving = tokio::spawn(serve_within(listener, router, limits, stopped));
    TestServer {
        addr,
        stop,
        serving,
    }
}

const LIMITS: Limits = Limits {
    all: 4,
    of_a_peer: 3,
    headers_within: HEADERS_WITHIN,
};

/// More than the system buffers of an unread answer, in bytes.
const LONG: usize = 64 * 1024 * 1024;

const ASK: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const ASK_FOR_EVER: &[u8] = b"GET /never HTTP/1.1\r\nhost: x\r\n\r\n";

const ASK_TO_PANIC: &[u8] = b"GET /panic HTTP/1.1\r\nhost: x\r\n\r\n";
const ASK_FOR_MUCH: &[u8] = b"GET /long HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

impl TestServer {
    async fn says(&self, words: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(words).await.unwrap();
        stream
    }
}

async fn is_answered(stream: &mut TcpStream) -> bool {
    let mut start = [0; 12];
    let read = stream.read_exact(&mut start).await;
    read.is_ok() && &start == b"HTTP/1.1 200"
}

/// Everything that still comes, until the other side closes.
async fn to_the_end(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_or_half_of_it_is_left() {
    let server = server(LIMITS).await;
    for words in [&b""[..], b"GET / HTTP/1.1\r\nhost: ", ASK] {
        let began = Instant::now();
        to_the_end(server.says(words).await).await;
        assert!(began.elapsed() <= HEADERS_WITHIN * 2, "{words:?}");
    }
}

#[tokio::test]
async fn longer_headers_than_are_kept_are_refused() {
    let server = server(LIMITS).await;
    for (bytes, is_taken) in [
        (HEADERS_BYTES_MAX / 2, true),
        (HEADERS_BYTES_MAX * 4, false),
    ] {
        let long = "x".repeat(bytes);
        let words = format!("GET / HTTP/1.1\r\nhost: x\r\nlong: {long}\r\n\r\n");
        let mut stream = server.says(words.as_bytes()).await;
        assert_eq!(is_answered(&mut stream).await, is_taken, "{bytes}");
    }
}

#[test]
fn connections_leave_descriptors_for_everything_else() {
    for (allowed, all, of_a_peer) in [
        (u64::MAX, 1024, 512),
        (1_048_576, 1024, 512),
        (1024, 896, 448),
        (256, 128, 64),
        (100, 50, 25),
    ] {
        let limits = Limits::from_descriptors(allowed);
        let found = (limits.all, limits.of_a_peer);
        assert_eq!(found, (all, of_a_peer), "{allowed}");
    }
}

#[tokio::test]
async fn the_oldest_idle_connection_gives_way_to_a_new_one() {
    let server = server(LIMITS).await;
    let busy = server.says(ASK_FOR_EVER).await;
    let silent = server.says(b"").await;
    let mut kept = server.says(ASK).await;
    assert!(is_answered(&mut kept).await);
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut new = server.says(ASK).await;
        assert!(is_answered(&mut new).await);
        held.push(new);
    }
    to_the_end(silent).await;
    to_the_end(kept).await;
    let mut nothing = [0; 1];
    let waits = busy.try_read(&mut nothing).unwrap_err();
    assert_eq!(waits.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn an_answer_that_is_read_slowly_gives_way_to_nobody() {
    let server = server(LIMITS).await;
    let mut slow = server.says(ASK_FOR_MUCH).await;
    assert!(is_answered(&mut slow).await);
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut new = server.says(ASK).await;
        assert!(is_answered(&mut new).await);
        held.push(new);
    }
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest).await;
    assert!(rest.len() > LONG, "{} of {LONG} bytes", rest.len());
}

#[tokio::test]
async fn a_handler_that_panics_keeps_no_place() {
    let server = server(LIMITS).await;
    for _ in 0..LIMITS.all * 2 {
        to_the_end(server.says(ASK_TO_PANIC).await).await;
    }
    assert!(is_answered(&mut server.says(ASK).await).await);
}

#[test]
fn where_all_are_busy_there_is_no_room() {
    let open = Arc::new(Open::default());
    let peer = IpAddr::from([127, 0, 0, 1]);
    let mut busy_ones = Vec::new();
    for _ in 0..LIMITS.of_a_peer {
        let busy = Connection::new(peer);
        assert!(open.admit(&busy, &LIMITS));
        busy_ones.push(busy.busy.answering());
    }
    assert!(!open.admit(&Connection::new(peer), &LIMITS));
    let other = Connection::new(IpAddr::from([127, 0, 0, 2]));
    assert!(open.admit(&other, &LIMITS));
    // A peer with a full share takes no other peer's place.
    assert!(!open.admit(&Connection::new(peer), &LIMITS));
    busy_ones.push(other.busy.answering());
    let third = Connection::new(IpAddr::from([127, 0, 0, 3]));
    assert!(!open.admit(&third, &LIMITS));
    drop(ConnectionSlot {
        open: open.clone(),
        connection: other,
    });
    assert!(open.admit(&third, &LIMITS));
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_no_idle_connection() {
    let server = server(LIMITS).await;
    let mut idle = server.says(ASK).await;
    assert!(is_answered(&mut idle).await);
    let half = server.says(b"GET / HT").await;
    let began = Instant::now();
    server.stop.send_replace(true);
    server.serving.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(1));
    to_the_end(half).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_being_answered_when_the_process_stops_is_answered() {
    let server = server(LIMITS).await;
    let mut asked = server.says(b"GET /soon HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(is_answered(&mut server.says(ASK).await).await);
    server.stop.send_replace(true);
    assert!(is_answered(&mut asked).await);
    server.serving.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_a_little_for_an_answer() {
    let server = server(LIMITS).await;
    let busy = server.says(ASK_FOR_EVER).await;
    // The request has arrived once another one is answered.
    assert!(is_answered(&mut server.says(ASK).await).await);
    let began = Instant::now();
    server.stop.send_replace(true);
    server.serving.await.unwrap();
    assert!(began.elapsed() <= LAST_ANSWERS_WITHIN * 2);
    to_the_end(busy).await;
}
