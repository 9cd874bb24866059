//! The RPC call `blocks_info`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::BlockState;
use super::read::{Answer, body, text, texts};
use crate::BlockHash;
use crate::node::{Message, NodeError};

/// What are these blocks, and who received those that are sends?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlocksInfo {
    /// Hashes of the blocks.
    pub hashes: Vec<BlockHash>,
}

/// The answer to [`BlocksInfo`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlocksFound {
    /// What the node knows.
    pub blocks: BTreeMap<BlockHash, BlockState>,
    /// What it does not know.
    pub unknown: Vec<BlockHash>,
}

impl Message for BlocksInfo {
    const ACTION: &'static str = "blocks_info";
    type Answer = BlocksFound;

    fn body(&self) -> Map<String, Value> {
        body([
            ("json_block", text(true)),
            ("hashes", texts(&self.hashes)),
            ("include_not_found", text(true)),
            ("receive_hash", text(true)),
            ("source", text(true)),
        ])
    }

    fn read(&self, answer: Value) -> Result<BlocksFound, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        let mut found = BlocksFound::default();
        for (hash, entry) in answer.entries("blocks")? {
            let hash = entry.key(hash)?;
            found.blocks.insert(hash, BlockState::read(hash, &entry)?);
        }
        for hash in answer.items("blocks_not_found")? {
            found.unknown.push(hash.parse()?);
        }
        Ok(found)
    }
}
