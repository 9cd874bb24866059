//! Taking a contract: look, decide, bond, pay.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use zx1_coded::Coded;
use zx1_market::chain::{Data, Side};
use zx1_market::money::inclusive_bond;
use zx1_market::{ContractId, Millis, Raw, State};

use super::config::{knows, wants};
use super::memory::is_ours;
use super::{Record, Stage, WorkError, Worker};
use zx1_market_client::{Bonded, ClientError, View};

/// Timeout for a paid deposit to appear in the transcript.
const BONDED_WITHIN: Duration = Duration::from_secs(300);
/// A bond that is older is not sent again.
const FRESH: Millis = Millis::secs(45);

impl Worker {
    /// Look at an offer; when it is wanted, take it and work to its end.
    pub(super) async fn take(&self, id: ContractId) -> Result<(), WorkError> {
        let view = match self.market.view(id).await {
            Ok(view) => view,
            Err(error) => {
                if error.status() == Some(404) {
                    self.heard().shown(id, None);
                }
                return Err(error.into());
            }
        };
        let case = view.case();
        self.heard().shown(id, Some(case.contract().bounty));
        let pass = wants(&self.config, case, self.market.id())
            .and_then(|()| knows(&self.config, case, self.model.is_some()));
        if let Err(why) = pass {
            tracing::debug!(contract = %id, "left: {why}");
            return Ok(());
        }
        let free = case.contract().is_free();
        // Whoever cannot be asked about is a principal like any other.
        let standing = self.market.reputation(&case.principal()).await.ok();
        let received = standing.and_then(|standing| standing.fixes(Side::Principal, free));
        if !self.hooks.on_contract_found(case, received) {
            return Ok(());
        }
        let stake = if free {
            Raw::ZERO
        } else {
            inclusive_bond(&case.terms().fees, case.contract().bounty).map_err(ClientError::Rules)?
        };
        if !free && !self.can_stake(id, stake).await? {
            tracing::info!(contract = %id, stake = %stake.xno(), "left: too much would be at stake");
            return Ok(());
        }
        self.lock().insert(id, stake);
        let payout = match &self.purse {
            Some(purse) if !free => Some(purse.address().await?),
            _ => None,
        };
        let data = Data::Bond { agent: self.market.id(), payout };
        let common = self.common(&view, &data).await?;
        let bond = self.market.sign_bond(&view, payout, &common).await?;
        let mut record = Record {
            contract: id,
            server: self.market.server(),
            stage: Stage::Bonding,
            stake,
            bond,
            deposit: None,
            pending: None,
            appealed: Raw::ZERO,
        };
        self.store.save(&record)?;
        match self.bond(&view, &mut record).await {
            Ok(true) => self.work(record).await,
            Ok(false) => self.forget(&record, view.state()),
            Err(WorkError::Client(error)) if record.stage == Stage::Bonding && !error.transient() => {
                // It was refused, so nothing is owed and nothing was paid.
                self.store.remove(id)?;
                Err(error.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Whether this much more may be at stake, and whether it is there.
    async fn can_stake(&self, id: ContractId, stake: Raw) -> Result<bool, WorkError> {
        let Some(purse) = &self.purse else { return Err(WorkError::NoPurse(id)) };
        let staked = Raw::checked_sum(self.lock().values().copied());
        let within =
            staked.and_then(|sum| sum.checked_add(stake)).is_some_and(|sum| sum <= self.config.max_at_stake);
        Ok(within && purse.balance().await? >= stake)
    }

    /// Send the bond, pay its deposit, and wait until the contract is ours. False: it is not.
    pub(super) async fn bond(&self, view: &View, record: &mut Record) -> Result<bool, WorkError> {
        let bonded = self.market.send_bond(view, record.bond.clone()).await?;
        if bonded.deposit.is_some() {
            // Every entry from the first to the last, and that the bond hangs on it: then money may move.
            self.market.check_reserved(&bonded).await?;
            record.deposit = bonded.deposit;
            record.stage = Stage::Paying;
            self.store.save(record)?;
            return self.pay(record).await;
        }
        self.own(record).await
    }

    /// Pay the deposit, once, and wait for the chain to say so.
    async fn pay(&self, record: &mut Record) -> Result<bool, WorkError> {
        let id = record.contract;
        let Some(purse) = &self.purse else { return Err(WorkError::NoPurse(id)) };
        if let Some(deposit) = &record.deposit {
            self.market.pay(&**purse, deposit).await?;
        }
        self.own(record).await
    }

    /// Wait until the bond is chained.
    async fn own(&self, record: &mut Record) -> Result<bool, WorkError> {
        let deadline = Instant::now() + BONDED_WITHIN;
        let me = self.market.id();
        loop {
            match self.market.view(record.contract).await {
                Ok(view) if is_ours(view.case(), me) => {
                    record.stage = Stage::Working;
                    self.store.save(record)?;
                    return Ok(true);
                }
                // Only the offer is shown again, or another one has it: the reservation has lapsed. A deposit
                // that came too late goes back to where it came from (decision E8).
                Ok(view) if view.state() != State::Open || !view.is_whole() => return Ok(false),
                Ok(_) => {}
                Err(error) if error.transient() => {}
                Err(error) if matches!(error.status(), Some(403 | 404)) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            sleep(self.config.poll()).await;
        }
    }

    /// Take up a contract that was begun before this program started.
    pub(super) async fn resume(&self, mut record: Record) -> Result<(), WorkError> {
        let id = record.contract;
        let view = match self.patient_view(id).await {
            Ok(view) => view,
            // It is somebody else's now, or gone.
            Err(error) if matches!(error.status(), Some(403 | 404)) => {
                return self.forget(&record, State::Open);
            }
            Err(error) => return Err(error.into()),
        };
        if self.is_mine(&view) {
            return self.go_on(record).await;
        }
        if view.state() != State::Open || record.stage == Stage::Working {
            return self.forget(&record, view.state());
        }
        let taken = match record.stage {
            // Reserved for this key: only then may the whole chain be read.
            Stage::Paying if view.is_whole() && self.is_reserved(&view).await? => self.pay(&mut record).await,
            Stage::Bonding => {
                let now = self.market.now().await?;
                if self.is_reserved(&view).await? || now.minus(record.bond.at()) < FRESH {
                    self.bond_again(&view, &mut record).await
                } else {
                    Ok(false)
                }
            }
            _ => Ok(false),
        };
        match taken {
            Ok(true) => self.work(record).await,
            // A deposit that was confirmed after the first look leaves no reservation, and the contract is ours.
            Ok(false) => match self.patient_view(id).await {
                Ok(view) if self.is_mine(&view) => self.go_on(record).await,
                Ok(view) => self.forget(&record, view.state()),
                Err(error) if matches!(error.status(), Some(403 | 404)) => self.forget(&record, State::Open),
                Err(error) => Err(error.into()),
            },
            Err(error) => Err(error),
        }
    }

    fn is_mine(&self, view: &View) -> bool {
        let me = self.market.id();
        is_ours(view.case(), me) || view.case().agent() == Some(me)
    }

    /// Works on with a contract that is known to be ours.
    async fn go_on(&self, mut record: Record) -> Result<(), WorkError> {
        if record.stage != Stage::Working {
            record.stage = Stage::Working;
            self.store.save(&record)?;
        }
        self.work(record).await
    }

    /// The bond may have been sent: the same entry again reserves nothing twice.
    async fn bond_again(&self, view: &View, record: &mut Record) -> Result<bool, WorkError> {
        if self.is_reserved(view).await? {
            let round = view.case().round();
            if let Some(deposit) = self.market.deposit_reserved(view, round).await? {
                let bonded =
                    Bonded { id: record.contract, entry: record.bond.clone(), deposit: Some(deposit) };
                self.market.check_reserved(&bonded).await?;
                record.deposit = bonded.deposit;
                record.stage = Stage::Paying;
                self.store.save(record)?;
                return self.pay(record).await;
            }
        }
        match self.bond(view, record).await {
            Err(WorkError::Client(error)) if record.stage == Stage::Bonding && !error.transient() => {
                tracing::info!(contract = %record.contract, "the bond of before the restart is void: \
                     {error}");
                Ok(false)
            }
            other => other,
        }
    }

    /// Whether the contract is reserved for this key: then the escrow can be read, and has an account of this
    /// round for the agent.
    async fn is_reserved(&self, view: &View) -> Result<bool, WorkError> {
        match self.market.deposit_reserved(view, view.case().round()).await {
            Ok(deposit) => Ok(deposit.is_some()),
            Err(error) if matches!(error.status(), Some(403 | 404)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A view, however long the network takes.
    async fn patient_view(&self, id: ContractId) -> Result<View, ClientError> {
        loop {
            match self.market.view(id).await {
                Err(error) if error.transient() => {
                    tracing::warn!(contract = %id, code = error.code(), "{error}");
                    sleep(Duration::from_secs(1)).await;
                }
                other => return other,
            }
        }
    }

    /// It has ended, or is not ours.
    pub(super) fn forget(&self, record: &Record, state: State) -> Result<(), WorkError> {
        self.store.remove(record.contract)?;
        self.hooks.on_ended(record.contract, state);
        Ok(())
    }
}
