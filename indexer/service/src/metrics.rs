//! Figures for Prometheus, served at /metrics.

use crate::status::{Phase, Standing};
use axum::http::HeaderMap;
use axum::response::Response;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use zx1_server::figures::{self, Figures, Format, Number};

/// All metrics of the indexer. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    /// Number of events indexed since the start.
    pub events: Counter,
    /// Transactions that vanished and were rolled back.
    pub rolled_back: Counter,
    /// Rounds in which the chain could not be followed.
    pub trouble: Counter,
    /// Number of batches' data that were accepted.
    pub bundles: Counter,
    /// Number of differences that self-audits have found.
    pub differences: Counter,
    /// Metrics of requests, streams and connections.
    pub http: Figures,
    slot: Number,
    finalized: Number,
    chain_slot: Number,
    lag: Number,
    gaps: Number,
    live: Number,
    subscribed: Number,
    nano: Number,
    markets: Number,
    /// Messages of the mesh that were taken.
    pub messages: Counter,
    /// Messages of the mesh that were left out, because there were too many.
    pub messages_left_out: Counter,
    /// Times that messages of the mesh may have been missed.
    pub message_gaps: Counter,
    /// 1 when the observing node answers, or where none is set.
    pub mesh: Number,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut root = Registry::default();
        let registry = figures::of_server(&mut root, "zx1_indexer", env!("CARGO_PKG_VERSION"));
        let http = Figures::new(registry);
        macro_rules! figures {
            ($($name:ident: $what:literal = $value:expr;)*) => {
                $(
                    let $name = $value;
                    registry.register(stringify!($name), $what, $name.clone());
                )*
            };
        }
        figures! {
            events: "Events indexed since the start" = Counter::default();
            rolled_back: "Transactions that vanished and were rolled back" = Counter::default();
            trouble: "Rounds in which the chain could not be followed" = Counter::default();
            bundles: "Batch data taken" = Counter::default();
            differences: "Differences that self-audits found" = Counter::default();
            slot: "Indexed up to this slot" = Number::default();
            finalized_slot: "Compared with the finalized history up to this slot" = Number::default();
            chain_slot: "The node's confirmed slot" = Number::default();
            lag_slots: "Slots behind the node" = Number::default();
            gaps_open: "Open gaps in sequences of events" = Number::default();
            live: "1 when the chain is followed" = Number::default();
            subscribed: "1 when the subscription stands" = Number::default();
            nano_reachable: "1 when the Nano node answers, or where none is set" = Number::default();
            messages: "Messages of the mesh that were taken" = Counter::default();
            messages_left_out: "Messages of the mesh that were left out, as there were too many" = Counter::default();
            message_gaps: "Times that messages of the mesh may have been missed" = Counter::default();
            mesh_reachable: "1 when the observing node answers, or where none is set" = Number::default();
            markets_unreachable: "Markets that did not answer when last asked" = Number::default();
        }
        mesh_reachable.set(1);
        Self {
            registry: Arc::new(root),
            events,
            rolled_back,
            trouble,
            bundles,
            differences,
            http,
            slot,
            finalized: finalized_slot,
            chain_slot,
            lag: lag_slots,
            gaps: gaps_open,
            live,
            subscribed,
            nano: nano_reachable,
            markets: markets_unreachable,
            messages,
            messages_left_out,
            message_gaps,
            mesh: mesh_reachable,
        }
    }
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Metrics {
    /// In the text format of Prometheus.
    pub fn text(&self, standing: &Standing) -> String {
        self.set(standing);
        figures::text(&self.registry, Format::Prometheus)
    }

    /// In the format that a request's headers ask for.
    pub(crate) fn served(&self, standing: &Standing, request: &HeaderMap) -> Response {
        self.set(standing);
        figures::served(&self.registry, request)
    }

    fn set(&self, standing: &Standing) {
        self.slot.set(number(standing.slot));
        self.finalized.set(number(standing.finalized));
        self.chain_slot.set(number(standing.chain_slot));
        self.lag.set(number(standing.lag()));
        self.gaps.set(standing.gaps_open);
        self.live.set(i64::from(standing.phase == Phase::Live));
        self.subscribed.set(i64::from(standing.subscribed));
        self.nano.set(i64::from(standing.nano.unwrap_or(true)));
        let unreachable = standing.markets.iter().filter(|(_, reachable, _)| !reachable).count();
        self.markets.set(number(unreachable as u64));
    }
}
