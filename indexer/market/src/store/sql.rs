//! SQLite and Postgres. Both understand the same statements, so each is written once.

use std::sync::atomic::Ordering;

use futures_util::future::BoxFuture;
#[cfg(feature = "postgres")]
use sqlx::Postgres;
use sqlx::{Row, Sqlite};

#[cfg(feature = "postgres")]
use super::backends::PostgresStore;
use super::backends::SqliteStore;
use super::parts::{MOVED, parts};
use super::statements::*;
use super::{
    Commit, ContractRow, DepositRow, EntryRow, EventRow, FixCountRow, LapsedAfter, LatePayee, ListFilter,
    Listed, OrphanRow, OutboxRow, OutboxState, Store, StoreError, StoreFuture, Stored, TaskRow, inputs,
};

macro_rules! store {
    ($store:ident, $db:ident, $begin:expr, $serialize:expr, $relax:expr, $fence:expr) => {
        impl Store for $store {
            fn commit(&self, commit: Commit) -> StoreFuture<'_, i64> {
                Box::pin(async move {
                    let mut tx = self.write.begin_with($begin).await?;
                    let number = self.leased.number.load(Ordering::Acquire);
                    if number > 0 {
                        let now: i64 = sqlx::query::<$db>($fence).fetch_one(&mut *tx).await?.try_get(0)?;
                        if now != number {
                            return Err(StoreError::Superseded);
                        }
                    }
                    let lock: Option<&'static str> = $serialize;
                    if let (Some(lock), false) = (lock, commit.events.is_empty()) {
                        sqlx::query::<$db>(lock).execute(&mut *tx).await?;
                    }
                    if let Some((digest, keep_until)) = commit.replay {
                        let done = sqlx::query::<$db>(REPLAY)
                            .bind(digest.to_vec())
                            .bind(i64::try_from(keep_until.0).unwrap_or(i64::MAX))
                            .execute(&mut *tx)
                            .await?;
                        if done.rows_affected() == 0 {
                            return Err(StoreError::Replayed);
                        }
                    }
                    let mut id = String::new();
                    if let Some(row) = commit.row {
                        id = row.id.clone();
                        let (snapshot, cut) = inputs::cut(row.snapshot);
                        if let Some(cut) = &cut {
                            let query = sqlx::query::<$db>(INPUTS).bind(cut.hash.to_vec()).bind(&cut.body);
                            query.execute(&mut *tx).await?;
                        }
                        let sql = if commit.version.is_some() { UPDATE_CONTRACT } else { INSERT_CONTRACT };
                        let query = sqlx::query::<$db>(sql)
                            .bind(row.id)
                            .bind(row.principal)
                            .bind(row.agent)
                            .bind(row.state)
                            .bind(row.bounty)
                            .bind(row.head_seq)
                            .bind(row.created_at)
                            .bind(row.updated_at)
                            .bind(row.next_deadline)
                            .bind(row.summary)
                            .bind(snapshot)
                            .bind(cut.as_ref().map(|cut| cut.hash.to_vec()))
                            .bind(cut.as_ref().map(|cut| cut.at));
                        let (query, missing) = match commit.version {
                            Some(version) => (query.bind(version), StoreError::Moved),
                            None => (query, StoreError::Exists),
                        };
                        if query.execute(&mut *tx).await?.rows_affected() == 0 {
                            return Err(missing);
                        }
                    }
                    for entry in commit.entries {
                        let (body, cut) = inputs::cut(entry.body);
                        if let Some(cut) = &cut {
                            let query = sqlx::query::<$db>(INPUTS).bind(cut.hash.to_vec()).bind(&cut.body);
                            query.execute(&mut *tx).await?;
                        }
                        sqlx::query::<$db>(ENTRY)
                            .bind(id.clone())
                            .bind(entry.seq)
                            .bind(entry.received_at)
                            .bind(body)
                            .bind(cut.as_ref().map(|cut| cut.hash.to_vec()))
                            .bind(cut.as_ref().map(|cut| cut.at))
                            .execute(&mut *tx)
                            .await?;
                    }
                    for d in commit.deposits {
                        sqlx::query::<$db>(DEPOSIT)
                            .bind(d.contract_id)
                            .bind(d.party)
                            .bind(d.round)
                            .bind(d.side)
                            .bind(d.address)
                            .bind(d.amount)
                            .bind(d.status)
                            .bind(d.post)
                            .bind(d.closed_at)
                            .execute(&mut *tx)
                            .await?;
                    }
                    for o in commit.outbox {
                        sqlx::query::<$db>(OUTBOX)
                            .bind(o.contract_id)
                            .bind(o.kind)
                            .bind(o.item)
                            .bind(o.body)
                            .bind(o.created_at)
                            .execute(&mut *tx)
                            .await?;
                    }
                    for (at, body) in commit.events {
                        sqlx::query::<$db>("INSERT INTO events (contract_id, at, body) VALUES ($1, $2, $3)")
                            .bind(id.clone())
                            .bind(at)
                            .bind(body)
                            .execute(&mut *tx)
                            .await?;
                    }
                    Self::add_fix_counts(&mut tx, commit.fix_counts).await?;
                    if let Some(tasks) = commit.tasks {
                        Self::replace_tasks(&mut tx, &id, tasks).await?;
                    }
                    tx.commit().await?;
                    Ok(commit.version.map_or(1, |v| v.saturating_add(1)))
                })
            }

            fn seen(&self, digest: [u8; 32]) -> StoreFuture<'_, bool> {
                Box::pin(async move {
                    let sql = "SELECT 1 FROM replays WHERE digest = $1";
                    let row =
                        sqlx::query::<$db>(sql).bind(digest.to_vec()).fetch_optional(&self.read).await?;
                    Ok(row.is_some())
                })
            }

            fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Stored>> {
                Box::pin(async move {
                    let row = sqlx::query::<$db>(CONTRACT).bind(id).fetch_optional(&self.read).await?;
                    let Some(row) = row else { return Ok(None) };
                    Ok(Some(Stored {
                        version: row.try_get(0)?,
                        row: ContractRow {
                            id: row.try_get(1)?,
                            principal: row.try_get(2)?,
                            agent: row.try_get(3)?,
                            state: row.try_get(4)?,
                            bounty: row.try_get(5)?,
                            head_seq: row.try_get(6)?,
                            created_at: row.try_get(7)?,
                            updated_at: row.try_get(8)?,
                            next_deadline: row.try_get(9)?,
                            summary: row.try_get(10)?,
                            snapshot: inputs::join(row.try_get(11)?, row.try_get(12)?, row.try_get(13)?)?,
                        },
                    }))
                })
            }

            fn entries<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<EntryRow>> {
                self.entries_from(id, 0, i64::MAX)
            }

            fn entries_from<'a>(
                &'a self,
                id: &'a str,
                seq: i64,
                limit: i64,
            ) -> StoreFuture<'a, Vec<EntryRow>> {
                Box::pin(async move {
                    let sql = "SELECT e.seq, e.received_at, e.body, e.inputs_at, i.body FROM entries e \
                               LEFT JOIN inputs i ON i.hash = e.inputs \
                               WHERE e.contract_id = $1 AND e.seq >= $2 ORDER BY e.seq LIMIT $3";
                    let query = sqlx::query::<$db>(sql).bind(id).bind(seq).bind(limit);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(EntryRow {
                                seq: row.try_get(0)?,
                                received_at: row.try_get(1)?,
                                body: inputs::join(row.try_get(2)?, row.try_get(3)?, row.try_get(4)?)?,
                            })
                        })
                        .collect()
                })
            }

            fn unpaid(&self, before: i64, limit: i64) -> StoreFuture<'_, Vec<String>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(UNPAID).bind(before).bind(limit);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn forget<'a>(&'a self, id: &'a str, late: LatePayee) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let mut tx = self.write.begin_with($begin).await?;
                    let query = sqlx::query::<$db>(LATE).bind(late.post_hash).bind(late.depositor);
                    let query = query.bind(late.round).bind(late.payout).bind(late.keep_until);
                    query.execute(&mut *tx).await?;
                    let used = sqlx::query::<$db>(INPUTS_OF).bind(id).fetch_all(&mut *tx).await?;
                    for sql in [
                        "DELETE FROM outbox WHERE contract_id = $1",
                        "DELETE FROM deposits WHERE contract_id = $1",
                        "DELETE FROM entries WHERE contract_id = $1",
                        "DELETE FROM contracts WHERE id = $1",
                    ] {
                        sqlx::query::<$db>(sql).bind(id).execute(&mut *tx).await?;
                    }
                    for row in used {
                        let hash: Vec<u8> = row.try_get(0)?;
                        sqlx::query::<$db>(DROP_INPUTS).bind(hash).execute(&mut *tx).await?;
                    }
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn late_payees<'a>(&'a self, post_hash: &'a str) -> StoreFuture<'a, Vec<LatePayee>> {
                Box::pin(async move {
                    let sql = "SELECT post_hash, depositor, round, payout, keep_until FROM late_payees \
                               WHERE post_hash = $1 ORDER BY depositor, round";
                    let rows = sqlx::query::<$db>(sql).bind(post_hash).fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(LatePayee {
                                post_hash: row.try_get(0)?,
                                depositor: row.try_get(1)?,
                                round: row.try_get(2)?,
                                payout: row.try_get(3)?,
                                keep_until: row.try_get(4)?,
                            })
                        })
                        .collect()
                })
            }

            fn list(&self, filter: ListFilter) -> StoreFuture<'_, Vec<Listed>> {
                Box::pin(async move {
                    let sql = match (&filter.party, &filter.state) {
                        (Some(_), _) => LIST_PARTY,
                        (None, Some(_)) => LIST_STATE,
                        (None, None) if filter.since.is_some() => LIST_SINCE,
                        (None, None) => LIST,
                    };
                    let (created, id) = filter.after.unwrap_or((i64::MAX, String::new()));
                    let since = filter.since.unwrap_or(i64::MIN);
                    let query = sqlx::query::<$db>(sql).bind(filter.limit).bind(created).bind(id).bind(since);
                    let query = match (filter.party, filter.state) {
                        (Some(party), state) => query.bind(party).bind(state.unwrap_or_default()),
                        (None, Some(state)) => query.bind(state),
                        (None, None) => query,
                    };
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(Listed {
                                id: row.try_get(0)?,
                                created_at: row.try_get(1)?,
                                summary: row.try_get(2)?,
                            })
                        })
                        .collect()
                })
            }

            fn counts(&self) -> StoreFuture<'_, Vec<(String, i64)>> {
                Box::pin(async move {
                    let sql = "SELECT state, COUNT(*) FROM contracts GROUP BY state ORDER BY state";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn next_deadline(&self) -> StoreFuture<'_, Option<i64>> {
                Box::pin(async move {
                    let sql = "SELECT MIN(next_deadline) FROM contracts WHERE next_deadline IS NOT NULL";
                    Ok(sqlx::query::<$db>(sql).fetch_one(&self.read).await?.try_get(0)?)
                })
            }

            fn due(&self, now: i64, after: (i64, String), limit: i64) -> StoreFuture<'_, Vec<(i64, String)>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(DUE).bind(now).bind(limit).bind(after.0).bind(after.1);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn live<'a>(&'a self, after: &'a str, limit: i64) -> StoreFuture<'a, Vec<String>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(LIVE).bind(after).bind(limit);
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
                })
            }

            fn beat(&self, now: i64) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let mut tx = self.beats.begin().await?;
                    let relax: Option<&'static str> = $relax;
                    if let Some(relax) = relax {
                        sqlx::query::<$db>(relax).execute(&mut *tx).await?;
                    }
                    sqlx::query::<$db>(BEAT).bind(now).execute(&mut *tx).await?;
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn heartbeat(&self) -> StoreFuture<'_, Option<i64>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>("SELECT at FROM heartbeat WHERE one = 1");
                    let row = query.fetch_optional(&self.write).await?;
                    row.map(|row| Ok(row.try_get(0)?)).transpose()
                })
            }

            fn deposits<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Vec<DepositRow>> {
                Box::pin(async move {
                    let sql = "SELECT contract_id, party, round, side, address, amount, status, post, closed_at \
                               FROM deposits WHERE contract_id = $1 ORDER BY side DESC, round, party";
                    let rows = sqlx::query::<$db>(sql).bind(id).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn waiting(&self) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let sql = "SELECT contract_id, party, round, side, address, amount, status, post, closed_at \
                               FROM deposits WHERE status = 'waiting' ORDER BY contract_id, party, round";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn outbox(&self, state: OutboxState) -> StoreFuture<'_, Vec<OutboxRow>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(OUTBOX_IN).bind(state.as_str());
                    let rows = query.fetch_all(&self.read).await?;
                    rows.iter().map(|row| outbox!(row)).collect()
                })
            }

            fn move_outbox<'a>(
                &'a self,
                row: &'a OutboxRow,
                from: OutboxState,
                to: OutboxState,
                reason: &'a str,
            ) -> StoreFuture<'a, bool> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(MOVE_OUTBOX)
                        .bind(&row.contract_id)
                        .bind(&row.kind)
                        .bind(&row.item)
                        .bind(from.as_str())
                        .bind(to.as_str())
                        .bind(reason);
                    Ok(query.execute(&self.write).await?.rows_affected() > 0)
                })
            }

            fn events_after(&self, id: i64, limit: i64) -> StoreFuture<'_, Vec<EventRow>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(EVENTS).bind(id).bind(limit).fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(EventRow {
                                id: row.try_get(0)?,
                                contract_id: row.try_get(1)?,
                                at: row.try_get(2)?,
                                body: row.try_get(3)?,
                            })
                        })
                        .collect()
                })
            }

            fn last_event(&self) -> StoreFuture<'_, i64> {
                Box::pin(async move {
                    let sql = "SELECT COALESCE(MAX(id), 0) FROM events";
                    Ok(sqlx::query::<$db>(sql).fetch_one(&self.read).await?.try_get(0)?)
                })
            }

            fn prune(&self, now: i64, events_before: i64) -> StoreFuture<'_, u64> {
                Box::pin(async move {
                    let mut tx = self.write.begin_with($begin).await?;
                    let sql = "DELETE FROM replays WHERE keep_until < $1";
                    let replays = sqlx::query::<$db>(sql).bind(now).execute(&mut *tx).await?.rows_affected();
                    let sql = "DELETE FROM late_payees WHERE keep_until < $1";
                    sqlx::query::<$db>(sql).bind(now).execute(&mut *tx).await?;
                    let sql = "DELETE FROM events WHERE at < $1";
                    let query = sqlx::query::<$db>(sql).bind(events_before);
                    let events = query.execute(&mut *tx).await?.rows_affected();
                    tx.commit().await?;
                    Ok(replays.saturating_add(events))
                })
            }

            fn meta<'a>(&'a self, name: &'a str, value: &'a str) -> StoreFuture<'a, String> {
                Box::pin(async move {
                    let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING";
                    sqlx::query::<$db>(sql).bind(name).bind(value).execute(&self.write).await?;
                    let sql = "SELECT value FROM meta WHERE name = $1";
                    Ok(sqlx::query::<$db>(sql).bind(name).fetch_one(&self.write).await?.try_get(0)?)
                })
            }

            fn set_meta<'a>(&'a self, name: &'a str, value: &'a str) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) \
                               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                    sqlx::query::<$db>(sql).bind(name).bind(value).execute(&self.write).await?;
                    Ok(())
                })
            }

            fn lease(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    self.hold().await?;
                    let sql = "UPDATE lease SET number = number + 1 WHERE one = 1 RETURNING number";
                    let number: i64 = sqlx::query::<$db>(sql).fetch_one(&self.write).await?.try_get(0)?;
                    self.leased.number.store(number, Ordering::Release);
                    self.move_inputs().await
                })
            }

            fn lapsed(&self, after: LapsedAfter, limit: i64) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let query = sqlx::query::<$db>(LAPSED).bind(after.0).bind(after.1).bind(after.2);
                    let rows = query.bind(after.3).bind(limit).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn taken(&self) -> StoreFuture<'_, Vec<DepositRow>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(TAKEN).fetch_all(&self.read).await?;
                    rows.iter().map(|row| deposit!(row)).collect()
                })
            }

            fn handed_over(&self, limit: i64) -> StoreFuture<'_, Vec<OutboxRow>> {
                Box::pin(async move {
                    let rows = sqlx::query::<$db>(HANDED_OVER).bind(limit).fetch_all(&self.read).await?;
                    rows.iter().map(|row| outbox!(row)).collect()
                })
            }

            fn fix_counts<'a>(&'a self, party: &'a str) -> StoreFuture<'a, Vec<FixCountRow>> {
                Box::pin(self.fix_counts_of(party))
            }

            fn tasks<'a>(
                &'a self,
                judge: &'a str,
                after: (i64, String),
                limit: i64,
            ) -> StoreFuture<'a, Vec<TaskRow>> {
                Box::pin(self.tasks_of(judge, after, limit))
            }

            fn set_tasks<'a>(&'a self, id: &'a str, tasks: Vec<TaskRow>) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let mut tx = self.write.begin_with($begin).await?;
                    Self::replace_tasks(&mut tx, id, tasks).await?;
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn orphans(&self) -> StoreFuture<'_, Vec<OrphanRow>> {
                Box::pin(async move {
                    let sql = "SELECT account, contract_id, party, round, amount FROM orphans ORDER BY account";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter()
                        .map(|row| {
                            Ok(OrphanRow {
                                account: row.try_get(0)?,
                                contract_id: row.try_get(1)?,
                                party: row.try_get(2)?,
                                round: row.try_get(3)?,
                                amount: row.try_get(4)?,
                            })
                        })
                        .collect()
                })
            }

            fn set_orphans(&self, orphans: Vec<OrphanRow>) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    let mut tx = self.write.begin_with($begin).await?;
                    sqlx::query::<$db>("DELETE FROM orphans").execute(&mut *tx).await?;
                    for row in orphans {
                        let sql = "INSERT INTO orphans (account, contract_id, party, round, amount) \
                                   VALUES ($1, $2, $3, $4, $5)";
                        let query = sqlx::query::<$db>(sql).bind(row.account).bind(row.contract_id);
                        let query = query.bind(row.party).bind(row.round).bind(row.amount);
                        query.execute(&mut *tx).await?;
                    }
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn order<'a>(&'a self, body: &'a str) -> StoreFuture<'a, i64> {
                Box::pin(async move {
                    let sql = "INSERT INTO orders (body) VALUES ($1) RETURNING id";
                    Ok(sqlx::query::<$db>(sql).bind(body).fetch_one(&self.write).await?.try_get(0)?)
                })
            }

            fn orders(&self) -> StoreFuture<'_, Vec<(i64, String)>> {
                Box::pin(async move {
                    let sql = "SELECT id, body FROM orders WHERE answer IS NULL ORDER BY id";
                    let rows = sqlx::query::<$db>(sql).fetch_all(&self.read).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
                })
            }

            fn answer_order<'a>(&'a self, id: i64, answer: &'a str) -> StoreFuture<'a, ()> {
                Box::pin(async move {
                    let sql = "UPDATE orders SET answer = $2 WHERE id = $1";
                    sqlx::query::<$db>(sql).bind(id).bind(answer).execute(&self.write).await?;
                    Ok(())
                })
            }

            fn answer(&self, id: i64) -> StoreFuture<'_, Option<String>> {
                Box::pin(async move {
                    let sql = "SELECT answer FROM orders WHERE id = $1";
                    let row = sqlx::query::<$db>(sql).bind(id).fetch_optional(&self.read).await?;
                    Ok(row.map(|row| row.try_get(0)).transpose()?.flatten())
                })
            }

            fn ping(&self) -> StoreFuture<'_, ()> {
                Box::pin(async move {
                    sqlx::query::<$db>("SELECT 1").execute(&self.read).await?;
                    Ok(())
                })
            }

            fn close(&self) -> BoxFuture<'_, ()> {
                Box::pin(async move {
                    self.read.close().await;
                    self.beats.close().await;
                    self.write.close().await;
                    // Last: whoever takes it over finds everything written.
                    drop(self.leased.held.lock().await.take());
                })
            }
        }
    };
}

