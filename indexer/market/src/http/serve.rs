//! Connections: how many, how slow, and how they end.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::timed_io::TimedIo;
use super::{Limits, STOP};
use crate::metrics::Metrics;

/// Whether its reader took nothing for too long.
fn is_cut(error: &hyper::Error) -> bool {
    let io = std::error::Error::source(error).and_then(|source| source.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
}

/// Serve until `stopping`: then no connection is taken any more, and those that are open finish what they
/// answer.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    metrics: Metrics,
    stopping: CancellationToken,
) {
    let seats = Arc::new(Semaphore::new(limits.connections.max(1)));
    let connections = TaskTracker::new();
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
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().oneshot(request)
        });
        let io = TokioIo::new(TimedIo::new(stream, limits.write_time()));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.head_time()).max_buf_size(64 * 1024);
        let connection = http.serve_connection(io, service);
        let (stopping, metrics) = (stopping.clone(), metrics.clone());
        connections.spawn(async move {
            metrics.connections.inc();
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
                    metrics.cut.inc();
                }
                tracing::debug!(%error, "a connection ended");
            }
            metrics.connections.dec();
            drop(seat);
        });
    }
    connections.close();
    if tokio::time::timeout(STOP, connections.wait()).await.is_err() {
        tracing::warn!("connections that did not end were cut");
    }
}
