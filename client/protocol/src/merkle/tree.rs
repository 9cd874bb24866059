//! Building the Merkle tree (protocol.md, 8.5; decision C5): roots and proofs, off chain.

use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::merkle::{ZERO, depth, node, padding};
use core::marker::PhantomData;

/// A tree cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeError {
    /// More leaves than an index can count.
    TooManyLeaves,
    /// The leaves are not as many as was said.
    WrongCount,
}

sentences!(TreeError {
    Self::TooManyLeaves => "The tree has more leaves than an index can count.";
    Self::WrongCount => "The leaves are not as many as was said.";
});

/// Where an entry stands and the path from there to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The index in the padded tree, as [`crate::merkle::verify`] takes it.
    pub index: u32,
    /// One sibling per level, from the leaf up.
    pub path: Vec<Hash>,
}

/// All hashes of a tree, except those that cover nothing but padding.
#[derive(Clone, Debug)]
pub struct Tree<K> {
    levels: Vec<Level>,
    /// Hash of a subtree of nothing but padding, per level.
    zeros: Vec<Hash>,
    len: u32,
    keccak: PhantomData<K>,
}

impl<K> Default for Tree<K> {
    /// The tree without entries.
    fn default() -> Self {
        Self { levels: Vec::new(), zeros: Vec::new(), len: 0, keccak: PhantomData }
    }
}

/// One level: its nodes from `first` on; those before cover only padding.
#[derive(Clone, Debug)]
struct Level {
    first: u64,
    hashes: Vec<Hash>,
}

impl Level {
    fn get(&self, index: u64, zero: &Hash) -> Hash {
        index
            .checked_sub(self.first)
            .and_then(|place| self.hashes.get(usize::try_from(place).ok()?))
            .copied()
            .unwrap_or(*zero)
    }
}

impl<K: Keccak> Tree<K> {
    /// Builds the tree over the leaves' hashes.
    pub fn new(leaves: Vec<Hash>) -> Result<Self, TreeError> {
        let len = u32::try_from(leaves.len()).map_err(|_| TreeError::TooManyLeaves)?;
        let mut level = Level { first: padding(len), hashes: leaves };
        let zeros = zero_subtrees::<K>(depth(len));
        let mut levels = Vec::new();
        // The last zero belongs to the root's level, which has no level above it.
        for zero in zeros.split_last().map_or(&[][..], |(_, below)| below) {
            let above = Self::parents(&level, zero);
            levels.push(core::mem::replace(&mut level, above));
        }
        levels.push(level);
        Ok(Self { levels, zeros, len, keccak: PhantomData })
    }

    /// Builds the tree over the entries themselves.
    pub fn of_entries<E: AsRef<[u8]>>(entries: impl IntoIterator<Item = E>) -> Result<Self, TreeError> {
        Self::new(entries.into_iter().map(|entry| crate::merkle::leaf::<K>(entry.as_ref())).collect())
    }

    /// How many entries the tree has, without the padding.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the tree has no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The root; 32 zero bytes for a tree without entries.
    pub fn root(&self) -> Hash {
        self.levels.last().and_then(|level| level.hashes.first()).copied().unwrap_or(ZERO)
    }

    /// The proof of the `entry`-th entry, counted from 0 **without** the padding.
    pub fn proof_of_entry(&self, entry: u32) -> Option<Proof> {
        let index = padding(self.len).checked_add(u64::from(entry))?;
        self.proof_at(u32::try_from(index).ok()?)
    }

    /// The proof of the leaf at `index`, counted in the **padded** tree; `None` for padding and beyond.
    pub fn proof_at(&self, index: u32) -> Option<Proof> {
        let mut at = u64::from(index);
        let entry = at.checked_sub(padding(self.len))?;
        if entry >= u64::from(self.len) {
            return None;
        }
        let below_root = self.levels.iter().take(self.levels.len().saturating_sub(1));
        let path = below_root
            .zip(&self.zeros)
            .map(|(level, zero)| {
                let sibling = level.get(at ^ 1, zero);
                at >>= 1;
                sibling
            })
            .collect();
        Some(Proof { index, path })
    }

    fn parents(level: &Level, zero: &Hash) -> Level {
        let first = level.first >> 1;
        // An odd first node has a left sibling of nothing but padding.
        let odd = (level.first & 1 == 1).then_some(*zero);
        let mut children = odd.into_iter().chain(level.hashes.iter().copied());
        let mut hashes = Vec::with_capacity(level.hashes.len().div_ceil(2).saturating_add(1));
        while let (Some(left), Some(right)) = (children.next(), children.next()) {
            hashes.push(node::<K>(&left, &right));
        }
        Level { first, hashes }
    }
}

/// The root over leaf hashes that come one by one, in O(log n) memory. Their number has to be known
/// beforehand because the padding stands on the left.
#[derive(Clone, Debug)]
pub struct StreamingRoot<K> {
    /// Complete subtrees, tall ones first, as in a binary counter: (height, hash).
    stack: Vec<(usize, Hash)>,
    /// Leaves still to come.
    missing: u32,
    keccak: PhantomData<K>,
}

impl<K: Keccak> StreamingRoot<K> {
    /// Begins a tree of `len` leaves.
    pub fn new(len: u32) -> Self {
        // The padding is there from the start, one complete zero subtree for each bit of its number.
        let mut stack = Vec::new();
        let mut zeros = zero_subtrees::<K>(depth(len));
        while let Some(zero) = zeros.pop() {
            let height = zeros.len();
            if padding(len) >> height & 1 == 1 {
                stack.push((height, zero));
            }
        }
        Self { stack, missing: len, keccak: PhantomData }
    }

    /// Takes the next leaf's hash; refuses one too many.
    pub fn push(&mut self, leaf: Hash) -> Result<(), TreeError> {
        self.missing = self.missing.checked_sub(1).ok_or(TreeError::WrongCount)?;
        let mut top = (0, leaf);
        while let Some((height, left)) = self.stack.pop_if(|(height, _)| *height == top.0) {
            top = (height.saturating_add(1), node::<K>(&left, &top.1));
        }
        self.stack.push(top);
        Ok(())
    }

    /// The root; refuses when leaves are missing. 32 zero bytes for a tree without leaves.
    pub fn finish(mut self) -> Result<Hash, TreeError> {
        if self.missing != 0 {
            return Err(TreeError::WrongCount);
        }
        Ok(self.stack.pop().map_or(ZERO, |(_, root)| root))
    }
}

/// [`StreamingRoot`] over an iterator.
pub fn root_of_leaves<K: Keccak>(
    len: u32,
    leaves: impl IntoIterator<Item = Hash>,
) -> Result<Hash, TreeError> {
    let mut root = StreamingRoot::<K>::new(len);
    for leaf in leaves {
        root.push(leaf)?;
    }
    root.finish()
}

/// The hashes of subtrees of nothing but padding, of heights 0 to `depth`.
fn zero_subtrees<K: Keccak>(depth: u32) -> Vec<Hash> {
    core::iter::successors(Some((0, ZERO)), |(height, zero)| {
        (*height < depth).then(|| (height.saturating_add(1), node::<K>(zero, zero)))
    })
    .map(|(_, zero)| zero)
    .collect()
}
