//! Figures for Prometheus, served at /metrics.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use zx1_market::Case;

type Labels = Vec<(&'static str, String)>;

/// All figures. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    transitions: Family<Labels, Counter>,
    entries: Counter,
    requests: Family<Labels, Counter>,
    /// How long requests take, in seconds.
    pub(crate) seconds: Histogram,
    /// Streams that are open.
    pub(crate) streams: Gauge<i64, AtomicI64>,
    /// Streams that were dropped because their reader was slow.
    pub(crate) dropped: Counter,
    /// Connections that were closed because their reader took nothing.
    pub(crate) cut: Counter,
    /// Connections that are open.
    pub(crate) connections: Gauge<i64, AtomicI64>,
    /// Payouts that the escrow was told of.
    pub(crate) settlements: Counter,
    /// Decisions that the escrow did not take at once.
    pub(crate) escrow_errors: Counter,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::with_prefix("fix_market");
        let transitions = Family::<Labels, Counter>::default();
        registry.register("contracts", "Contracts that came into a state", transitions.clone());
        let entries = Counter::default();
        registry.register("entries", "Entries chained", entries.clone());
        let requests = Family::<Labels, Counter>::default();
        registry.register("requests", "Requests by status", requests.clone());
        let seconds = Histogram::new(exponential_buckets(0.0005, 2.0, 14));
        registry.register("request_seconds", "Time to answer, streams left out", seconds.clone());
        let streams = Gauge::default();
        registry.register("streams", "Open event streams", streams.clone());
        let dropped = Counter::default();
        registry.register("streams_dropped", "Streams dropped because the reader was slow", dropped.clone());
        let cut = Counter::default();
        registry.register(
            "connections_cut",
            "Connections closed because the reader took nothing",
            cut.clone(),
        );
        let connections = Gauge::default();
        registry.register("connections", "Open connections", connections.clone());
        let settlements = Counter::default();
        registry.register("settlements", "Payouts handed to the escrow", settlements.clone());
        let escrow_errors = Counter::default();
        registry.register(
            "escrow_errors",
            "Decisions that the escrow refused for now",
            escrow_errors.clone(),
        );
        Metrics {
            registry: Arc::new(registry),
            transitions,
            entries,
            requests,
            seconds,
            streams,
            dropped,
            cut,
            connections,
            settlements,
            escrow_errors,
        }
    }
}

impl Metrics {
    pub(crate) fn committed(&self, entries: usize, after: &Case, before: Option<&Case>) {
        self.entries.inc_by(entries as u64);
        if before.is_none_or(|before| before.state() != after.state()) {
            self.transitions.get_or_create(&vec![("state", after.state().to_string())]).inc();
        }
    }

    pub(crate) fn request(&self, status: u16) {
        self.requests.get_or_create(&vec![("status", status.to_string())]).inc();
    }

    /// In the text format of OpenMetrics.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut out, &self.registry);
        out
    }
}
