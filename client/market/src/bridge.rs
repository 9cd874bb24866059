//! A contract as a task of the 0x01 protocol (decision G1).

use sha3::{Digest, Keccak256};

use crate::{ContractId, EntryType, PartyId};

/// Separates this hash from every other one.
pub const DOMAIN: &[u8] = b"zx1/fix/v1";

/// The conversation id: the first 16 bytes of keccak256("zx1/fix/v1" ‖ server key ‖ contract id). The
/// contract id goes in as its 8 bytes.
pub fn conversation_id(server: &PartyId, contract: &ContractId) -> [u8; 16] {
    let hash = Keccak256::new()
        .chain_update(DOMAIN)
        .chain_update(server.as_bytes())
        .chain_update(contract.as_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let mut id = [0; 16];
    id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    id
}

/// The number of the 0x01 message that says the same as an entry, where there is one: bond = PROPOSE (its
/// value is the bounty in raw), accept = ACCEPT, fix = DELIVER, ruling = VERDICT, feedback = FEEDBACK.
pub const fn message_type(kind: EntryType) -> Option<u16> {
    match kind {
        EntryType::Bond => Some(0x03),
        EntryType::Accept => Some(0x05),
        EntryType::Fix => Some(0x07),
        EntryType::Ruling => Some(0x0a),
        EntryType::Feedback => Some(0x0b),
        _ => None,
    }
}
