//! Deciding: one transaction that plans, builds and signs every block of it. Nothing before its commit has touched
//! the network; nothing after it can change what is paid.

use super::engine::{Engine, Lock, check_name, running};
use super::lane::{HOUR, Lane, priority};
use super::plan::{self, AccountLegs, Paid, Step};
use super::views::{self, AccountView, PlanView};
use super::{AccountKey, EscrowError, Settlement};
use crate::journal::{
    AccountRow, AccountState, BlockRow, BlockState, DepositRow, DepositState, JournalError, LegRow, PlanRow,
    Tx, rows,
};
use crate::{Address, BlockHash, PublicKey, Raw, blake2b_256};

/// Deposits are taken up under this kind; the key is the send's hash.
pub(crate) const RECEIVE: &str = "receive";
/// Excess goes back under this kind; the key is the hash of the first deposit of it.
pub(crate) const REFUND: &str = "refund";

impl Engine {
    pub(crate) async fn settle(&self, settlement: &Settlement) -> Result<PlanView, EscrowError> {
        check_name("contract", &settlement.contract, 128)?;
        check_name("kind", &settlement.kind, 64)?;
        if [RECEIVE, REFUND].contains(&settlement.kind.as_str()) {
            let reserved = format!("the kind {:?} is the escrow's own", settlement.kind);
            return Err(EscrowError::BadRequest(reserved));
        }
        let mut accounts: Vec<PublicKey> =
            settlement.accounts.iter().map(|a| a.account.public_key()).collect();
        accounts.sort_unstable();
        accounts.dedup();
        if accounts.is_empty() || accounts.len() != settlement.accounts.len() {
            return Err(EscrowError::BadRequest(format!("{} were named", settlement.accounts.len())));
        }
        let digest = plan::digest(&settlement.accounts);
        if let Some(view) = self.decided(settlement, &digest).await? {
            return Ok(view);
        }
        // Always in the order of the keys, so that two settlements cannot wait for each other.
        let mut locks: Vec<Lock> = Vec::with_capacity(accounts.len());
        for account in &accounts {
            locks.push(self.lock(*account).await);
        }
        if let Some(view) = self.decided(settlement, &digest).await? {
            return Ok(view);
        }
        for account in &accounts {
            let row = self.row(account).await?;
            if row.contract != settlement.contract {
                let contract = settlement.contract.clone();
                return Err(EscrowError::OtherContract { account: row.account.address(), contract });
            }
            running(&row)?;
            self.sync(account).await?;
            self.replan(account).await?;
        }
        let plan = self.decide_settlement(settlement, digest).await?;
        self.prefetch_plan(plan).await;
        self.wake(&accounts, Lane::Payout);
        views::plan(&self.journal, plan).await
    }

    /// The plan that the key has already, refused (8644) when it was asked with other payments.
    async fn decided(
        &self,
        settlement: &Settlement,
        digest: &[u8; 32],
    ) -> Result<Option<PlanView>, EscrowError> {
        let key = settlement.round.to_string();
        let mut conn = self.journal.read().await?;
        match rows::plan_by_key(&mut conn, &settlement.contract, &settlement.kind, &key).await? {
            None => Ok(None),
            Some(plan) if plan.digest == *digest => {
                drop(conn);
                views::plan(&self.journal, plan.id).await.map(Some)
            }
            Some(plan) => {
                Err(EscrowError::OtherLegs { contract: plan.contract, kind: plan.kind, key: plan.key })
            }
        }
    }

    async fn decide_settlement(&self, settlement: &Settlement, digest: [u8; 32]) -> Result<i64, EscrowError> {
        let now = self.now();
        let mut tx = self.journal.begin().await?;
        let plan = PlanRow {
            id: 0,
            contract: settlement.contract.clone(),
            kind: settlement.kind.clone(),
            key: settlement.round.to_string(),
            priority: priority::PAYMENT,
            digest,
            done: false,
            created_at: now,
            done_at: None,
        };
        let plan = rows::insert_plan(&mut tx, &plan).await?;
        let mut next = 0;
        for request in &settlement.accounts {
            let key = request.account.public_key();
            let row = rows::account(&mut tx, &key).await?;
            let row = row.ok_or_else(|| EscrowError::NoAccount(request.account.to_string()))?;
            if row.state == AccountState::Closed {
                return Err(EscrowError::Closed(request.account));
            }
            let legs = self.settlement_legs(&mut tx, plan, &mut next, &row, request).await?;
            self.sign_legs(&mut tx, &row, &legs, now).await?;
            rows::close_account(&mut tx, &key, now).await?;
        }
        if rows::plan_is_confirmed(&mut tx, plan).await? {
            rows::finish_plan(&mut tx, plan, now).await?;
        }
        self.journal.commit(tx, "settle").await?;
        Ok(plan)
    }

