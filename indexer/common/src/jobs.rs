//! What runs in a server beside its interface, and the order in which all of it ends.

use crate::figures::Figures;
use crate::serve::{Bounds, STOP, affordable, serve};
use axum::Router;
use std::future::Future;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The background jobs of a server and, after [`Jobs::serve`], its HTTP interface.
#[derive(Debug, Default)]
pub struct Jobs {
    /// Cancelled first: streams end and no further request is accepted.
    stopping: CancellationToken,
    /// Cancelled after the last request is answered: jobs end.
    ending: CancellationToken,
    tracker: TaskTracker,
    http: Option<JoinHandle<()>>,
}

impl Jobs {
    /// Creates the set without any jobs.
    pub fn new() -> Jobs {
        Jobs::default()
    }

    /// Token that is cancelled when streams and requests must end.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Token that is cancelled when jobs must end.
    pub fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// Tracker for the tasks that jobs spawn themselves.
    pub fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    /// Spawns a job. It receives the token that ends it.
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(&self, job: impl FnOnce(CancellationToken) -> F) {
        self.tracker.spawn(job(self.ending.clone()));
    }

    /// Starts the HTTP interface. It takes no more connections than the process may have open files.
    pub fn serve(&mut self, listener: TcpListener, router: Router, bounds: Bounds, figures: Figures) {
        let bounds = Bounds { connections: affordable(bounds.connections), ..bounds };
        figures.connections_limit.set(i64::try_from(bounds.connections).unwrap_or(i64::MAX));
        let served = serve(listener, router, bounds, figures, self.stopping.clone());
        self.http = Some(tokio::spawn(served));
    }

    /// Stops in order: ends streams, finishes requests, then ends the jobs.
    pub async fn stop(self) {
        self.stopping.cancel();
        if let Some(http) = self.http {
            let _ = http.await;
        }
        self.ending.cancel();
        self.tracker.close();
        if tokio::time::timeout(STOP, self.tracker.wait()).await.is_err() {
            tracing::warn!("jobs that did not end were cut");
        }
    }
}
