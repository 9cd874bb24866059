//! Metrics for Prometheus, served at /metrics: requests, what was taken and dropped and why, and libp2p's own.

use crate::facts::Cluster;
use crate::first_peers::FirstPeers;
use crate::judge::Judge;
use crate::registration::Registrar;
use axum::http::HeaderMap;
use axum::response::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::{Arc, OnceLock};
use zx1_mesh::node::{Dropped, Node};
use zx1_server::figures::{self, Figures};

/// All metrics of the node. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    /// Metrics of requests and connections.
    pub http: Figures,
}

/// The registry before the node has started, which adds libp2p's own.
#[derive(Debug)]
pub struct Unfinished {
    /// For the transport.
    pub registry: Registry,
    http: Figures,
    parts: Arc<OnceLock<Parts>>,
}

/// What is counted once the node has started.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Parts {
    pub node: Node,
    /// `None` of a node that only observes.
    pub agent: Option<OfAgent>,
}

/// What is counted of an agent's node.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct OfAgent {
    pub cluster: Arc<Cluster>,
    pub registrar: Arc<Registrar>,
    pub first_peers: Arc<FirstPeers>,
}

impl Unfinished {
    /// With what is counted here.
    pub fn new(judge: Arc<Judge>) -> Self {
        let mut registry = Registry::default();
        let own = figures::of_server(&mut registry, "zx1_node", env!("CARGO_PKG_VERSION"));
        let http = Figures::new(own);
        let parts = Arc::new(OnceLock::new());
        registry.register_collector(Box::new(Mesh { judge, parts: Arc::clone(&parts) }));
        Self { registry, http, parts }
    }

    /// Of the running node.
    pub fn finish(self, parts: Parts) -> Metrics {
        let _ = self.parts.set(parts);
        Metrics { registry: Arc::new(self.registry), http: self.http }
    }
}

impl Metrics {
    /// In the format that a request's headers ask for.
    pub(crate) fn served(&self, request: &HeaderMap) -> Response {
        figures::served(&self.registry, request)
    }
}

/// Counters that the judge and the transport keep themselves.
struct Mesh {
    judge: Arc<Judge>,
    parts: Arc<OnceLock<Parts>>,
}

impl fmt::Debug for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh").finish_non_exhaustive()
    }
}

impl Collector for Mesh {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let tally = self.judge.tally();
        let accepted = ConstCounter::new(tally.accepted);
        let help = "Messages that were taken";
        accepted.encode(encoder.encode_descriptor(
            "zx1_node_messages_accepted",
            help,
            None,
            accepted.metric_type(),
        )?)?;
        let waiting = ConstGauge::new(i64::try_from(tally.waiting).unwrap_or(i64::MAX));
        let help = "Messages that wait for facts about their senders";
        waiting.encode(encoder.encode_descriptor(
            "zx1_node_messages_waiting",
            help,
            None,
            waiting.metric_type(),
        )?)?;
        let known = ConstGauge::new(i64::try_from(tally.known).unwrap_or(i64::MAX));
        let help = "Senders whose facts are known";
        known.encode(encoder.encode_descriptor(
            "zx1_node_senders_known",
            help,
            None,
            known.metric_type(),
        )?)?;
        let help = "Messages that were not taken, by the reason's name";
        let mut refused = encoder.encode_descriptor(
            "zx1_node_messages_refused",
            help,
            None,
            prometheus_client::metrics::MetricType::Counter,
        )?;
        for (name, count) in tally.refused {
            let labels = [("reason", name)];
            ConstCounter::new(count).encode(refused.encode_family(&labels)?)?;
        }
        let Some(Parts { node, agent }) = self.parts.get() else { return Ok(()) };
        if let Some(agent) = agent {
            agent.encode(&mut encoder)?;
        }
        let help = "What the transport dropped, by reason";
        let mut dropped = encoder.encode_descriptor(
            "zx1_node_transport_dropped",
            help,
            None,
            prometheus_client::metrics::MetricType::Counter,
        )?;
        for reason in Dropped::ALL {
            let name = format!("{reason:?}");
            let labels = [("reason", name.as_str())];
            ConstCounter::new(node.counters().dropped(reason)).encode(dropped.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

impl OfAgent {
    fn encode(&self, encoder: &mut DescriptorEncoder) -> Result<(), fmt::Error> {
        let standing = ConstGauge::new(i64::from(self.cluster.check_standing().is_ok()));
        let help = "1 while other nodes take this agent's messages, 0 while it sends nothing";
        standing.encode(encoder.encode_descriptor(
            "zx1_node_standing",
            help,
            None,
            standing.metric_type(),
        )?)?;
        let outdated = ConstGauge::new(i64::from(self.registrar.is_outdated()));
        let help = "1 while the hosted registration file does not name the node's addresses";
        outdated.encode(encoder.encode_descriptor(
            "zx1_node_registration_outdated",
            help,
            None,
            outdated.metric_type(),
        )?)?;
        let searches = ConstCounter::new(self.first_peers.searches());
        let help = "Searches for first peers in the registry";
        searches.encode(encoder.encode_descriptor(
            "zx1_node_registry_searches",
            help,
            None,
            searches.metric_type(),
        )?)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_mesh::counts::Counts;

    #[test]
    fn the_operators_page_explains_every_reason() {
        let page = include_str!("../../../docs/node.md");
        let (refused, dropped) = page.split_once("Of `zx1_node_transport_dropped_total`").unwrap();
        let refused = refused.split_once("\n### Reasons\n").unwrap().1;
        let is_explained = |part: &str, name: &str| {
            let rows = part.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
            rows.flat_map(|cell| cell.split(", ")).any(|word| word == format!("`{name}`"))
        };
        for (name, _) in Counts::default().refusals() {
            assert!(is_explained(refused, name), "docs/node.md does not explain {name}");
        }
        for reason in Dropped::ALL {
            assert!(
                is_explained(dropped, &format!("{reason:?}")),
                "docs/node.md does not explain {reason:?}"
            );
        }
    }
}
