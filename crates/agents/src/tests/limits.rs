//! Bounds of size and time. No test waits: the clock of the runtime is stopped and moved.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use domain::failure::{Failure, FailureClass, Happened};
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
        (FailureClass::Invalid, Happened::No)
    );
    assert_eq!(got.lock().unwrap().len(), 1);
}

/// A receiver whose answer never ends.
async fn endless(status: StatusCode) -> SocketAddr {
    serve(async move |_: Request| {
        let chunks = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 1024])));
        (status, Body::from_stream(chunks))
    })
    .await
}

#[tokio::test]
async fn an_endless_answer_is_read_a_little_way() {
    let address = endless(StatusCode::BAD_GATEWAY).await;
    let delivered = sender()
        .deliver(&envelope(&format!("http://{address}/")))
        .await
        .unwrap();
    let answer = format!("{}…", "x".repeat(199));
    assert_eq!(
        delivered,
        Delivered::Refused {
            status: 502,
            answer,
            retry_after: None
        }
    );
    let address = endless(StatusCode::OK).await;
    assert_eq!(
        sender()
            .deliver(&envelope(&format!("http://{address}/")))
            .await,
        Ok(Delivered::Acknowledged)
    );
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

/// Stops the clock and moves it to just before and just after the end of the try.
async fn let_time_pass(trial: &Trial) {
    tokio::time::pause();
    tokio::time::advance(TRY_TIMEOUT - Duration::from_secs(5)).await;
    tokio::task::yield_now().await;
    assert!(!trial.is_finished());
    tokio::time::advance(Duration::from_secs(5)).await;
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
    let_time_pass(&trial).await;
    let failure = trial.await.unwrap().unwrap_err();
    assert_eq!(
        (failure.class, failure.happened),
        (FailureClass::Network, Happened::Maybe),
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
    let_time_pass(&trial).await;
    let answer = "so far".to_owned();
    assert_eq!(
        trial.await.unwrap(),
        Ok(Delivered::Refused {
            status: 500,
            answer,
            retry_after: None
        })
    );
}
