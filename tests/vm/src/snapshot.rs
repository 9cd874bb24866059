//! The state of every account at one moment, to show that a refusal changed nothing.

use std::collections::BTreeMap;

use sha3::{Digest, Keccak256};
use solana_account::{AccountSharedData, ReadableAccount};
use solana_address::Address;
use solana_sdk_ids::sysvar;

use crate::World;

/// A digest of each account; sysvars are left out, since blockhashes and clocks move by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<Address, [u8; 32]>);

impl Snapshot {
    /// The accounts that are different now: changed, made or gone.
    pub fn changed(&self, world: &World) -> Vec<Address> {
        let now = world.snapshot().0;
        let mut changed: Vec<Address> = now.keys().chain(self.0.keys()).copied().collect();
        changed.sort_unstable();
        changed.dedup();
        changed.retain(|at| now.get(at) != self.0.get(at));
        changed
    }

    /// Asserts that no account is different now.
    #[track_caller]
    pub fn assert_unchanged(&self, world: &World) {
        let changed = self.changed(world);
        assert!(changed.is_empty(), "accounts changed: {changed:?}");
    }

    /// Asserts that no account but these is different now.
    #[track_caller]
    pub fn assert_only_changed(&self, world: &World, allowed: &[Address]) {
        let changed: Vec<Address> =
            self.changed(world).into_iter().filter(|at| !allowed.contains(at)).collect();
        assert!(changed.is_empty(), "accounts changed that were not to: {changed:?}");
    }
}

impl World {
    /// The state of every account now. Programs' own accounts are compared by size only.
    pub fn snapshot(&self) -> Snapshot {
        let digest = |account: &AccountSharedData| {
            let mut hash = Keccak256::new();
            hash.update(account.lamports().to_le_bytes());
            hash.update(account.owner());
            hash.update([u8::from(account.executable())]);
            hash.update(account.data().len().to_le_bytes());
            // Larger ones are programs, which no transaction of a test writes.
            if account.data().len() < 65_536 {
                hash.update(account.data());
            }
            hash.finalize().into()
        };
        let exists = |account: &AccountSharedData| account.lamports() > 0 || !account.data().is_empty();
        let accounts = self.svm.accounts_db().inner.iter();
        let kept = accounts.filter(|(_, a)| *a.owner() != sysvar::ID && exists(a));
        Snapshot(kept.map(|(at, account)| (*at, digest(account))).collect())
    }
}
