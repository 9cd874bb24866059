//! Statements about blocks.

use sqlx::SqliteConnection;

use super::{BlockRow, BlockState, Result, amount, block_row};
use crate::{BlockHash, PublicKey};

pub(crate) async fn insert_block(conn: &mut SqliteConnection, row: &BlockRow) -> Result<()> {
    sqlx::query(
        "INSERT INTO block (hash, account, height, previous, subtype, balance, link, rep, amount, signature, state,
         ours, plan, leg, signed_at, published_at, confirmed_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(row.hash.0.to_vec())
    .bind(row.account.0.to_vec())
    .bind(row.height as i64)
    .bind(row.previous.0.to_vec())
    .bind(row.subtype.name())
    .bind(amount(row.balance))
    .bind(row.link.to_vec())
    .bind(row.rep.0.to_vec())
    .bind(amount(row.amount))
    .bind(row.signature.0.to_vec())
    .bind(row.state.name())
    .bind(i64::from(row.ours))
    .bind(row.leg.map(|l| l.0))
    .bind(row.leg.map(|l| l.1))
    .bind(row.signed_at)
    .bind(row.published_at)
    .bind(row.confirmed_at)
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn block(conn: &mut SqliteConnection, hash: &BlockHash) -> Result<Option<BlockRow>> {
    sqlx::query("SELECT * FROM block WHERE hash = ?")
        .bind(hash.0.to_vec())
        .fetch_optional(conn)
        .await?
        .map(block_row)
        .transpose()
}

/// Blocks that do the legs of a plan, dead ones left out.
pub(crate) async fn blocks_of_plan(conn: &mut SqliteConnection, plan: i64) -> Result<Vec<BlockRow>> {
    let rows = sqlx::query("SELECT * FROM block WHERE plan = ? AND state <> 'dead' ORDER BY leg")
        .bind(plan)
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(block_row).collect()
}

/// All blocks of the account, dead ones too, in the order of the chain.
pub(crate) async fn blocks(conn: &mut SqliteConnection, account: &PublicKey) -> Result<Vec<BlockRow>> {
    let rows = sqlx::query("SELECT * FROM block WHERE account = ? ORDER BY height, state = 'dead'")
        .bind(account.0.to_vec())
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(block_row).collect()
}

/// Blocks that are decided and not confirmed, in the order of the chain.
pub(crate) async fn pending_blocks(
    conn: &mut SqliteConnection,
    account: &PublicKey,
) -> Result<Vec<BlockRow>> {
    let rows = sqlx::query(
        "SELECT * FROM block WHERE account = ? AND state IN ('signed', 'published') ORDER BY height",
    )
    .bind(account.0.to_vec())
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(block_row).collect()
}

/// Blocks of all accounts that are decided and not confirmed, by account and in the order of the chain.
pub(crate) async fn all_pending_blocks(conn: &mut SqliteConnection) -> Result<Vec<BlockRow>> {
    let rows =
        sqlx::query("SELECT * FROM block WHERE state IN ('signed', 'published') ORDER BY account, height")
            .fetch_all(conn)
            .await?;
    rows.into_iter().map(block_row).collect()
}

/// Adopted sends that belong to no plan.
pub(crate) async fn unplanned_sends(
    conn: &mut SqliteConnection,
    account: &PublicKey,
) -> Result<Vec<BlockRow>> {
    let rows = sqlx::query(
        "SELECT * FROM block WHERE account = ? AND ours = 0 AND subtype = 'send' AND plan IS NULL
         AND state = 'confirmed' ORDER BY height",
    )
    .bind(account.0.to_vec())
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(block_row).collect()
}

pub(crate) async fn set_block_state(
    conn: &mut SqliteConnection,
    hash: &BlockHash,
    state: BlockState,
    now: i64,
) -> Result<()> {
    sqlx::query(
        "UPDATE block SET state = ?1,
           published_at = CASE WHEN ?1 IN ('published', 'confirmed') THEN coalesce(published_at, ?2)
             ELSE published_at END,
           confirmed_at = CASE WHEN ?1 = 'confirmed' THEN ?2 ELSE confirmed_at END
         WHERE hash = ?3",
    )
    .bind(state.name())
    .bind(now)
    .bind(hash.0.to_vec())
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn set_block_leg(
    conn: &mut SqliteConnection,
    hash: &BlockHash,
    leg: (i64, i64),
) -> Result<()> {
    sqlx::query("UPDATE block SET plan = ?, leg = ? WHERE hash = ?")
        .bind(leg.0)
        .bind(leg.1)
        .bind(hash.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}
