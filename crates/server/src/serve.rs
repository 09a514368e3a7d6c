//! The sockets of the HTTP API: who may connect, how many, and how long a silent connection may last.

mod busy;

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::ServiceExt;

use busy::{Busy, FlushNotifier};

/// How long the headers of a request may take, and how long a connection may lie idle between two requests.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);

/// Longest headers of a request, in bytes. It is what a connection that says nothing of use may take of memory.
const HEADERS_BYTES_MAX: usize = 64 * 1024;

/// Most connections in all: far more than people, agents and GitHub need, and a small part of the memory of a small machine.
const CONNECTIONS_MAX: usize = 1024;

/// Most connections of one address. A proxy in front is one address, so that is half of all.
const PEER_CONNECTIONS_MAX: usize = 512;

/// Descriptors that connections leave for the store, for Jules, GitHub and agents, and for logs.
const DESCRIPTORS_KEPT: u64 = 128;

/// How long to wait when a connection cannot be taken, since descriptors are used up by others.
const TAKE_AGAIN: Duration = Duration::from_millis(100);

/// How long requests may take to end once the process is to stop.
const LAST_ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// What connections are held to.
#[derive(Debug, Clone, Copy)]
struct Limits {
    all: usize,
    of_a_peer: usize,
    headers_within: Duration,
}

impl Limits {
    /// What this process can afford.
    fn of_this_process() -> Self {
        Self::from_descriptors(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
    }

    /// What a process can afford that may have so many descriptors.
    fn from_descriptors(allowed: u64) -> Self {
        // Of very few descriptors half are still for connections.
        let left = allowed.saturating_sub(DESCRIPTORS_KEPT).max(allowed / 2);
        let all = usize::try_from(left).map_or(CONNECTIONS_MAX, |left| left.min(CONNECTIONS_MAX));
        Self {
            all,
            of_a_peer: PEER_CONNECTIONS_MAX.min(all.div_ceil(2)),
            headers_within: HEADERS_WITHIN,
        }
    }
}

/// One open connection.
#[derive(Debug, Clone)]
struct Connection {
    peer: IpAddr,
    busy: Busy,
    /// Asks the connection to give way to another one.
    gives_way: Arc<Notify>,
}

impl Connection {
    fn new(peer: IpAddr) -> Self {
        Self {
            peer,
            busy: Busy::default(),
            gives_way: Arc::default(),
        }
    }
}

/// All open connections, the oldest first.
#[derive(Debug, Default)]
struct Open(Mutex<Vec<Connection>>);

impl Open {
    fn all(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a new connection down. Where there are too many the oldest that is answered nothing gives way; returns whether
    /// there is room.
    fn admit(&self, new: &Connection, limits: &Limits) -> bool {
        let mut open = self.all();
        let of_its_peer = open.iter().filter(|other| other.peer == new.peer);
        let is_peer_full = of_its_peer.count() >= limits.of_a_peer;
        if is_peer_full || open.len() >= limits.all {
            let may_go = |other: &Connection| {
                (!is_peer_full || other.peer == new.peer) && !other.busy.is_busy()
            };
            let Some(oldest) = open.iter().position(may_go) else {
                return false;
            };
            open.remove(oldest).gives_way.notify_one();
        }
        open.push(new.clone());
        true
    }
}

/// The place of an open connection, released however its conversation ends: a handler that panics keeps no place.
struct ConnectionSlot {
    open: Arc<Open>,
    connection: Connection,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let left = &self.connection.busy;
        self.open.all().retain(|other| !other.busy.is(left));
    }
}

/// Serves the HTTP API until the process is to stop.
pub(super) async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>) {
    serve_within(listener, router, Limits::of_this_process(), stopped).await;
}

async fn serve_within(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    let open = Arc::new(Open::default());
    let mut serving = JoinSet::new();
    loop {
        while serving.try_join_next().is_some() {}
        let taken = tokio::select! {
            taken = listener.accept() => taken,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        let (stream, peer) = match taken {
            Ok(taken) => taken,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                drop(timeout(TAKE_AGAIN, stopped.wait_for(|stop| *stop)).await);
                continue;
            }
        };
        let connection = Connection::new(peer.ip().to_canonical());
        if open.admit(&connection, &limits) {
            let open = open.clone();
            let place = ConnectionSlot { open, connection };
            let (router, stopped) = (router.clone(), stopped.clone());
            let within = limits.headers_within;
            serving.spawn(async move {
                converse(&place.connection, stream, within, router, stopped).await;
            });
        } else {
            tracing::warn!(peer = %connection.peer, "too many requests of one address, or in all, are being answered; a connection was closed");
        }
    }
    drop(listener);
    while serving.join_next().await.is_some() {}
}

/// Answers the requests of one connection.
async fn converse(
    connection: &Connection,
    stream: TcpStream,
    headers_within: Duration,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    // Answers are short, and the caller waits for them.
    let _ = stream.set_nodelay(true);
    let busy = &connection.busy;
    let answer = service_fn(|request: hyper::Request<Incoming>| {
        let (router, answering) = (router.clone(), busy.answering());
        async move {
            let answered = router.oneshot(request.map(Body::new)).await;
            answered.map(|answer| answering.with(answer)) as Result<_, Infallible>
        }
    });
    let (socket, busy) = (stream, busy.clone());
    let http = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(headers_within)
        .max_buf_size(HEADERS_BYTES_MAX)
        .serve_connection(TokioIo::new(FlushNotifier { socket, busy }), answer);
    let mut http = std::pin::pin!(http);
    tokio::select! {
        // What went wrong is the caller's.
        _ = http.as_mut() => return,
        () = connection.gives_way.notified() => return,
        _ = stopped.wait_for(|stop| *stop) => {}
    }
    if connection.busy.is_busy() {
        http.as_mut().graceful_shutdown();
        let _ = timeout(LAST_ANSWERS_WITHIN, http).await;
    }
}

#[cfg(test)]
mod tests;
