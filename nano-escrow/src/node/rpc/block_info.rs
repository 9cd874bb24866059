//! The RPC call `block_info`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Fault, Message, NodeError};
use crate::{Address, BlockHash, Raw, SignedBlock, Subtype};

/// What is this block, and is it confirmed?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockInfo {
    /// Hash of the block.
    pub hash: BlockHash,
}

/// A block in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockState {
    /// Hash of the block.
    pub hash: BlockHash,
    /// In whose chain.
    pub account: Address,
    /// How much it moved.
    pub amount: Option<Raw>,
    /// The balance after it.
    pub balance: Option<Raw>,
    /// Its place in the chain, from 1.
    pub height: u64,
    /// Unix seconds, by the node's clock.
    pub local_timestamp: u64,
    /// The block after it, `None` at the head.
    pub successor: Option<BlockHash>,
    /// Whether the network has decided for it.
    pub confirmed: bool,
    /// What it does; `None` for a block of the time before state blocks.
    pub subtype: Option<Subtype>,
    /// The block itself; `None` for a block of the time before state blocks.
    pub contents: Option<SignedBlock>,
    /// Of a send, with `receive_hash`: the block that received it.
    pub receive_hash: Option<BlockHash>,
    /// Of a receive, with `source`: who sent.
    pub source: Option<Address>,
}

impl BlockState {
    pub(super) fn read(hash: BlockHash, answer: &Answer<'_>) -> Result<BlockState, NodeError> {
        let contents = match answer.field("contents") {
            None => None,
            Some(contents) => {
                // `json_block` makes it an object; without it, or by an older node, it is JSON in a text.
                let parsed;
                let value = match contents.value() {
                    Value::String(text) => {
                        parsed = serde_json::from_str::<Value>(text)
                            .map_err(|e| answer.unreadable(format!("contents: {e}")))?;
                        &parsed
                    }
                    value => value,
                };
                let is_state = value.get("type").and_then(Value::as_str).is_some_and(|t| t == "state");
                if is_state {
                    let block = <SignedBlock as serde::Deserialize>::deserialize(value)
                        .map_err(|e| answer.unreadable(format!("contents: {e}")))?;
                    if block.hash() != hash {
                        return Err(answer.unreadable(format!("the contents hash to {}", block.hash())));
                    }
                    Some(block)
                } else {
                    None
                }
            }
        };
        Ok(BlockState {
            hash,
            account: answer.get("block_account")?,
            amount: answer.maybe("amount")?,
            balance: answer.maybe("balance")?,
            height: answer.maybe("height")?.unwrap_or(0),
            local_timestamp: answer.maybe("local_timestamp")?.unwrap_or(0),
            successor: answer.maybe_hash("successor")?,
            confirmed: answer.flag("confirmed")?,
            // A subtype that is not known, such as "unknown" of a pruned block, is none.
            subtype: answer.field("subtype").and_then(|f| f.parse().ok()),
            contents,
            receive_hash: answer.maybe_hash("receive_hash")?,
            source: answer.field("source_account").and_then(|f| f.parse().ok()),
        })
    }
}

impl Message for BlockInfo {
    const ACTION: &'static str = "block_info";
    /// `None`: the node does not know the block.
    type Answer = Option<BlockState>;

    fn body(&self) -> Map<String, Value> {
        body([("json_block", text(true)), ("hash", text(self.hash))])
    }

    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError> {
        BlockState::read(self.hash, &Answer::new(Self::ACTION, &answer)).map(Some)
    }

    fn refused(&self, fault: Fault) -> Result<Self::Answer, NodeError> {
        match fault {
            Fault::BlockNotFound => Ok(None),
            fault => Err(NodeError::Refused { action: Self::ACTION, fault }),
        }
    }
}
