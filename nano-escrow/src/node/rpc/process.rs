//! The RPC call `process`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Message, NodeError};
use crate::{BlockHash, SignedBlock, Subtype};

/// Publish a block. Never with `force`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// The block, with its work.
    pub block: SignedBlock,
    /// What it should do; the node refuses a block that does something else. A send that is in the ledger
    /// already is then answered with [`Fault::SubtypeBalance`](crate::node::Fault::SubtypeBalance).
    pub subtype: Option<Subtype>,
}

impl Message for Process {
    const ACTION: &'static str = "process";
    /// After any failure `block_info` decides, decision F3.
    const REPEATABLE: bool = false;
    type Answer = BlockHash;

    fn body(&self) -> Map<String, Value> {
        let block = serde_json::to_value(self.block).unwrap_or(Value::Null);
        let mut body = body([("json_block", text(true)), ("block", block)]);
        if let Some(subtype) = self.subtype {
            body.insert("subtype".into(), text(subtype));
        }
        body
    }

    fn check(&self) -> Result<(), NodeError> {
        // A node with work generation on would make it, and nobody would know which.
        match self.block.work {
            Some(_) => Ok(()),
            None => Err(crate::Error::NoWork(self.block.hash()).into()),
        }
    }

    fn read(&self, answer: Value) -> Result<BlockHash, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        let hash: BlockHash = answer.get("hash")?;
        if hash != self.block.hash() {
            return Err(answer.unreadable(format!("the hash is {hash} instead of {}", self.block.hash())));
        }
        Ok(hash)
    }
}
