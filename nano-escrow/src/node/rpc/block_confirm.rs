//! The RPC call `block_confirm`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::BlockHash;
use crate::node::{Message, NodeError};

/// Start an election on a block again. No risk: it decides nothing by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockConfirm {
    /// Hash of the block.
    pub hash: BlockHash,
}

impl Message for BlockConfirm {
    const ACTION: &'static str = "block_confirm";
    type Answer = ();

    fn body(&self) -> Map<String, Value> {
        body([("hash", text(self.hash))])
    }

    fn read(&self, answer: Value) -> Result<(), NodeError> {
        Answer::new(Self::ACTION, &answer).need("started").map(drop)
    }
}
