//! The RPC call `account_balance`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Message, NodeError};
use crate::{Address, Raw};

/// What does an account hold, and what waits for it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountBalance {
    /// Account to ask about.
    pub account: Address,
    /// Count confirmed blocks only.
    pub confirmed_only: bool,
}

/// The answer to [`AccountBalance`]; zeros for an account that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Balance {
    /// What it holds.
    pub balance: Raw,
    /// Amount that waits to be received.
    pub receivable: Raw,
}

impl Balance {
    pub(super) fn read(answer: &Answer<'_>) -> Result<Balance, NodeError> {
        Ok(Balance {
            balance: answer.get("balance")?,
            receivable: match answer.maybe("receivable")? {
                None => answer.get("pending")?,
                Some(amount) => amount,
            },
        })
    }
}

impl Message for AccountBalance {
    const ACTION: &'static str = "account_balance";
    type Answer = Balance;

    fn body(&self) -> Map<String, Value> {
        body([("account", text(self.account)), ("include_only_confirmed", text(self.confirmed_only))])
    }

    fn read(&self, answer: Value) -> Result<Balance, NodeError> {
        Balance::read(&Answer::new(Self::ACTION, &answer))
    }
}
