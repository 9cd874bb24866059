//! What runs beside the requests: timers, deposits, payouts, tidying. All of it continues after a restart
//! from what the store holds.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zx1_market::{ContractId, Millis};

use super::Engine;
use super::money::Watched;
use super::persist::at;

/// Intervals of the background tasks.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Interval between two polls of the accounts that wait for a deposit.
    pub deposit_poll: Duration,
    /// The pause before something that failed is tried again.
    pub pause: Duration,
    /// How often decisions are looked for that another process has opened again (`fix-server dead-letters`).
    pub reread: Duration,
    /// Time for which events are kept for streams that resume.
    pub keep_events: Millis,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            deposit_poll: Duration::from_millis(500),
            pause: Duration::from_secs(1),
            reread: Duration::from_secs(5),
            keep_events: Millis::secs(24 * 3600),
        }
    }
}

/// Maximum number of contracts that are brought up to date in one pass.
const BATCH: i64 = 256;

impl Engine {
    /// Start everything. It ends when `cancel` is cancelled; a step that was begun is finished.
    pub fn start(&self, tasks: &TaskTracker, cancel: &CancellationToken) {
        tasks.spawn(self.clone().timers(cancel.clone()));
        tasks.spawn(self.clone().tidy(cancel.clone()));
        if let Some(desk) = self.inner.desk.clone() {
            tasks.spawn(self.clone().payouts(cancel.clone()));
            tasks.spawn(self.clone().deposits_task(cancel.clone()));
            let cancel = cancel.clone();
            tasks.spawn(async move {
                if let Err(error) = desk.run(cancel).await {
                    tracing::error!(code = error.code(), %error, "the escrow has stopped");
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
        loop {
            let due = self.inner.store.due(at(self.now()), BATCH).await?;
            if due.is_empty() {
                return Ok(false);
            }
            let mut trouble = false;
            for id in due {
                let ran = match id.parse::<ContractId>() {
                    Ok(id) => self.run(id).await.map(drop),
                    Err(refusal) => Err(refusal.into()),
                };
                if let Err(error) = ran {
                    tracing::error!(code = error.code(), %error, contract = id, "a timer failed");
                    trouble = true;
                }
            }
            if trouble {
                return Ok(true);
            }
        }
    }

    async fn payouts(self, cancel: CancellationToken) {
        loop {
            let left = match self.tell_escrow().await {
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

    async fn tidy(self, cancel: CancellationToken) {
        let mut tick = tokio::time::interval(Duration::from_secs(60));
        loop {
            tokio::select! { () = cancel.cancelled() => return, _ = tick.tick() => {} }
            let now = self.now();
            let events = now.minus(self.inner.habits.keep_events);
            if let Err(error) = self.inner.store.prune(at(now), at(events)).await {
                tracing::warn!(code = error.code(), %error, "nothing was tidied");
            }
        }
    }
}