    /// Write the legs of one account; answers those that need a block. Payments that are on chain already, because
    /// a backup was restored or another instance made them, take their leg and are not made again.
    async fn settlement_legs(
        &self,
        tx: &mut Tx,
        plan: i64,
        next: &mut i64,
        row: &AccountRow,
        request: &AccountLegs,
    ) -> Result<Vec<LegRow>, EscrowError> {
        let deposits = rows::deposits(tx, &row.account).await?;
        let counted = deposits.iter().filter(|d| d.state != DepositState::Seen);
        let held = Raw::checked_sum(counted.map(|d| d.credited));
        let held = held.ok_or_else(|| JournalError::Corrupt("the deposits sum to too much".into()))?;
        let payments = plan::merge(request, held)?;
        let paid: Vec<Paid> = rows::unplanned_sends(tx, &row.account)
            .await?
            .iter()
            .map(|b| Paid { hash: b.hash, to: PublicKey(b.link), amount: b.amount })
            .collect();
        let matched = plan::match_paid(&payments, &paid);
        if let Some(other) = paid.iter().find(|p| !matched.contains(&Some(p.hash))) {
            return Err(EscrowError::PaidOtherwise {
                account: request.account,
                block: other.hash,
                paid: format!("{} raw to {}", other.amount, other.to.address()),
            });
        }
        let mut legs = Vec::new();
        let mut leg = |is_send, link, amount| {
            let row = LegRow { plan, leg: *next, account: row.account, is_send, link, amount };
            *next += 1;
            row
        };
        for deposit in deposits.iter().filter(|d| {
            d.state == DepositState::Confirmed && d.receive_hash.is_none() && !d.credited.is_zero()
        }) {
            let receive = leg(false, deposit.send_hash.0, deposit.amount);
            rows::insert_leg(tx, &receive).await?;
            legs.push(receive);
        }
        for ((to, amount), found) in payments.iter().zip(matched) {
            let send = leg(true, to.0, *amount);
            rows::insert_leg(tx, &send).await?;
            match found {
                Some(hash) => rows::set_block_leg(tx, &hash, (plan, send.leg)).await?,
                None => legs.push(send),
            }
        }
        Ok(legs)
    }

    /// Build, sign and store the blocks of `legs` on the account's head, and advance it. This is the only place
    /// that signs.
    pub(crate) async fn sign_legs(
        &self,
        tx: &mut Tx,
        row: &AccountRow,
        legs: &[LegRow],
        now: i64,
    ) -> Result<Vec<BlockRow>, EscrowError> {
        if legs.is_empty() {
            return Ok(Vec::new());
        }
        let keypair = self.keys.keypair(&row.nonce);
        let steps: Vec<Step> = legs
            .iter()
            .map(|leg| match leg.is_send {
                true => Step::Send { to: PublicKey(leg.link), amount: leg.amount },
                false => Step::Receive { source: BlockHash(leg.link), amount: leg.amount },
            })
            .collect();
        let mut before = row.head_balance;
        let mut signed = Vec::with_capacity(legs.len());
        let blocks = plan::chain(row.head(), &steps)?;
        for (height, (block, leg)) in (row.height.saturating_add(1)..).zip(blocks.into_iter().zip(legs)) {
            let sealed = block.sign(&keypair)?;
            sealed.verify_strict()?;
            let block_row = BlockRow {
                hash: sealed.hash(),
                account: row.account,
                height,
                previous: block.previous,
                subtype: block.subtype(before),
                balance: block.balance,
                link: block.link,
                rep: block.representative,
                amount: leg.amount,
                signature: sealed.signature,
                state: BlockState::Signed,
                ours: true,
                leg: Some((leg.plan, leg.leg)),
                signed_at: now,
                published_at: None,
                confirmed_at: None,
            };
            rows::insert_block(tx, &block_row).await?;
            if !leg.is_send {
                self.receive_is_signed(tx, &block_row).await?;
            }
            before = block.balance;
            signed.push(block_row);
        }
        if let Some(last) = signed.last() {
            rows::set_head(tx, &row.account, last.hash, last.balance, last.height).await?;
        }
        Ok(signed)
    }

    async fn receive_is_signed(&self, tx: &mut Tx, block: &BlockRow) -> Result<(), EscrowError> {
        let hash = BlockHash(block.link);
        let deposit = rows::deposit(tx, &hash).await?;
        let mut deposit = deposit.ok_or(EscrowError::NoDeposit(hash))?;
        deposit.receive_hash = Some(block.hash);
        Ok(rows::update_deposit(tx, &deposit).await?)
    }

