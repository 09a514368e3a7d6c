//! Bounds of size and time. No test waits: the clock of the runtime is stopped and moved.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use domain::failure::{CallEffect, Failure, FailureClass};
use engine::ports::{AgentsWrite, Delivered};
use futures::stream::{self, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::*;
use crate::{BODY_BYTES_LIMIT, TRY_TIMEOUT};

#[tokio::test]
async fn a_body_stays_below_its_limit() {
    let (address, got) = receiver(StatusCode::OK).await;
    let mut envelope = envelope(&format!("http://{address}/"));
    envelope.body = "x".repeat(BODY_BYTES_LIMIT - 1);
    assert_eq!(
        sender().deliver(&envelope).await,
        Ok(Delivered::Acknowledged)
    );
    envelope.body = "x".repeat(BODY_BYTES_LIMIT);
    let failure = sender().deliver(&envelope).await.unwrap_err();
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Invalid, CallEffect::No)
    );
    assert_eq!(got.lock().unwrap().len(), 1);
}

/// A receiver whose answer never ends, and how many bytes of it were fetched.
async fn endless(status: StatusCode) -> (SocketAddr, Arc<AtomicUsize>) {
    let fetched = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&fetched);
    let handler = async move |_: Request| {
        let chunks = stream::repeat_with(move || {
            counted.fetch_add(1024, Ordering::Relaxed);
            Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 1024]))
        });
        (status, Body::from_stream(chunks))
    };
    (serve(handler).await, fetched)
}

/// Much more than the buffers of both sides hold, much less than is fetched until the time is over.
const FETCHED_MAX: usize = 64 * 1024 * 1024;

#[tokio::test]
async fn an_endless_answer_is_read_a_little_way() {
    let answer = format!("{}…", "x".repeat(199));
    let refused = Delivered::Refused {
        status: 502,
        answer,
        retry_after: None,
    };
    for (status, expected) in [
        (StatusCode::BAD_GATEWAY, refused),
        (StatusCode::OK, Delivered::Acknowledged),
    ] {
        let (address, fetched) = endless(status).await;
        assert_eq!(
            sender()
                .deliver(&envelope(&format!("http://{address}/")))
                .await,
            Ok(expected)
        );
        assert!(fetched.load(Ordering::Relaxed) < FETCHED_MAX, "{status}");
    }
}

#[tokio::test]
async fn a_secret_in_an_answer_is_masked() {
    let (address, _got) = receiver((StatusCode::UNAUTHORIZED, format!("expected {SECRET}"))).await;
    let delivered = sender()
        .deliver(&envelope(&format!("http://{address}/")))
        .await
        .unwrap();
    let answer = "expected [secret]".to_owned();
    assert_eq!(
        delivered,
        Delivered::Refused {
            status: 401,
            answer,
            retry_after: None
        }
    );
}

type Trial = JoinHandle<Result<Delivered, Failure>>;

/// Starts a delivery, and returns when the receiver says that it has it.
async fn begin(address: SocketAddr, mut arrived: mpsc::Receiver<()>) -> Trial {
    let trial = tokio::spawn(async move {
        sender()
            .deliver(&envelope(&format!("http://{address}/")))
            .await
    });
    arrived.recv().await.unwrap();
    trial
}

/// Stops the clock, moves it to just before and just after the end of the attempt, and returns what came of it.
async fn after_its_time(mut trial: Trial) -> Result<Delivered, Failure> {
    tokio::time::pause();
    tokio::time::advance(TRY_TIMEOUT - Duration::from_secs(5)).await;
    tokio::task::yield_now().await;
    assert!(!trial.is_finished());
    // An attempt without an end would hang; a stopped clock runs on by itself when everything waits.
    tokio::time::timeout(TRY_TIMEOUT, &mut trial)
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn an_answer_that_never_begins_is_given_up() {
    let (tell, arrived) = mpsc::channel(1);
    let address = serve(async move |_: Request| {
        tell.send(()).await.unwrap();
        std::future::pending::<StatusCode>().await
    })
    .await;
    let trial = begin(address, arrived).await;
    let failure = after_its_time(trial).await.unwrap_err();
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Network, CallEffect::Maybe),
        "{}",
        failure.message
    );
    assert!(
        failure.message.contains("no answer in time"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn an_answer_that_stalls_is_known_by_its_status() {
    let (tell, arrived) = mpsc::channel(1);
    let address = serve(async move |_: Request| {
        // The body is asked for only after the status was written.
        let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b"so far")) });
        let stalled = stream::once(async move {
            tell.send(()).await.unwrap();
            std::future::pending().await
        });
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            Body::from_stream(first.chain(stalled)),
        )
    })
    .await;
    let trial = begin(address, arrived).await;
    let answer = "so far".to_owned();
    assert_eq!(
        after_its_time(trial).await,
        Ok(Delivered::Refused {
            status: 500,
            answer,
            retry_after: None
        })
    );
}
