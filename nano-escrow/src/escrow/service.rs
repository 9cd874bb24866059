//! Serving: the websocket says when to look, polling looks anyway. What is to be done waits in lanes, payouts before
//! receives before refunds; one task an account, and none waits for another account's (decision F8).

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::EscrowError;
use super::engine::Engine;
use super::lane::{HOUR, Lane};
use super::offered::PAGE;
use crate::journal::rows;
use crate::node::{Event, NodeCalls, WatchOptions, Watcher};
use crate::{Address, BlockHash, PublicKey};

/// Closed accounts are looked at for late deposits this long after they were closed, a page at a poll.
pub const LATE: Duration = Duration::from_secs(7 * 24 * 3600);
/// Interval at which the node is asked for its version, to see whether it answers.
const SILENCE: Duration = Duration::from_secs(10);
/// The websocket is missed after so long.
const MISSED: Duration = Duration::from_secs(60);

/// Accounts that wait for a step, and those that are at one.
#[derive(Default)]
struct Lanes {
    due: [VecDeque<PublicKey>; 3],
    /// The lane that an account waits in.
    waiting: HashMap<PublicKey, Lane>,
    running: HashMap<PublicKey, Lane>,
}

impl Lanes {
    /// An account waits once, in the most urgent lane that it was named for.
    fn add(&mut self, account: PublicKey, lane: Lane) {
        match self.waiting.get(&account) {
            Some(before) if *before >= lane => {}
            _ => {
                self.waiting.insert(account, lane);
                self.due[lane as usize].push_back(account);
            }
        }
    }

    /// The next account that may begin: each lane has `slots` of its own, refunds one.
    fn next(&mut self, slots: usize) -> Option<(PublicKey, Lane)> {
        for lane in Lane::ALL {
            let slots = if lane == Lane::Refund { 1 } else { slots };
            if self.running.values().filter(|l| **l == lane).count() >= slots {
                continue;
            }
            let queue = &mut self.due[lane as usize];
            for _ in 0..queue.len() {
                let Some(account) = queue.pop_front() else { break };
                if self.waiting.get(&account) != Some(&lane) {
                    // It moved to a more urgent lane.
                    continue;
                }
                if self.running.contains_key(&account) {
                    queue.push_back(account);
                    continue;
                }
                self.waiting.remove(&account);
                self.running.insert(account, lane);
                return Some((account, lane));
            }
        }
        None
    }
}

/// What the service remembers between two polls.
#[derive(Default)]
struct Watched {
    accounts: HashSet<PublicKey>,
    blocks: HashSet<BlockHash>,
    /// Where the pages of closed accounts go on.
    late: (i64, PublicKey),
    /// Whether a page is being asked for.
    asking: bool,
}

/// What a task of the service has come to.
enum Done {
    /// A step of an account, and its blocks that are not confirmed.
    Step(PublicKey, Vec<BlockHash>),
    /// Closed accounts that something has arrived on.
    Late(Vec<PublicKey>),
    /// Whether the node answers.
    Asked,
}

/// What the service does beside its loop. Each is a task of the runtime: the journal's connections that a step holds, or
/// stands in line for, are given back also while the loop itself waits for one.
#[derive(Default)]
struct Tasks {
    set: JoinSet<Done>,
    /// What each counts as when it panics.
    lost: HashMap<tokio::task::Id, Done>,
}

impl Tasks {
    fn spawn(&mut self, lost: Done, task: impl Future<Output = Done> + Send + 'static) {
        self.lost.insert(self.set.spawn(task).id(), lost);
    }

    /// The next one that ends; none when nothing is done.
    async fn next(&mut self) -> Option<Done> {
        match self.set.join_next_with_id().await? {
            Ok((id, done)) => {
                self.lost.remove(&id);
                Some(done)
            }
            Err(error) => {
                let lost = self.lost.remove(&error.id()).unwrap_or(Done::Asked);
                match &lost {
                    Done::Step(account, _) => {
                        tracing::error!(account = %Address::from(*account), %error, "a step was lost");
                    }
                    Done::Late(_) => tracing::error!(%error, "a page of late accounts was lost"),
                    Done::Asked => tracing::error!(%error, "a question to the node was lost"),
                }
                Some(lost)
            }
        }
    }
}

