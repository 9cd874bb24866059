//! The chain against the journal: who is ahead, and taking over what is on chain.
//!
//! Blocks that the journal does not know can be there for three reasons: the network has appended an epoch block,
//! the journal is an old copy, or a second instance uses the same seed. All three are adopted: what they have paid
//! is paid, only the rest is planned again. A node cannot invent such a block, since each one must carry a
//! signature of the account's key or of the epoch signer (decision F4).

use super::decide::refundable;
use super::engine::Engine;
use super::{EscrowError, plan};
use crate::block::{EPOCH_1_LINK, EPOCH_2_LINK};
use crate::journal::{
    AccountRow, AccountState, BlockRow, BlockState, DepositRow, DepositState, JournalError, LegRow, Tx, rows,
};
use crate::node::{NodeCalls, rpc::BlockState as NodeBlock};
use crate::{Address, BlockHash, Network, PublicKey, Raw, SignedBlock, Subtype};

/// How the node's chain of an account compares with the journal's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The node and the journal have the same head.
    Level,
    /// The node does not have all of our blocks yet. Deciding is safe: we build on our own head.
    Behind,
    /// Number of foreign blocks that were found and are now in the journal.
    Adopted(usize),
}

/// A block of our account that somebody else has published.
struct Foreign {
    signed: SignedBlock,
    subtype: Subtype,
    amount: Raw,
    confirmed: bool,
    /// Of a receive that the journal has no deposit for: who sent it.
    source: Option<PublicKey>,
}

fn lie(account: &PublicKey, what: impl Into<String>) -> EscrowError {
    EscrowError::NodeLies { account: account.address(), what: what.into() }
}

/// Who signs epoch blocks. Empty where nobody knows: such blocks move no money and are believed.
fn epoch_signers(network: Network, link: &[u8; 32]) -> Vec<PublicKey> {
    match (network, *link) {
        (_, EPOCH_2_LINK) => network.epoch_2_signer().into_iter().collect(),
        // The first epoch was signed by genesis.
        (Network::Dev, EPOCH_1_LINK) => vec![Network::DEV_GENESIS_ACCOUNT],
        (Network::Live, EPOCH_1_LINK) => vec![PublicKey([
            0xe8, 0x92, 0x08, 0xdd, 0x03, 0x8f, 0xbb, 0x26, 0x99, 0x87, 0x68, 0x96, 0x21, 0xd5, 0x22, 0x92,
            0xae, 0x9c, 0x35, 0x94, 0x1a, 0x74, 0x84, 0x75, 0x6e, 0xcc, 0xed, 0x92, 0xa6, 0x50, 0x93, 0xba,
        ])],
        _ => Vec::new(),
    }
}

impl Engine {
    /// Compare the node's frontier with the journal's head, and adopt what is confirmed and unknown. The lock of
    /// the account must be held.
    ///
    /// Fails with 8660 while a foreign block waits for its election, with 8661 when what the node shows does not
    /// hold. Nothing is signed here.
    pub(crate) async fn sync(&self, account: &PublicKey) -> Result<Standing, EscrowError> {
        self.check_node().await?;
        let info = self.node.account_info(Address::from(*account)).await?;
        let row = self.row(account).await?;
        let frontier = info.as_ref().map_or(BlockHash::ZERO, |i| i.frontier);
        if frontier == row.head_hash {
            return match info {
                Some(info) if info.balance != row.head_balance => {
                    Err(lie(account, format!("the balance of block {frontier} is not {}", info.balance)))
                }
                _ => Ok(Standing::Level),
            };
        }
        if frontier.is_zero() {
            return Ok(Standing::Behind);
        }
        let known = {
            let mut conn = self.journal.read().await?;
            rows::block(&mut conn, &frontier).await?
        };
        match known {
            Some(block) if block.account != *account => {
                Err(lie(account, format!("the frontier {frontier} is a block of another account")))
            }
            Some(block) if block.state == BlockState::Dead => Err(lie(
                account,
                format!("the frontier {frontier} lost its place to another confirmed block"),
            )),
            Some(_) => Ok(Standing::Behind),
            None => self.adopt(&row, frontier).await,
        }
    }

