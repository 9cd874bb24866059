//! The RPC call `active_difficulty`.

use serde_json::{Map, Value};

use super::read::Answer;
use crate::node::{Message, NodeError};

/// How hard must work be? Deprecated and constant since version 22; only to compare with our own table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveDifficulty;

/// The answer to [`ActiveDifficulty`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difficulty {
    /// For send and change.
    pub minimum: u64,
    /// For receive and open.
    pub receive_minimum: u64,
}

impl Message for ActiveDifficulty {
    const ACTION: &'static str = "active_difficulty";
    type Answer = Difficulty;

    fn body(&self) -> Map<String, Value> {
        Map::new()
    }

    fn read(&self, answer: Value) -> Result<Difficulty, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        Ok(Difficulty {
            minimum: answer.hex64("network_minimum")?,
            receive_minimum: answer.hex64("network_receive_minimum")?,
        })
    }
}
