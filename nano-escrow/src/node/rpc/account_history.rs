//! The RPC call `account_history`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Fault, Message, NodeError};
use crate::{Address, BlockHash, Raw, Subtype};

/// Which blocks has an account? Asked in the raw form, so that changes and epoch blocks are there too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountHistory {
    /// Account to ask about.
    pub account: Address,
    /// Maximum number to return; `None` for all.
    pub count: Option<u64>,
    /// Where to begin; `None` for the last block (or the first with `reverse`).
    pub head: Option<BlockHash>,
    /// Whether the oldest comes first.
    pub reverse: bool,
}

impl AccountHistory {
    /// All blocks, oldest first.
    pub fn whole(account: Address) -> AccountHistory {
        AccountHistory { account, count: None, head: None, reverse: true }
    }
}

/// The answer to [`AccountHistory`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The blocks, in the order asked for.
    pub entries: Vec<HistoryEntry>,
    /// Where the next page begins (`previous`, or `next` with `reverse`); `None` at the end.
    pub next: Option<BlockHash>,
}

/// One block of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Hash of the block.
    pub hash: BlockHash,
    /// What it does.
    pub subtype: Option<Subtype>,
    /// The other side: the receiver of a send, the sender of a receive.
    pub account: Option<Address>,
    /// How much it moved.
    pub amount: Option<Raw>,
    /// The balance after it.
    pub balance: Option<Raw>,
    /// Its place in the chain, from 1.
    pub height: u64,
    /// Unix seconds, by the node's clock.
    pub local_timestamp: u64,
    /// Whether the network has decided for it.
    pub confirmed: bool,
}

impl Message for AccountHistory {
    const ACTION: &'static str = "account_history";
    type Answer = History;

    fn body(&self) -> Map<String, Value> {
        let mut body = body([
            ("account", text(self.account)),
            ("count", self.count.map_or_else(|| text(-1), text)),
            ("raw", text(true)),
            ("reverse", text(self.reverse)),
        ]);
        if let Some(head) = self.head {
            body.insert("head".into(), text(head));
        }
        body
    }

    fn read(&self, answer: Value) -> Result<History, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        let mut history = History::default();
        for entry in answer.items("history")? {
            // In the raw form a state block has type "state" and says the rest in subtype.
            let subtype = entry.field("subtype").or_else(|| entry.field("type"));
            history.entries.push(HistoryEntry {
                hash: entry.get("hash")?,
                subtype: subtype.and_then(|s| s.parse().ok()),
                account: entry.field("account").and_then(|a| a.parse().ok()),
                amount: entry.maybe("amount")?,
                balance: entry.maybe("balance")?,
                height: entry.maybe("height")?.unwrap_or(0),
                local_timestamp: entry.maybe("local_timestamp")?.unwrap_or(0),
                confirmed: entry.flag("confirmed")?,
            });
        }
        history.next = answer.maybe_hash(if self.reverse { "next" } else { "previous" })?;
        Ok(history)
    }

    fn refused(&self, fault: Fault) -> Result<History, NodeError> {
        match fault {
            Fault::AccountNotFound => Ok(History::default()),
            fault => Err(NodeError::Refused { action: Self::ACTION, fault }),
        }
    }
}