impl Engine {
    pub(crate) async fn run(
        self: Arc<Self>,
        cancel: CancellationToken,
        watch: WatchOptions,
    ) -> Result<(), EscrowError> {
        self.check_node().await?;
        let websocket = watch.websocket.is_some();
        let watch = WatchOptions { threshold: watch.threshold.max(self.options.dust), ..watch };
        let (watcher, mut events) = Watcher::start(self.node.clone(), watch)?;
        let mut live = watcher.live();
        let mut missed = websocket.then(|| tokio::time::Instant::now() + MISSED);
        let mut watched = Watched { late: (i64::MIN, PublicKey([0; 32])), ..Watched::default() };
        for account in self.offers.all() {
            watcher.watch_account(account.address());
        }
        let mut tick = tokio::time::interval(self.options.poll);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut silent = tokio::time::interval(SILENCE);
        silent.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut lanes = Lanes::default();
        // Whatever ends this function ends them.
        let mut tasks = Tasks::default();
        loop {
            tokio::select! {
                () = cancel.cancelled() => {
                    // None holds the journal when this returns.
                    tasks.set.shutdown().await;
                    self.live.send_replace(false);
                    return Ok(());
                }
                _ = tick.tick() => {
                    match self.look_around(&watcher, &mut watched, &mut lanes).await {
                        Ok(late) if !late.is_empty() && !watched.asking => {
                            watched.asking = true;
                            let engine = self.clone();
                            tasks.spawn(Done::Late(Vec::new()), async move {
                                let paid = engine.anything(&late, engine.options.refund_min).await;
                                Done::Late(paid.unwrap_or_default())
                            });
                        }
                        Ok(_) => {}
                        Err(error) => tracing::error!(%error, "the journal cannot be read"),
                    }
                }
                _ = silent.tick() => {
                    // Says whether the node is there, also while nothing is to be done.
                    let node = self.node.clone();
                    tasks.spawn(Done::Asked, async move {
                        let _ = node.version().await;
                        Done::Asked
                    });
                }
                () = self.bell.notified() => {}
                changed = live.changed() => {
                    let now = *live.borrow_and_update();
                    self.live.send_replace(now);
                    missed = (changed.is_ok() && websocket && !now).then(|| tokio::time::Instant::now() + MISSED);
                }
                () = until(missed) => {
                    missed = None;
                    tracing::warn!("the node's websocket is not connected; the ledger is polled instead");
                }
                Some(done) = tasks.next() => match done {
                    Done::Step(account, pending) => {
                        lanes.running.remove(&account);
                        for hash in pending {
                            if watched.blocks.insert(hash) {
                                watcher.watch_block(hash);
                            }
                        }
                        self.confirmed.notify_waiters();
                    }
                    Done::Late(paid) => {
                        watched.asking = false;
                        for account in paid {
                            lanes.add(account, Lane::Refund);
                        }
                    }
                    Done::Asked => {}
                },
                event = events.recv() => match event {
                    Some(event) => self.note(&mut lanes, event),
                    // The watcher has ended; polling goes on.
                    None => tokio::time::sleep(self.options.poll).await,
                },
            }
            while let Ok(event) = events.try_recv() {
                self.note(&mut lanes, event);
            }
            for (account, wanted) in self.offers.changes() {
                match wanted {
                    true => watcher.watch_account(account.address()),
                    false => watcher.forget_account(account.address()),
                }
            }
            for (account, lane) in self.woken() {
                if lane == Lane::Receive && watched.accounts.insert(account) {
                    watcher.watch_account(account.address());
                }
                lanes.add(account, lane);
            }
            while let Some((account, lane)) = lanes.next(self.options.parallel.max(1)) {
                let engine = self.clone();
                tasks.spawn(Done::Step(account, Vec::new()), async move {
                    let pending = match engine.step(account, lane).await {
                        Ok(pending) => pending,
                        Err(EscrowError::NoAccount(_)) => Vec::new(),
                        Err(error) => {
                            tracing::warn!(account = %Address::from(account), %error, "no step was made");
                            Vec::new()
                        }
                    };
                    Done::Step(account, pending)
                });
            }
        }
    }

    /// Accounts that were closed after this are looked at for late deposits.
    pub(crate) fn late_since(&self) -> i64 {
        self.now().saturating_sub(i64::try_from(LATE.as_millis()).unwrap_or(i64::MAX))
    }

