//! The body of a delivery. It is read before its sender is verified, so it gets little room and little time.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::WEBHOOK_BODY_BYTES_MAX;

/// Up to so many bytes a body is read without a turn: nearly all deliveries are far shorter.
const SMALL_BYTES_MAX: usize = 1024 * 1024;

/// Maximum number of longer bodies in memory. Others are read on once one of these is done.
const TURNS: usize = 4;

/// How long a body may take: GitHub gives up a delivery after ten seconds.
const WITHIN: Duration = Duration::from_secs(10);

/// Reads bodies, and lets few long ones be read at a time.
#[derive(Debug)]
pub(super) struct Bodies {
    turns: Semaphore,
}

/// A raw body, with its turn if it needed one.
#[derive(Debug)]
pub(super) struct CompleteBody<'a> {
    pub(super) raw: Vec<u8>,
    turn: Option<SemaphorePermit<'a>>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(TURNS),
        }
    }
}

impl Bodies {
    /// The whole body, or the status of its refusal.
    pub(super) async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<CompleteBody<'_>, StatusCode> {
        let length = length(headers);
        if length > WEBHOOK_BODY_BYTES_MAX {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let reading = timeout(WITHIN, self.whole(length, body));
        reading.await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }

    async fn whole(&self, length: usize, mut body: Body) -> Result<CompleteBody<'_>, StatusCode> {
        let mut whole = CompleteBody {
            raw: Vec::new(),
            turn: None,
        };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let size = whole.raw.len() + data.len();
            if size > WEBHOOK_BODY_BYTES_MAX {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            if size > SMALL_BYTES_MAX && whole.turn.is_none() {
                whole.turn = self.turns.acquire().await.ok();
                whole
                    .raw
                    .reserve_exact(length.saturating_sub(whole.raw.len()));
            }
            whole.raw.extend_from_slice(&data);
        }
        Ok(whole)
    }
}

/// How long a body says that it is, in bytes; 0 if it does not say.
fn length(headers: &HeaderMap) -> usize {
    let given = headers.get(CONTENT_LENGTH);
    let text = given.and_then(|given| given.to_str().ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Bytes;
    use futures::channel::mpsc;
    use futures::{SinkExt, StreamExt, poll};

    use super::*;

    const PIECE: usize = 512 * 1024;

    /// A body whose pieces are sent one after the other, as its reader takes them.
    fn slow() -> (mpsc::Sender<Bytes>, Body) {
        let (sender, pieces) = mpsc::channel(0);
        let body = Body::from_stream(pieces.map(Ok::<_, Infallible>));
        (sender, body)
    }

    async fn piece(sender: &mut mpsc::Sender<Bytes>) {
        sender.send(Bytes::from(vec![0; PIECE])).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn few_long_bodies_are_kept_at_a_time_and_the_others_wait_unread() {
        let bodies = Bodies::default();
        let headers = HeaderMap::new();
        let (mut senders, mut reading) = (Vec::new(), Vec::new());
        for _ in 0..TURNS + 1 {
            let (sender, body) = slow();
            senders.push(sender);
            reading.push(Box::pin(bodies.read(&headers, body)));
        }
        for (sender, reading) in senders.iter_mut().zip(&mut reading) {
            for _ in 0..3 {
                let mut sending = Box::pin(piece(sender));
                while poll!(&mut sending).is_pending() && bodies.turns.available_permits() > 0 {
                    assert!(poll!(reading.as_mut()).is_pending());
                }
                assert!(poll!(reading.as_mut()).is_pending());
            }
        }
        assert_eq!(bodies.turns.available_permits(), 0);
        let (mut last, waiting) = (senders.pop().unwrap(), reading.pop().unwrap());
        let mut waiting = waiting;
        assert!(poll!(waiting.as_mut()).is_pending());
        // A short body needs no turn.
        let short = bodies.read(&headers, Body::from("short")).await.unwrap();
        assert_eq!(
            (short.raw.as_slice(), short.turn.is_none()),
            (&b"short"[..], true)
        );
        drop((senders, reading));
        last.close_channel();
        let whole = waiting.await.unwrap();
        assert!(whole.turn.is_some() && whole.raw.len() >= 2 * PIECE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_is_given_up() {
        let bodies = Bodies::default();
        let (_sender, body) = slow();
        let began = tokio::time::Instant::now();
        let refused = bodies.read(&HeaderMap::new(), body).await.unwrap_err();
        assert_eq!(refused, StatusCode::REQUEST_TIMEOUT);
        assert_eq!(began.elapsed(), WITHIN);
    }

    #[tokio::test]
    async fn a_body_that_says_it_is_too_long_is_not_read() {
        let bodies = Bodies::default();
        let (_sender, body) = slow();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_LENGTH, (WEBHOOK_BODY_BYTES_MAX + 1).into());
        let refused = bodies.read(&headers, body).await.unwrap_err();
        assert_eq!(refused, StatusCode::PAYLOAD_TOO_LARGE);
    }
}
