//! What changes the ledger: adding, confirming and rolling back.

use std::collections::HashSet;

use super::{Account, Entry, Kind, Ledger, Receivable};
use crate::Refusal;
use nano_escrow::{BlockHash, PublicKey, Raw, SignedBlock};

/// Why nothing was rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RollbackError {
    /// No such block.
    #[error("the block is not in the ledger")]
    Unknown,
    /// It is final, or something final stands on it.
    #[error("a confirmed block stands in the way")]
    Cemented(BlockHash),
}

impl Ledger {
    /// Check a block and add it. `timestamp` is in seconds since 1970. Refused blocks change nothing.
    pub fn add(&mut self, signed: &SignedBlock, timestamp: u64) -> Result<Entry, Refusal> {
        let verdict = self.verdict(signed, timestamp)?;
        let entry = verdict.entry;
        let hash = signed.hash();
        let b = &signed.block;

        let old = self.accounts.get(&b.account).copied();
        if let Some(previous) = self.blocks.get_mut(&b.previous) {
            previous.successor = hash;
        }
        if let Some(key) = verdict.receives {
            self.receivable.remove(&key);
            self.received.insert(key.1, hash);
        }
        if let Some(destination) = entry.destination() {
            let receivable = Receivable { amount: entry.amount, source: b.account, epoch: entry.epoch };
            self.receivable.insert((destination, hash), receivable);
        }
        self.move_weight(old.map(|a| (a.representative, a.balance)), Some((b.representative, b.balance)));
        self.accounts.insert(
            b.account,
            Account {
                head: hash,
                open_block: old.map_or(hash, |a| a.open_block),
                representative_block: hash,
                representative: b.representative,
                balance: b.balance,
                block_count: entry.height,
                epoch: entry.epoch,
                modified: timestamp,
                confirmed_height: old.map_or(0, |a| a.confirmed_height),
                confirmed_frontier: old.map_or(BlockHash::ZERO, |a| a.confirmed_frontier),
            },
        );
        self.blocks.insert(hash, entry);
        Ok(entry)
    }

    fn move_weight(&mut self, from: Option<(PublicKey, Raw)>, to: Option<(PublicKey, Raw)>) {
        if let Some((representative, amount)) = from {
            let left = self.weight(&representative).saturating_sub(amount);
            if left.is_zero() {
                self.weights.remove(&representative);
            } else {
                self.weights.insert(representative, left);
            }
        }
        if let Some((representative, amount)) = to
            && !amount.is_zero()
        {
            let more = self.weight(&representative).0.saturating_add(amount.0);
            self.weights.insert(representative, Raw(more));
        }
    }

    /// What would become final with a block, in an order in which each stands behind what it depends on: the
    /// blocks before it in its chain, and for every receive the send and the blocks before that. Empty when
    /// the block is unknown or final already.
    pub fn confirmation_order(&self, hash: &BlockHash) -> Vec<BlockHash> {
        let mut order = Vec::new();
        let mut placed = HashSet::new();
        let mut stack = vec![*hash];
        while let Some(top) = stack.last().copied() {
            let open =
                |h: &BlockHash| !placed.contains(h) && self.blocks.get(h).is_some_and(|e| !e.confirmed);
            let Some(entry) = self.blocks.get(&top).filter(|_| open(&top)) else {
                stack.pop();
                continue;
            };
            let previous = entry.block.previous();
            if open(&previous) {
                stack.push(previous);
            } else if let Some(source) = entry.source().filter(open) {
                stack.push(source);
            } else {
                placed.insert(top);
                order.push(top);
                stack.pop();
            }
        }
        order
    }

    /// Make a block final, and before it all that it depends on. Returns what became final; see
    /// [`confirmation_order`](Self::confirmation_order).
    pub fn confirm(&mut self, hash: &BlockHash) -> Vec<BlockHash> {
        let order = self.confirmation_order(hash);
        for hash in &order {
            if let Some((account, height)) = self.blocks.get(hash).map(|e| (e.account, e.height)) {
                self.set_confirmed(hash, &account, height);
            }
        }
        order
    }

    fn set_confirmed(&mut self, hash: &BlockHash, account: &PublicKey, height: u64) {
        if let Some(entry) = self.blocks.get_mut(hash) {
            entry.confirmed = true;
        }
        if let Some(account) = self.accounts.get_mut(account) {
            account.confirmed_height = height;
            account.confirmed_frontier = *hash;
        }
        self.confirmed += 1;
    }

