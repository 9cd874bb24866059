//! The RPC call `work_generate`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Message, NodeError};
use crate::{BlockHash, Work};

/// Let somebody else compute work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkGenerate {
    /// Root that the work is for.
    pub root: BlockHash,
    /// Threshold that the work must reach.
    pub difficulty: u64,
    /// Whether the node may ask its own work peers.
    pub use_peers: bool,
}

impl Message for WorkGenerate {
    const ACTION: &'static str = "work_generate";
    /// The answer is not checked here; [`crate::work`] does.
    type Answer = Work;

    fn body(&self) -> Map<String, Value> {
        let mut body =
            body([("hash", text(self.root)), ("difficulty", text(format_args!("{:016x}", self.difficulty)))]);
        if self.use_peers {
            body.insert("use_peers".into(), text(true));
        }
        body
    }

    fn read(&self, answer: Value) -> Result<Work, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        // Some work servers leave out leading zeros.
        Ok(Work(answer.hex64("work")?))
    }
}
