//! The RPC call `account_info`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Fault, Message, NodeError};
use crate::{Address, BlockHash, Head, Raw};

/// How does an account's chain stand?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountInfo {
    /// Account to ask about.
    pub account: Address,
}

/// The answer to [`AccountInfo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountState {
    /// The last block, confirmed or not.
    pub frontier: BlockHash,
    /// The first block.
    pub open_block: BlockHash,
    /// Balance after the last block.
    pub balance: Raw,
    /// Who votes with it.
    pub representative: Address,
    /// Number of blocks.
    pub block_count: u64,
    /// 0, 1 or 2: the last epoch that the account has seen. Below 2 every block needs
    /// [`WorkKind::OldAccount`](crate::WorkKind::OldAccount).
    pub account_version: u32,
    /// Unix seconds of the last change, by the node's clock.
    pub modified: u64,
    /// What waits, confirmed or not.
    pub receivable: Option<Raw>,
    /// What is confirmed of it.
    pub confirmed: ConfirmedState,
}

/// The confirmed part of an account's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConfirmedState {
    /// Number of confirmed blocks.
    pub height: u64,
    /// The last confirmed block.
    pub frontier: Option<BlockHash>,
    /// Balance after it.
    pub balance: Option<Raw>,
    /// What waits in confirmed sends.
    pub receivable: Option<Raw>,
}

impl AccountState {
    /// What the next block is built on.
    pub fn head(&self, account: Address) -> Head {
        Head {
            account: account.public_key(),
            frontier: self.frontier,
            balance: self.balance,
            representative: self.representative.public_key(),
        }
    }
}

impl Message for AccountInfo {
    const ACTION: &'static str = "account_info";
    /// `None`: the account has no blocks; money may still wait for it.
    type Answer = Option<AccountState>;

    fn body(&self) -> Map<String, Value> {
        body([
            ("account", text(self.account)),
            ("representative", text(true)),
            ("receivable", text(true)),
            ("weight", text(true)),
            ("include_confirmed", text(true)),
        ])
    }

    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        let frontier = answer.maybe_hash("confirmed_frontier")?;
        let height = answer.maybe("confirmed_height")?;
        Ok(Some(AccountState {
            frontier: answer.get("frontier")?,
            open_block: answer.get("open_block")?,
            balance: answer.get("balance")?,
            representative: answer.get("representative")?,
            block_count: answer.get("block_count")?,
            account_version: answer.maybe("account_version")?.unwrap_or(2),
            modified: answer.maybe("modified_timestamp")?.unwrap_or(0),
            receivable: match answer.maybe("receivable")? {
                None => answer.maybe("pending")?,
                some => some,
            },
            confirmed: ConfirmedState {
                height: match height {
                    None => answer.maybe("confirmation_height")?.unwrap_or(0),
                    Some(height) => height,
                },
                frontier: match frontier {
                    None => answer.maybe_hash("confirmation_height_frontier")?,
                    some => some,
                },
                balance: answer.maybe("confirmed_balance")?,
                receivable: match answer.maybe("confirmed_receivable")? {
                    None => answer.maybe("confirmed_pending")?,
                    some => some,
                },
            },
        }))
    }

    fn refused(&self, fault: Fault) -> Result<Self::Answer, NodeError> {
        match fault {
            Fault::AccountNotFound => Ok(None),
            fault => Err(NodeError::Refused { action: Self::ACTION, fault }),
        }
    }
}
