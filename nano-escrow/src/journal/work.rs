//! Solved work in the journal: it is replaceable, but a live send costs seconds of a processor.

use futures_util::future::BoxFuture;

use super::{Journal, JournalError, rows};
use crate::work::{WorkCache, WorkError};
use crate::{BlockHash, Work};

/// Keeps solved work in the journal.
pub struct JournalWork(Journal);

impl JournalWork {
    pub(crate) fn new(journal: Journal) -> JournalWork {
        JournalWork(journal)
    }
}

fn failed(error: JournalError) -> WorkError {
    WorkError::Cache(error.to_string())
}

impl WorkCache for JournalWork {
    fn get(&self, root: BlockHash) -> BoxFuture<'_, Result<Option<Work>, WorkError>> {
        Box::pin(async move {
            let mut conn = self.0.read().await.map_err(failed)?;
            rows::work(&mut conn, &root).await.map_err(failed)
        })
    }

    fn put(&self, root: BlockHash, work: Work) -> BoxFuture<'_, Result<(), WorkError>> {
        Box::pin(async move {
            let mut tx = self.0.begin().await.map_err(failed)?;
            rows::set_work(&mut tx, &root, work).await.map_err(failed)?;
            self.0.commit(tx, "work").await.map_err(failed)
        })
    }

    fn remove(&self, root: BlockHash) -> BoxFuture<'_, Result<(), WorkError>> {
        Box::pin(async move {
            let mut tx = self.0.begin().await.map_err(failed)?;
            rows::forget_work(&mut tx, &root).await.map_err(failed)?;
            self.0.commit(tx, "work").await.map_err(failed)
        })
    }
}
