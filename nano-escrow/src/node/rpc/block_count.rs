//! The RPC call `block_count`.

use serde_json::{Map, Value};

use super::read::Answer;
use crate::node::{Message, NodeError};

/// How many blocks does the node know? Shows whether it is in sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockCount;

/// The answer to [`BlockCount`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the ledger.
    pub count: u64,
    /// Waiting for others that are missing.
    pub unchecked: u64,
    /// Confirmed for ever.
    pub cemented: u64,
}

impl Message for BlockCount {
    const ACTION: &'static str = "block_count";
    type Answer = Counts;

    fn body(&self) -> Map<String, Value> {
        Map::new()
    }

    fn read(&self, answer: Value) -> Result<Counts, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        Ok(Counts {
            count: answer.get("count")?,
            unchecked: answer.maybe("unchecked")?.unwrap_or(0),
            cemented: answer.maybe("cemented")?.unwrap_or(0),
        })
    }
}