    async fn adopt(&self, row: &AccountRow, frontier: BlockHash) -> Result<Standing, EscrowError> {
        let (ancestor, foreign) = self.walk(&row.account, frontier).await?;
        let base = ancestor.as_ref().map_or(0, |a| a.height);
        let rivals: Vec<BlockRow> = {
            let mut conn = self.journal.read().await?;
            let all = rows::blocks(&mut conn, &row.account).await?;
            all.into_iter().filter(|b| b.height > base && b.state != BlockState::Dead).collect()
        };
        let Some(first) = foreign.first() else { return Ok(Standing::Level) };
        let waiting =
            |f: &Foreign| EscrowError::Waiting { account: row.account.address(), block: f.signed.hash() };
        if let Some(ours) = rivals.iter().find(|r| r.state == BlockState::Confirmed) {
            let reason = format!(
                "the node shows block {} as the successor of {}, where {} was confirmed before",
                first.signed.hash(),
                first.signed.block.previous,
                ours.hash
            );
            let error = lie(&row.account, reason.clone());
            self.stop(&row.account, error.code(), &reason).await?;
            return Err(error);
        }
        if !rivals.is_empty() && !first.signed.block.is_epoch_link() {
            // Two blocks of our key in one place: a restored copy or a second instance. Somebody should know.
            let error = waiting(first);
            self.alarm(&row.account, &error).await?;
        }
        let confirmed = foreign.iter().take_while(|f| f.confirmed).count();
        if confirmed == 0 {
            return Err(waiting(first));
        }
        if let Some(ancestor) = ancestor.as_ref().filter(|_| !rivals.is_empty()) {
            // The successor rule: only what the ledger itself puts in our block's place can end it.
            let info = self.node.block_info(ancestor.hash).await?;
            if info.and_then(|i| i.successor) != Some(first.signed.hash()) {
                return Err(waiting(first));
            }
        }
        let taken = foreign.get(..confirmed).unwrap_or_default();
        self.take_over(row, base, &rivals, taken).await?;
        tracing::warn!(account = %row.account.address(), blocks = confirmed, dead = rivals.len(), "adopted");
        match foreign.get(confirmed) {
            Some(next) => Err(waiting(next)),
            None => Ok(Standing::Adopted(confirmed)),
        }
    }

    /// From the frontier back to a block that the journal knows; oldest first. Everything is checked: that each
    /// block has the hash that leads to it, is of this account, and is signed by who may.
    async fn walk(
        &self,
        account: &PublicKey,
        frontier: BlockHash,
    ) -> Result<(Option<BlockRow>, Vec<Foreign>), EscrowError> {
        let mut blocks: Vec<(NodeBlock, SignedBlock)> = Vec::new();
        let mut at = frontier;
        let ancestor = loop {
            if at.is_zero() {
                break None;
            }
            let known = {
                let mut conn = self.journal.read().await?;
                rows::block(&mut conn, &at).await?
            };
            match known {
                Some(block) if block.state == BlockState::Dead => {
                    return Err(lie(
                        account,
                        format!("block {at} lost its place to another confirmed block"),
                    ));
                }
                Some(block) => break Some(block),
                None => {}
            }
            if blocks.len() >= self.options.max_walk {
                return Err(lie(account, format!("more than {} unknown blocks", self.options.max_walk)));
            }
            let info = self.node.block_info(at).await?;
            let info = info.ok_or_else(|| lie(account, format!("it names block {at} but cannot show it")))?;
            let signed = info.contents.ok_or_else(|| lie(account, format!("block {at} has no contents")))?;
            if signed.hash() != at {
                return Err(lie(account, format!("block {at} has other contents than its hash says")));
            }
            if signed.block.account != *account {
                return Err(lie(account, format!("block {at} is of another account")));
            }
            at = signed.block.previous;
            blocks.push((info, signed));
        };
        let mut before = ancestor.as_ref().map_or(Raw::ZERO, |a| a.balance);
        let mut rep = ancestor.as_ref().map_or(PublicKey::BURN, |a| a.rep);
        let mut foreign = Vec::with_capacity(blocks.len());
        for (info, signed) in blocks.into_iter().rev() {
            let block = &signed.block;
            let subtype = block.subtype(before);
            if subtype == Subtype::Epoch {
                let signers = epoch_signers(self.options.network, &block.link);
                let hash = signed.hash().0;
                let ok = signers.is_empty()
                    || signers.iter().any(|s| s.verify_network(&hash, &signed.signature).is_ok());
                if !ok || block.representative != rep {
                    return Err(lie(account, format!("block {} is not the network's", signed.hash())));
                }
            } else if signed.verify_network().is_err() {
                return Err(lie(account, format!("block {} is not signed by the account", signed.hash())));
            }
            let amount = if block.balance < before {
                before.sub(block.balance)?
            } else {
                block.balance.sub(before)?
            };
            let source = match subtype {
                Subtype::Open | Subtype::Receive => self.source_of(block.link_hash()).await?,
                _ => None,
            };
            before = block.balance;
            rep = block.representative;
            foreign.push(Foreign { signed, subtype, amount, confirmed: info.confirmed, source });
        }
        Ok((ancestor, foreign))
    }

