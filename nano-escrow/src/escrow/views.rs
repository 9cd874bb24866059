//! Views of the journal for the command line and the market server: accounts, deposits and plans as JSON.

use serde::Serialize;
use sqlx::SqliteConnection;

use super::{AccountKey, EscrowError};
use crate::journal::{
    AccountRow, AccountState, BlockState, DepositRow, DepositState, Journal, JournalError, rows,
};
use crate::{Address, BlockHash, PublicKey, Raw};

/// An escrow account with its balance and deposits, as the command line and the market server show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountView {
    /// Contract, depositor and round.
    #[serde(flatten)]
    pub key: AccountKey,
    /// Address to pay to.
    pub address: Address,
    /// Amount to be paid in; `None` when every deposit counts in full.
    pub expected: Option<Raw>,
    /// Confirmed deposits that count, less what was paid out.
    pub held: Raw,
    /// Deposits that the node knows and that are not confirmed yet. They do not count.
    pub unconfirmed: Raw,
    /// Confirmed deposits beyond what is expected, or after closing; they go back to their sources.
    pub excess: Raw,
    /// Whether the expected amount is paid in and confirmed.
    pub funded: bool,
    /// Whether the account was settled or expired.
    pub closed: bool,
    /// Number and reason of the error that has stopped work on the account.
    pub stopped: Option<(u32, String)>,
    /// Whether there were more deposits than `Options::max_deposits`.
    pub over_cap: bool,
    /// The deposits that have arrived at the address.
    pub deposits: Vec<DepositView>,
}

impl AccountView {
    /// What has come in and is confirmed, whether it counts or not.
    pub fn received(&self) -> Raw {
        let confirmed = self.deposits.iter().filter(|d| d.state != DepositState::Seen.name());
        Raw::checked_sum(confirmed.map(|d| d.amount)).unwrap_or(Raw::MAX)
    }
}

/// A send to an escrow account, and how much of it counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DepositView {
    /// Hash of the depositor's send.
    pub hash: BlockHash,
    /// Address that sent it.
    pub source: Address,
    /// Amount that was sent.
    pub amount: Raw,
    /// The part of the amount that counts for the contract.
    pub credited: Raw,
    /// `seen`, `confirmed` or `received`.
    pub state: &'static str,
    /// Whether a plan gives its excess back, confirmed or not.
    pub refunded: bool,
}

/// A plan and its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanView {
    /// Name of the contract that the plan belongs to.
    pub contract: String,
    /// `receive`, `refund`, or the caller's word, such as `fulfilled`.
    pub kind: String,
    /// The round, the deposit's hash or the caller's id.
    pub key: String,
    /// Whether every block of it is confirmed.
    pub done: bool,
    /// When it was decided, in Unix milliseconds.
    pub decided_at: i64,
    /// When its last block was confirmed, in Unix milliseconds.
    pub done_at: Option<i64>,
    /// The steps of the plan, in order.
    pub legs: Vec<LegView>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegView {
    /// The account whose chain the step extends.
    pub account: Address,
    /// The receiver of a payment; `None` for a receive.
    pub to: Option<Address>,
    /// Hash of the deposit's send; `None` for a payment.
    pub from: Option<BlockHash>,
    /// Amount that is received or sent.
    pub amount: Raw,
    /// Hash of the block that does it; `None` while the step is planned again.
    pub block: Option<BlockHash>,
    /// `planned`, `signed`, `published` or `confirmed`.
    pub state: &'static str,
}

/// A contract's accounts and plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Name of the contract.
    pub contract: String,
    /// The contract's accounts with their deposits.
    pub accounts: Vec<AccountView>,
    /// The contract's plans, in the order of their decisions.
    pub plans: Vec<PlanView>,
    /// Sum of the confirmed deposits, whether they count or not.
    pub paid_in: Raw,
    /// Sum of the confirmed payments, refunds included.
    pub paid_out: Raw,
}

/// An error that an operator has to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AlarmView {
    /// The account that the alarm is about, if there is one.
    pub account: Option<Address>,
    /// The stable number of the error.
    pub code: u32,
    /// The text of the error.
    pub message: String,
    /// When the alarm was raised, in Unix milliseconds.
    pub at: i64,
}

fn deposit_view(row: &DepositRow) -> DepositView {
    DepositView {
        hash: row.send_hash,
        source: row.source.address(),
        amount: row.amount,
        credited: row.credited,
        state: row.state.name(),
        refunded: row.refund_plan.is_some(),
    }
}

fn sum(amounts: impl Iterator<Item = Raw>) -> Result<Raw, EscrowError> {
    Raw::checked_sum(amounts)
        .ok_or_else(|| JournalError::Corrupt("amounts sum to more than there can be".into()).into())
}

