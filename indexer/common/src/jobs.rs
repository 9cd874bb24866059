//! What runs in a server beside its interface, and the order in which all of it ends.

use crate::figures::Figures;
use crate::serve::{Bounds, STOP, serve};
use axum::Router;
use std::future::Future;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Jobs and, once [`Jobs::serve`] was called, the interface.
#[derive(Debug, Default)]
pub struct Jobs {
    /// Cancelled first: streams end, no request is taken any more.
    stopping: CancellationToken,
    /// Cancelled when the last request is answered: jobs end.
    ending: CancellationToken,
    tracker: TaskTracker,
    http: Option<JoinHandle<()>>,
}

impl Jobs {
    /// No jobs at first.
    pub fn new() -> Jobs {
        Jobs::default()
    }

    /// What tells streams and requests that the server is stopping.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// What tells jobs that they must end.
    pub fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    /// Where jobs may put jobs of their own.
    pub fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    /// Begins a job. It gets the token that ends it.
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(&self, job: impl FnOnce(CancellationToken) -> F) {
        self.tracker.spawn(job(self.ending.clone()));
    }

    /// Begins to serve.
    pub fn serve(&mut self, listener: TcpListener, router: Router, bounds: Bounds, figures: Figures) {
        let served = serve(listener, router, bounds, figures, self.stopping.clone());
        self.http = Some(tokio::spawn(served));
    }

    /// Streams end, requests are finished, then the jobs.
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
