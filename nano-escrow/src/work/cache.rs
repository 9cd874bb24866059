//! Where solved work is kept.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;

use super::WorkError;
use crate::{BlockHash, Work};

/// Solved work by its root. It is worth keeping (a live send costs 2^29 hashes), and it is not secret.
///
/// The journal keeps it in SQLite. What comes out is checked again, so a store that lies costs time, not
/// money.
pub trait WorkCache: Send + Sync {
    /// What is kept for a root.
    fn get(&self, root: BlockHash) -> BoxFuture<'_, Result<Option<Work>, WorkError>>;

    /// Keep it; replaces what was there.
    fn put(&self, root: BlockHash, work: Work) -> BoxFuture<'_, Result<(), WorkError>>;

    /// The root's block is in the ledger, or another is: forget it.
    fn remove(&self, root: BlockHash) -> BoxFuture<'_, Result<(), WorkError>>;
}

/// Keeps work until the program ends.
#[derive(Debug, Default)]
pub struct MemoryCache(Mutex<HashMap<BlockHash, Work>>);

impl MemoryCache {
    /// Nothing in it.
    pub fn new() -> MemoryCache {
        MemoryCache::default()
    }
}

impl WorkCache for MemoryCache {
    fn get(&self, root: BlockHash) -> BoxFuture<'_, Result<Option<Work>, WorkError>> {
        Box::pin(async move { Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&root).copied()) })
    }

    fn put(&self, root: BlockHash, work: Work) -> BoxFuture<'_, Result<(), WorkError>> {
        Box::pin(async move {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(root, work);
            Ok(())
        })
    }

    fn remove(&self, root: BlockHash) -> BoxFuture<'_, Result<(), WorkError>> {
        Box::pin(async move {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&root);
            Ok(())
        })
    }
}
