//! What both databases do beside the methods of the trait: counts, judges' tasks, and moving what an older version has
//! stored.

/// Texts that are moved in one transaction.
pub(super) const MOVED: i64 = 64;

macro_rules! parts {
    ($store:ident, $db:ident, $begin:expr) => {
        impl $store {
            async fn replace_tasks(
                tx: &mut sqlx::Transaction<'_, $db>,
                id: &str,
                tasks: Vec<TaskRow>,
            ) -> Result<(), StoreError> {
                sqlx::query::<$db>(DROP_TASKS).bind(id).execute(&mut **tx).await?;
                for t in tasks {
                    let query = sqlx::query::<$db>(TASK).bind(t.judge).bind(t.deadline);
                    query.bind(t.contract_id).bind(t.body).execute(&mut **tx).await?;
                }
                Ok(())
            }

            /// Takes the inputs out of what an older version has stored. Once; afterwards nothing is looked at.
            async fn move_inputs(&self) -> Result<(), StoreError> {
                if self.meta("inputs", "").await? == "moved" {
                    return Ok(());
                }
                for (find, replace) in [(WHOLE_ENTRIES, CUT_ENTRY), (WHOLE_SNAPSHOTS, CUT_SNAPSHOT)] {
                    let mut after = String::new();
                    loop {
                        let least = i64::try_from(inputs::LEAST).unwrap_or(i64::MAX);
                        let query = sqlx::query::<$db>(find).bind(after.clone()).bind(least).bind(MOVED);
                        let rows = query.fetch_all(&self.read).await?;
                        let Some(last) = rows.last() else { break };
                        after = last.try_get(0)?;
                        let mut tx = self.write.begin_with($begin).await?;
                        for row in rows {
                            let (id, text): (String, String) = (row.try_get(0)?, row.try_get(1)?);
                            let (text, Some(cut)) = inputs::cut(text) else { continue };
                            let hash = cut.hash.to_vec();
                            let query = sqlx::query::<$db>(INPUTS).bind(hash.clone()).bind(cut.body);
                            query.execute(&mut *tx).await?;
                            let query = sqlx::query::<$db>(replace).bind(id).bind(text).bind(hash);
                            query.bind(cut.at).execute(&mut *tx).await?;
                        }
                        tx.commit().await?;
                    }
                }
                self.set_meta("inputs", "moved").await
            }

            async fn add_fix_counts(
                tx: &mut sqlx::Transaction<'_, $db>,
                counts: Vec<FixCountRow>,
            ) -> Result<(), StoreError> {
                for c in counts {
                    let query = sqlx::query::<$db>(ADD_FIX_COUNT).bind(c.party).bind(c.side).bind(c.paid);
                    query.bind(c.fixes).bind(c.failed_outside).execute(&mut **tx).await?;
                }
                Ok(())
            }

            async fn fix_counts_of(&self, party: &str) -> Result<Vec<FixCountRow>, StoreError> {
                let rows = sqlx::query::<$db>(FIX_COUNTS).bind(party).fetch_all(&self.read).await?;
                rows.iter()
                    .map(|row| {
                        Ok(FixCountRow {
                            party: row.try_get(0)?,
                            side: row.try_get(1)?,
                            paid: row.try_get(2)?,
                            fixes: row.try_get(3)?,
                            failed_outside: row.try_get(4)?,
                        })
                    })
                    .collect()
            }

            async fn tasks_of(
                &self,
                judge: &str,
                after: (i64, String),
                limit: i64,
            ) -> Result<Vec<TaskRow>, StoreError> {
                let query = sqlx::query::<$db>(TASKS).bind(judge).bind(after.0).bind(after.1);
                let rows = query.bind(limit).fetch_all(&self.read).await?;
                rows.iter()
                    .map(|row| {
                        Ok(TaskRow {
                            judge: row.try_get(0)?,
                            deadline: row.try_get(1)?,
                            contract_id: row.try_get(2)?,
                            body: row.try_get(3)?,
                        })
                    })
                    .collect()
            }
        }
    };
}

pub(super) use parts;
