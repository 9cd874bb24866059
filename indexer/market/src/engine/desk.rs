//! The escrow beside the market: whose journal it is, what the two of them say of each other, what an operator orders,
//! and the figures of money.

use std::collections::HashSet;

use nano_escrow::Raw;
use nano_escrow::escrow::EscrowError;
use tokio_util::sync::CancellationToken;
use zx1_market::{ContractId, Millis};

use super::Engine;
use super::persist::at;
use crate::error::{Error, Result};
use crate::escrow::Desk;
use crate::orders::{Order, Outcome};
use crate::store::{DepositRow, LapsedAfter, OutboxRow, OutboxState};

/// Lapsed deposits are looked at this long; later ones wait for an operator's sweep.
pub(super) const LATE: Millis = Millis::secs(nano_escrow::escrow::LATE.as_secs());
/// Number of lapsed deposits that one look asks for.
const PAGE: i64 = 200;
/// Number of decisions that are compared with the journal first.
const COMPARED: i64 = 200;

/// Where the pages of lapsed deposits begin.
fn first(since: i64) -> LapsedAfter {
    (since, String::new(), String::new(), 0)
}

fn behind(row: &DepositRow) -> LapsedAfter {
    (row.closed_at.unwrap_or(i64::MIN), row.contract_id.clone(), row.party.clone(), row.round)
}

impl Engine {
    /// Compares the market with the escrow's journal, before anything runs. Fails with 9440 when the journal is not the
    /// one that the database knows; `adopt` takes it over all the same.
    pub async fn open_desk(&self, adopt: bool) -> Result<()> {
        let Some(desk) = self.inner.desk.clone() else { return Ok(()) };
        let store = &self.inner.store;
        let found = desk.escrow().journal().id().await.map_err(EscrowError::from)?;
        if adopt {
            store.set_meta("journal", &found).await?;
        }
        let known = store.meta("journal", &found).await?;
        if known != found {
            return Err(Error::OtherJournal { known, found });
        }
        for row in store.waiting().await? {
            if let Err(error) = desk.offer(&row).await {
                let (code, contract) = (error.code(), &row.contract_id);
                tracing::error!(code, %error, contract, "a deposit's address is not ours");
            }
        }
        for row in store.taken().await? {
            match desk.restore(&row).await {
                Ok(false) => {}
                Ok(true) => {
                    let (contract, party) = (&row.contract_id, &row.party);
                    tracing::warn!(contract, party, "the journal had lost an account; it is derived again");
                }
                Err(error) => self.stop(&row.contract_id, &format!("error {}: {error}", error.code())),
            }
        }
        self.tell_again(&desk).await?;
        self.find_contradictions(&desk).await?;
        self.measure(&desk).await
    }

    /// Decisions that were handed over and that the journal does not know, because it is an older copy, are handed over
    /// again: what the ledger shows as paid is paid.
    async fn tell_again(&self, desk: &Desk) -> Result<()> {
        let mut limit = COMPARED;
        loop {
            let rows = self.inner.store.handed_over(limit).await?;
            let mut lost = 0;
            for row in &rows {
                if row.kind != "expire" && !self.is_planned(desk, row).await? {
                    lost += 1;
                    let (contract, kind, item) = (&row.contract_id, &row.kind, &row.item);
                    tracing::warn!(contract, kind, item, "the journal had lost a decision");
                    self.inner.store.move_outbox(row, OutboxState::Done, OutboxState::Open, "").await?;
                }
            }
            if lost == 0 || (rows.len() as i64) < limit {
                return Ok(());
            }
            limit = limit.saturating_mul(10);
        }
    }

