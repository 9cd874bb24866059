//! Deposits that arrive, and settlements that go to the escrow.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use nano_escrow::Raw;
use zx1_market::case::{Settle, Step};
use zx1_market::chain::{DepositData, Side};
use zx1_market::{Address, ContractId, Reason};

use super::Engine;
use crate::error::{Error, Result};
use crate::escrow::{Desk, refused_for_good};
use crate::store::{DepositRow, OutboxRow, OutboxState, StoreError};

/// What the task that watches deposits remembers between two polls.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// Accounts whose unconfirmed deposit was already published.
    seen: HashSet<String>,
    /// Accounts that were paid from the faucet.
    funded: HashSet<String>,
}

/// What is known about one account.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Whether its unconfirmed deposit was already published.
    seen: bool,
    /// Whether it was paid from the faucet.
    funded: bool,
}

/// Maximum number of accounts that are polled, or contracts whose decisions are handed over, at once.
const AT_ONCE: usize = 32;
/// A decision that fails is tried again after at most this many doublings of the pause.
const DOUBLINGS: u32 = 6;

/// Contracts whose decisions failed for now: when they are tried again, and how often they have failed.
#[derive(Debug, Default)]
pub(super) struct Failed(HashMap<String, (Instant, u32)>);

impl Failed {
    fn again(&mut self, contract: String, pause: Duration) {
        let times = self.0.get(&contract).map_or(0, |(_, times)| *times);
        let pause = pause * 2_u32.pow(times.min(DOUBLINGS));
        self.0.insert(contract, (Instant::now() + pause, times.saturating_add(1)));
    }
}

fn corrupt(what: &str) -> Error {
    StoreError::Corrupt(what.to_owned()).into()
}

impl Engine {
    /// Polls every account whose deposit is outstanding. Returns whether there is any.
    pub(super) async fn look_at_deposits(&self, watched: &mut Watched) -> Result<bool> {
        let Some(desk) = &self.inner.desk else { return Ok(false) };
        let rows = self.inner.store.waiting().await?;
        let open: HashSet<&str> = rows.iter().map(|row| row.address.as_str()).collect();
        watched.seen.retain(|address| open.contains(address.as_str()));
        watched.funded.retain(|address| open.contains(address.as_str()));
        let looks: Vec<_> = rows
            .iter()
            .map(|row| {
                let known = Known {
                    seen: watched.seen.contains(&row.address),
                    funded: watched.funded.contains(&row.address),
                };
                async move { (row, self.look_at_deposit(desk, row, known).await) }
            })
            .collect();
        let mut looks = futures_util::stream::iter(looks).buffer_unordered(AT_ONCE);
        while let Some((row, looked)) = looks.next().await {
            match looked {
                Ok(Known { seen, funded }) => {
                    if seen {
                        watched.seen.insert(row.address.clone());
                    }
                    if funded {
                        watched.funded.insert(row.address.clone());
                    }
                }
                Err(error) => {
                    let (code, contract) = (error.code(), &row.contract_id);
                    tracing::warn!(code, %error, contract, "a deposit was not taken");
                }
            }
        }
        Ok(!rows.is_empty())
    }

    /// Look at one account; what is known about it afterwards.
    async fn look_at_deposit(&self, desk: &Desk, row: &DepositRow, known: Known) -> Result<Known> {
        let id: ContractId = row.contract_id.parse()?;
        let address: Address = row.address.parse().map_err(|_| corrupt("a deposit's address"))?;
        let side = Side::from_word(&row.side).ok_or_else(|| corrupt("a deposit's side"))?;
        let round = u32::try_from(row.round).map_err(|_| corrupt("a deposit's round"))?;
        let view = desk.look(&row.contract_id, &row.party, round).await?;
        if view.funded {
            let amount = view.expected.unwrap_or(view.held);
            let source = view.deposits.iter().find(|d| d.state != "seen" && d.credited > Raw::ZERO);
            let source = source.map_or(address, |d| d.source);
            let deposit = DepositData { account: address, amount, source };
            let taken = self
                .act(id, None, |case, now, key| Ok((case.deposit_confirmed(side, deposit, now, key)?, ())))
                .await;
            return match taken {
                // Too late: the transaction that let it lapse has told the escrow.
                Err(Error::Market(refusal)) if refusal.reason() == Reason::DepositUnexpected => Ok(known),
                other => other.map(|_| known),
            };
        }
        if view.unconfirmed > Raw::ZERO && !known.seen {
            self.act(id, None, |case, now, _| {
                let effects = case.deposit_seen(side, now)?;
                Ok((Step { entries: Vec::new(), effects }, ()))
            })
            .await?;
            return Ok(Known { seen: true, ..known });
        }
        if desk.auto_fund() && view.deposits.is_empty() && !known.funded {
            let amount: u128 = row.amount.parse().map_err(|_| corrupt("a deposit's amount"))?;
            desk.fund(address, Raw(amount)).await?;
            self.inner.deposits.notify_one();
            return Ok(Known { funded: true, ..known });
        }
        Ok(known)
    }

