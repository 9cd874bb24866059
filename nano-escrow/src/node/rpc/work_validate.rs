//! The RPC call `work_validate`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Message, NodeError};
use crate::{BlockHash, Work};

/// Is this work good? Only to compare a node with ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkValidate {
    /// Root that the work is for.
    pub root: BlockHash,
    /// Work to check.
    pub work: Work,
}

/// The answer to [`WorkValidate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkVerdict {
    /// Good for every block.
    pub valid_all: bool,
    /// Good for receive and open.
    pub valid_receive: bool,
    /// Value that the work has.
    pub difficulty: u64,
}

impl Message for WorkValidate {
    const ACTION: &'static str = "work_validate";
    type Answer = WorkVerdict;

    fn body(&self) -> Map<String, Value> {
        body([("hash", text(self.root)), ("work", text(self.work))])
    }

    fn read(&self, answer: Value) -> Result<WorkVerdict, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        Ok(WorkVerdict {
            valid_all: answer.flag("valid_all")?,
            valid_receive: answer.flag("valid_receive")?,
            difficulty: answer.hex64("difficulty")?,
        })
    }
}
