//! Statements about the journal itself and its accounts.

use sqlx::{Row, SqliteConnection};

use super::{AccountRow, AccountState, Result, account_row, amount, blob32, some};
use crate::{BlockHash, PublicKey, Raw};

pub(crate) async fn meta(conn: &mut SqliteConnection, key: &str) -> Result<Option<String>> {
    let row = sqlx::query("SELECT value FROM meta WHERE key = ?").bind(key).fetch_optional(conn).await?;
    Ok(row.map(|r| r.try_get(0)).transpose()?)
}

pub(crate) async fn set_meta(conn: &mut SqliteConnection, key: &str, value: &str) -> Result<()> {
    sqlx::query("INSERT INTO meta (key, value) VALUES (?, ?)").bind(key).bind(value).execute(conn).await?;
    Ok(())
}

pub(crate) async fn insert_account(conn: &mut SqliteConnection, row: &AccountRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO account (account, contract, depositor, round, nonce, rep, expected, payer, head_hash,
         head_balance, height, state, over_cap, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
    )
    .bind(row.account.0.to_vec())
    .bind(&row.contract)
    .bind(&row.depositor)
    .bind(i64::from(row.round))
    .bind(&row.nonce)
    .bind(row.rep.0.to_vec())
    .bind(row.expected.map(amount))
    .bind(row.payer.map(|p| p.0.to_vec()))
    .bind(some(row.head_hash))
    .bind(amount(row.head_balance))
    .bind(row.height as i64)
    .bind(if row.state == AccountState::Open { "open" } else { "closed" })
    .bind(row.created_at)
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn account(conn: &mut SqliteConnection, key: &PublicKey) -> Result<Option<AccountRow>> {
    sqlx::query("SELECT * FROM account WHERE account = ?")
        .bind(key.0.to_vec())
        .fetch_optional(conn)
        .await?
        .map(account_row)
        .transpose()
}

pub(crate) async fn account_of(
    conn: &mut SqliteConnection,
    contract: &str,
    depositor: &str,
    round: u32,
) -> Result<Option<AccountRow>> {
    sqlx::query("SELECT * FROM account WHERE contract = ? AND depositor = ? AND round = ?")
        .bind(contract)
        .bind(depositor)
        .bind(i64::from(round))
        .fetch_optional(conn)
        .await?
        .map(account_row)
        .transpose()
}

pub(crate) async fn accounts_of(conn: &mut SqliteConnection, contract: &str) -> Result<Vec<AccountRow>> {
    let rows = sqlx::query("SELECT * FROM account WHERE contract = ? ORDER BY round, depositor")
        .bind(contract)
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(account_row).collect()
}

pub(crate) async fn contracts(conn: &mut SqliteConnection) -> Result<Vec<String>> {
    let rows = sqlx::query("SELECT DISTINCT contract FROM account ORDER BY contract").fetch_all(conn).await?;
    Ok(rows.iter().map(|r| r.try_get(0)).collect::<std::result::Result<_, _>>()?)
}

pub(crate) async fn accounts(conn: &mut SqliteConnection) -> Result<Vec<AccountRow>> {
    let rows =
        sqlx::query("SELECT * FROM account ORDER BY contract, round, depositor").fetch_all(conn).await?;
    rows.into_iter().map(account_row).collect()
}

/// Accounts whose deposits matter: open ones, and closed ones that were made after `since`.
pub(crate) async fn watched_accounts(conn: &mut SqliteConnection, since: i64) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query(
        "SELECT account FROM account WHERE state = 'open' AND stop_code IS NULL
         UNION SELECT account FROM account WHERE created_at > ? AND stop_code IS NULL",
    )
    .bind(since)
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| blob32(r, "account").map(PublicKey)).collect()
}

/// Accounts that have decided something which is not confirmed.
pub(crate) async fn busy_accounts(conn: &mut SqliteConnection) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query(
        "SELECT account FROM block WHERE state IN ('signed', 'published')
         UNION SELECT leg.account FROM leg JOIN plan ON plan.id = leg.plan WHERE plan.state = 'open'",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| blob32(r, "account").map(PublicKey)).collect()
}

/// The same, the most urgent plan first.
pub(crate) async fn busy_by_priority(conn: &mut SqliteConnection) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query(
        "SELECT leg.account AS account, max(plan.priority) AS urgency FROM leg JOIN plan ON plan.id = leg.plan
         WHERE plan.state = 'open' GROUP BY leg.account ORDER BY urgency DESC, min(plan.id)",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| blob32(r, "account").map(PublicKey)).collect()
}

/// Accounts with deposits that wait for a confirmation or a receive.
pub(crate) async fn accounts_with_open_deposits(conn: &mut SqliteConnection) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query(
        "SELECT DISTINCT account FROM deposit WHERE state <> 'received'
           AND (state = 'seen' OR (receive_hash IS NULL AND credited > zeroblob(16)))",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| blob32(r, "account").map(PublicKey)).collect()
}

/// Accounts with excess that may go back to a source to which no refund is decided yet.
pub(crate) async fn accounts_with_excess(conn: &mut SqliteConnection) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query(
        "SELECT DISTINCT d.account FROM deposit d WHERE d.state <> 'seen' AND d.refund_plan IS NULL
           AND d.credited < d.amount AND NOT EXISTS (SELECT 1 FROM deposit o WHERE o.account = d.account
             AND o.source = d.source AND o.refund_plan IS NOT NULL)",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| blob32(r, "account").map(PublicKey)).collect()
}

pub(crate) async fn set_head(
    conn: &mut SqliteConnection,
    account: &PublicKey,
    head: BlockHash,
    balance: Raw,
    height: u64,
) -> Result<()> {
    sqlx::query("UPDATE account SET head_hash = ?, head_balance = ?, height = ? WHERE account = ?")
        .bind(some(head))
        .bind(amount(balance))
        .bind(height as i64)
        .bind(account.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn close_account(conn: &mut SqliteConnection, account: &PublicKey) -> Result<()> {
    sqlx::query("UPDATE account SET state = 'closed' WHERE account = ?")
        .bind(account.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn set_stop(
    conn: &mut SqliteConnection,
    account: &PublicKey,
    stop: Option<(u32, &str)>,
) -> Result<()> {
    sqlx::query("UPDATE account SET stop_code = ?, stop_reason = ? WHERE account = ?")
        .bind(stop.map(|s| i64::from(s.0)))
        .bind(stop.map(|s| s.1.to_owned()))
        .bind(account.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn set_over_cap(conn: &mut SqliteConnection, account: &PublicKey) -> Result<()> {
    sqlx::query("UPDATE account SET over_cap = 1 WHERE account = ?")
        .bind(account.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}
