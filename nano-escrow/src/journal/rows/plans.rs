//! Statements about plans and their legs.

use sqlx::{Row, SqliteConnection};

use super::{LegRow, PlanRow, Result, amount, blob16, leg_row, plan_row};
use crate::journal::JournalError;
use crate::{PublicKey, Raw};

pub(crate) async fn plan_by_key(
    conn: &mut SqliteConnection,
    contract: &str,
    kind: &str,
    key: &str,
) -> Result<Option<PlanRow>> {
    sqlx::query("SELECT * FROM plan WHERE contract = ? AND kind = ? AND key = ?")
        .bind(contract)
        .bind(kind)
        .bind(key)
        .fetch_optional(conn)
        .await?
        .map(plan_row)
        .transpose()
}

pub(crate) async fn plan(conn: &mut SqliteConnection, id: i64) -> Result<PlanRow> {
    let row = sqlx::query("SELECT * FROM plan WHERE id = ?").bind(id).fetch_optional(conn).await?;
    row.map(plan_row).transpose()?.ok_or_else(|| JournalError::Corrupt(format!("plan {id} is missing")))
}

pub(crate) async fn plans_of(conn: &mut SqliteConnection, contract: &str) -> Result<Vec<PlanRow>> {
    let rows = sqlx::query("SELECT * FROM plan WHERE contract = ? ORDER BY id")
        .bind(contract)
        .fetch_all(conn)
        .await?;
    rows.into_iter().map(plan_row).collect()
}

pub(crate) async fn insert_plan(conn: &mut SqliteConnection, row: &PlanRow) -> Result<i64> {
    let done = sqlx::query(
        "INSERT INTO plan (contract, kind, key, priority, digest, state, created_at, done_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&row.contract)
    .bind(&row.kind)
    .bind(&row.key)
    .bind(row.priority)
    .bind(row.digest.to_vec())
    .bind(if row.done { "done" } else { "open" })
    .bind(row.created_at)
    .bind(row.done_at)
    .execute(conn)
    .await?;
    Ok(done.last_insert_rowid())
}

/// Number of refunds that were decided after `since`.
pub(crate) async fn refunds_since(conn: &mut SqliteConnection, since: i64) -> Result<i64> {
    let row = sqlx::query("SELECT count(*) FROM plan WHERE kind = 'refund' AND created_at > ?")
        .bind(since)
        .fetch_one(conn)
        .await?;
    Ok(row.try_get(0)?)
}

/// Amounts of payments that are decided and not confirmed.
pub(crate) async fn unpaid_amounts(conn: &mut SqliteConnection) -> Result<Vec<Raw>> {
    let rows = sqlx::query(
        "SELECT leg.amount AS amount FROM leg JOIN plan ON plan.id = leg.plan WHERE plan.state = 'open'
         AND leg.kind = 'send' AND NOT EXISTS (SELECT 1 FROM block WHERE block.plan = leg.plan
           AND block.leg = leg.leg AND block.state = 'confirmed')",
    )
    .fetch_all(conn)
    .await?;
    rows.iter().map(|row| blob16(row, "amount")).collect()
}

/// When the oldest plan was decided that is not done.
pub(crate) async fn oldest_open_plan(conn: &mut SqliteConnection) -> Result<Option<i64>> {
    let row = sqlx::query("SELECT min(created_at) FROM plan WHERE state = 'open'").fetch_one(conn).await?;
    Ok(row.try_get(0)?)
}

pub(crate) async fn finish_plan(conn: &mut SqliteConnection, id: i64, now: i64) -> Result<()> {
    sqlx::query("UPDATE plan SET state = 'done', done_at = ? WHERE id = ? AND state = 'open'")
        .bind(now)
        .bind(id)
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn insert_leg(conn: &mut SqliteConnection, row: &LegRow) -> Result<()> {
    sqlx::query("INSERT INTO leg (plan, leg, account, kind, link, amount) VALUES (?, ?, ?, ?, ?, ?)")
        .bind(row.plan)
        .bind(row.leg)
        .bind(row.account.0.to_vec())
        .bind(if row.is_send { "send" } else { "receive" })
        .bind(row.link.to_vec())
        .bind(amount(row.amount))
        .execute(conn)
        .await?;
    Ok(())
}

pub(crate) async fn legs_of_plan(conn: &mut SqliteConnection, plan: i64) -> Result<Vec<LegRow>> {
    let rows =
        sqlx::query("SELECT * FROM leg WHERE plan = ? ORDER BY leg").bind(plan).fetch_all(conn).await?;
    rows.into_iter().map(leg_row).collect()
}

/// Payments that are decided, refunds left out.
pub(crate) async fn payments_of_account(
    conn: &mut SqliteConnection,
    account: &PublicKey,
) -> Result<Vec<LegRow>> {
    let rows = sqlx::query(
        "SELECT leg.* FROM leg JOIN plan ON plan.id = leg.plan
         WHERE leg.account = ? AND leg.kind = 'send' AND plan.kind <> 'refund' ORDER BY leg.plan, leg.leg",
    )
    .bind(account.0.to_vec())
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(leg_row).collect()
}

/// Legs of the account that no block does: their blocks have died.
pub(crate) async fn legs_without_block(
    conn: &mut SqliteConnection,
    account: &PublicKey,
) -> Result<Vec<LegRow>> {
    let rows = sqlx::query(
        "SELECT leg.* FROM leg JOIN plan ON plan.id = leg.plan
         WHERE leg.account = ? AND NOT EXISTS (SELECT 1 FROM block WHERE block.plan = leg.plan
           AND block.leg = leg.leg AND block.state <> 'dead')
         ORDER BY plan.priority DESC, leg.plan, leg.leg",
    )
    .bind(account.0.to_vec())
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(leg_row).collect()
}

/// Whether every leg of the plan has a confirmed block.
pub(crate) async fn plan_is_confirmed(conn: &mut SqliteConnection, plan: i64) -> Result<bool> {
    let open: i64 = sqlx::query(
        "SELECT count(*) FROM leg WHERE leg.plan = ? AND NOT EXISTS (SELECT 1 FROM block
         WHERE block.plan = leg.plan AND block.leg = leg.leg AND block.state = 'confirmed')",
    )
    .bind(plan)
    .fetch_one(conn)
    .await?
    .try_get(0)?;
    Ok(open == 0)
}