    async fn is_planned(&self, desk: &Desk, row: &OutboxRow) -> Result<bool> {
        match desk.escrow().plan(&row.contract_id, &row.kind, &row.item).await {
            Ok(_) => Ok(true),
            Err(EscrowError::NoPlan { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A running contract for which the journal has decided something that the market does not know of was restored
    /// from before that decision. It stands still until an operator has looked at it.
    async fn find_contradictions(&self, desk: &Desk) -> Result<()> {
        let contracts: HashSet<String> =
            self.inner.store.taken().await?.into_iter().map(|row| row.contract_id).collect();
        let mut plans = Vec::new();
        for contract in contracts {
            let statement = desk.statement(&contract).await?;
            for plan in statement.map(|s| s.plans).unwrap_or_default() {
                if !["receive", "refund"].contains(&plan.kind.as_str()) {
                    plans.push((contract.clone(), plan.kind, plan.key));
                }
            }
        }
        // Seldom: a running contract has rarely paid anybody.
        if plans.is_empty() {
            return Ok(());
        }
        let mut decided: HashSet<_> = self.inner.store.handed_over(i64::MAX).await?.iter().map(key).collect();
        for state in [OutboxState::Open, OutboxState::Dead, OutboxState::Dropped] {
            decided.extend(self.inner.store.outbox(state).await?.iter().map(key));
        }
        for plan in plans.iter().filter(|plan| !decided.contains(*plan)) {
            let (contract, kind, round) = plan;
            if self.inner.store.meta(&released(contract), "").await?.is_empty() {
                let what = format!("the escrow has decided `{kind}` of round {round}, which is not here");
                self.stop(contract, &what);
            }
        }
        Ok(())
    }

    fn stop(&self, contract: &str, why: &str) {
        if self.stopped().insert(contract.to_owned(), why.to_owned()).is_none() {
            tracing::error!(
                code = 9441,
                contract,
                why,
                "a contract stands still until an operator has looked at it"
            );
        }
        // It keeps no seat from others meanwhile.
        if let Ok(id) = contract.parse()
            && self.inner.seats.doubt(&id)
        {
            self.inner.court.notify_one();
        }
        self.inner.metrics.money.stopped_contracts.set(self.stopped().len() as i64);
    }

    fn stopped(&self) -> std::sync::MutexGuard<'_, std::collections::HashMap<String, String>> {
        self.inner.stopped.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Refuses a contract that stands still (9441).
    pub(super) fn moves(&self, id: &ContractId) -> Result<()> {
        let id = id.to_string();
        match self.stopped().get(&id) {
            Some(why) => Err(Error::Stopped(id.clone(), why.clone())),
            None => Ok(()),
        }
    }

    /// Lets a contract go on.
    pub(super) fn go_on(&self, id: &str) -> bool {
        let was = self.stopped().remove(id).is_some();
        self.inner.metrics.money.stopped_contracts.set(self.stopped().len() as i64);
        self.inner.timers.notify_one();
        self.inner.court.notify_one();
        was
    }

    /// Looks after lapsed deposits, a page at a time, carries out orders, and keeps the figures of money.
    pub(super) async fn desk_task(self, cancel: CancellationToken) {
        let Some(desk) = self.inner.desk.clone() else { return };
        let mut after = first(i64::MIN);
        loop {
            if let Err(error) = self.look_late(&desk, &mut after).await {
                tracing::warn!(code = error.code(), %error, "late deposits cannot be looked for");
            }
            if let Err(error) = self.carry_out(&desk).await {
                tracing::error!(code = error.code(), %error, "orders cannot be read");
            }
            if let Err(error) = self.measure(&desk).await {
                tracing::error!(code = error.code(), %error, "the escrow's figures cannot be read");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(self.inner.habits.reread) => {}
            }
        }
    }

    async fn look_late(&self, desk: &Desk, after: &mut LapsedAfter) -> Result<()> {
        let since = at(self.now().minus(LATE));
        let from = if after.0 < since { first(since) } else { after.clone() };
        let rows = self.inner.store.lapsed(from, PAGE).await?;
        let last = rows.last().filter(|_| rows.len() as i64 == PAGE);
        let next = last.map_or(first(since), behind);
        desk.look_late(&rows, None).await?;
        *after = next;
        Ok(())
    }

    async fn carry_out(&self, desk: &Desk) -> Result<()> {
        for (id, body) in self.inner.store.orders().await? {
            let outcome = match serde_json::from_str::<Order>(&body) {
                Ok(order) => self.carry_out_one(desk, order).await,
                Err(error) => Err(Error::Config(format!("The order cannot be read: {error}."))),
            };
            let outcome = outcome.unwrap_or_else(|error| Outcome::failed(error.code(), &error.to_string()));
            let answer = serde_json::to_string(&outcome).unwrap_or_default();
            self.inner.store.answer_order(id, &answer).await?;
        }
        Ok(())
    }

    async fn carry_out_one(&self, desk: &Desk, order: Order) -> Result<Outcome> {
        match order {
            Order::Sweep { contract, least } => {
                let mut after = first(i64::MIN);
                loop {
                    let mut rows = self.inner.store.lapsed(after, PAGE).await?;
                    let Some(last) = rows.last() else { break };
                    after = behind(last);
                    rows.retain(|row| contract.as_ref().is_none_or(|wanted| *wanted == row.contract_id));
                    desk.look_late(&rows, Some(least.max(Raw(1)))).await?;
                }
                if let Some(contract) = &contract {
                    desk.close_orphans(&*self.inner.store, contract).await?;
                }
                let sweep = desk.escrow().sweep(contract.as_deref(), least).await?;
                Ok(Outcome::swept(&sweep))
            }
            Order::Resume { account } => {
                desk.escrow().resume(account).await?;
                Ok(Outcome::done())
            }
            Order::Release { contract } => {
                if !self.go_on(&contract) {
                    return Err(Error::NotStopped(contract));
                }
                self.inner.store.set_meta(&released(&contract), "1").await?;
                Ok(Outcome::done())
            }
        }
    }

    async fn measure(&self, desk: &Desk) -> Result<()> {
        desk.escrow().raise_alarms().await?;
        let orphans = desk.find_orphans(&*self.inner.store).await?;
        self.inner.metrics.money.orphans.set(i64::try_from(orphans.len()).unwrap_or(i64::MAX));
        for view in orphans {
            // Restored from before this deposit: whatever it did next would contradict what its parties have.
            let contract = &view.key.contract;
            let is_here = self.inner.store.load(contract).await?.is_some();
            if is_here && self.inner.store.meta(&released(contract), "").await?.is_empty() {
                self.stop(
                    contract,
                    &format!("the escrow holds a deposit on {}, which is not here", view.address),
                );
            }
        }
        let figures = desk.escrow().figures().await?;
        self.inner.metrics.money.set(&figures, *desk.escrow().websocket_live().borrow());
        Ok(())
    }
}

fn key(row: &OutboxRow) -> (String, String, String) {
    (row.contract_id.clone(), row.kind.clone(), row.item.clone())
}

/// The fact that an operator has looked at a contract that contradicts the journal.
fn released(contract: &str) -> String {
    format!("released {contract}")
}
