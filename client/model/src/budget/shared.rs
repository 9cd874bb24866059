//! A budget that the processes of one user share.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::spawn_blocking;
use zx1_home::{Clock, Lock, files};

use super::{Budget, Budgeted, FileStore, Limits};
use crate::{Answer, Model, ModelError, Request, Spend};
use futures_util::future::BoxFuture;

/// A model within a budget whose books other processes use, too: each call locks them, reserves, asks and settles. So
/// calls follow one another, and what a process that was killed has reserved counts in full from the next call on.
pub struct Shared {
    model: Arc<dyn Model>,
    limits: Limits,
    books: PathBuf,
    name: String,
    clock: Arc<dyn Clock>,
}

impl Shared {
    /// `model`, with the books in this file; what is asked through this counts as one contract called `name`.
    pub fn new(
        model: Arc<dyn Model>,
        limits: Limits,
        books: impl Into<PathBuf>,
        name: impl Into<String>,
        clock: Arc<dyn Clock>,
    ) -> Shared {
        Shared { model, limits, books: books.into(), name: name.into(), clock }
    }

    fn open(
        books: &PathBuf,
        limits: Limits,
        clock: Arc<dyn Clock>,
    ) -> Result<(Lock, Arc<Budget>), ModelError> {
        let over = |why: String| ModelError::OverBudget { why };
        let unlocked =
            |why: &dyn std::fmt::Display| over(format!("The budget's books cannot be locked: {why}."));
        files::make_folder(files::folder_of(books)).map_err(|error| unlocked(&error))?;
        let lock = Lock::wait(&books.with_extension("lock")).map_err(|error| unlocked(&error))?;
        let store = Box::new(FileStore::new(books));
        let budget = Budget::open(limits, store, clock).map_err(|error| over(error.to_string()))?;
        Ok((lock, budget))
    }
}

impl Model for Shared {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn worst_case(&self, request: &Request) -> Spend {
        self.model.worst_case(request)
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            let (books, limits, clock) = (self.books.clone(), self.limits, self.clock.clone());
            let opened = spawn_blocking(move || Shared::open(&books, limits, clock)).await;
            let gone = |_| ModelError::OverBudget { why: "The program ends, so no call is made.".into() };
            // The lock outlives the reservation, also when this future is dropped.
            let (_lock, budget) = opened.map_err(gone)??;
            Budgeted::new(self.model.clone(), budget, self.name.clone()).complete(request).await
        })
    }
}
