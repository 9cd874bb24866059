//! Publishing and confirming: the same bytes in the order of the chain until a node says that they are confirmed.
//! This is also the whole of recovery: there is no other path (decision F3).

use std::time::Duration;

use super::EscrowError;
use super::engine::Engine;
use super::lane::{Lane, priority};
use super::views::{self, PlanView};
use crate::journal::{AccountRow, BlockRow, BlockState, DepositState, Tx, rows};
use crate::node::{Fault, NodeCalls, NodeError};
use crate::work::Urgency;
use crate::{Address, BlockHash, PublicKey, Subtype, WorkKind};

/// What a step of [`drive`](super::Escrow::drive) left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Blocks that became confirmed in this step.
    pub confirmed: usize,
    /// Blocks that are decided and not confirmed.
    pub pending: usize,
    /// What holds the account up: number and sentence. A next step may find it gone.
    pub held_up: Option<(u32, String)>,
}

/// What a node knows of one of our blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    No,
    Published,
    Confirmed,
}

/// Why a block cannot go out now.
enum Blocked {
    /// Try again later; nothing is wrong with it.
    Later(EscrowError),
    /// Another block may be in its place: compare the chains.
    Compare(EscrowError),
    /// The node refuses what we have checked: a person must look.
    Stop(u32, String),
}

impl Engine {
    pub(crate) async fn drive(&self, account: PublicKey) -> Result<Progress, EscrowError> {
        let _lock = self.lock(account).await;
        self.drive_locked(&account).await
    }

    pub(crate) async fn drive_locked(&self, account: &PublicKey) -> Result<Progress, EscrowError> {
        let row = self.row(account).await?;
        if let Some(stop) = row.stop {
            let pending = self.pending(account).await?.len();
            return Ok(Progress { confirmed: 0, pending, held_up: Some(stop) });
        }
        self.check_node().await?;
        let orphans = {
            let mut conn = self.journal.read().await?;
            !rows::legs_without_block(&mut conn, account).await?.is_empty()
        };
        if orphans {
            match self.sync(account).await {
                Ok(_) => self.replan(account).await?,
                Err(error) => return self.held_up(account, 0, error).await,
            }
        }
        let blocks = self.pending(account).await?;
        if blocks.is_empty() {
            return Ok(Progress { confirmed: 0, pending: 0, held_up: None });
        }
        let mut states: Vec<(BlockRow, BlockState)> = Vec::new();
        let outcome = self.push(&row, &blocks, &mut states).await;
        let confirmed = self.write_states(&states).await?;
        let error = match outcome {
            Ok(()) => None,
            Err(Blocked::Later(error)) => Some(error),
            Err(Blocked::Stop(code, reason)) => {
                self.stop(account, code, &reason).await?;
                Some(EscrowError::Stopped { account: Address::from(*account), code, reason })
            }
            Err(Blocked::Compare(error)) => match self.sync(account).await {
                // Adopted: the next step signs what is left.
                Ok(super::adopt::Standing::Adopted(_)) => None,
                Ok(_) => {
                    self.alarm(account, &error).await?;
                    Some(error)
                }
                Err(other) => Some(other),
            },
        };
        match error {
            Some(error) => self.held_up(account, confirmed, error).await,
            None => {
                let pending = self.pending(account).await?.len();
                Ok(Progress { confirmed, pending, held_up: None })
            }
        }
    }

    async fn held_up(
        &self,
        account: &PublicKey,
        confirmed: usize,
        error: EscrowError,
    ) -> Result<Progress, EscrowError> {
        match error {
            // Our own disk or data: no step can go on.
            EscrowError::Journal(_) => Err(error),
            other => {
                tracing::debug!(account = %Address::from(*account), error = %other, "held up");
                let pending = self.pending(account).await?.len();
                let held_up = Some((other.code(), other.to_string()));
                Ok(Progress { confirmed, pending, held_up })
            }
        }
    }

    async fn pending(&self, account: &PublicKey) -> Result<Vec<BlockRow>, EscrowError> {
        let mut conn = self.journal.read().await?;
        Ok(rows::pending_blocks(&mut conn, account).await?)
    }

