//! Statements about work and alarms.

use sqlx::{Row, SqliteConnection};

use super::{AlarmRow, Result, bytes, maybe32};
use crate::{BlockHash, PublicKey, Work};

pub(crate) async fn work(conn: &mut SqliteConnection, root: &BlockHash) -> Result<Option<Work>> {
    let row = sqlx::query("SELECT nonce FROM work WHERE root = ?")
        .bind(root.0.to_vec())
        .fetch_optional(conn)
        .await?;
    row.map(|r| Ok(Work(u64::from_be_bytes(bytes(r.try_get::<&[u8], _>(0)?, "nonce")?)))).transpose()
}

pub(crate) async fn set_work(conn: &mut SqliteConnection, root: &BlockHash, work: Work) -> Result<()> {
    sqlx::query("INSERT INTO work (root, nonce) VALUES (?, ?) ON CONFLICT (root) DO UPDATE SET nonce = excluded.nonce")
        .bind(root.0.to_vec())
        .bind(work.0.to_be_bytes().to_vec())
        .execute(conn)
        .await?;
    Ok(())
}

/// Work whose root has a confirmed successor is of no more use.
pub(crate) async fn forget_work(conn: &mut SqliteConnection, root: &BlockHash) -> Result<()> {
    sqlx::query("DELETE FROM work WHERE root = ?").bind(root.0.to_vec()).execute(conn).await?;
    Ok(())
}

pub(crate) async fn insert_alarm(
    conn: &mut SqliteConnection,
    account: Option<&PublicKey>,
    code: u32,
    message: &str,
    now: i64,
) -> Result<()> {
    // The same alarm once, not once a poll.
    sqlx::query(
        "INSERT INTO alarm (account, code, message, at) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS
         (SELECT 1 FROM alarm WHERE account IS ?1 AND code = ?2 AND message = ?3 AND cleared = 0)",
    )
    .bind(account.map(|a| a.0.to_vec()))
    .bind(i64::from(code))
    .bind(message)
    .bind(now)
    .execute(conn)
    .await?;
    Ok(())
}

pub(crate) async fn clear_alarms(conn: &mut SqliteConnection, account: &PublicKey) -> Result<()> {
    sqlx::query("UPDATE alarm SET cleared = 1 WHERE account = ?")
        .bind(account.0.to_vec())
        .execute(conn)
        .await?;
    Ok(())
}

/// Ends the alarms of one number whose account is not among these.
pub(crate) async fn clear_alarms_except(
    conn: &mut SqliteConnection,
    code: u32,
    accounts: &[PublicKey],
) -> Result<()> {
    for alarm in alarms(&mut *conn).await? {
        if alarm.code == code && alarm.account.is_none_or(|account| !accounts.contains(&account)) {
            sqlx::query("UPDATE alarm SET cleared = 1 WHERE id = ?")
                .bind(alarm.id)
                .execute(&mut *conn)
                .await?;
        }
    }
    Ok(())
}

pub(crate) async fn alarms(conn: &mut SqliteConnection) -> Result<Vec<AlarmRow>> {
    let rows = sqlx::query("SELECT * FROM alarm WHERE cleared = 0 ORDER BY id").fetch_all(conn).await?;
    rows.into_iter()
        .map(|row| {
            Ok(AlarmRow {
                id: row.try_get("id")?,
                account: maybe32(&row, "account")?.map(PublicKey),
                code: row.try_get("code")?,
                message: row.try_get("message")?,
                at: row.try_get("at")?,
                cleared: row.try_get::<i64, _>("cleared")? != 0,
            })
        })
        .collect()
}
