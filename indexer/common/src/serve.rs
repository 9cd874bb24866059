//! Connections: how many, how slow, and how they end.

use crate::figures::{Figures, open_files_limit};
use crate::limits::{Client, Seats};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

/// How long a graceful stop waits for connections, and then again for remaining tasks.
pub const STOP: Duration = Duration::from_secs(10);

/// Limits on connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open connections of one address, of IPv6 of one network of 64 bits.
    pub per_address: usize,
    /// Proxies, which speak for many.
    pub proxies: Vec<IpAddr>,
    /// Timeout for receiving a request's head.
    pub head: Duration,
    /// How long a client may read nothing of an answer before its connection is closed.
    pub write: Duration,
}

/// How many connections a server takes where nothing else is set, and the process may open as many files.
pub const CONNECTIONS: usize = 25_000;
/// What the system may keep of an answer that its reader does not take, in bytes. Ten thousand slow readers
/// must not cost gigabytes, which they could with the system's own bound.
const SEND_BUFFER: u32 = 128 << 10;
/// How many connections wait while none can be accepted.
const BACKLOG: u32 = 1_024;
/// What stores, other connections and the process itself may have open beside connections.
const OTHER_FILES: usize = 256;

/// Listens. The process may then open as many files as the system allows it, since each connection is one.
///
/// # Errors
///
/// The system's.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    raise_files();
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Asks for as many open files as the process can get.
fn raise_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Where it is refused, the limit stays as it is, and connections are bounded by it.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Of so many connections those that the process has files for.
pub(crate) fn affordable(connections: usize) -> usize {
    let files = usize::try_from(open_files_limit()).unwrap_or(usize::MAX);
    let most = files.saturating_sub(OTHER_FILES).max(1);
    if most < connections {
        tracing::info!(
            connections = most,
            files,
            "the limit of open files (ulimit -Hn) allows fewer connections than limits.connections"
        );
    }
    connections.min(most)
}

/// Serves until `stopping`: then no connection is taken any more, and those that are open finish what they
/// answer. Each request carries its peer's address as [`ConnectInfo`].
pub async fn serve(
    listener: TcpListener,
    router: Router,
    bounds: Bounds,
    figures: Figures,
    stopping: CancellationToken,
) {
    let seats = Arc::new(Semaphore::new(bounds.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let addresses = Seats::new(usize::MAX, bounds.per_address.max(1));
    let open = TaskTracker::new();
    loop {
        // A seat first: who finds none waits in the system's queue.
        let seat = tokio::select! {
            () = stopping.cancelled() => break,
            seat = seats.clone().acquire_owned() => seat,
        };
        let Ok(seat) = seat else { break };
        let accepted = tokio::select! {
            () = stopping.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                // Out of files: waiting is all that helps.
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let client = Client::new(peer.ip());
        let is_proxy = bounds.proxies.iter().any(|proxy| proxy.to_canonical() == peer.ip().to_canonical());
        // Whoever opens more than its share is closed at once; the others do not wait for it.
        let Ok(place) = addresses.seat((!is_proxy).then_some(client)) else { continue };
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().oneshot(request)
        });
        let io = TokioIo::new(Patient::new(stream, bounds.write));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(bounds.head).max_buf_size(64 << 10);
        let connection = http.serve_connection(io, service).with_upgrades();
        let (stopping, figures) = (stopping.clone(), figures.clone());
        open.spawn(async move {
            figures.connections.inc();
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stopping.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.as_mut().await
                }
            };
            if let Err(error) = ended {
                if is_cut(&error) {
                    figures.cut.inc();
                }
                tracing::debug!(%error, "a connection ended");
            }
            figures.connections.dec();
            drop((seat, place));
        });
    }
    open.close();
    if tokio::time::timeout(STOP, open.wait()).await.is_err() {
        tracing::warn!("connections that did not end were cut");
    }
}

/// Whether its reader took nothing for too long.
fn is_cut(error: &hyper::Error) -> bool {
    let io = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    io.is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

/// A connection whose reader takes nothing for too long is closed: a client that asks and does not read would
/// hold its stream for ever.
struct Patient {
    io: TcpStream,
    limit: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    fn new(io: TcpStream, limit: Duration) -> Self {
        Self { io, limit, waiting: None }
    }

    fn within<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write(cx, buf);
        self.within(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.within(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.io).poll_flush(cx);
        self.within(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.io).poll_shutdown(cx);
        self.within(cx, poll)
    }
}
