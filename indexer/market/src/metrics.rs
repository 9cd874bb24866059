//! Figures for Prometheus, served at /metrics.

use std::sync::Arc;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use zx1_market::Case;
use zx1_server::figures::{self, Figures, Labels};

/// The counters that `/metrics` serves. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    transitions: Family<Labels, Counter>,
    entries: Counter,
    /// Requests, streams, connections.
    pub(crate) http: Figures,
    /// Payouts that the escrow has received.
    pub(crate) settlements: Counter,
    /// Settlements that the escrow did not accept at once.
    pub(crate) escrow_errors: Counter,
    /// Settlements that wait for an operator.
    pub(crate) dead_letters: Gauge,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::with_prefix("fix_market");
        let transitions = Family::<Labels, Counter>::default();
        registry.register("contracts", "Contracts that came into a state", transitions.clone());
        let entries = Counter::default();
        registry.register("entries", "Entries chained", entries.clone());
        let http = Figures::new(&mut registry);
        let settlements = Counter::default();
        registry.register("settlements", "Payouts handed to the escrow", settlements.clone());
        let escrow_errors = Counter::default();
        registry.register(
            "escrow_errors",
            "Decisions that the escrow refused, for now or for good",
            escrow_errors.clone(),
        );
        let dead_letters = Gauge::default();
        registry.register(
            "dead_letters",
            "Decisions that the escrow refuses for good: fix-server dead-letters",
            dead_letters.clone(),
        );
        let registry = Arc::new(registry);
        Metrics { registry, transitions, entries, http, settlements, escrow_errors, dead_letters }
    }
}

impl Metrics {
    pub(crate) fn committed(&self, entries: usize, after: &Case, before: Option<&Case>) {
        self.entries.inc_by(entries as u64);
        if before.is_none_or(|before| before.state() != after.state()) {
            self.transitions.get_or_create(&vec![("state", after.state().to_string())]).inc();
        }
    }

    /// In the text format of OpenMetrics.
    pub fn text(&self) -> String {
        figures::text(&self.registry)
    }
}
