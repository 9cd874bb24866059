//! Deposits: seen, confirmed, taken up; excess and late ones go back.

use std::collections::BTreeMap;

use super::adopt::credit_of;
use super::decide::refundable;
use super::engine::Engine;
use super::{EscrowError, plan};
use crate::journal::{AccountRow, AccountState, DepositRow, DepositState, rows};
use crate::node::NodeCalls;
use crate::node::rpc::{BlockState as NodeBlock, Receivable, ReceivableBlock};
use crate::{Address, BlockHash, PublicKey, Raw, Subtype};

/// Number of sends that are asked for at once, beside those that are known.
const AT_ONCE: u64 = 64;

impl Engine {
    /// Look for deposits, take up what is confirmed, give back what is too much.
    pub(crate) async fn watch(&self, account: PublicKey) -> Result<(), EscrowError> {
        let _lock = self.lock(account).await;
        self.watch_locked(&account).await
    }

    pub(crate) async fn watch_locked(&self, account: &PublicKey) -> Result<(), EscrowError> {
        self.watch_from(account, None).await
    }

    /// As [`watch_locked`](Self::watch_locked); with `least`, also what is too small to count or to go back by itself.
    pub(crate) async fn watch_from(
        &self,
        account: &PublicKey,
        least: Option<Raw>,
    ) -> Result<(), EscrowError> {
        self.check_node().await?;
        let Some(row) = self.row_or_offered(account).await? else { return Ok(()) };
        if row.stop.is_some() {
            return Ok(());
        }
        self.find_deposits(&row, least).await?;
        self.confirm_deposits(&row).await?;
        if self.options.receive_eagerly || is_wallet(&row) {
            self.receive_deposits(account).await?;
        }
        if self.options.refund_automatically {
            self.refund_excess(account, None).await?;
        }
        Ok(())
    }

    /// The smallest send to an account that is noted: what counts, or what goes back by itself. So dust makes no row
    /// and no block.
    pub(crate) fn least(&self, expected: Option<Raw>, counted: Raw, closed: bool) -> Raw {
        let Some(expected) = expected else { return self.options.dust };
        let missing = expected.saturating_sub(counted);
        let least = match closed || missing.is_zero() {
            true => self.options.refund_min,
            false => self.options.refund_min.min(plan::least_part(missing)),
        };
        least.max(self.options.dust)
    }

    /// Note sends that the node shows and the journal does not know. Whatever else lies there, what fills the account
    /// is found: it is asked for by its size.
    pub(crate) async fn find_deposits(
        &self,
        row: &AccountRow,
        least: Option<Raw>,
    ) -> Result<(), EscrowError> {
        let known = {
            let mut conn = self.journal.read().await?;
            rows::deposits(&mut conn, &row.account).await?
        };
        let counted = Raw::checked_sum(known.iter().map(|d| d.credited)).unwrap_or(Raw::MAX);
        let closed = row.state == AccountState::Closed;
        let least = least.unwrap_or_else(|| self.least(row.expected, counted, closed));
        let waiting = known.iter().filter(|d| d.state != DepositState::Received).count() as u64;
        let mut requests = vec![(least, waiting.saturating_add(AT_ONCE))];
        let missing = row.expected.map_or(Raw::ZERO, |e| e.saturating_sub(counted));
        if !closed && missing > least {
            requests.push((missing, AT_ONCE));
        }
        let mut shown: BTreeMap<BlockHash, ReceivableBlock> = BTreeMap::new();
        for (threshold, count) in requests {
            let request = Receivable {
                account: Address::from(row.account),
                count,
                threshold: Some(threshold),
                sorted: true,
                confirmed_only: false,
            };
            shown.extend(self.node.receivable(request).await?.into_iter().map(|send| (send.hash, send)));
        }
        for deposit in &known {
            shown.remove(&deposit.send_hash);
        }
        let mut fresh = Vec::new();
        for send in shown.into_values() {
            let (amount, source) = match (send.amount, send.source) {
                (Some(amount), Some(source)) => (amount, source.public_key()),
                _ => match self.node.block_info(send.hash).await? {
                    Some(NodeBlock { amount: Some(amount), account, .. }) => (amount, account.public_key()),
                    _ => continue,
                },
            };
            if amount >= least && !amount.is_zero() {
                fresh.push((amount, send.hash, source));
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        fresh.sort_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
        // Where any amount counts, the number of deposits is what bounds the work; else their size does.
        let mut places = match row.expected {
            Some(_) => usize::MAX,
            None if is_wallet(row) => self.options.max_deposits.saturating_sub(waiting as usize),
            None => self.options.max_deposits.saturating_sub(known.len()),
        };
        let now = self.now();
        let mut left_out = false;
        let mut tx = self.journal.begin().await?;
        for (amount, send_hash, source) in fresh {
            if places == 0 {
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
    pub(crate) async fn confirm_deposits(&self, row: &AccountRow) -> Result<(), EscrowError> {
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

    /// Give excess back, one refund for each source, when nothing of more weight is on its way (decisions E8, F8).
    /// `asked` is the least sum that somebody has asked for. Answers the number of refunds.
    pub(crate) async fn refund_excess(
        &self,
        account: &PublicKey,
        asked: Option<Raw>,
    ) -> Result<usize, EscrowError> {
        let row = self.row(account).await?;
        if row.stop.is_some() || is_wallet(&row) {
            return Ok(0);
        }
        let (deposits, busy) = {
            let mut conn = self.journal.read().await?;
            let busy = !rows::pending_blocks(&mut conn, account).await?.is_empty()
                || !rows::legs_without_block(&mut conn, account).await?.is_empty();
            (rows::deposits(&mut conn, account).await?, busy)
        };
        if busy && asked.is_none() {
            return Ok(0);
        }
        let least = asked.unwrap_or(self.options.refund_min);
        let mut sums: BTreeMap<PublicKey, Raw> = BTreeMap::new();
        for deposit in deposits.iter().filter(|d| refundable(d) && !d.source.is_burn()) {
            let sum = sums.entry(deposit.source).or_default();
            *sum = sum.checked_add(deposit.excess()).unwrap_or(Raw::MAX);
        }
        sums.retain(|_, sum| *sum >= least && !sum.is_zero());
        // While sends of the same source are on their way, wait: they go back together.
        for deposit in deposits.iter().filter(|d| d.state == DepositState::Seen) {
            sums.remove(&deposit.source);
        }
        if sums.is_empty() {
            return Ok(0);
        }
        self.sync(account).await?;
        self.replan(account).await?;
        let mut wanted: Vec<(PublicKey, Raw)> = sums.into_iter().collect();
        wanted.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
        let mut decided = 0;
        for (source, _) in wanted {
            decided += usize::from(self.decide_refund(account, source, asked).await?.is_some());
        }
        Ok(decided)
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
