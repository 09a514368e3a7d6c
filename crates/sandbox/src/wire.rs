//! The socket beneath the servers: connections that a fault can cut and that stopping ends.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Cuts one connection: nothing more is written to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cutter {
    cut: Arc<AtomicBool>,
    /// Shared by all connections of a sandbox, set when it stops.
    stopped: Arc<AtomicBool>,
}

impl Cutter {
    /// Drops the connection at its next write.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Release);
    }

    /// Whether it was cut by a fault.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    fn is_over(&self) -> bool {
        self.is_cut() || self.stopped.load(Ordering::Acquire)
    }
}

/// A listener whose connections can be cut.
pub(crate) struct CuttableListener {
    inner: TcpListener,
    stopped: Arc<AtomicBool>,
}

impl CuttableListener {
    pub(crate) fn new(inner: TcpListener, stopped: Arc<AtomicBool>) -> Self {
        Self { inner, stopped }
    }
}

impl Listener for CuttableListener {
    type Io = CuttableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, addr) = Listener::accept(&mut self.inner).await;
        // Small answers follow each other quickly here; waiting to fill packets would slow every test.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "sandbox: cannot set nodelay");
        }
        let cutter = Cutter {
            cut: Arc::default(),
            stopped: Arc::clone(&self.stopped),
        };
        (CuttableStream { stream, cutter }, addr)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.inner.local_addr()
    }
}

/// A connection that fails to write once it is cut.
pub(crate) struct CuttableStream {
    stream: TcpStream,
    cutter: Cutter,
}

impl CuttableStream {
    fn guard(&self) -> io::Result<()> {
        if self.cutter.is_over() {
            Err(io::ErrorKind::ConnectionReset.into())
        } else {
            Ok(())
        }
    }
}

impl AsyncRead for CuttableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.guard()?;
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for CuttableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.guard()?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Cutter {
    fn connect_info(stream: IncomingStream<'_, CuttableListener>) -> Self {
        stream.io().cutter.clone()
    }
}
