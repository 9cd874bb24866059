//! The RPC call `telemetry`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Message, NodeError};

/// How many blocks has each peer confirmed? Peers say so themselves, about once a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telemetry;

impl Message for Telemetry {
    const ACTION: &'static str = "telemetry";
    /// One number a peer, in no order. Empty without peers.
    type Answer = Vec<u64>;

    fn body(&self) -> Map<String, Value> {
        body([("raw", text(true))])
    }

    fn read(&self, answer: Value) -> Result<Vec<u64>, NodeError> {
        let peers = Answer::new(Self::ACTION, &answer).items("metrics")?;
        // What one peer says wrongly is not the node's fault.
        Ok(peers.iter().filter_map(|peer| peer.get("cemented_count").ok()).collect())
    }
}
