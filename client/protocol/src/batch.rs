//! Submitting a batch: what is signed, which epoch it may be for and which it covers (decisions B7 and P2).

use crate::bytes::{Reader, Writer};
use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::units::Epoch;
use zx1_interface::constants::{
    BATCH_MESSAGE_PREFIX, MAX_BATCH_AGE_EPOCHS, MAX_COVERED_EPOCHS, MAX_TREE_LEN,
};

/// Length of what is signed: 21 + 32 + 32 + 8 + 8 + 32 + 32 + 4 + 32 + 32 + 4.
pub const BATCH_MESSAGE_LEN: usize = 237;
/// The domain of [`open_digest`].
pub const HEAD_PREFIX: &[u8] = b"zx1/head/v2";
/// Root of a tree without leaves, and of no other.
pub const EMPTY_ROOT: Hash = [0; 32];

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
    /// The epoch lies before the present tenure.
    BeforeTenure,
    /// The log has more than [`MAX_TREE_LEN`] entries.
    LogTooLong,
    /// The arrays have more than [`MAX_TREE_LEN`] entries.
    ArraysTooLong,
    /// A tree has no entries and a root, or entries and none.
    LengthRoot,
}

sentences!(BatchError {
    Self::FutureEpoch => "The batch is for an epoch that has not begun.";
    Self::CurrentEpoch => "The batch is for the current epoch, which is not over.";
    Self::TooOld => "The batch is for an epoch more than {MAX_BATCH_AGE_EPOCHS} epochs back.";
    Self::NotIncreasing => "The agent's last batch is of this epoch or of a later one.";
    Self::BeforeTenure => "The batch is for an epoch before the present tenure.";
    Self::LogTooLong => "The log has more than {MAX_TREE_LEN} entries.";
    Self::ArraysTooLong => "The arrays have more than {MAX_TREE_LEN} entries.";
    Self::LengthRoot => "A tree of length 0 has the root zero, and no other has.";
});

/// The epochs that a batch accounts for, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The first: see [`covers_from`].
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

/// What a batch key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchMessage {
    /// The cluster's genesis hash.
    pub network: Hash,
    /// The mint of the agent's NFT.
    pub agent: Hash,
    /// First epoch that the batch covers.
    pub covers_from: Epoch,
    /// The batch's epoch, the last that it covers.
    pub epoch: Epoch,
    /// The head's digest that the batch follows.
    pub previous_digest: Hash,
    /// Merkle root of the log.
    pub log_merkle_root: Hash,
    /// Entries of the log.
    pub log_len: u32,
    /// keccak256 of the batch's canonical CBOR.
    pub batch_hash: Hash,
    /// Merkle root of the packed records.
    pub arrays_root: Hash,
    /// Entries of the four arrays together.
    pub arrays_len: u32,
}

impl BatchMessage {
    /// The signed bytes: the prefix, then the fields in order, integers little-endian.
    #[inline(never)]
    pub fn to_bytes(&self) -> [u8; BATCH_MESSAGE_LEN] {
        let mut message = [0; BATCH_MESSAGE_LEN];
        Writer::new(&mut message)
            .put(BATCH_MESSAGE_PREFIX)
            .put(&self.network)
            .put(&self.agent)
            .put(&self.covers_from.0.to_le_bytes())
            .put(&self.epoch.0.to_le_bytes())
            .put(&self.previous_digest)
            .put(&self.log_merkle_root)
            .put(&self.log_len.to_le_bytes())
            .put(&self.batch_hash)
            .put(&self.arrays_root)
            .put(&self.arrays_len.to_le_bytes());
        message
    }

