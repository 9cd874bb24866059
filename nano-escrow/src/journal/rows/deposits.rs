//! Statements about deposits.

use sqlx::SqliteConnection;

use super::{DepositRow, Result, amount, deposit_row};
use crate::{BlockHash, PublicKey};

pub(crate) async fn insert_deposit(conn: &mut SqliteConnection, row: &DepositRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO deposit (send_hash, account, amount, source, state, credited, seen_at, confirmed_at,
         receive_hash, refund_plan, excess) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(row.send_hash.0.to_vec())
    .bind(row.account.0.to_vec())
    .bind(amount(row.amount))
    .bind(row.source.0.to_vec())
    .bind(row.state.name())
    .bind(amount(row.credited))
    .bind(row.seen_at)
    .bind(row.confirmed_at)
    .bind(row.receive_hash.map(|h| h.0.to_vec()))
    .bind(row.refund_plan)
    .bind(amount(row.excess()))
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn update_deposit(conn: &mut SqliteConnection, row: &DepositRow) -> Result<()> {
    sqlx::query(
        "UPDATE deposit SET state = ?, credited = ?, confirmed_at = ?, receive_hash = ?, refund_plan = ?, excess = ?
         WHERE send_hash = ?",
    )
    .bind(row.state.name())
    .bind(amount(row.credited))
    .bind(row.confirmed_at)
    .bind(row.receive_hash.map(|h| h.0.to_vec()))
    .bind(row.refund_plan)
    .bind(amount(row.excess()))
    .bind(row.send_hash.0.to_vec())
    .execute(conn)
    .await?;
    Ok(())
}

/// A send that was seen and then lost an election: it was never money.
pub(crate) async fn forget_seen(conn: &mut SqliteConnection, hash: &BlockHash) -> Result<()> {
    sqlx::query("DELETE FROM deposit WHERE send_hash = ? AND state = 'seen'")
        .bind(hash.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn deposit(conn: &mut SqliteConnection, hash: &BlockHash) -> Result<Option<DepositRow>> {
    sqlx::query("SELECT * FROM deposit WHERE send_hash = ?")
        .bind(hash.0.to_vec())
        .fetch_optional(conn)
        .await?
        .map(deposit_row)
        .transpose()
}

/// In the order in which they count.
pub(crate) async fn deposits(conn: &mut SqliteConnection, account: &PublicKey) -> Result<Vec<DepositRow>> {
    let rows = sqlx::query(
        "SELECT * FROM deposit WHERE account = ? ORDER BY confirmed_at IS NULL, confirmed_at, seen_at, send_hash",
    )
    .bind(account.0.to_vec())
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(deposit_row).collect()
}