macro_rules! outbox {
    ($row:ident) => {
        Ok(OutboxRow {
            contract_id: $row.try_get(0)?,
            kind: $row.try_get(1)?,
            item: $row.try_get(2)?,
            body: $row.try_get(3)?,
            created_at: $row.try_get(4)?,
            reason: $row.try_get(5)?,
        })
    };
}

macro_rules! deposit {
    ($row:ident) => {
        Ok(DepositRow {
            contract_id: $row.try_get(0)?,
            party: $row.try_get(1)?,
            round: $row.try_get(2)?,
            side: $row.try_get(3)?,
            address: $row.try_get(4)?,
            amount: $row.try_get(5)?,
            status: $row.try_get(6)?,
            post: $row.try_get(7)?,
            closed_at: $row.try_get(8)?,
        })
    };
}

// A transaction that reads first could not write any more after a heartbeat of the other connection.
parts!(SqliteStore, Sqlite, "BEGIN IMMEDIATE");
store!(SqliteStore, Sqlite, "BEGIN IMMEDIATE", None, None, "SELECT number FROM lease");
// Event ids come from a sequence, which does not wait for commits: without the lock a reader could see 5
// before 4 is there, and miss 4.
#[cfg(feature = "postgres")]
parts!(PostgresStore, Postgres, "BEGIN");
#[cfg(feature = "postgres")]
store!(
    PostgresStore,
    Postgres,
    "BEGIN",
    Some("SELECT pg_advisory_xact_lock(9400)"),
    Some("SET LOCAL synchronous_commit TO OFF"),
    // Whoever takes the lease over waits for this commit.
    "SELECT number FROM lease FOR SHARE"
);
