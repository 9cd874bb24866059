//! Work behind a post: what an address pays that posts more than its daily number of contracts.

use sha2::{Digest, Sha256};

use crate::PartyId;
use crate::defaults::POST_WORK_BITS;
use crate::digits::lower_hex;

const DOMAIN: &[u8] = b"fix/work/v1";

fn bits(server: &PartyId, body: &[u8; 32], nonce: u64) -> u32 {
    let hash = Sha256::new()
        .chain_update(DOMAIN)
        .chain_update(server.as_bytes())
        .chain_update(body)
        .chain_update(nonce.to_be_bytes());
    let mut zeros = 0;
    for byte in hash.finalize() {
        zeros += byte.leading_zeros();
        if byte != 0 {
            break;
        }
    }
    zeros
}

/// Whether the 16 hexadecimal digits of `X-Fix-Work` are work for this body at this server. The body holds a signed
/// post, which is taken once, so the work is too.
pub fn is_enough(server: &PartyId, body: &[u8], nonce: &str) -> bool {
    let Some(nonce) = lower_hex::<8>(nonce) else { return false };
    bits(server, &Sha256::digest(body).into(), u64::from_be_bytes(nonce)) >= POST_WORK_BITS
}

/// Finds it: about a million hashes.
pub fn solve(server: &PartyId, body: &[u8]) -> String {
    let body: [u8; 32] = Sha256::digest(body).into();
    let found = (0..u64::MAX).find(|nonce| bits(server, &body, *nonce) >= POST_WORK_BITS);
    format!("{:016x}", found.unwrap_or_default())
}