    /// At every poll: tell the watcher what is open, and queue what is not done. Answers a page of accounts that are
    /// closed, to be asked for late deposits.
    async fn look_around(
        &self,
        watcher: &Watcher,
        watched: &mut Watched,
        lanes: &mut Lanes,
    ) -> Result<Vec<Address>, EscrowError> {
        let since = self.late_since();
        let hour = self.now().saturating_sub(HOUR);
        let (open, pending, busy, deposits, excess, late) = {
            let mut conn = self.journal.read().await?;
            let left = match self.options.refund_automatically {
                true => self.refunds().saturating_sub(rows::refunds_since(&mut conn, hour).await?).max(0),
                false => 0,
            };
            (
                rows::open_accounts(&mut conn).await?,
                rows::all_pending_blocks(&mut conn).await?,
                rows::busy_by_priority(&mut conn).await?,
                rows::accounts_with_open_deposits(&mut conn).await?,
                rows::accounts_with_excess(&mut conn, self.options.refund_min, left).await?,
                rows::closed_accounts(&mut conn, since, watched.late, PAGE).await?,
            )
        };
        let open: HashSet<PublicKey> = open.into_iter().collect();
        for account in open.difference(&watched.accounts) {
            watcher.watch_account(Address::from(*account));
        }
        for account in watched.accounts.difference(&open) {
            watcher.forget_account(Address::from(*account));
        }
        watched.accounts = open;
        let hashes: HashSet<BlockHash> = pending.iter().map(|b| b.hash).collect();
        for hash in hashes.difference(&watched.blocks) {
            watcher.watch_block(*hash);
        }
        for hash in watched.blocks.difference(&hashes) {
            watcher.forget_block(*hash);
        }
        watched.blocks = hashes;
        for (account, priority) in busy {
            lanes.add(account, Lane::of(priority));
        }
        for account in deposits {
            lanes.add(account, Lane::Receive);
        }
        for account in excess {
            lanes.add(account, Lane::Refund);
        }
        if watched.asking {
            return Ok(Vec::new());
        }
        watched.late = match late.last() {
            Some(last) if late.len() == PAGE => *last,
            _ => (i64::MIN, PublicKey([0; 32])),
        };
        Ok(late.into_iter().map(|(_, account)| account.address()).collect())
    }

    /// One step of an account; answers its blocks that are not confirmed.
    async fn step(&self, account: PublicKey, lane: Lane) -> Result<Vec<BlockHash>, EscrowError> {
        let _lock = self.lock(account).await;
        if lane != Lane::Payout {
            self.watch_locked(&account).await?;
        }
        if self.offers.get(&account).is_some() {
            return Ok(Vec::new());
        }
        self.drive_locked(&account).await?;
        let mut conn = self.journal.read().await?;
        Ok(rows::pending_blocks(&mut conn, &account).await?.into_iter().map(|b| b.hash).collect())
    }

    fn note(&self, lanes: &mut Lanes, event: Event) {
        match event {
            Event::Seen { account, .. } | Event::Receivable { account, .. } | Event::Crowded { account } => {
                lanes.add(account.public_key(), Lane::Receive);
            }
            Event::Confirmed(block) => lanes.add(block.account.public_key(), Lane::Payout),
        }
    }
}

async fn until(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_keep_their_order_and_one_task_an_account() {
        let key = |n: u8| PublicKey([n; 32]);
        let mut lanes = Lanes::default();
        for (n, lane) in
            [(1, Lane::Refund), (2, Lane::Refund), (3, Lane::Receive), (4, Lane::Payout), (1, Lane::Payout)]
        {
            lanes.add(key(n), lane);
        }
        let mut order = Vec::new();
        while let Some(next) = lanes.next(2) {
            order.push(next);
        }
        // Two is left: the one slot for refunds is taken by nobody, so it begins; then none is.
        assert_eq!(
            order,
            [(key(4), Lane::Payout), (key(1), Lane::Payout), (key(3), Lane::Receive), (key(2), Lane::Refund)]
        );
        lanes.add(key(4), Lane::Refund);
        lanes.add(key(5), Lane::Receive);
        assert_eq!(lanes.next(2), Some((key(5), Lane::Receive)));
        assert_eq!(lanes.next(2), None, "four is at work, and the refunds' slot is taken");
        lanes.running.remove(&key(2));
        assert_eq!(lanes.next(2), None, "four is still at work");
        lanes.running.remove(&key(4));
        assert_eq!(lanes.next(2), Some((key(4), Lane::Refund)));
    }
}
