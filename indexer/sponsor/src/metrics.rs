//! Metrics for Prometheus, served at /metrics.

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
        let mut registry = Registry::with_prefix("zx1_sponsor");
        let http = Figures::new(&mut registry);
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
        Self { registry: Arc::new(registry), signed, charged, capped, http }
    }
}

impl Metrics {
    /// In the text format of OpenMetrics.
    pub fn text(&self) -> String {
        figures::text(&self.registry)
    }
}
