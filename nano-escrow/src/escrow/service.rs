//! Serving: the websocket says when to look, polling looks anyway, a few accounts at a time.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use tokio_util::sync::CancellationToken;

use super::EscrowError;
use super::engine::Engine;
use crate::journal::rows;
use crate::node::{Event, WatchOptions, Watcher};
use crate::{Address, BlockHash, PublicKey};

/// Closed accounts are watched for late deposits this long after they were made.
const LATE: Duration = Duration::from_secs(30 * 24 * 3600);

impl Engine {
    pub(crate) async fn run(
        self: Arc<Self>,
        cancel: CancellationToken,
        watch: WatchOptions,
    ) -> Result<(), EscrowError> {
        self.check_node().await?;
        let (watcher, mut events) = Watcher::start(self.node.clone(), watch)?;
        let mut watched: HashSet<PublicKey> = HashSet::new();
        let mut blocks: HashSet<BlockHash> = HashSet::new();
        let mut tick = tokio::time::interval(self.options.poll);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // Deposits that were seen and accounts that were mentioned.
        let mut mentioned: BTreeSet<PublicKey> = BTreeSet::new();
        loop {
            tokio::select! {
                () = cancel.cancelled() => return Ok(()),
                _ = tick.tick() => {}
                () = self.wake.notified() => {}
                event = events.recv() => match event {
                    Some(event) => note(&mut mentioned, event),
                    // The watcher has ended; polling goes on.
                    None => tokio::time::sleep(self.options.poll).await,
                },
            }
            while let Ok(event) = events.try_recv() {
                note(&mut mentioned, event);
            }
            match self.follow(&watcher, &mut watched, &mut blocks).await {
                Ok(busy) => {
                    let round = self.round(busy, std::mem::take(&mut mentioned));
                    tokio::select! {
                        () = cancel.cancelled() => return Ok(()),
                        () = round => {}
                    }
                }
                Err(error) => tracing::error!(%error, "the journal cannot be read"),
            }
            self.confirmed.notify_waiters();
        }
    }

    /// Tell the watcher what to look for; answers accounts with something decided, the most urgent first.
    async fn follow(
        &self,
        watcher: &Watcher,
        watched: &mut HashSet<PublicKey>,
        blocks: &mut HashSet<BlockHash>,
    ) -> Result<Vec<PublicKey>, EscrowError> {
        let since = self.now().saturating_sub(i64::try_from(LATE.as_millis()).unwrap_or(i64::MAX));
        let (accounts, pending, busy) = {
            let mut conn = self.journal.read().await?;
            let accounts = rows::watched_accounts(&mut conn, since).await?;
            let pending = rows::all_pending_blocks(&mut conn).await?;
            (accounts, pending, rows::busy_by_priority(&mut conn).await?)
        };
        let wanted: HashSet<PublicKey> = accounts.into_iter().collect();
        for account in wanted.difference(watched) {
            watcher.watch_account(Address::from(*account));
        }
        for account in watched.difference(&wanted) {
            watcher.forget_account(Address::from(*account));
        }
        *watched = wanted;
        let hashes: HashSet<BlockHash> = pending.iter().map(|b| b.hash).collect();
        for hash in hashes.difference(blocks) {
            watcher.watch_block(*hash);
        }
        for hash in blocks.difference(&hashes) {
            watcher.forget_block(*hash);
        }
        *blocks = hashes;
        Ok(busy)
    }

    /// One step for every account that has something to do.
    async fn round(&self, busy: Vec<PublicKey>, mentioned: BTreeSet<PublicKey>) {
        let (open, excess) = match self.open_deposits().await {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "the journal cannot be read");
                return;
            }
        };
        let look: BTreeSet<PublicKey> = mentioned.into_iter().chain(open).collect();
        let steps = busy
            .into_iter()
            .map(|a| (a, Step::Drive))
            .chain(look.into_iter().map(|a| (a, Step::Watch)))
            .chain(excess.into_iter().map(|a| (a, Step::Refund)));
        stream::iter(steps)
            .for_each_concurrent(self.options.parallel.max(1), |(account, step)| async move {
                match self.step(account, step).await {
                    Ok(()) | Err(EscrowError::NoAccount(_)) => {}
                    Err(error) => {
                        tracing::warn!(account = %Address::from(account), %error, "no step was made");
                    }
                }
            })
            .await;
    }

    async fn open_deposits(&self) -> Result<(Vec<PublicKey>, Vec<PublicKey>), EscrowError> {
        let mut conn = self.journal.read().await?;
        let open = rows::accounts_with_open_deposits(&mut conn).await?;
        Ok((open, rows::accounts_with_excess(&mut conn).await?))
    }

    async fn step(&self, account: PublicKey, step: Step) -> Result<(), EscrowError> {
        let _lock = self.lock(account).await;
        match step {
            Step::Drive => {}
            Step::Watch => self.watch_locked(&account).await?,
            // Asks the node nothing when there is nothing to give back.
            Step::Refund if self.options.refund_automatically => self.refund_excess(&account).await?,
            Step::Refund => return Ok(()),
        }
        self.drive_locked(&account).await.map(drop)
    }
}

#[derive(Clone, Copy)]
enum Step {
    Drive,
    Watch,
    Refund,
}

fn note(mentioned: &mut BTreeSet<PublicKey>, event: Event) {
    match event {
        Event::Seen { account, .. } | Event::Receivable { account, .. } => {
            mentioned.insert(account.public_key());
        }
        Event::Confirmed(block) => {
            mentioned.insert(block.account.public_key());
        }
    }
}
