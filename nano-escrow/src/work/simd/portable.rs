//! The solver in plain Rust, for every processor.

use super::{H0, IV, LOW, rounds};

#[inline(always)]
fn ror<const N: u32>(x: u64) -> u64 {
    x.rotate_right(N)
}

#[inline(always)]
fn xor(a: u64, b: u64) -> u64 {
    a ^ b
}

/// The value of one nonce.
#[inline]
pub(super) fn value(root: &[u64; 4], nonce: u64) -> u64 {
    let m = [nonce, root[0], root[1], root[2], root[3], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut v = [
        H0, IV[1], IV[2], IV[3], IV[4], IV[5], IV[6], IV[7], LOW[0], LOW[1], LOW[2], LOW[3], LOW[4], LOW[5],
        LOW[6], LOW[7],
    ];
    rounds!(v, m, u64::wrapping_add, xor, ror::<32>, ror::<24>, ror::<16>, ror::<63>);
    H0 ^ v[0] ^ v[8]
}

/// The first of `count` nonces whose value reaches the threshold.
pub(super) fn search(root: &[u64; 4], start: u64, count: u64, threshold: u64) -> Option<u64> {
    (0..count).map(|i| start.wrapping_add(i)).find(|nonce| value(root, *nonce) >= threshold)
}
