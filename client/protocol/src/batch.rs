//! Submitting a batch: what is signed, which epoch it may be for and which it covers (decision B7).

use crate::bytes::Writer;
use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::units::Epoch;
use zx1_interface::constants::{BATCH_MESSAGE_PREFIX, MAX_BATCH_AGE_EPOCHS, MAX_TREE_LEN};

/// Length of what is signed: 21 + 32 + 8 + 32 + 4 + 32 + 32 + 4.
pub const BATCH_MESSAGE_LEN: usize = 165;

/// Why a batch is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchError {
    /// The epoch has not begun.
    FutureEpoch,
    /// The epoch is not over.
    CurrentEpoch,
    /// The epoch is more than [`MAX_BATCH_AGE_EPOCHS`] back.
    TooOld,
    /// The agent has a batch of this epoch or of a later one.
    NotIncreasing,
    /// The log has more than [`MAX_TREE_LEN`] entries.
    LogTooLong,
    /// The arrays have more than [`MAX_TREE_LEN`] entries.
    ArraysTooLong,
}

sentences!(BatchError {
    Self::FutureEpoch => "The batch is for an epoch that has not begun.";
    Self::CurrentEpoch => "The batch is for the current epoch, which is not over.";
    Self::TooOld => "The batch is for an epoch more than {MAX_BATCH_AGE_EPOCHS} epochs back.";
    Self::NotIncreasing => "The agent's last batch is of this epoch or of a later one.";
    Self::LogTooLong => "The log has more than {MAX_TREE_LEN} entries.";
    Self::ArraysTooLong => "The arrays have more than {MAX_TREE_LEN} entries.";
});

/// The epochs that a batch accounts for, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The first: the one after the previous batch's.
    pub from: Epoch,
    /// The last: the batch's own.
    pub to: Epoch,
}

impl Covered {
    /// Whether the batch accounts for this epoch.
    pub fn contains(&self, epoch: Epoch) -> bool {
        self.from <= epoch && epoch <= self.to
    }
}

/// What the agent's key signs. Integers little-endian, as instruction data has them.
pub fn batch_message(
    agent: &[u8; 32],
    epoch: Epoch,
    log_merkle_root: &Hash,
    log_len: u32,
    batch_hash: &Hash,
    arrays_root: &Hash,
    arrays_len: u32,
) -> [u8; BATCH_MESSAGE_LEN] {
    let mut message = [0; BATCH_MESSAGE_LEN];
    Writer::new(&mut message)
        .put(BATCH_MESSAGE_PREFIX)
        .put(agent)
        .put(&epoch.0.to_le_bytes())
        .put(log_merkle_root)
        .put(&log_len.to_le_bytes())
        .put(batch_hash)
        .put(arrays_root)
        .put(&arrays_len.to_le_bytes());
    message
}

/// The head's next digest: keccak256(previous ‖ message). It commits to every batch there ever was, also
/// to those whose accounts have been closed (decision B8).
pub fn head_digest<K: Keccak>(previous: &Hash, message: &[u8]) -> Hash {
    K::hashv(&[previous, message])
}

/// Whether a batch of `epoch` may be submitted in `current`, after one of `last`; and what it covers.
pub fn check_epoch(epoch: Epoch, current: Epoch, last: Option<Epoch>) -> Result<Covered, BatchError> {
    if epoch > current {
        return Err(BatchError::FutureEpoch);
    }
    if epoch == current {
        return Err(BatchError::CurrentEpoch);
    }
    if current.since(epoch) > MAX_BATCH_AGE_EPOCHS {
        return Err(BatchError::TooOld);
    }
    let from = match last {
        None => epoch,
        Some(last) if last >= epoch => return Err(BatchError::NotIncreasing),
        // `last` is less than `epoch`, so there is a next one.
        Some(last) => last.checked_add(1).ok_or(BatchError::NotIncreasing)?,
    };
    Ok(Covered { from, to: epoch })
}

/// Whether both trees are within bounds, so that a proof always fits a draft.
pub fn check_lengths(log_len: u32, arrays_len: u32) -> Result<(), BatchError> {
    if log_len > MAX_TREE_LEN {
        return Err(BatchError::LogTooLong);
    }
    if arrays_len > MAX_TREE_LEN {
        return Err(BatchError::ArraysTooLong);
    }
    Ok(())
}