    /// Look at what is published and publish the rest. New states go into `states`, also when it ends early.
    async fn push(
        &self,
        row: &AccountRow,
        blocks: &[BlockRow],
        states: &mut Vec<(BlockRow, BlockState)>,
    ) -> Result<(), Blocked> {
        let urgency = self.urgency(blocks).await.map_err(Blocked::Later)?;
        let out = blocks.iter().take_while(|b| b.state == BlockState::Published).count();
        let (published, mut rest) = blocks.split_at(out);
        if let Some(last) = published.last() {
            // A block is confirmed only after all before it in its chain: the last one answers for all.
            let known = self.look(last).await?;
            if known == Known::Confirmed {
                states.extend(published.iter().map(|b| (b.clone(), BlockState::Confirmed)));
            } else {
                for block in published {
                    let known = if block.hash == last.hash { known } else { self.look(block).await? };
                    match known {
                        Known::Confirmed => states.push((block.clone(), BlockState::Confirmed)),
                        Known::Published => {
                            self.nudge(row, block, urgency).await?;
                            break;
                        }
                        Known::No => {
                            // The node lost it, or never had it: the same bytes again, and all that follow.
                            let at = blocks.iter().position(|b| b.hash == block.hash).unwrap_or(0);
                            rest = blocks.get(at..).unwrap_or_default();
                            break;
                        }
                    }
                }
            }
        }
        for block in rest {
            match self.publish(block, urgency).await? {
                Known::Confirmed => states.push((block.clone(), BlockState::Confirmed)),
                _ => states.push((block.clone(), BlockState::Published)),
            }
        }
        Ok(())
    }

    /// How urgent the work of these blocks is: as the most urgent plan that waits for them.
    async fn urgency(&self, blocks: &[BlockRow]) -> Result<Urgency, EscrowError> {
        let mut plans: Vec<i64> = blocks.iter().filter_map(|b| b.leg.map(|leg| leg.0)).collect();
        plans.dedup();
        let mut conn = self.journal.read().await?;
        let mut most = priority::REFUND;
        for plan in plans {
            most = most.max(rows::plan(&mut conn, plan).await?.priority);
        }
        Ok(Lane::of(most).urgency())
    }

    /// What the node knows of a block of ours.
    async fn look(&self, block: &BlockRow) -> Result<Known, Blocked> {
        let info = self.node.block_info(block.hash).await.map_err(|e| Blocked::Later(e.into()))?;
        let Some(info) = info else { return Ok(Known::No) };
        if info.contents.is_some_and(|c| c.block != block.block()) {
            let what = format!("it shows other contents for our block {}", block.hash);
            return Err(Blocked::Later(EscrowError::NodeLies { account: block.account.address(), what }));
        }
        Ok(if info.confirmed { Known::Confirmed } else { Known::Published })
    }

    /// Send a block. Whatever the node answers, `block_info` decides.
    async fn publish(&self, block: &BlockRow, urgency: Urgency) -> Result<Known, Blocked> {
        let mut kind = block.subtype.work_kind();
        let mut tries = 0;
        loop {
            tries += 1;
            let root = block.block().root();
            let work = self.work_for(root, kind, urgency).await.map_err(Blocked::Later)?;
            let error = match self.node.process(block.signed().with_work(work), Some(block.subtype)).await {
                Ok(hash) if hash == block.hash => return Ok(Known::Published),
                Ok(other) => NodeError::Unreadable {
                    action: "process",
                    reason: format!("it took block {} for {other}", block.hash),
                },
                Err(error) => error,
            };
            match self.look(block).await? {
                Known::No => {}
                known => return Ok(known),
            }
            match error.fault() {
                Some(fault) if fault.is_work() && tries < 3 => {
                    // Work is replaceable. An account of an old epoch wants more of it.
                    self.work.forget(root).await.map_err(|e| Blocked::Later(e.into()))?;
                    kind = WorkKind::OldAccount;
                    if self.options.network.thresholds().of(kind)
                        < self.options.network.thresholds().of(block.subtype.work_kind())
                    {
                        kind = block.subtype.work_kind();
                    }
                }
                _ => return Err(self.refused(block, error)),
            }
        }
    }

    fn refused(&self, block: &BlockRow, error: NodeError) -> Blocked {
        let Some(fault) = error.fault() else { return Blocked::Later(error.into()) };
        match fault {
            // The block before it or the send that it takes up is missing there: the node is behind.
            Fault::GapPrevious | Fault::GapSource => Blocked::Later(error.into()),
            // Something else has its place, or has received its source.
            Fault::Fork | Fault::Unreceivable | Fault::SubtypePrevious | Fault::BlockPosition => {
                Blocked::Compare(error.into())
            }
            // "Old" and the subtype trap say that it is in the ledger; block_info says that it is not.
            Fault::Old | Fault::SubtypeBalance => Blocked::Compare(error.into()),
            Fault::BadSignature
            | Fault::BalanceMismatch
            | Fault::NegativeSpend
            | Fault::OpenedBurn
            | Fault::InvalidBlock
            | Fault::EpochLink
            | Fault::Subtype => {
                let own = match block.signed().verify_strict() {
                    Ok(()) => "the block verifies here",
                    Err(_) => "the block does not verify here either",
                };
                Blocked::Stop(error.code(), format!("{error} (block {}); {own}", block.hash))
            }
            _ => Blocked::Later(error.into()),
        }
    }

