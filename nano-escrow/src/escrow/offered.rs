//! The offers that are open, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{AccountKey, Terms};
use crate::PublicKey;

/// Maximum number of accounts in one request.
pub(crate) const PAGE: usize = 200;

/// An offer that is open.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) key: AccountKey,
    pub(crate) terms: Terms,
    pub(crate) nonce: [u8; 32],
    pub(crate) secret: String,
}

#[derive(Debug, Default)]
struct Map {
    by_account: HashMap<PublicKey, Offered>,
    by_key: HashMap<AccountKey, PublicKey>,
    /// Accounts to watch, or no longer.
    changes: Vec<(PublicKey, bool)>,
}

#[derive(Debug, Default)]
pub(crate) struct Offers(Mutex<Map>);

impl Offers {
    fn map(&self) -> MutexGuard<'_, Map> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, account: &PublicKey) -> Option<Offered> {
        self.map().by_account.get(account).cloned()
    }

    pub(crate) fn account_of(&self, key: &AccountKey) -> Option<PublicKey> {
        self.map().by_key.get(key).copied()
    }

    pub(crate) fn insert(&self, account: PublicKey, offered: Offered) {
        let mut map = self.map();
        map.by_key.insert(offered.key.clone(), account);
        map.by_account.insert(account, offered);
        map.changes.push((account, true));
    }

    /// The journal has it, or nobody waits for it any more.
    pub(crate) fn remove(&self, account: &PublicKey, watch: bool) {
        let mut map = self.map();
        if let Some(offered) = map.by_account.remove(account) {
            map.by_key.remove(&offered.key);
            if !watch {
                map.changes.push((*account, false));
            }
        }
    }

    pub(crate) fn changes(&self) -> Vec<(PublicKey, bool)> {
        std::mem::take(&mut self.map().changes)
    }

    pub(crate) fn all(&self) -> Vec<PublicKey> {
        self.map().by_account.keys().copied().collect()
    }
}