    /// Take up confirmed deposits, one plan each. The lock of the account must be held.
    pub(crate) async fn receive_deposits(&self, account: &PublicKey) -> Result<usize, EscrowError> {
        let row = self.row(account).await?;
        let wanted = {
            let mut conn = self.journal.read().await?;
            rows::deposits(&mut conn, account).await?.iter().any(may_receive)
        };
        if !wanted || row.stop.is_some() {
            return Ok(0);
        }
        self.sync(account).await?;
        // A receive whose block has died has its plan already; it only needs a new block.
        self.replan(account).await?;
        let now = self.now();
        let mut tx = self.journal.begin().await?;
        let row = rows::account(&mut tx, account).await?;
        let Some(row) = row else { return Ok(0) };
        let mut legs = Vec::new();
        let mut deposits = rows::deposits(&mut tx, account).await?;
        deposits.retain(may_receive);
        // The order is that of the hashes, so that a second instance would sign the same blocks.
        deposits.sort_by_key(|d| d.send_hash);
        if deposits.is_empty() {
            return Ok(0);
        }
        for deposit in &deposits {
            let plan = PlanRow {
                id: 0,
                contract: row.contract.clone(),
                kind: RECEIVE.into(),
                key: deposit.send_hash.to_string(),
                priority: priority::RECEIVE,
                digest: blake2b_256(&[&deposit.send_hash.0]),
                done: false,
                created_at: now,
                done_at: None,
            };
            let plan = rows::insert_plan(&mut tx, &plan).await?;
            let (link, amount) = (deposit.send_hash.0, deposit.amount);
            let leg = LegRow { plan, leg: 0, account: *account, is_send: false, link, amount };
            rows::insert_leg(&mut tx, &leg).await?;
            legs.push(leg);
        }
        let blocks = self.sign_legs(&mut tx, &row, &legs, now).await?;
        self.journal.commit(tx, "receive").await?;
        if let Some(last) = blocks.last() {
            self.prefetch_blocks(&blocks);
            // The first payout will follow this block, whatever it is.
            self.prefetch(last.hash, crate::Subtype::Send);
        }
        Ok(blocks.len())
    }

    pub(crate) async fn refund(&self, hash: BlockHash) -> Result<PlanView, EscrowError> {
        let account = {
            let mut conn = self.journal.read().await?;
            rows::deposit(&mut conn, &hash).await?.ok_or(EscrowError::NoDeposit(hash))?.account
        };
        let _lock = self.lock(account).await;
        let row = self.row(&account).await?;
        let deposits = {
            let mut conn = self.journal.read().await?;
            rows::deposits(&mut conn, &account).await?
        };
        let deposit = deposits.iter().find(|d| d.send_hash == hash).ok_or(EscrowError::NoDeposit(hash))?;
        if let Some(plan) = deposit.refund_plan {
            return views::plan(&self.journal, plan).await;
        }
        running(&row)?;
        if !refundable(deposit) {
            return Err(EscrowError::NothingToRefund(hash));
        }
        self.sync(&account).await?;
        self.replan(&account).await?;
        let plan = self.decide_refund(&account, deposit.source, Some(Raw(1))).await?;
        self.wake(&[account], Lane::Refund);
        match plan {
            Some(plan) => views::plan(&self.journal, plan).await,
            None => Err(EscrowError::NothingToRefund(hash)),
        }
    }

    /// One refund for all of a source's excess on the account. `asked` is the least sum that somebody has asked for;
    /// without it there is none below [`Options::refund_min`](super::Options::refund_min) or above the hour's number.
    /// The lock must be held.
    pub(crate) async fn decide_refund(
        &self,
        account: &PublicKey,
        source: PublicKey,
        asked: Option<Raw>,
    ) -> Result<Option<i64>, EscrowError> {
        let now = self.now();
        let least = asked.unwrap_or(self.options.refund_min);
        let mut tx = self.journal.begin().await?;
        if asked.is_none() && rows::refunds_since(&mut tx, now.saturating_sub(HOUR)).await? >= self.refunds()
        {
            return Ok(None);
        }
        let row = rows::account(&mut tx, account).await?;
        let row = row.ok_or_else(|| EscrowError::NoAccount(account.address().to_string()))?;
        let mut deposits = rows::deposits(&mut tx, account).await?;
        deposits.retain(|d| d.source == source && refundable(d));
        deposits.sort_by_key(|d| d.send_hash);
        let sum = Raw::checked_sum(deposits.iter().map(DepositRow::excess));
        let sum = sum.ok_or_else(|| JournalError::Corrupt("the excess sums to too much".into()))?;
        let Some(first) = deposits.first().filter(|_| !sum.is_zero() && sum >= least) else {
            return Ok(None);
        };
        let plan = self.insert_refund(&mut tx, &row, first.send_hash, now).await?;
        let mut legs = Vec::new();
        for deposit in &mut deposits {
            deposit.refund_plan = Some(plan);
            rows::update_deposit(&mut tx, deposit).await?;
            if deposit.receive_hash.is_none() {
                legs.push((false, deposit.send_hash.0, deposit.amount));
            }
        }
        legs.push((true, source.0, sum));
        let mut written = Vec::with_capacity(legs.len());
        for (leg, (is_send, link, amount)) in (0..).zip(legs) {
            let leg = LegRow { plan, leg, account: *account, is_send, link, amount };
            rows::insert_leg(&mut tx, &leg).await?;
            written.push(leg);
        }
        let blocks = self.sign_legs(&mut tx, &row, &written, now).await?;
        self.journal.commit(tx, "refund").await?;
        self.prefetch_blocks(&blocks);
        Ok(Some(plan))
    }

