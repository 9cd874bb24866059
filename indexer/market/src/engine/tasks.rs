//! What runs beside the requests: timers, deposits, payouts, tidying. All of it continues after a restart
//! from what the store holds.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zx1_market::chain::Side;
use zx1_market::{ContractId, Entry, Millis};

use super::Engine;
use super::money::{Failed, Watched};
use super::persist::at;
use crate::store::LatePayee;

/// Intervals of the background tasks.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Interval between two polls of the accounts that wait for a deposit.
    pub deposit_poll: Duration,
    /// The pause before something that failed is tried again.
    pub pause: Duration,
    /// How often decisions are looked for that another process has opened again (`fix-server dead-letters`).
    pub reread: Duration,
    /// Interval of the heartbeat, and of the question whether the ledger answers.
    pub beat: Duration,
    /// Time after which a contract that nobody paid is deleted.
    pub keep_unpaid: Millis,
    /// Time for which it is kept where a late payment for it goes.
    pub keep_payees: Millis,
    /// Time for which events are kept for streams that resume.
    pub keep_events: Millis,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            deposit_poll: Duration::from_millis(500),
            pause: Duration::from_secs(1),
            reread: Duration::from_secs(5),
            beat: Duration::from_secs(1),
            keep_unpaid: super::desk::LATE,
            keep_payees: Millis::secs(90 * 24 * 3600),
            keep_events: Millis::secs(24 * 3600),
        }
    }
}

/// A node that takes longer does not answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Maximum number of contracts that are brought up to date in one pass.
const BATCH: i64 = 256;

impl Engine {
    /// Start everything. It ends when `cancel` is cancelled; a step that was begun is finished.
    pub fn start(&self, tasks: &TaskTracker, cancel: &CancellationToken) {
        tasks.spawn(self.clone().heart(cancel.clone()));
        tasks.spawn(self.clone().watch_ledger(cancel.clone()));
        tasks.spawn(self.clone().timers(cancel.clone()));
        tasks.spawn(self.clone().tidy(cancel.clone()));
        tasks.spawn(self.clone().court_task(cancel.clone()));
        if let Some(announcer) = self.inner.announcer.get().cloned() {
            tasks.spawn(self.clone().announce(announcer, cancel.clone()));
        }
        if let Some(desk) = self.inner.desk.clone() {
            tasks.spawn(self.clone().payouts(cancel.clone()));
            tasks.spawn(self.clone().deposits_task(cancel.clone()));
            tasks.spawn(self.clone().desk_task(cancel.clone()));
            let cancel = cancel.clone();
            let pause = self.inner.habits.pause;
            tasks.spawn(async move {
                // Nobody is paid while it stands still, so it is started again.
                while !cancel.is_cancelled() {
                    if let Err(error) = desk.run(cancel.clone()).await {
                        tracing::error!(code = error.code(), %error, "the escrow has stopped; it starts again");
                    }
                    tokio::select! { () = cancel.cancelled() => {} () = tokio::time::sleep(pause) => {} }
                }
            });
        }
    }

