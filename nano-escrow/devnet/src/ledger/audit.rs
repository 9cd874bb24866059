//! A second look at the books: recompute from the blocks alone what the ledger keeps beside them.

use std::collections::{BTreeMap, HashMap};

use super::{Entry, Kind, Ledger};
use nano_escrow::{BlockHash, PublicKey, Raw};

/// The result of an audit that found nothing wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// The sum of all balances.
    pub balances: Raw,
    /// The sum of all that is not received.
    pub receivable: Raw,
    /// Blocks in all.
    pub blocks: u64,
    /// Of which final.
    pub confirmed: u64,
}

/// One account as an audit sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountAudit {
    /// Every block from the first to the last.
    pub chain: Vec<Entry>,
    /// Balance of the account, in raw.
    pub balance: Raw,
    /// Sends to it that are not received, by hash.
    pub receivable: BTreeMap<BlockHash, Raw>,
    /// The sum of its sends by receiver.
    pub sent: BTreeMap<PublicKey, Raw>,
    /// The sum of its confirmed sends by receiver.
    pub sent_confirmed: BTreeMap<PublicKey, Raw>,
    /// The sum of what it received.
    pub received: Raw,
}

fn fail<T>(what: String) -> Result<T, String> {
    Err(what)
}

impl Ledger {
    /// Check the whole ledger: every chain linear with rising heights and right deltas, the final part a
    /// prefix, receivables exactly the sends that nothing received, weights exactly the balances, and
    /// `balances + receivables = supply`. The text says what is wrong.
    pub fn audit(&self) -> Result<Audit, String> {
        let mut seen = 0_u64;
        let mut weights: HashMap<PublicKey, Raw> = HashMap::new();
        let mut open_sends: BTreeMap<(PublicKey, BlockHash), Raw> = BTreeMap::new();
        let mut received: HashMap<BlockHash, BlockHash> = HashMap::new();
        let mut balances = Raw::ZERO;
        let mut confirmed = 0_u64;
        for (key, account) in &self.accounts {
            let chain = self.chain(key);
            seen += chain.len() as u64;
            let mut before = Raw::ZERO;
            let mut previous = BlockHash::ZERO;
            for (i, entry) in chain.iter().enumerate() {
                let hash = entry.block.hash();
                if entry.account != *key || entry.height != i as u64 + 1 || entry.block.previous() != previous
                {
                    return fail(format!("the chain of {} is broken at {hash}", key.address()));
                }
                let right = match entry.kind {
                    Kind::Send => before.checked_sub(entry.amount) == Some(entry.balance),
                    Kind::Receive => before.checked_add(entry.amount) == Some(entry.balance),
                    Kind::Change | Kind::Epoch => before == entry.balance && entry.amount.is_zero(),
                };
                if !right {
                    return fail(format!("the balance after {hash} does not follow"));
                }
                if entry.confirmed != (entry.height <= account.confirmed_height) {
                    return fail(format!("the confirmed part of {} has a hole at {hash}", key.address()));
                }
                confirmed += u64::from(entry.confirmed);
                if let Some(destination) = entry.destination() {
                    open_sends.insert((destination, hash), entry.amount);
                }
                if let Some(source) = entry.source() {
                    if received.insert(source, hash).is_some() {
                        return fail(format!("{source} was received twice"));
                    }
                    if entry.confirmed && !self.is_confirmed(&source) {
                        return fail(format!("{hash} is confirmed before its send"));
                    }
                }
                (before, previous) = (entry.balance, hash);
            }
            if account.head != previous
                || account.balance != before
                || account.block_count != chain.len() as u64
                || chain.last().map(|e| e.block.representative()) != Some(account.representative)
            {
                return fail(format!("the account {} does not match its last block", key.address()));
            }
            balances = balances.checked_add(account.balance).ok_or("the balances pass the supply")?;
            if !account.balance.is_zero() {
                let weight = weights.entry(account.representative).or_default();
                *weight = weight.checked_add(account.balance).ok_or("a weight passes the supply")?;
            }
        }
        open_sends.retain(|(_, send), _| !received.contains_key(send));
        if seen != self.blocks.len() as u64 {
            return fail(format!("{seen} blocks are in chains, {} in all", self.blocks.len()));
        }
        if confirmed != self.confirmed {
            return fail(format!("{confirmed} blocks are confirmed, {} are counted", self.confirmed));
        }
        if received != self.received {
            return fail("the receives do not match the blocks".into());
        }
        let kept: BTreeMap<_, _> = self.receivable.iter().map(|(k, r)| (*k, r.amount)).collect();
        if kept != open_sends {
            return fail("the receivables are not exactly the sends that nothing received".into());
        }
        if weights != self.weights {
            return fail("the weights do not match the balances".into());
        }
        let receivable =
            Raw::checked_sum(open_sends.into_values()).ok_or("the receivables pass the supply")?;
        if balances.checked_add(receivable) != Some(Raw::MAX) {
            return fail(format!("{balances} held and {receivable} receivable are not the supply"));
        }
        Ok(Audit { balances, receivable, blocks: seen, confirmed })
    }

    /// One account's blocks and sums.
    pub fn audit_account(&self, key: &PublicKey) -> AccountAudit {
        let chain = self.chain(key);
        let mut audit = AccountAudit {
            balance: self.balance(key),
            receivable: self.receivables(key).map(|(hash, r)| (hash, r.amount)).collect(),
            sent: BTreeMap::new(),
            sent_confirmed: BTreeMap::new(),
            received: Raw::ZERO,
            chain: Vec::new(),
        };
        let add = |sum: &mut Raw, amount: Raw| *sum = Raw(sum.0.saturating_add(amount.0));
        for entry in &chain {
            if let Some(destination) = entry.destination() {
                add(audit.sent.entry(destination).or_default(), entry.amount);
                if entry.confirmed {
                    add(audit.sent_confirmed.entry(destination).or_default(), entry.amount);
                }
            } else if entry.kind == Kind::Receive {
                add(&mut audit.received, entry.amount);
            }
        }
        audit.chain = chain;
        audit
    }
}
