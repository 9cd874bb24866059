//! What makes a challenge unique (decision B10).

use zx1_protocol::hash::{Hash, Keccak, Sha3};

/// Evidence kind of a recorded envelope; 1 and 2 are [`zx1_protocol::evidence`]'s.
pub const KIND_ENVELOPE: u8 = 3;

/// The seed that stands for evidence and ground in a challenge's address: keccak(evidence hash ‖ ground).
pub fn seed(evidence_hash: &Hash, ground: u8) -> Hash {
    Sha3::hashv(&[evidence_hash, &[ground]])
}