    /// Maximum number of refunds in an hour that nobody has asked for.
    pub(crate) fn refunds(&self) -> i64 {
        i64::from(self.options.refunds_per_hour)
    }

    pub(crate) async fn insert_refund(
        &self,
        tx: &mut Tx,
        row: &AccountRow,
        first: BlockHash,
        now: i64,
    ) -> Result<i64, EscrowError> {
        let plan = PlanRow {
            id: 0,
            contract: row.contract.clone(),
            kind: REFUND.into(),
            key: first.to_string(),
            priority: priority::REFUND,
            digest: blake2b_256(&[&first.0]),
            done: false,
            created_at: now,
            done_at: None,
        };
        Ok(rows::insert_plan(tx, &plan).await?)
    }

    /// Close an account without a settlement: its deposits count no more, so they are excess.
    pub(crate) async fn expire(&self, key: &AccountKey) -> Result<AccountView, EscrowError> {
        if let Some(account) = self.offers.account_of(key) {
            let _lock = self.lock(account).await;
            // Something may have arrived just now; then there is a row.
            if let Some(view) = self.offered_view(&account) {
                self.offers.remove(&account, false);
                self.bell.notify_one();
                return Ok(AccountView { closed: true, ..view });
            }
        }
        let account = views::account(&self.journal, key).await?.address.public_key();
        let _lock = self.lock(account).await;
        let mut tx = self.journal.begin().await?;
        let row = rows::account(&mut tx, &account).await?;
        let row = row.ok_or_else(|| EscrowError::NoAccount(key.to_string()))?;
        let paid = rows::unplanned_sends(&mut tx, &account).await?;
        if let Some(paid) = paid.first() {
            return Err(EscrowError::PaidOtherwise {
                account: Address::from(account),
                block: paid.hash,
                paid: format!("{} raw to {}", paid.amount, PublicKey(paid.link).address()),
            });
        }
        if row.state == AccountState::Closed {
            // Closed without a payment of ours: it expired before. Else it was settled.
            let settled = self.was_settled(&mut tx, &account).await?;
            tx.rollback().await?;
            if settled {
                return Err(EscrowError::Closed(account.address()));
            }
            return views::account_at(&self.journal, account).await;
        }
        for mut deposit in rows::deposits(&mut tx, &account).await? {
            deposit.credited = Raw::ZERO;
            rows::update_deposit(&mut tx, &deposit).await?;
        }
        rows::close_account(&mut tx, &account, self.now()).await?;
        self.journal.commit(tx, "expire").await?;
        self.wake(&[account], Lane::Receive);
        views::account_at(&self.journal, account).await
    }

    async fn was_settled(&self, tx: &mut Tx, account: &PublicKey) -> Result<bool, EscrowError> {
        for deposit in rows::deposits(tx, account).await? {
            if !deposit.credited.is_zero() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn prefetch_blocks(&self, blocks: &[BlockRow]) {
        for block in blocks {
            self.prefetch(block.block().root(), block.subtype);
        }
    }

    /// All roots are known now: compute them side by side.
    async fn prefetch_plan(&self, plan: i64) {
        if !self.options.prefetch_work {
            return;
        }
        let Ok(mut conn) = self.journal.read().await else { return };
        let Ok(legs) = rows::legs_of_plan(&mut conn, plan).await else { return };
        let mut accounts: Vec<PublicKey> = legs.iter().map(|l| l.account).collect();
        accounts.dedup();
        for account in accounts {
            if let Ok(blocks) = rows::pending_blocks(&mut conn, &account).await {
                self.prefetch_blocks(&blocks);
            }
        }
    }
}

fn may_receive(deposit: &DepositRow) -> bool {
    deposit.state == DepositState::Confirmed && deposit.receive_hash.is_none() && !deposit.credited.is_zero()
}

/// Confirmed, not all of it counts, and nobody has given it back yet.
pub(crate) fn refundable(deposit: &DepositRow) -> bool {
    deposit.state != DepositState::Seen && deposit.refund_plan.is_none() && !deposit.excess().is_zero()
}
