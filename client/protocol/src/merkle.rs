//! Inclusion proofs in the protocol's Merkle tree (protocol.md, 8.5; decision C5).
//!
//! The tree is **left**-padded with zero hashes to a power of two: of a tree of 5, the padded indexes 0, 1
//! and 2 are padding and the entries are 3 to 7. An index in a proof always counts in the padded tree.

#[cfg(feature = "std")]
mod tree;

use crate::error::sentences;
use crate::hash::{Hash, Keccak};

#[cfg(feature = "std")]
pub use self::tree::{Proof, StreamingRoot, Tree, TreeError, root_of_leaves};

/// The root of a tree without entries, and every leaf of the padding.
pub const ZERO: Hash = [0; 32];

/// Why a proof does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MerkleError {
    /// A tree without entries contains nothing.
    EmptyTree,
    /// A proof has exactly one hash per level.
    WrongProofLength {
        /// How many hashes it must have.
        expected: u32,
    },
    /// The index lies outside the padded tree.
    IndexOutOfRange,
    /// The index points at the padding on the left.
    PaddingIndex,
    /// The path leads to another root.
    RootMismatch,
}

sentences!(MerkleError {
    Self::EmptyTree => "A tree without entries contains nothing.";
    Self::WrongProofLength { expected } => "The proof must have exactly {expected} hashes.";
    Self::IndexOutOfRange => "The leaf index lies outside the tree.";
    Self::PaddingIndex => "The leaf index points at the tree's padding.";
    Self::RootMismatch => "The proof does not lead to the tree's root.";
});

/// The hash of an entry: keccak256(entry).
pub fn leaf<K: Keccak>(entry: &[u8]) -> Hash {
    K::hashv(&[entry])
}

/// The hash of two children: keccak256(left ‖ right). No entry is 64 bytes long, so none can be taken for
/// an inner node (decision C2; records have other lengths).
pub fn node<K: Keccak>(left: &Hash, right: &Hash) -> Hash {
    K::hashv(&[left, right])
}

/// Levels between a leaf and the root of a tree of `len` entries: ceil(log2(len)), 0 for 0 and 1.
pub fn depth(len: u32) -> u32 {
    match len.checked_sub(1) {
        None | Some(0) => 0,
        Some(last) => u32::BITS.saturating_sub(last.leading_zeros()),
    }
}

/// How many leaves the padded tree has: 2^depth, or 0 for an empty tree. A `u64`, since 2^32 is possible.
pub fn width(len: u32) -> u64 {
    if len == 0 { 0 } else { 1u64.checked_shl(depth(len)).unwrap_or(0) }
}

/// How many zero leaves stand to the left of the entries.
pub fn padding(len: u32) -> u64 {
    width(len).saturating_sub(u64::from(len))
}

/// Checks that `leaf` stands at the padded `index` of the tree of `len` entries under `root`.
///
/// Length and index are checked first: a shorter or longer path would let an inner node pass as a leaf,
/// and an index past the width would name the same leaf twice (decision B10).
#[inline(never)]
pub fn verify<K: Keccak>(
    root: &Hash,
    len: u32,
    index: u32,
    leaf: &Hash,
    proof: &[Hash],
) -> Result<(), MerkleError> {
    if len == 0 {
        return Err(MerkleError::EmptyTree);
    }
    let expected = depth(len);
    if u32::try_from(proof.len()) != Ok(expected) {
        return Err(MerkleError::WrongProofLength { expected });
    }
    if u64::from(index) >= width(len) {
        return Err(MerkleError::IndexOutOfRange);
    }
    if u64::from(index) < padding(len) {
        return Err(MerkleError::PaddingIndex);
    }
    let mut hash = *leaf;
    let mut index = index;
    for sibling in proof {
        let is_right_child = index & 1 == 1;
        let (left, right) = if is_right_child { (sibling, &hash) } else { (&hash, sibling) };
        hash = node::<K>(left, right);
        index >>= 1;
    }
    if hash == *root { Ok(()) } else { Err(MerkleError::RootMismatch) }
}
