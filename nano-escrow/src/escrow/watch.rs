//! Deposits: seen, confirmed, taken up; excess and late ones go back.

use std::collections::{BTreeSet, HashSet};

use super::EscrowError;
use super::adopt::credit_of;
use super::decide::refundable;
use super::engine::Engine;
use crate::journal::{AccountRow, AccountState, DepositRow, DepositState, rows};
use crate::node::NodeCalls;
use crate::node::rpc::{BlockState as NodeBlock, Receivable};
use crate::{Address, PublicKey, Raw, Subtype};

/// More than this is never asked for at once.
const MAX_RECEIVABLE: u64 = 1000;

impl Engine {
    /// Look for deposits, take up what is confirmed, give back what is too much.
    pub(crate) async fn watch(&self, account: PublicKey) -> Result<(), EscrowError> {
        let _lock = self.lock(account).await;
        self.watch_locked(&account).await
    }

    pub(crate) async fn watch_locked(&self, account: &PublicKey) -> Result<(), EscrowError> {
        self.check_node().await?;
        let row = self.row(account).await?;
        if row.stop.is_some() {
            return Ok(());
        }
        self.find_deposits(&row).await?;
        self.confirm_deposits(&row).await?;
        if self.options.receive_eagerly || is_wallet(&row) {
            self.receive_deposits(account).await?;
        }
        if self.options.refund_automatically {
            self.refund_excess(account).await?;
        }
        Ok(())
    }