    /// Who sent what we received; only asked for sends that the journal does not know.
    async fn source_of(&self, send: BlockHash) -> Result<Option<PublicKey>, EscrowError> {
        let known = {
            let mut conn = self.journal.read().await?;
            rows::deposit(&mut conn, &send).await?
        };
        match known {
            Some(deposit) => Ok(Some(deposit.source)),
            None => Ok(self.node.block_info(send).await?.map(|i| i.account.public_key())),
        }
    }

    /// One transaction: our rivals are dead, the foreign blocks are ours, legs that they did are done.
    async fn take_over(
        &self,
        row: &AccountRow,
        base: u64,
        rivals: &[BlockRow],
        taken: &[Foreign],
    ) -> Result<(), EscrowError> {
        let now = self.now();
        let mut tx = self.journal.begin().await?;
        for rival in rivals {
            rows::set_block_state(&mut tx, &rival.hash, BlockState::Dead, now).await?;
            if matches!(rival.subtype, Subtype::Open | Subtype::Receive)
                && let Some(mut deposit) = rows::deposit(&mut tx, &BlockHash(rival.link)).await?
            {
                deposit.receive_hash = None;
                rows::update_deposit(&mut tx, &deposit).await?;
            }
        }
        // What is confirmed on top of our blocks confirms them too.
        self.confirm_below(&mut tx, &row.account, base + 1, now).await?;
        let mut open: Vec<LegRow> = rows::legs_without_block(&mut tx, &row.account).await?;
        let mut touched = Vec::new();
        let mut last = None;
        for (height, foreign) in (base + 1..).zip(taken) {
            let block = &foreign.signed.block;
            let at = open.iter().position(|leg| {
                leg.link == block.link
                    && leg.is_send == (foreign.subtype == Subtype::Send)
                    && leg.amount == foreign.amount
                    && matches!(foreign.subtype, Subtype::Send | Subtype::Open | Subtype::Receive)
            });
            let leg = at.map(|at| open.remove(at)).map(|leg| (leg.plan, leg.leg));
            touched.extend(leg.map(|l| l.0));
            let adopted = BlockRow {
                hash: foreign.signed.hash(),
                account: row.account,
                height,
                previous: block.previous,
                subtype: foreign.subtype,
                balance: block.balance,
                link: block.link,
                rep: block.representative,
                amount: foreign.amount,
                signature: foreign.signed.signature,
                state: BlockState::Confirmed,
                ours: false,
                leg,
                signed_at: now,
                published_at: Some(now),
                confirmed_at: Some(now),
            };
            rows::insert_block(&mut tx, &adopted).await?;
            match foreign.subtype {
                Subtype::Open | Subtype::Receive => {
                    self.adopt_receive(&mut tx, row, &adopted, foreign.source, now).await?;
                }
                Subtype::Send if leg.is_none() => {
                    touched.extend(self.adopt_refund(&mut tx, row, &adopted, now).await?);
                }
                _ => {}
            }
            last = Some(adopted);
        }
        if let Some(last) = last {
            rows::set_head(&mut tx, &row.account, last.hash, last.balance, last.height).await?;
        }
        for plan in touched {
            if rows::plan_is_confirmed(&mut tx, plan).await? {
                rows::finish_plan(&mut tx, plan, now).await?;
            }
        }
        Ok(self.journal.commit(tx, "adopt").await?)
    }

