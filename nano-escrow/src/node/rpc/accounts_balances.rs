//! The RPC call `accounts_balances`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Balance;
use super::read::{Answer, body, text, texts};
use crate::Address;
use crate::node::{Message, NodeError};

/// What do these accounts hold?
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountsBalances {
    /// Accounts to ask about.
    pub accounts: Vec<Address>,
    /// Count confirmed blocks only.
    pub confirmed_only: bool,
}

impl Message for AccountsBalances {
    const ACTION: &'static str = "accounts_balances";
    type Answer = BTreeMap<Address, Balance>;

    fn body(&self) -> Map<String, Value> {
        body([("accounts", texts(&self.accounts)), ("include_only_confirmed", text(self.confirmed_only))])
    }

    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        answer
            .entries("balances")?
            .into_iter()
            .map(|(account, entry)| Ok((entry.key(account)?, Balance::read(&entry)?)))
            .collect()
    }
}
