//! The RPC call `accounts_receivable`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ReceivableBlock;
use super::read::{Answer, body, text, texts};
use super::receivable::read_blocks;
use crate::node::{Message, NodeError};
use crate::{Address, Raw};

/// Asks which sends wait for several accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountsReceivable {
    /// The accounts that would receive.
    pub accounts: Vec<Address>,
    /// Maximum number of sends for each account.
    pub count: u64,
    /// Smallest amount in raw; `None` for sends of any amount.
    pub threshold: Option<Raw>,
    /// Whether to leave out sends that are not confirmed.
    pub confirmed_only: bool,
}

impl Message for AccountsReceivable {
    const ACTION: &'static str = "accounts_receivable";
    /// Accounts for which no send waits may be missing.
    type Answer = BTreeMap<Address, Vec<ReceivableBlock>>;

    fn body(&self) -> Map<String, Value> {
        let mut body = body([
            ("accounts", texts(&self.accounts)),
            ("count", text(self.count)),
            ("source", text(true)),
            ("include_only_confirmed", text(self.confirmed_only)),
        ]);
        if let Some(threshold) = self.threshold {
            body.insert("threshold".into(), text(threshold));
        }
        body
    }

    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        answer
            .entries("blocks")?
            .into_iter()
            .map(|(account, blocks)| Ok((blocks.key(account)?, read_blocks(&blocks)?)))
            .collect()
    }
}