    async fn adopt_receive(
        &self,
        tx: &mut Tx,
        row: &AccountRow,
        block: &BlockRow,
        source: Option<PublicKey>,
        now: i64,
    ) -> Result<(), EscrowError> {
        let hash = BlockHash(block.link);
        let known = rows::deposit(tx, &hash).await?;
        let is_new = known.is_none();
        let mut deposit = known.unwrap_or(DepositRow {
            send_hash: hash,
            account: row.account,
            amount: block.amount,
            // Nobody to give it back to is better than a wrong one; a refund to the burn account is refused.
            source: source.unwrap_or(PublicKey::BURN),
            state: DepositState::Seen,
            credited: Raw::ZERO,
            seen_at: now,
            confirmed_at: None,
            receive_hash: None,
            refund_plan: None,
        });
        if is_new {
            rows::insert_deposit(tx, &deposit).await?;
        }
        if deposit.state == DepositState::Seen {
            deposit.confirmed_at = Some(now);
            deposit.credited = credit_of(tx, row, &deposit).await?;
        }
        deposit.state = DepositState::Received;
        deposit.receive_hash = Some(block.hash);
        Ok(rows::update_deposit(tx, &deposit).await?)
    }

    /// A send without a leg that gives exactly a source's excess back is that refund.
    async fn adopt_refund(
        &self,
        tx: &mut Tx,
        row: &AccountRow,
        block: &BlockRow,
        now: i64,
    ) -> Result<Option<i64>, EscrowError> {
        let to = PublicKey(block.link);
        let mut deposits = rows::deposits(tx, &row.account).await?;
        deposits.retain(|d| d.source == to && refundable(d));
        deposits.sort_by_key(|d| d.send_hash);
        let sum = Raw::checked_sum(deposits.iter().map(DepositRow::excess));
        let Some(first) = deposits.first().filter(|_| sum == Some(block.amount)) else { return Ok(None) };
        let plan = self.insert_refund(tx, row, first.send_hash, now).await?;
        for deposit in &mut deposits {
            deposit.refund_plan = Some(plan);
            rows::update_deposit(tx, deposit).await?;
        }
        let leg =
            LegRow { plan, leg: 0, account: row.account, is_send: true, link: to.0, amount: block.amount };
        rows::insert_leg(tx, &leg).await?;
        rows::set_block_leg(tx, &block.hash, (plan, 0)).await?;
        Ok(Some(plan))
    }

    /// Sign new blocks for legs whose blocks have died. The lock must be held, and the journal's head be level with
    /// the node's or ahead of it.
    pub(crate) async fn replan(&self, account: &PublicKey) -> Result<(), EscrowError> {
        let waiting = {
            let mut conn = self.journal.read().await?;
            !rows::legs_without_block(&mut conn, account).await?.is_empty()
        };
        if !waiting {
            return Ok(());
        }
        let now = self.now();
        let mut tx = self.journal.begin().await?;
        let row = rows::account(&mut tx, account).await?;
        let Some(row) = row else { return Ok(()) };
        let legs = rows::legs_without_block(&mut tx, account).await?;
        // Receives first: they bring what the sends pay out.
        let (sends, mut ordered): (Vec<LegRow>, Vec<LegRow>) = legs.into_iter().partition(|l| l.is_send);
        ordered.extend(sends);
        match self.sign_legs(&mut tx, &row, &ordered, now).await {
            Ok(_) => Ok(self.journal.commit(tx, "replan").await?),
            Err(EscrowError::Type(error)) => {
                tx.rollback().await?;
                let reason = format!("what is left to pay cannot be paid from what is left: {error}");
                self.stop(account, error.code(), &reason).await?;
                Err(EscrowError::Type(error))
            }
            Err(other) => Err(other),
        }
    }
}

/// What a deposit counts for, given those that count already.
pub(crate) async fn credit_of(
    tx: &mut Tx,
    row: &AccountRow,
    deposit: &DepositRow,
) -> Result<Raw, EscrowError> {
    if row.state == AccountState::Closed || row.payer.is_some_and(|p| p != deposit.source) {
        return Ok(Raw::ZERO);
    }
    let others = rows::deposits(tx, &row.account).await?;
    let others = others.iter().filter(|d| d.send_hash != deposit.send_hash && !d.credited.is_zero());
    let parts = u32::try_from(others.clone().count()).unwrap_or(u32::MAX);
    let credited = Raw::checked_sum(others.map(|d| d.credited));
    let credited = credited.ok_or_else(|| JournalError::Corrupt("the deposits sum to too much".into()))?;
    Ok(plan::credit(row.expected, credited, parts, deposit.amount))
}
