//! Figures for Prometheus: what every server counts, and their text.

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicI64;

/// Names and values that tell figures of one name apart.
pub type Labels = Vec<(&'static str, String)>;
/// A figure that rises and falls.
pub type Number = Gauge<i64, AtomicI64>;

/// What every server counts of its requests, streams and connections. Clones share the figures.
#[derive(Debug, Clone)]
pub struct Figures {
    requests: Family<Labels, Counter>,
    /// How long requests take, in seconds; streams are left out.
    pub seconds: Histogram,
    /// Streams that are open.
    pub streams: Number,
    /// Streams that were dropped because their reader was slow.
    pub dropped: Counter,
    /// Connections that are open.
    pub connections: Number,
    /// Connections that were closed because their reader took nothing.
    pub cut: Counter,
}

impl Figures {
    /// New ones, registered.
    pub fn new(registry: &mut Registry) -> Figures {
        let figures = Figures {
            requests: Family::default(),
            // From 0.2 ms to 6.6 s.
            seconds: Histogram::new(exponential_buckets(0.0002, 2.0, 16)),
            streams: Number::default(),
            dropped: Counter::default(),
            connections: Number::default(),
            cut: Counter::default(),
        };
        let Figures { requests, seconds, streams, dropped, connections, cut } = figures.clone();
        registry.register("requests", "Requests by status", requests);
        registry.register("request_seconds", "Time to answer, streams left out", seconds);
        registry.register("streams", "Open event streams", streams);
        registry.register("streams_dropped", "Streams dropped because the reader was slow", dropped);
        registry.register("connections", "Open connections", connections);
        registry.register("connections_cut", "Connections closed because the reader took nothing", cut);
        figures
    }

    /// A request was answered with this status.
    pub fn request(&self, status: u16) {
        self.requests.get_or_create(&vec![("status", status.to_string())]).inc();
    }
}

/// The figures in the text format of OpenMetrics.
pub fn text(registry: &Registry) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut out, registry);
    out
}