    /// One scheduler for all contracts: sleep until the earliest deadline, then run who is due.
    async fn timers(self, cancel: CancellationToken) {
        while !cancel.is_cancelled() {
            let trouble = match self.run_due().await {
                Ok(trouble) => trouble,
                Err(error) => {
                    tracing::error!(code = error.code(), %error, "timers cannot be read");
                    true
                }
            };
            if trouble {
                tokio::select! {
                    () = cancel.cancelled() => return,
                    () = tokio::time::sleep(self.inner.habits.pause) => {}
                }
                continue;
            }
            let next = self.inner.store.next_deadline().await.ok().flatten();
            let sleep = async {
                match next.and_then(|next| u64::try_from(next).ok()) {
                    // Its time has come by the clock, but not for the contracts: their windows move first.
                    Some(next) if self.inner.clock.now() >= Millis(next) => {
                        tokio::time::sleep(self.inner.habits.pause).await;
                    }
                    Some(next) => self.inner.clock.until(Millis(next)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.inner.timers.notified() => {}
                () = sleep => {}
            }
        }
    }

    /// Run every contract whose time has come. Answers whether one of them failed.
    pub(crate) async fn run_due(&self) -> crate::error::Result<bool> {
        let (mut trouble, mut after) = (false, (i64::MIN, String::new()));
        loop {
            // Onward from the last one: what fails, or waits for the ledger, holds nobody else up.
            let due = self.inner.store.due(at(self.now()), after, BATCH).await?;
            let Some(last) = due.last() else { return Ok(trouble) };
            after = last.clone();
            for (_, id) in due {
                let ran = match id.parse::<ContractId>() {
                    // It waits for its operator.
                    Ok(id) if self.moves(&id).is_err() => {
                        trouble = true;
                        continue;
                    }
                    Ok(id) => self.run(id).await.map(drop),
                    Err(refusal) => Err(refusal.into()),
                };
                if let Err(error) = ran {
                    tracing::error!(code = error.code(), %error, contract = id, "a timer failed");
                    trouble = true;
                }
            }
        }
    }

    /// One heartbeat a second. What was missed since the last one moves windows.
    async fn heart(self, cancel: CancellationToken) {
        loop {
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(self.inner.habits.beat) => {}
            }
            if let Err(error) = self.beat().await {
                tracing::error!(code = error.code(), %error, "no heartbeat");
            }
        }
    }

    /// Asks a distant node whether it answers.
    async fn watch_ledger(self, cancel: CancellationToken) {
        let Some(ledger) = self.inner.ledger.clone() else { return };
        loop {
            let asked = async { tokio::time::timeout(ANSWER, ledger.answers()).await.unwrap_or_default() };
            let answered = tokio::select! { () = cancel.cancelled() => return, answered = asked => answered };
            if let Err(error) = self.ledger_answered(answered).await {
                tracing::error!(code = error.code(), %error, "windows that wait for the ledger were not moved");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(self.inner.habits.beat) => {}
            }
        }
    }

    async fn payouts(self, cancel: CancellationToken) {
        let mut failed = Failed::default();
        loop {
            let left = match self.tell_escrow(&mut failed).await {
                Ok(left) => left,
                Err(error) => {
                    tracing::error!(code = error.code(), %error, "decisions cannot be read");
                    true
                }
            };
            let wait = if left { self.inner.habits.pause } else { self.inner.habits.reread };
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.inner.outbox.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn deposits_task(self, cancel: CancellationToken) {
        let mut watched = Watched::default();
        loop {
            let any = self.look_at_deposits(&mut watched).await.unwrap_or_else(|error| {
                tracing::error!(code = error.code(), %error, "deposits cannot be read");
                true
            });
            let again = async {
                if any {
                    tokio::time::sleep(self.inner.habits.deposit_poll).await;
                } else {
                    std::future::pending().await
                }
            };
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.inner.deposits.notified() => {}
                () = again => {}
            }
        }
    }

    /// Contracts that nobody paid are deleted when late payments go back by themselves no more. Where a late payment
    /// goes is kept for 90 days.
    pub async fn forget_unpaid(&self) -> crate::error::Result<u64> {
        let (now, mut forgotten) = (self.now(), 0);
        let before = at(now.minus(self.inner.habits.keep_unpaid));
        loop {
            let page = self.inner.store.unpaid(before, BATCH).await?;
            if page.is_empty() {
                return Ok(forgotten);
            }
            for id in page {
                let id: ContractId = id.parse()?;
                let _lock = self.lock(id).await;
                let (_, case) = self.load(id).await?;
                let name = id.to_string();
                let post = self.inner.store.entries_from(&name, 0, 1).await?;
                let post = post.first().ok_or(crate::store::StoreError::Corrupt("a post".to_owned()))?;
                let late = LatePayee {
                    post_hash: hex::encode(Entry::parse(post.body.as_bytes())?.hash()),
                    depositor: case.principal().to_string(),
                    round: 0,
                    payout: case.payout_address(Side::Principal).map(|to| to.to_string()).unwrap_or_default(),
                    keep_until: at(now.plus(self.inner.habits.keep_payees)),
                };
                self.inner.store.forget(&name, late).await?;
                self.count(Some(case.state()), None);
                forgotten += 1;
            }
        }
    }

    async fn tidy(self, cancel: CancellationToken) {
        let mut tick = tokio::time::interval(Duration::from_secs(60));
        loop {
            tokio::select! { () = cancel.cancelled() => return, _ = tick.tick() => {} }
            if let Err(error) = self.forget_unpaid().await {
                tracing::warn!(code = error.code(), %error, "unpaid contracts were not deleted");
            }
            let now = self.now();
            let events = now.minus(self.inner.habits.keep_events);
            if let Err(error) = self.inner.store.prune(at(now), at(events)).await {
                tracing::warn!(code = error.code(), %error, "nothing was tidied");
            }
        }
    }
}
