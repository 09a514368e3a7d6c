//! Tracks whether a connection is being answered: from a request until the last byte of its answer is written, even to a slow reader.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http_body_util::BodyExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// How long a client may read nothing of an answer before its connection counts as idle: a slow line takes something
/// within seconds, and a client that reads nothing keeps no place.
const READ_WITHIN: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
enum ConnectionActivity {
    /// There is no request.
    #[default]
    Nothing,
    /// A request is being answered.
    Answering,
    /// The answer is whole, and not all of it is written; since when nothing was.
    Writing(Instant),
}

/// What a connection is doing. Clones are of the same one.
#[derive(Debug, Clone, Default)]
pub(super) struct Busy(Arc<Mutex<ConnectionActivity>>);

/// A request that is being answered, until it is dropped.
pub(super) struct Answering(Busy);

impl Busy {
    /// Whether a request is being answered, or its answer read.
    pub(super) fn is_busy(&self) -> bool {
        match *self.doing() {
            ConnectionActivity::Nothing => false,
            ConnectionActivity::Answering => true,
            ConnectionActivity::Writing(since) => since.elapsed() < READ_WITHIN,
        }
    }

    /// Whether both are of one connection.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A request came.
    pub(super) fn answering(&self) -> Answering {
        *self.doing() = ConnectionActivity::Answering;
        Answering(self.clone())
    }

    /// Records a write: all of the buffer, or a part of it.
    fn written(&self, all: bool) {
        let mut doing = self.doing();
        if let ConnectionActivity::Writing(since) = &mut *doing {
            *since = Instant::now();
            if all {
                *doing = ConnectionActivity::Nothing;
            }
        }
    }

    fn doing(&self) -> MutexGuard<'_, ConnectionActivity> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answering {
    /// The connection counts as busy until the end of the answer's body.
    pub(super) fn with(self, answer: Response) -> Response {
        answer.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _until_the_end = &self;
                frame
            }))
        })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        *self.0.doing() = ConnectionActivity::Writing(Instant::now());
    }
}

/// A socket that reports when everything is written.
pub(super) struct FlushNotifier<S> {
    pub(super) socket: S,
    pub(super) busy: Busy,
}

impl<S: AsyncRead + Unpin> AsyncRead for FlushNotifier<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FlushNotifier<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.socket).poll_write(context, bytes));
        self.busy.written(false);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.socket).poll_write_vectored(context, bytes));
        self.busy.written(false);
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// Called once nothing is left to be written.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.socket).poll_flush(context));
        self.busy.written(true);
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_keeps_its_place_while_something_of_it_is_read() {
        let busy = Busy::default();
        assert!(!busy.is_busy());
        let answering = busy.answering();
        busy.written(true);
        tokio::time::advance(READ_WITHIN).await;
        assert!(busy.is_busy(), "it is not whole");
        drop(answering);
        tokio::time::advance(READ_WITHIN / 2).await;
        busy.written(false);
        tokio::time::advance(READ_WITHIN / 2).await;
        assert!(busy.is_busy());
        tokio::time::advance(READ_WITHIN / 2).await;
        assert!(!busy.is_busy(), "nobody reads it");
        busy.written(false);
        assert!(busy.is_busy());
        busy.written(true);
        assert!(!busy.is_busy());
    }
}