    /// Tell the escrow what was decided, several contracts at a time, each in its order. What it refuses for good
    /// becomes a dead letter, which an operator resolves; what fails otherwise is tried again after a pause that
    /// doubles. Answers whether something is left for later.
    pub(super) async fn tell_escrow(&self, failed: &mut Failed) -> Result<bool> {
        let Some(desk) = &self.inner.desk else { return Ok(false) };
        let mut contracts: BTreeMap<String, Vec<OutboxRow>> = BTreeMap::new();
        let open = self.inner.store.outbox(OutboxState::Open).await?;
        let metrics = &self.inner.metrics;
        metrics.outbox.set(i64::try_from(open.len()).unwrap_or(i64::MAX));
        metrics.oldest_decision.set(open.first().map_or(0, |row| row.created_at / 1_000));
        for row in open {
            contracts.entry(row.contract_id.clone()).or_default().push(row);
        }
        failed.0.retain(|contract, _| contracts.contains_key(contract));
        let now = Instant::now();
        let waiting = contracts.len();
        contracts.retain(|contract, _| failed.0.get(contract).is_none_or(|(until, _)| *until <= now));
        let mut left = contracts.len() < waiting;
        let told: Vec<_> = contracts
            .into_iter()
            .map(|(contract, rows)| async move { (contract, self.tell_all(desk, rows).await) })
            .collect();
        let mut told = futures_util::stream::iter(told).buffer_unordered(AT_ONCE);
        while let Some((contract, told)) = told.next().await {
            if told? {
                failed.0.remove(&contract);
            } else {
                left = true;
                failed.again(contract, self.inner.habits.pause);
            }
        }
        if !left {
            metrics.outbox.set(0);
            metrics.oldest_decision.set(0);
        }
        let dead = self.inner.store.outbox(OutboxState::Dead).await?.len();
        self.inner.metrics.dead_letters.set(i64::try_from(dead).unwrap_or(i64::MAX));
        Ok(left)
    }

    /// Hands one contract's decisions over. Answers whether none is left for later.
    async fn tell_all(&self, desk: &Desk, rows: Vec<OutboxRow>) -> Result<bool> {
        for row in rows {
            let (to, reason) = match self.tell(desk, &row).await {
                Ok(()) => (OutboxState::Done, String::new()),
                Err(error) => {
                    let (code, dead) = (error.code(), refused_for_good(&error));
                    self.inner.metrics.escrow_errors.inc();
                    let (contract, kind, item) = (&row.contract_id, &row.kind, &row.item);
                    tracing::error!(code, %error, contract, kind, item, dead, "the escrow refused a decision");
                    if !dead {
                        return Ok(false);
                    }
                    (OutboxState::Dead, format!("error {code}: {error}"))
                }
            };
            self.inner.points.pass("before", "commit", "told").await;
            self.inner.store.move_outbox(&row, OutboxState::Open, to, &reason).await?;
            self.inner.points.pass("after", "commit", "told").await;
        }
        Ok(true)
    }

    async fn tell(&self, desk: &Desk, row: &OutboxRow) -> Result<()> {
        if row.kind == "expire" {
            let (party, round) = row.item.rsplit_once('/').ok_or_else(|| corrupt("an expired deposit"))?;
            let round = round.parse().map_err(|_| corrupt("an expired deposit's round"))?;
            return desk.expire(&row.contract_id, party, round).await;
        }
        let settle: Settle =
            serde_json::from_str(&row.body).map_err(|e| corrupt(&format!("a payout: {e}")))?;
        desk.settle(&row.contract_id, &settle).await?;
        self.inner.metrics.settlements.inc();
        Ok(())
    }
}