    /// Note sends that the node shows and the journal does not know, the largest first, up to the cap.
    async fn find_deposits(&self, row: &AccountRow) -> Result<(), EscrowError> {
        let count = (self.options.max_deposits as u64).saturating_mul(4).clamp(16, MAX_RECEIVABLE);
        let request = Receivable {
            account: Address::from(row.account),
            count,
            threshold: Some(self.options.dust),
            confirmed_only: false,
        };
        let shown = self.node.receivable(request).await?;
        if shown.is_empty() {
            return Ok(());
        }
        let known = {
            let mut conn = self.journal.read().await?;
            rows::deposits(&mut conn, &row.account).await?
        };
        let hashes: HashSet<_> = known.iter().map(|d| d.send_hash).collect();
        let mut fresh = Vec::new();
        for send in shown.into_iter().filter(|s| !hashes.contains(&s.hash)) {
            let (amount, source) = match (send.amount, send.source) {
                (Some(amount), Some(source)) => (amount, source.public_key()),
                _ => match self.node.block_info(send.hash).await? {
                    Some(NodeBlock { amount: Some(amount), account, .. }) => (amount, account.public_key()),
                    _ => continue,
                },
            };
            if amount >= self.options.dust && !amount.is_zero() {
                fresh.push((amount, send.hash, source));
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        fresh.sort_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
        let counted = Raw::checked_sum(known.iter().map(|d| d.credited)).unwrap_or(Raw::MAX);
        let missing = row.expected.map(|e| e.saturating_sub(counted)).filter(|m| !m.is_zero());
        let mut places = self.options.max_deposits.saturating_sub(match is_wallet(row) {
            true => known.iter().filter(|d| d.state != DepositState::Received).count(),
            false => known.len(),
        });
        let now = self.now();
        let mut left_out = false;
        let mut tx = self.journal.begin().await?;
        for (amount, send_hash, source) in fresh {
            // Nobody can keep the real deposit out by filling the places with small ones.
            let fills = row.state == AccountState::Open && missing.is_some_and(|m| amount >= m);
            if places == 0 && !fills {
                left_out = true;
                continue;
            }
            places = places.saturating_sub(1);
            let deposit = DepositRow {
                send_hash,
                account: row.account,
                amount,
                source,
                state: DepositState::Seen,
                credited: Raw::ZERO,
                seen_at: now,
                confirmed_at: None,
                receive_hash: None,
                refund_plan: None,
            };
            rows::insert_deposit(&mut tx, &deposit).await?;
        }
        if left_out && !row.over_cap {
            rows::set_over_cap(&mut tx, &row.account).await?;
        }
        self.journal.commit(tx, "seen").await?;
        if row.height == 0 {
            // The receive's root is the key itself; its work can begin before the send is confirmed (F5).
            self.prefetch(row.head().root(), Subtype::Open);
        }
        Ok(())
    }

    /// Ask for each send that was seen whether it is confirmed. We believe the node about other people's blocks,
    /// but what it says must fit together (decision F4).
    async fn confirm_deposits(&self, row: &AccountRow) -> Result<(), EscrowError> {
        let seen: Vec<DepositRow> = {
            let mut conn = self.journal.read().await?;
            let all = rows::deposits(&mut conn, &row.account).await?;
            all.into_iter().filter(|d| d.state == DepositState::Seen).collect()
        };
        let mut confirmed = Vec::new();
        let mut gone = Vec::new();
        for deposit in seen {
            match self.node.block_info(deposit.send_hash).await? {
                None => gone.push(deposit),
                Some(info) if !info.confirmed => {}
                Some(info) if fits(&info, &deposit) => confirmed.push(deposit),
                Some(_) => {
                    let what = format!("the send {} is not what receivable said", deposit.send_hash);
                    return Err(EscrowError::NodeLies { account: row.account.address(), what });
                }
            }
        }
        if confirmed.is_empty() && gone.is_empty() {
            return Ok(());
        }
        // Larger ones count first; then the order of the hashes: the same on every machine.
        confirmed.sort_by(|a, b| (b.amount, a.send_hash).cmp(&(a.amount, b.send_hash)));
        let now = self.now();
        let mut tx = self.journal.begin().await?;
        for deposit in gone {
            rows::forget_seen(&mut tx, &deposit.send_hash).await?;
        }
        // The account may have been closed since.
        let row = rows::account(&mut tx, &row.account).await?;
        let Some(row) = row else { return Ok(()) };
        for mut deposit in confirmed {
            deposit.state = DepositState::Confirmed;
            deposit.confirmed_at = Some(now);
            deposit.credited = credit_of(&mut tx, &row, &deposit).await?;
            rows::update_deposit(&mut tx, &deposit).await?;
        }
        Ok(self.journal.commit(tx, "confirmed").await?)
    }

    /// One refund per source, when nothing of more weight is on its way (decision E8).
    pub(crate) async fn refund_excess(&self, account: &PublicKey) -> Result<(), EscrowError> {
        let row = self.row(account).await?;
        if row.stop.is_some() || is_wallet(&row) {
            return Ok(());
        }
        let (deposits, busy) = {
            let mut conn = self.journal.read().await?;
            let busy = !rows::pending_blocks(&mut conn, account).await?.is_empty()
                || !rows::legs_without_block(&mut conn, account).await?.is_empty();
            (rows::deposits(&mut conn, account).await?, busy)
        };
        let served: BTreeSet<PublicKey> =
            deposits.iter().filter(|d| d.refund_plan.is_some()).map(|d| d.source).collect();
        let mut wanted: BTreeSet<PublicKey> = BTreeSet::new();
        for deposit in deposits.iter().filter(|d| refundable(d) && !d.source.is_burn()) {
            if !served.contains(&deposit.source) {
                wanted.insert(deposit.source);
            }
        }
        // While sends of the same source are on their way, wait: they go back together.
        for deposit in deposits.iter().filter(|d| d.state == DepositState::Seen) {
            wanted.remove(&deposit.source);
        }
        wanted.retain(|source| {
            let excess = deposits.iter().filter(|d| d.source == *source && refundable(d));
            Raw::checked_sum(excess.map(DepositRow::excess)).is_some_and(|sum| sum >= self.options.dust)
        });
        if busy || wanted.is_empty() {
            return Ok(());
        }
        self.sync(account).await?;
        self.replan(account).await?;
        for source in wanted {
            self.decide_refund(account, source).await?;
        }
        Ok(())
    }
}

/// A nonce of 4 bytes is an index of an ordinary wallet.
pub(crate) fn is_wallet(row: &AccountRow) -> bool {
    row.nonce.len() == 4
}

fn fits(info: &NodeBlock, deposit: &DepositRow) -> bool {
    let contents = info.contents.as_ref();
    info.hash == deposit.send_hash
        && info.account.public_key() == deposit.source
        && info.amount.is_none_or(|a| a == deposit.amount)
        && contents.is_none_or(|c| {
            c.hash() == deposit.send_hash
                && c.block.account == deposit.source
                && c.block.link == deposit.account.0
        })
}
