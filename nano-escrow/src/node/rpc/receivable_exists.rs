//! The RPC call `receivable_exists`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::BlockHash;
use crate::node::{Fault, Message, NodeError};

/// Does this send still wait to be received?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivableExists {
    /// Hash of the sending block.
    pub hash: BlockHash,
    /// Only if it is confirmed.
    pub confirmed_only: bool,
}

impl Message for ReceivableExists {
    const ACTION: &'static str = "receivable_exists";
    type Answer = bool;

    fn body(&self) -> Map<String, Value> {
        body([("hash", text(self.hash)), ("include_only_confirmed", text(self.confirmed_only))])
    }

    fn read(&self, answer: Value) -> Result<bool, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        answer.need("exists")?;
        answer.flag("exists")
    }

    fn refused(&self, fault: Fault) -> Result<bool, NodeError> {
        match fault {
            Fault::BlockNotFound => Ok(false),
            fault => Err(NodeError::Refused { action: Self::ACTION, fault }),
        }
    }
}
