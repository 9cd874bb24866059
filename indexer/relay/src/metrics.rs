//! Metrics for Prometheus, served at /metrics.

use axum::http::HeaderMap;
use axum::response::Response;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::Arc;
use zx1_server::figures::{self, Figures, Number};

/// All metrics of the relay. Clones share them.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "their descriptions say it")]
pub struct Metrics {
    registry: Arc<Registry>,
    pub connections: Number,
    pub agents: Number,
    pub messages: Counter,
    pub deliveries: Counter,
    pub dropped: Counter,
    pub refused: Counter,
    pub too_slow: Counter,
    pub displaced: Counter,
    pub fanout: Histogram,
    /// Metrics of requests and connections over HTTP.
    pub http: Figures,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut root = Registry::default();
        let registry = figures::of_server(&mut root, "zx1_relay", env!("CARGO_PKG_VERSION"));
        let http = Figures::new(registry);
        let [connections, agents] =
            [("websockets", "Open websockets"), ("agents", "Agents that have identified and are here")].map(
                |(name, help)| {
                    let number = Number::default();
                    registry.register(name, help, number.clone());
                    number
                },
            );
        let [messages, deliveries, dropped, refused, too_slow, displaced] = [
            ("messages", "Messages taken"),
            ("deliveries", "Frames handed to a connection"),
            ("frames_dropped", "Frames of presence and typing that a slow reader did not get"),
            ("refused", "Frames that were refused"),
            ("closed_slow", "Connections closed because their reader was too slow"),
            ("displaced", "Connections whose identity was taken over by its key"),
        ]
        .map(|(name, help)| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        });
        // From 20 us to 0.6 s.
        let fanout = Histogram::new(exponential_buckets(0.000_02, 2.0, 16));
        let help = "Time from a frame to the last reader that was woken for it";
        registry.register("fanout_seconds", help, fanout.clone());
        Self {
            registry: Arc::new(root),
            connections,
            agents,
            messages,
            deliveries,
            dropped,
            refused,
            too_slow,
            displaced,
            fanout,
            http,
        }
    }
}

impl Metrics {
    /// In the format that a request's headers ask for.
    pub(crate) fn served(&self, request: &HeaderMap) -> Response {
        figures::served(&self.registry, request)
    }
}