    /// Ask for a vote and publish again when a block waits for long.
    async fn nudge(&self, row: &AccountRow, block: &BlockRow, urgency: Urgency) -> Result<(), Blocked> {
        let since = block.published_at.unwrap_or(block.signed_at);
        let waited = self.now().saturating_sub(since);
        if waited < i64::try_from(self.options.nudge_after.as_millis()).unwrap_or(i64::MAX) {
            return Ok(());
        }
        tracing::debug!(account = %row.account.address(), hash = %block.hash, "asking for a vote");
        // Some nodes do not offer it; then publishing again does the same.
        let _ = self.node.block_confirm(block.hash).await;
        self.publish(block, urgency).await.map(drop)
    }

    /// One transaction for all that a step has found out.
    async fn write_states(&self, states: &[(BlockRow, BlockState)]) -> Result<usize, EscrowError> {
        let changed: Vec<_> = states.iter().filter(|(b, s)| b.state != *s).collect();
        if changed.is_empty() {
            return Ok(0);
        }
        let now = self.now();
        let mut tx = self.journal.begin().await?;
        let mut confirmed = 0;
        for (block, state) in changed {
            if *state == BlockState::Confirmed {
                self.confirm_in(&mut tx, block, now).await?;
                confirmed += 1;
            } else {
                rows::set_block_state(&mut tx, &block.hash, *state, now).await?;
            }
        }
        self.journal.commit(tx, "progress").await?;
        Ok(confirmed)
    }

    /// Note that a block is confirmed, and what follows from it: each block before it in its chain is confirmed
    /// too, though a node may show the later one first.
    pub(crate) async fn confirm_in(
        &self,
        tx: &mut Tx,
        block: &BlockRow,
        now: i64,
    ) -> Result<(), EscrowError> {
        self.confirm_below(tx, &block.account, block.height, now).await?;
        self.confirm_one(tx, block, now).await
    }

    /// Note that all living blocks of the account below this height are confirmed.
    pub(crate) async fn confirm_below(
        &self,
        tx: &mut Tx,
        account: &PublicKey,
        height: u64,
        now: i64,
    ) -> Result<(), EscrowError> {
        for before in rows::pending_blocks(tx, account).await?.iter().filter(|b| b.height < height) {
            self.confirm_one(tx, before, now).await?;
        }
        Ok(())
    }

    async fn confirm_one(&self, tx: &mut Tx, block: &BlockRow, now: i64) -> Result<(), EscrowError> {
        rows::set_block_state(tx, &block.hash, BlockState::Confirmed, now).await?;
        rows::forget_work(tx, &block.block().root()).await?;
        if matches!(block.subtype, Subtype::Open | Subtype::Receive)
            && let Some(mut deposit) = rows::deposit(tx, &BlockHash(block.link)).await?
        {
            deposit.state = DepositState::Received;
            rows::update_deposit(tx, &deposit).await?;
        }
        if let Some((plan, _)) = block.leg
            && rows::plan_is_confirmed(tx, plan).await?
        {
            rows::finish_plan(tx, plan, now).await?;
        }
        Ok(())
    }

    pub(crate) async fn wait(
        &self,
        contract: &str,
        kind: &str,
        key: &str,
        limit: Duration,
    ) -> Result<PlanView, EscrowError> {
        let deadline = tokio::time::Instant::now() + limit;
        let mut pause = Duration::from_millis(10);
        loop {
            let view = views::plan_by_key(&self.journal, contract, kind, key).await?;
            if view.done {
                return Ok(view);
            }
            let mut accounts: Vec<PublicKey> = view.legs.iter().map(|l| l.account.public_key()).collect();
            accounts.sort_unstable();
            accounts.dedup();
            let steps = accounts.iter().map(|account| self.drive(*account));
            let mut moved = false;
            for (account, step) in accounts.iter().zip(futures_util::future::join_all(steps).await) {
                let step = step?;
                moved |= step.confirmed > 0 || step.held_up.is_none() && step.pending == 0;
                super::engine::running(&self.row(account).await?)?;
            }
            if tokio::time::Instant::now() >= deadline {
                let what = format!("{contract} {kind} {key}");
                return Err(EscrowError::Timeout { what, seconds: limit.as_secs() });
            }
            if moved {
                continue;
            }
            // A hint may come sooner.
            let _ = tokio::time::timeout(pause, self.confirmed.notified()).await;
            pause = (pause * 2).min(self.options.poll);
        }
    }
}
