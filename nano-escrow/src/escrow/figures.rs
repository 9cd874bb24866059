//! What an operator watches: what is held, what is owed, what waits.

use serde::Serialize;

use super::decide::refundable;
use super::engine::Engine;
use super::{AccountKey, AccountView, EscrowError};
use crate::journal::{AccountRow, AccountState, DepositRow, DepositState, rows};
use crate::{Address, PublicKey, Raw};

/// Sums over the journal, in raw, and counts. They follow what is open; accounts that are empty cost nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// On the accounts: received, and not confirmed as paid out.
    pub held: Raw,
    /// Owed to open contracts, to payees of decisions, and to sources that get it back by themselves.
    pub owed: Raw,
    /// Held by closed accounts and owed to nobody: too little to go back by itself, or a fault.
    pub nobodys: Raw,
    /// When the oldest decision was made that is not confirmed, in Unix milliseconds.
    pub oldest_decision: Option<i64>,
    /// Number of accounts on which work has stopped.
    pub stopped: u64,
    /// Number of alarms that are not cleared.
    pub alarms: u64,
    /// Number of refunds that were decided within the last hour.
    pub refunds: u64,
}

impl Engine {
    /// What an account holds, what of it is owed, and what is owed to nobody.
    async fn owed(&self, row: &AccountRow) -> Result<(Raw, Raw), EscrowError> {
        let deposits = {
            let mut conn = self.journal.read().await?;
            rows::deposits(&mut conn, &row.account).await?
        };
        let taken = |d: &&DepositRow| d.receive_hash.is_some() || d.state == DepositState::Received;
        let credited = match row.state {
            AccountState::Open => Raw::checked_sum(deposits.iter().filter(taken).map(|d| d.credited)),
            AccountState::Closed => Some(Raw::ZERO),
        };
        let returnable = deposits
            .iter()
            .filter(taken)
            .filter(|d| refundable(d) && d.excess() >= self.options.refund_min)
            .map(DepositRow::excess);
        let owed = credited.and_then(|sum| sum.checked_add(Raw::checked_sum(returnable)?));
        let owed = owed.unwrap_or(Raw::MAX).min(row.head_balance);
        let nobodys = match row.state {
            AccountState::Open => Raw::ZERO,
            AccountState::Closed => row.head_balance.saturating_sub(owed),
        };
        Ok((owed, nobodys))
    }

    async fn holders(&self) -> Result<Vec<AccountRow>, EscrowError> {
        let mut conn = self.journal.read().await?;
        let mut rows = rows::accounts_that_hold(&mut conn).await?;
        rows.retain(|row| !super::watch::is_wallet(row) && !row.head_balance.is_zero());
        Ok(rows)
    }

    pub(crate) async fn figures(&self) -> Result<Figures, EscrowError> {
        let mut figures = Figures::default();
        for row in self.holders().await? {
            let (owed, nobodys) = self.owed(&row).await?;
            figures.held = figures.held.add(row.head_balance)?;
            figures.owed = figures.owed.add(owed)?;
            figures.nobodys = figures.nobodys.add(nobodys)?;
        }
        let mut conn = self.journal.read().await?;
        for amount in rows::unpaid_amounts(&mut conn).await? {
            figures.held = figures.held.add(amount)?;
            figures.owed = figures.owed.add(amount)?;
        }
        figures.oldest_decision = rows::oldest_open_plan(&mut conn).await?;
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        figures.stopped = count(rows::stopped_accounts(&mut conn).await?);
        figures.alarms = rows::alarms(&mut conn).await?.len() as u64;
        let hour = self.now().saturating_sub(super::lane::HOUR);
        figures.refunds = count(rows::refunds_since(&mut conn, hour).await?);
        Ok(figures)
    }

    pub(crate) async fn raise_alarms(&self) -> Result<(), EscrowError> {
        let mut found: Vec<(PublicKey, EscrowError)> = Vec::new();
        for row in self.holders().await? {
            let (_, amount) = self.owed(&row).await?;
            if !amount.is_zero() {
                let account = row.account.address();
                found.push((row.account, EscrowError::Nobodys { account, amount }));
            }
        }
        self.keep_alarms(NOBODYS, found).await
    }

    /// Open accounts, whether anything has come in or not.
    pub(crate) async fn open_accounts(&self) -> Result<Vec<(AccountKey, Address)>, EscrowError> {
        let mut conn = self.journal.read().await?;
        let mut rows = rows::accounts_that_hold(&mut conn).await?;
        rows.retain(|row| row.state == AccountState::Open && !super::watch::is_wallet(row));
        Ok(rows
            .into_iter()
            .map(|row| (AccountKey::new(row.contract, row.depositor, row.round), row.account.address()))
            .collect())
    }

    pub(crate) async fn raise_orphans(&self, orphans: &[AccountView]) -> Result<(), EscrowError> {
        let mut found = Vec::with_capacity(orphans.len());
        for view in orphans {
            let (account, contract) = (view.address, view.key.contract.clone());
            let amount = view.received();
            found.push((account.public_key(), EscrowError::Orphan { account, contract, amount }));
        }
        self.keep_alarms(ORPHAN, found).await
    }

    /// The alarms of one number are these, and no others.
    async fn keep_alarms(&self, code: u32, found: Vec<(PublicKey, EscrowError)>) -> Result<(), EscrowError> {
        let now = self.now();
        let accounts: Vec<PublicKey> = found.iter().map(|(account, _)| *account).collect();
        let open = {
            let mut conn = self.journal.read().await?;
            rows::alarms(&mut conn).await?
        };
        let known = |account: &PublicKey, error: &EscrowError| {
            open.iter().any(|a| a.account == Some(*account) && a.message == error.to_string())
        };
        let over = open.iter().any(|a| a.code == code && a.account.is_none_or(|k| !accounts.contains(&k)));
        if !over && found.iter().all(|(account, error)| known(account, error)) {
            return Ok(());
        }
        let mut tx = self.journal.begin().await?;
        for (account, error) in &found {
            tracing::warn!(account = %account.address(), code = error.code(), %error, "alarm");
            rows::insert_alarm(&mut tx, Some(account), error.code(), &error.to_string(), now).await?;
        }
        rows::clear_alarms_except(&mut tx, code, &accounts).await?;
        Ok(self.journal.commit(tx, "alarms").await?)
    }
}

/// The number of [`EscrowError::Nobodys`].
const NOBODYS: u32 = 8666;
/// The number of [`EscrowError::Orphan`].
const ORPHAN: u32 = 8667;