async fn account_view(conn: &mut SqliteConnection, row: AccountRow) -> Result<AccountView, EscrowError> {
    let deposits = rows::deposits(conn, &row.account).await?;
    let counted = deposits.iter().filter(|d| d.state != DepositState::Seen);
    let credited = sum(counted.clone().map(|d| d.credited))?;
    let excess = sum(counted.filter(|d| d.refund_plan.is_none()).map(DepositRow::excess))?;
    let unconfirmed = sum(deposits.iter().filter(|d| d.state == DepositState::Seen).map(|d| d.amount))?;
    // Payments out of what counts: all but refunds.
    let mut out = Raw::ZERO;
    for leg in rows::payments_of_account(conn, &row.account).await? {
        out = out.add(leg.amount)?;
    }
    for block in rows::unplanned_sends(conn, &row.account).await? {
        out = out.add(block.amount)?;
    }
    Ok(AccountView {
        key: AccountKey { contract: row.contract, depositor: row.depositor, round: row.round },
        address: row.account.address(),
        expected: row.expected,
        held: credited.saturating_sub(out),
        unconfirmed,
        excess,
        funded: row.expected.is_some_and(|e| credited >= e),
        closed: row.state == AccountState::Closed,
        stopped: row.stop,
        over_cap: row.over_cap,
        deposits: deposits.iter().map(deposit_view).collect(),
    })
}

/// The account of a key. Returns 8620 when there is none.
pub async fn account(journal: &Journal, key: &AccountKey) -> Result<AccountView, EscrowError> {
    let mut conn = journal.read().await?;
    let row = rows::account_of(&mut conn, &key.contract, &key.depositor, key.round).await?;
    let row = row.ok_or_else(|| EscrowError::NoAccount(key.to_string()))?;
    account_view(&mut conn, row).await
}

pub(crate) async fn account_at(journal: &Journal, account: PublicKey) -> Result<AccountView, EscrowError> {
    let mut conn = journal.read().await?;
    let row = rows::account(&mut conn, &account).await?;
    let row = row.ok_or_else(|| EscrowError::NoAccount(account.address().to_string()))?;
    account_view(&mut conn, row).await
}

async fn plan_view(conn: &mut SqliteConnection, id: i64) -> Result<PlanView, EscrowError> {
    let plan = rows::plan(conn, id).await?;
    let mut legs = Vec::new();
    let blocks = rows::blocks_of_plan(conn, id).await?;
    for leg in rows::legs_of_plan(conn, id).await? {
        let block = blocks.iter().find(|b| b.leg == Some((id, leg.leg)));
        legs.push(LegView {
            account: leg.account.address(),
            to: leg.is_send.then(|| PublicKey(leg.link).address()),
            from: (!leg.is_send).then_some(BlockHash(leg.link)),
            amount: leg.amount,
            block: block.map(|b| b.hash),
            state: block.map_or("planned", |b| b.state.name()),
        });
    }
    Ok(PlanView {
        contract: plan.contract,
        kind: plan.kind,
        key: plan.key,
        done: plan.done,
        decided_at: plan.created_at,
        done_at: plan.done_at,
        legs,
    })
}

pub(crate) async fn plan(journal: &Journal, id: i64) -> Result<PlanView, EscrowError> {
    let mut conn = journal.read().await?;
    plan_view(&mut conn, id).await
}

pub(crate) async fn plan_by_key(
    journal: &Journal,
    contract: &str,
    kind: &str,
    key: &str,
) -> Result<PlanView, EscrowError> {
    let mut conn = journal.read().await?;
    match rows::plan_by_key(&mut conn, contract, kind, key).await? {
        Some(plan) => plan_view(&mut conn, plan.id).await,
        None => Err(EscrowError::NoPlan { contract: contract.into(), kind: kind.into(), key: key.into() }),
    }
}

/// Everything about a contract; also for a journal that is open for reading only. Fails with 8620 when there is
/// nothing.
pub async fn statement(journal: &Journal, contract: &str) -> Result<Statement, EscrowError> {
    let mut conn = journal.read().await?;
    let rows_ = rows::accounts_of(&mut conn, contract).await?;
    if rows_.is_empty() {
        return Err(EscrowError::NoAccount(contract.into()));
    }
    let mut accounts = Vec::with_capacity(rows_.len());
    let (mut paid_in, mut paid_out) = (Raw::ZERO, Raw::ZERO);
    for row in rows_ {
        for block in rows::blocks(&mut conn, &row.account).await? {
            if block.state == BlockState::Confirmed && block.subtype == crate::Subtype::Send {
                paid_out = paid_out.add(block.amount)?;
            }
        }
        let view = account_view(&mut conn, row).await?;
        let confirmed = view.deposits.iter().filter(|d| d.state != DepositState::Seen.name());
        paid_in = paid_in.add(sum(confirmed.map(|d| d.amount))?)?;
        accounts.push(view);
    }
    let mut plans = Vec::new();
    for plan in rows::plans_of(&mut conn, contract).await? {
        plans.push(plan_view(&mut conn, plan.id).await?);
    }
    Ok(Statement { contract: contract.into(), accounts, plans, paid_in, paid_out })
}

/// The alarms that are not cleared, oldest first.
pub async fn alarms(journal: &Journal) -> Result<Vec<AlarmView>, EscrowError> {
    let mut conn = journal.read().await?;
    let alarms = rows::alarms(&mut conn).await?;
    Ok(alarms
        .into_iter()
        .map(|a| AlarmView {
            account: a.account.map(|k| k.address()),
            code: a.code,
            message: a.message,
            at: a.at,
        })
        .collect())
}

/// The names of a journal's contracts, in order.
pub async fn contracts(journal: &Journal) -> Result<Vec<String>, EscrowError> {
    let mut conn = journal.read().await?;
    Ok(rows::contracts(&mut conn).await?)
}
