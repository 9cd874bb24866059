//! Blocks that came before what they depend on. A node keeps them and tries again when that arrives; so does
//! this ledger, up to a bound, in memory only. A block that `process` refuses by its subtype never comes
//! here.

use std::collections::HashMap;

use super::Refusal;
use nano_escrow::SignedBlock;

/// As many as a node keeps.
const CAP: usize = 65_536;

#[derive(Debug, Default)]
pub(crate) struct Unchecked {
    by_dependency: HashMap<[u8; 32], Vec<SignedBlock>>,
    count: usize,
}

impl Unchecked {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Keep a block if it was refused for a gap. The key is a block's hash, or an account for an epoch block.
    pub(crate) fn keep(&mut self, signed: &SignedBlock, refusal: Refusal) {
        let key = match refusal {
            Refusal::GapPrevious => signed.block.previous.0,
            Refusal::GapSource => signed.block.link,
            Refusal::GapEpochOpenPending => signed.block.account.0,
            _ => return,
        };
        if self.count >= CAP || key == [0; 32] {
            return;
        }
        let waiting = self.by_dependency.entry(key).or_default();
        if !waiting.contains(signed) {
            waiting.push(*signed);
            self.count += 1;
        }
    }

    /// What waited for this.
    pub(crate) fn take(&mut self, key: &[u8; 32]) -> Vec<SignedBlock> {
        let waiting = self.by_dependency.remove(key).unwrap_or_default();
        self.count -= waiting.len();
        waiting
    }
}
