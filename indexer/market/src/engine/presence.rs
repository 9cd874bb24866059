//! Whether this server was there: its heartbeat, jumps of its clock, silences of its ledger (decision E21). Nobody
//! loses money to any of them: windows move before a timer runs again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use zx1_market::chain::AbsenceCause;
use zx1_market::defaults::MIN_ABSENCE;
use zx1_market::{Case, ContractId, Millis};

use super::Engine;
use super::persist::at;
use crate::clock::Clock;
use crate::error::{Error, Result};

/// Contracts that are read at once when all of them move.
const PAGE: i64 = 256;

/// What is known since the last heartbeat.
#[derive(Debug)]
pub(super) struct Presence {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The last heartbeat, by the clock and by what no setting moves.
    beat: (Millis, Duration),
    /// The latest moment that was ever shown: time never goes back.
    shown: Millis,
    /// Since when the ledger has not answered.
    ledger_away: Option<Millis>,
    /// When it answered last.
    ledger_seen: Option<Millis>,
}

impl Presence {
    pub(super) fn new(clock: &dyn Clock) -> Presence {
        let now = clock.now();
        let beat = (now, clock.steady());
        Presence { state: Mutex::new(State { beat, shown: now, ledger_away: None, ledger_seen: None }) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The present moment. It stands still from an absence on until every window has moved.
    fn now(&self, clock: &dyn Clock) -> Millis {
        let mut state = self.state();
        if state.absence(clock).is_none() {
            state.shown = state.shown.max(clock.now());
        }
        state.shown
    }
}

impl State {
    /// The absence since the last heartbeat, if there is one.
    fn absence(&self, clock: &dyn Clock) -> Option<AbsenceCause> {
        if !clock.counts_absence() {
            return None;
        }
        let (wall, steady) = self.beat;
        let passed =
            Millis(u64::try_from(clock.steady().saturating_sub(steady).as_millis()).unwrap_or(u64::MAX));
        if clock.now() >= wall.plus(passed).plus(MIN_ABSENCE) {
            Some(AbsenceCause::Clock)
        } else if clock.stalls() && passed >= MIN_ABSENCE {
            Some(AbsenceCause::Down)
        } else {
            None
        }
    }
}

impl Engine {
    /// The present moment, for everything that a contract remembers. It stands still while windows have to be moved,
    /// and never goes back.
    pub fn now(&self) -> Millis {
        self.inner.presence.now(&*self.inner.clock)
    }

    /// Counts the time since the last heartbeat of an earlier process. Call it before anything else runs.
    pub async fn wake(&self) -> Result<()> {
        let now = self.inner.clock.now();
        let last = self.inner.store.heartbeat().await?.and_then(|at| u64::try_from(at).ok()).map(Millis);
        if let Some(last) = last
            && self.inner.clock.counts_absence()
            && now >= last.plus(MIN_ABSENCE)
        {
            self.away(AbsenceCause::Down, last, now).await?;
        }
        self.beat().await
    }

    /// A heartbeat: an absence since the last one moves all windows first. The heartbeat is stored afterwards, so
    /// what a crash leaves half done is done again.
    pub async fn beat(&self) -> Result<()> {
        let clock = &*self.inner.clock;
        let (absence, from) = {
            let state = self.inner.presence.state();
            (state.absence(clock), state.beat.0)
        };
        let (now, steady) = (clock.now(), clock.steady());
        if let Some(cause) = absence {
            self.away(cause, from, now).await?;
        }
        {
            let mut state = self.inner.presence.state();
            // Moving the windows takes time too, which counts as no further absence. A clock that was set back counts
            // from where it stands, and the time that contracts see waits for it.
            state.beat = if absence.is_some() { (clock.now(), clock.steady()) } else { (now, steady) };
            state.shown = state.shown.max(now);
        }
        self.inner.timers.notify_one();
        self.inner.store.beat(at(now)).await?;
        Ok(())
    }

    async fn away(&self, cause: AbsenceCause, from: Millis, until: Millis) -> Result<()> {
        let (mut after, mut moved) = (String::new(), 0_u64);
        loop {
            let page = self.inner.store.live(&after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after.clone_from(last);
            for id in &page {
                if self.resume(id.parse()?, cause, from, until).await? {
                    moved += 1;
                }
            }
        }
        let gap = until.minus(from);
        tracing::warn!(cause = cause.as_str(), %gap, moved, "the server was away; windows have moved");
        self.inner.metrics.absence(cause);
        Ok(())
    }

    /// Moves one contract's windows. Answers whether there was anything to move.
    async fn resume(&self, id: ContractId, cause: AbsenceCause, from: Millis, until: Millis) -> Result<bool> {
        let _lock = self.lock(id).await;
        let (version, case) = self.load(id).await?;
        Ok(self.resumed(version, &case, cause, from, until).await?.is_some())
    }

    async fn resumed(
        &self,
        version: i64,
        case: &Case,
        cause: AbsenceCause,
        from: Millis,
        until: Millis,
    ) -> Result<Option<(i64, Case)>> {
        let mut next = case.clone();
        let step = next.resume_after(cause, from, until, &self.inner.key)?;
        if next == *case {
            return Ok(None);
        }
        let version = self.persist(Some((version, case)), &mut next, step, None).await?;
        Ok(Some((version, next)))
    }

    /// Since when the ledger has not answered.
    pub fn ledger_away(&self) -> Option<Millis> {
        self.inner.presence.state().ledger_away
    }

    /// 9429 while the ledger does not answer or is behind.
    pub fn need_ledger(&self) -> Result<()> {
        if self.ledger_away().is_some() { Err(Error::LedgerAway) } else { Ok(()) }
    }

    /// The ledger has answered, or it has not.
    pub async fn ledger_answered(&self, answered: bool) -> Result<()> {
        let now = self.now();
        let back = {
            let mut state = self.inner.presence.state();
            if !answered {
                let last = state.ledger_seen.unwrap_or(now);
                if state.ledger_away.is_none() {
                    state.ledger_away = Some(last);
                    tracing::warn!(
                        "the ledger does not answer or is behind; paid contracts and bonds are refused"
                    );
                }
                None
            } else {
                state.ledger_away
            }
        };
        self.inner.metrics.ledger_live.set(i64::from(answered));
        if !answered {
            return Ok(());
        }
        if let Some(from) = back {
            self.away(AbsenceCause::Ledger, from, now).await?;
        }
        let mut state = self.inner.presence.state();
        state.ledger_away = None;
        state.ledger_seen = Some(now);
        drop(state);
        self.inner.timers.notify_one();
        Ok(())
    }

    /// Whether its window has passed only because nobody could see a deposit.
    pub(super) fn is_held(&self, case: &Case, now: Millis) -> bool {
        case.waits_for_ledger()
            && self.ledger_away().is_some()
            && case.next_deadline().is_some_and(|at| at <= now)
    }

    /// Under the lock: a contract that waits for an absent ledger gets its time back before somebody acts on it.
    pub(super) async fn unheld(&self, version: i64, case: Case, now: Millis) -> Result<(i64, Case)> {
        if !self.is_held(&case, now) {
            return Ok((version, case));
        }
        let from = self.ledger_away().unwrap_or(now);
        let moved = self.resumed(version, &case, AbsenceCause::Ledger, from, now).await?;
        let (version, case) = moved.unwrap_or((version, case));
        if self.is_held(&case, now) { Err(Error::LedgerAway) } else { Ok((version, case)) }
    }
}
