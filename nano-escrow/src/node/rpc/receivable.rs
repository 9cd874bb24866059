//! The RPC call `receivable`.

use serde_json::{Map, Value};

use super::read::{Answer, body, text};
use crate::node::{Fault, Message, NodeError};
use crate::{Address, BlockHash, Raw};

/// Asks which sends wait for an account, with their amounts and sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receivable {
    /// The account that would receive.
    pub account: Address,
    /// Maximum number of sends. Which ones these are, if there are more, `sorted` says.
    pub count: u64,
    /// Smallest amount in raw; `None` for sends of any amount.
    pub threshold: Option<Raw>,
    /// Whether the largest come first; without it a node answers in the order of the hashes, which the senders
    /// choose.
    pub sorted: bool,
    /// Whether to leave out sends that are not confirmed. Unconfirmed sends show at once and may still
    /// vanish.
    pub confirmed_only: bool,
}

impl Receivable {
    /// Confirmed sends to `account`, at most 1000.
    pub fn confirmed(account: Address) -> Receivable {
        Receivable { account, count: 1000, threshold: None, sorted: false, confirmed_only: true }
    }

    /// All sends to `account`, at most 1000.
    pub fn all(account: Address) -> Receivable {
        Receivable { confirmed_only: false, ..Receivable::confirmed(account) }
    }
}

/// A send that waits for its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivableBlock {
    /// Hash of the sending block.
    pub hash: BlockHash,
    /// Amount in raw; `None` when the node answered hashes only.
    pub amount: Option<Raw>,
    /// Address that sent it; `None` when the node did not return it.
    pub source: Option<Address>,
}

/// All shapes: `[hash]`, `{hash: amount}`, `{hash: {amount, source}}`, and the three empty ones.
pub(super) fn read_blocks(blocks: &Answer<'_>) -> Result<Vec<ReceivableBlock>, NodeError> {
    let plain = |hash| ReceivableBlock { hash, amount: None, source: None };
    match blocks.value() {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::Array(list) => list.iter().map(|item| Ok(plain(blocks.at(item).parse()?))).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(hash, entry)| {
                let entry = blocks.at(entry);
                let hash = entry.key(hash)?;
                match entry.value() {
                    Value::Object(_) => Ok(ReceivableBlock {
                        hash,
                        amount: Some(entry.get("amount")?),
                        source: entry.maybe("source")?,
                    }),
                    _ => Ok(ReceivableBlock { amount: Some(entry.parse()?), ..plain(hash) }),
                }
            })
            .collect(),
        _ => Err(blocks.unreadable("blocks is neither a list nor an object")),
    }
}

impl Message for Receivable {
    const ACTION: &'static str = "receivable";
    type Answer = Vec<ReceivableBlock>;

    fn body(&self) -> Map<String, Value> {
        let mut body = body([
            ("account", text(self.account)),
            ("count", text(self.count)),
            ("source", text(true)),
            ("include_only_confirmed", text(self.confirmed_only)),
        ]);
        if let Some(threshold) = self.threshold {
            body.insert("threshold".into(), text(threshold));
        }
        if self.sorted {
            body.insert("sorting".into(), text(true));
        }
        body
    }

    fn read(&self, answer: Value) -> Result<Self::Answer, NodeError> {
        let answer = Answer::new(Self::ACTION, &answer);
        match answer.value().get("blocks") {
            None => Err(answer.unreadable("blocks is missing")),
            Some(blocks) => read_blocks(&answer.at(blocks)),
        }
    }

    fn refused(&self, fault: Fault) -> Result<Self::Answer, NodeError> {
        match fault {
            // Some nodes say so for an account that nobody has paid yet.
            Fault::AccountNotFound => Ok(Vec::new()),
            fault => Err(NodeError::Refused { action: Self::ACTION, fault }),
        }
    }
}
