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
         head_balance, height, state, over_cap, created_at, closed_at, secret)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)",
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
    .bind(row.closed_at)
    .bind(row.secret)
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

/// Accounts that deposits are expected on.
pub(crate) async fn open_accounts(conn: &mut SqliteConnection) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query("SELECT account FROM account WHERE state = 'open' AND stop_code IS NULL")
        .fetch_all(conn)
        .await?;
    rows.iter().map(|r| blob32(r, "account").map(PublicKey)).collect()
}

/// Accounts that are open or were closed after `since`.
pub(crate) async fn accounts_to_compare(conn: &mut SqliteConnection, since: i64) -> Result<Vec<AccountRow>> {
    let rows = sqlx::query(
        "SELECT * FROM account WHERE state = 'open' UNION ALL
         SELECT * FROM account WHERE state = 'closed' AND closed_at > ?",
    )
    .bind(since)
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(account_row).collect()
}

/// A page of accounts that were closed after `since`, by their keys.
pub(crate) async fn closed_accounts(
    conn: &mut SqliteConnection,
    since: i64,
    after: (i64, PublicKey),
    limit: usize,
) -> Result<Vec<(i64, PublicKey)>> {
    let rows = sqlx::query(
        "SELECT closed_at, account FROM account WHERE state = 'closed' AND closed_at > ?1
         AND (closed_at, account) > (?2, ?3) AND stop_code IS NULL ORDER BY closed_at, account LIMIT ?4",
    )
    .bind(since)
    .bind(after.0)
    .bind(after.1.0.to_vec())
    .bind(limit as i64)
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| Ok((r.try_get("closed_at")?, blob32(r, "account").map(PublicKey)?))).collect()
}

/// Accounts that hold something for a contract, or might.
pub(crate) async fn accounts_that_hold(conn: &mut SqliteConnection) -> Result<Vec<AccountRow>> {
    let rows = sqlx::query(
        "SELECT * FROM account WHERE state = 'open' UNION ALL
         SELECT * FROM account WHERE state = 'closed' AND head_balance > x'00000000000000000000000000000000'",
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(account_row).collect()
}

pub(crate) async fn stopped_accounts(conn: &mut SqliteConnection) -> Result<i64> {
    let row = sqlx::query("SELECT count(*) FROM account WHERE stop_code IS NOT NULL").fetch_one(conn).await?;
    Ok(row.try_get(0)?)
}

/// The id of the nonce secret that was noted last.
pub(crate) async fn last_secret(conn: &mut SqliteConnection) -> Result<Option<String>> {
    let row = sqlx::query("SELECT id FROM secret ORDER BY number DESC LIMIT 1").fetch_optional(conn).await?;
    Ok(row.map(|r| r.try_get(0)).transpose()?)
}

/// The number of a nonce secret, which it gets when it is seen first.
pub(crate) async fn know_secret(conn: &mut SqliteConnection, id: &str, now: i64) -> Result<i64> {
    sqlx::query("INSERT INTO secret (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING")
        .bind(id)
        .bind(now)
        .execute(&mut *conn)
        .await?;
    Ok(sqlx::query("SELECT number FROM secret WHERE id = ?").bind(id).fetch_one(conn).await?.try_get(0)?)
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

/// The same with the priority of the most urgent plan, the most urgent first.
pub(crate) async fn busy_by_priority(conn: &mut SqliteConnection) -> Result<Vec<(PublicKey, i64)>> {
    let rows = sqlx::query(
        "SELECT leg.account AS account, max(plan.priority) AS urgency FROM leg JOIN plan ON plan.id = leg.plan
         WHERE plan.state = 'open' GROUP BY leg.account ORDER BY urgency DESC, min(plan.id)",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(|r| Ok((blob32(r, "account").map(PublicKey)?, r.try_get("urgency")?))).collect()
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

/// Accounts with a deposit of which at least `least` may go back, the largest first.
pub(crate) async fn accounts_with_excess(
    conn: &mut SqliteConnection,
    least: Raw,
    limit: i64,
) -> Result<Vec<PublicKey>> {
    let rows = sqlx::query(
        "SELECT d.account AS account, max(d.excess) AS most FROM deposit d
         JOIN account a ON a.account = d.account WHERE d.refund_plan IS NULL AND d.state <> 'seen'
         AND d.excess >= ?1 AND a.stop_code IS NULL GROUP BY d.account ORDER BY most DESC LIMIT ?2",
    )
    .bind(amount(least))
    .bind(limit)
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

pub(crate) async fn close_account(conn: &mut SqliteConnection, account: &PublicKey, now: i64) -> Result<()> {
    sqlx::query("UPDATE account SET state = 'closed', closed_at = ? WHERE account = ?")
        .bind(now)
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
