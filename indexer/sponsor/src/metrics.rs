//! Metrics for Prometheus, served at /metrics.

use axum::http::HeaderMap;
use axum::response::Response;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use zx1_server::figures::{self, Figures};

/// All metrics of the sponsor. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    /// Transactions that were signed.
    pub signed: Counter,
    /// Lamports that signed transactions may cost, before anything is given back.
    pub charged: Counter,
    /// Requests that a cap of the day has refused.
    pub capped: Counter,
    /// Metrics of requests and connections.
    pub http: Figures,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut root = Registry::default();
        let registry = figures::of_server(&mut root, "zx1_sponsor", env!("CARGO_PKG_VERSION"));
        let http = Figures::new(registry);
        let [signed, charged, capped] = [
            ("signed", "Transactions signed"),
            ("charged_lamports", "Lamports charged for signed transactions"),
            ("capped", "Requests that a cap of the day refused"),
        ]
        .map(|(name, help)| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        });
        Self { registry: Arc::new(root), signed, charged, capped, http }
    }
}

impl Metrics {
    /// In the format that a request's headers ask for.
    pub(crate) fn served(&self, request: &HeaderMap) -> Response {
        figures::served(&self.registry, request)
    }
}
