//! Connections that can be broken off: what a client sees when the network, the node or a proxy dies.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// How many more bytes a connection may send before it breaks.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<AtomicI64>);

impl Gate {
    fn open() -> Gate {
        Gate(Arc::new(AtomicI64::new(i64::MAX)))
    }

    /// Break the connection as soon as it has sent so many more bytes.
    pub(crate) fn shut_after(&self, bytes: usize) {
        self.0.store(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    fn left(&self) -> usize {
        usize::try_from(self.0.load(Ordering::SeqCst)).unwrap_or(0)
    }

    fn spend(&self, bytes: usize) {
        if self.0.load(Ordering::SeqCst) != i64::MAX {
            self.0.fetch_sub(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::SeqCst);
        }
    }
}

/// A connection behind its gate.
#[derive(Debug)]
pub(crate) struct Door {
    stream: TcpStream,
    gate: Gate,
}

/// Opens and closes the node's doors.
#[derive(Debug)]
pub(crate) struct Doors(pub(crate) TcpListener);

impl Listener for Doors {
    type Io = Door;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Door, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.0).await;
        // Small answers should not wait for more.
        let _ = stream.set_nodelay(true);
        (Door { stream, gate: Gate::open() }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Doors>> for Gate {
    fn connect_info(stream: IncomingStream<'_, Doors>) -> Gate {
        stream.io().gate.clone()
    }
}

impl AsyncRead for Door {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Door {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let left = self.gate.left();
        if left == 0 {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let part = buf.get(..left).unwrap_or(buf);
        let written = std::task::ready!(Pin::new(&mut self.stream).poll_write(cx, part))?;
        self.gate.spend(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