    /// All that must go when a block goes: what follows it, and receives of its sends with what follows them.
    fn dependents(&self, hash: &BlockHash) -> HashSet<BlockHash> {
        let mut seen = HashSet::new();
        let mut queue = vec![*hash];
        while let Some(hash) = queue.pop() {
            let Some(entry) = self.blocks.get(&hash) else { continue };
            if seen.insert(hash) {
                queue.push(entry.successor);
                queue.extend(self.received.get(&hash));
            }
            if queue.is_empty() {
                queue.extend(self.orphaned_openings(&seen).into_iter().map(|(first, _)| first));
            }
        }
        seen
    }

    /// First and last block of accounts that hold nothing but epoch blocks, and that lose their last pending send
    /// with these blocks. Such an account could be opened only because something was pending for it.
    fn orphaned_openings(&self, gone: &HashSet<BlockHash>) -> Vec<(BlockHash, BlockHash)> {
        let sends = gone.iter().filter_map(|hash| self.blocks.get(hash)).filter(|e| e.kind == Kind::Send);
        let opened = sends.filter_map(|send| self.opened_by_epochs_only(&send.destination()?));
        let orphaned = opened.filter(|(account, ..)| {
            let mut pending = self.receivable.keys().filter(|(to, _)| to == account);
            pending.all(|(_, send)| gone.contains(send))
        });
        orphaned.map(|(_, first, head)| (first, head)).filter(|(first, _)| !gone.contains(first)).collect()
    }

    /// The first and the last block of an account that has no other blocks than epoch blocks.
    fn opened_by_epochs_only(&self, account: &PublicKey) -> Option<(PublicKey, BlockHash, BlockHash)> {
        let head = self.accounts.get(account)?.head;
        let (mut first, mut at) = (head, head);
        while let Some(entry) = self.blocks.get(&at) {
            if entry.kind != Kind::Epoch {
                return None;
            }
            first = at;
            at = entry.block.previous();
        }
        Some((*account, first, head))
    }

    /// Take a block back, and all that depends on it, as a node does when a rival wins. Nothing changes when
    /// any of it is final. Returns what was removed, the last first.
    pub fn rollback(&mut self, hash: &BlockHash) -> Result<Vec<BlockHash>, RollbackError> {
        if !self.blocks.contains_key(hash) {
            return Err(RollbackError::Unknown);
        }
        if let Some(final_one) = self.dependents(hash).into_iter().find(|h| self.is_confirmed(h)) {
            return Err(RollbackError::Cemented(final_one));
        }
        let mut removed = Vec::new();
        let mut stack = vec![*hash];
        while let Some(top) = stack.last().copied() {
            let Some(account) = self.blocks.get(&top).map(|e| e.account) else {
                stack.pop();
                continue;
            };
            let Some(head) = self.accounts.get(&account).map(|a| a.head) else { break };
            match self.received.get(&head) {
                Some(receive) => stack.push(*receive),
                None => match self.orphaned_openings(&HashSet::from([head])).first() {
                    Some((_, head)) => stack.push(*head),
                    None => {
                        self.remove_head(&account);
                        removed.push(head);
                    }
                },
            }
        }
        Ok(removed)
    }

    /// Undo the last block of an account. The caller has seen that nothing depends on it.
    fn remove_head(&mut self, key: &PublicKey) {
        let Some(account) = self.accounts.get(key).copied() else { return };
        let Some(entry) = self.blocks.remove(&account.head) else { return };
        let previous = entry.block.previous();
        match entry.kind {
            Kind::Send => {
                if let Some(destination) = entry.destination() {
                    self.receivable.remove(&(destination, account.head));
                }
            }
            Kind::Receive => {
                if let Some(source) = entry.source() {
                    self.received.remove(&source);
                    if let Some(send) = self.blocks.get(&source) {
                        let back =
                            Receivable { amount: send.amount, source: send.account, epoch: send.epoch };
                        self.receivable.insert((*key, source), back);
                    }
                }
            }
            Kind::Change | Kind::Epoch => {}
        }
        let now = self.blocks.get_mut(&previous).map(|p| {
            p.successor = BlockHash::ZERO;
            *p
        });
        let to = now.map(|p| (p.block.representative(), p.balance));
        self.move_weight(Some((account.representative, account.balance)), to);
        match now {
            None => {
                self.accounts.remove(key);
            }
            Some(p) => {
                let account = Account {
                    head: previous,
                    representative_block: previous,
                    representative: p.block.representative(),
                    balance: p.balance,
                    block_count: p.height,
                    epoch: p.epoch,
                    modified: p.timestamp,
                    ..account
                };
                self.accounts.insert(*key, account);
            }
        }
    }
}