    /// Reads the signed bytes; `None` when prefix or length is another.
    #[inline(never)]
    pub fn parse(signed: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(signed.strip_prefix(BATCH_MESSAGE_PREFIX)?);
        let message = Self {
            network: *reader.array()?,
            agent: *reader.array()?,
            covers_from: Epoch(u64::from_le_bytes(*reader.array()?)),
            epoch: Epoch(u64::from_le_bytes(*reader.array()?)),
            previous_digest: *reader.array()?,
            log_merkle_root: *reader.array()?,
            log_len: u32::from_le_bytes(*reader.array()?),
            batch_hash: *reader.array()?,
            arrays_root: *reader.array()?,
            arrays_len: u32::from_le_bytes(*reader.array()?),
        };
        reader.is_empty().then_some(message)
    }

    /// The epochs that it claims to cover.
    pub fn covered(&self) -> Covered {
        Covered { from: self.covers_from, to: self.epoch }
    }
}

/// The digest of a head that no batch has moved.
pub fn open_digest<K: Keccak>(network: &Hash, agent: &[u8; 32]) -> Hash {
    K::hashv(&[HEAD_PREFIX, network, agent])
}

/// The head's next digest: keccak256(previous ‖ message). It commits to every batch there ever was, also
/// to those whose accounts have been closed (decision B8).
pub fn head_digest<K: Keccak>(previous: &Hash, message: &[u8]) -> Hash {
    K::hashv(&[previous, message])
}

/// `last_epoch` of a head that is opened now: nothing before the present epoch is ever covered.
pub fn first_open(current: Epoch) -> Epoch {
    Epoch(current.0.saturating_sub(1))
}

/// The first epoch that a batch of `epoch` covers: the one after the last batch's, of the present tenure, and
/// no more than [`MAX_COVERED_EPOCHS`] in all. What lies before stays uncovered.
pub fn covers_from(epoch: Epoch, last_epoch: Epoch, tenure_from: Epoch) -> Epoch {
    let after_last = Epoch(last_epoch.0.saturating_add(1));
    let longest = Epoch(epoch.0.saturating_sub(MAX_COVERED_EPOCHS.saturating_sub(1)));
    after_last.max(tenure_from).max(longest)
}

/// Whether a batch of `epoch` may land in `current`, on a head of `last_epoch`; and what it covers.
pub fn check_epoch(
    epoch: Epoch,
    current: Epoch,
    last_epoch: Epoch,
    tenure_from: Epoch,
) -> Result<Covered, BatchError> {
    if epoch > current {
        return Err(BatchError::FutureEpoch);
    }
    if epoch == current {
        return Err(BatchError::CurrentEpoch);
    }
    if current.since(epoch) > MAX_BATCH_AGE_EPOCHS {
        return Err(BatchError::TooOld);
    }
    if epoch <= last_epoch {
        return Err(BatchError::NotIncreasing);
    }
    if epoch < tenure_from {
        return Err(BatchError::BeforeTenure);
    }
    Ok(Covered { from: covers_from(epoch, last_epoch, tenure_from), to: epoch })
}

/// Whether both trees are within bounds, so that a proof always fits a draft, and have the root zero exactly
/// when they are empty.
pub fn check_trees(
    log_len: u32,
    log_root: &Hash,
    arrays_len: u32,
    arrays_root: &Hash,
) -> Result<(), BatchError> {
    if log_len > MAX_TREE_LEN {
        return Err(BatchError::LogTooLong);
    }
    if arrays_len > MAX_TREE_LEN {
        return Err(BatchError::ArraysTooLong);
    }
    let fits = |len: u32, root: &Hash| (len == 0) == (*root == EMPTY_ROOT);
    if fits(log_len, log_root) && fits(arrays_len, arrays_root) {
        Ok(())
    } else {
        Err(BatchError::LengthRoot)
    }
}

/// Whether a signed message can never land any more: the head has moved on without it, or its epoch is too
/// old. Judged from finalized state, never stored; until then the same bytes are sent again and nothing else
/// is signed for that head.
pub fn is_void(message: &BatchMessage, head_digest: &Hash, current: Epoch) -> bool {
    message.previous_digest != *head_digest || current.since(message.epoch) > MAX_BATCH_AGE_EPOCHS
}
