//! The RPC call `accounts_frontiers`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::read::{Answer, body, texts};
use crate::node::{Message, NodeError};
use crate::{Address, BlockHash};

/// What are the last blocks of these accounts? Accounts without blocks are missing in the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountsFrontiers {
    /// Accounts to ask about.
    pub accounts: Vec<Address>,
}

impl Message for AccountsFrontiers {
    const ACTION: &'static str = "accounts_frontiers";
    type Answer = BTreeMap<Address, BlockHash>;

    fn body(&self) -> Map<String, Value> {
        body([("accounts", texts(&self.accounts))])
    }

    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        let mut out = BTreeMap::new();
        for (account, entry) in answer.entries("frontiers")? {
            let frontier: BlockHash = entry.parse()?;
            if !frontier.is_zero() {
                out.insert(entry.key(account)?, frontier);
            }
        }
        Ok(out)
    }
}
