//! What makes a challenge unique and what a rank commits to (decision P4), with the host's hash.

use solana_address::Address;
use zx1_protocol::challenge::{Ground, claim32, commit32};
use zx1_protocol::hash::{Hash, Sha3};

/// What is claimed of the message with this header hash: the last seed of a challenge's address.
pub fn claim(ground: Ground, value_known: bool, message: &Hash) -> Hash {
    claim32::<Sha3>(ground, value_known, message)
}

/// What a rank commits to. `evidence` is the draft's bytes, or an envelope's signed bytes.
pub fn commit(challenger: &Address, batch: &Address, evidence: &[u8]) -> Hash {
    commit32::<Sha3>(challenger.as_array(), batch.as_array(), evidence)
}
