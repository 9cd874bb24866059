//! What makes a challenge unique (decision B10), with the host's hash.

use zx1_protocol::challenge::claim_seed;
pub use zx1_protocol::evidence::KIND_ENVELOPE;
use zx1_protocol::hash::{Hash, Sha3};

/// The seed that stands for evidence and ground in a challenge's address.
pub fn seed(evidence_hash: &Hash, ground: u8) -> Hash {
    claim_seed::<Sha3>(evidence_hash, ground)
}
