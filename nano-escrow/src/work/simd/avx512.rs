//! AVX-512: eight nonces at a time. Safe code inside; only whoever calls must know that the processor has
//! AVX-512F.

use std::arch::x86_64::*;

use super::{H0, IV, LOW, rounds};

#[inline]
#[target_feature(enable = "avx512f")]
fn all(x: u64) -> __m512i {
    _mm512_set1_epi64(x as i64)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn eight(root: &[u64; 4], nonces: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let [a, b, c, d] = [all(root[0]), all(root[1]), all(root[2]), all(root[3])];
    let m = [nonces, a, b, c, d, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero];
    let mut v = [
        all(H0),
        all(IV[1]),
        all(IV[2]),
        all(IV[3]),
        all(IV[4]),
        all(IV[5]),
        all(IV[6]),
        all(IV[7]),
        all(LOW[0]),
        all(LOW[1]),
        all(LOW[2]),
        all(LOW[3]),
        all(LOW[4]),
        all(LOW[5]),
        all(LOW[6]),
        all(LOW[7]),
    ];
    rounds!(
        v,
        m,
        _mm512_add_epi64,
        _mm512_xor_si512,
        _mm512_ror_epi64::<32>,
        _mm512_ror_epi64::<24>,
        _mm512_ror_epi64::<16>,
        _mm512_ror_epi64::<63>
    );
    _mm512_xor_si512(all(H0), _mm512_xor_si512(v[0], v[8]))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn lanes(start: u64) -> __m512i {
    _mm512_add_epi64(all(start), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7))
}

/// The values of eight nonces.
#[target_feature(enable = "avx512f")]
pub(super) fn values(root: &[u64; 4], start: u64) -> [u64; 8] {
    let x = eight(root, lanes(start));
    let (low, high) = (_mm512_extracti64x4_epi64::<0>(x), _mm512_extracti64x4_epi64::<1>(x));
    [
        _mm256_extract_epi64::<0>(low) as u64,
        _mm256_extract_epi64::<1>(low) as u64,
        _mm256_extract_epi64::<2>(low) as u64,
        _mm256_extract_epi64::<3>(low) as u64,
        _mm256_extract_epi64::<0>(high) as u64,
        _mm256_extract_epi64::<1>(high) as u64,
        _mm256_extract_epi64::<2>(high) as u64,
        _mm256_extract_epi64::<3>(high) as u64,
    ]
}

/// The first of `steps` times eight nonces whose value reaches the threshold.
#[target_feature(enable = "avx512f")]
pub(super) fn search(root: &[u64; 4], start: u64, steps: u64, threshold: u64) -> Option<u64> {
    let limit = all(threshold);
    let mut nonces = lanes(start);
    for step in 0..steps {
        let mask = _mm512_cmpge_epu64_mask(eight(root, nonces), limit);
        if mask != 0 {
            return Some(start.wrapping_add(step * 8).wrapping_add(u64::from(mask.trailing_zeros())));
        }
        nonces = _mm512_add_epi64(nonces, all(8));
    }
    None
}
