//! AVX2: four nonces at a time. Safe code inside; only whoever calls must know that the processor has AVX2.

use std::arch::x86_64::*;

use super::{H0, IV, LOW, rounds};

#[inline]
#[target_feature(enable = "avx2")]
fn all(x: u64) -> __m256i {
    _mm256_set1_epi64x(x as i64)
}

#[inline]
#[target_feature(enable = "avx2")]
fn r32(x: __m256i) -> __m256i {
    _mm256_shuffle_epi32(x, 0b10_11_00_01)
}

#[inline]
#[target_feature(enable = "avx2")]
fn r24(x: __m256i) -> __m256i {
    let places = _mm256_setr_epi8(
        3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10, 3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8,
        9, 10,
    );
    _mm256_shuffle_epi8(x, places)
}

#[inline]
#[target_feature(enable = "avx2")]
fn r16(x: __m256i) -> __m256i {
    let places = _mm256_setr_epi8(
        2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9, 2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15,
        8, 9,
    );
    _mm256_shuffle_epi8(x, places)
}

#[inline]
#[target_feature(enable = "avx2")]
fn r63(x: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_srli_epi64(x, 63), _mm256_add_epi64(x, x))
}

#[inline]
#[target_feature(enable = "avx2")]
fn four(root: &[u64; 4], nonces: __m256i) -> __m256i {
    let zero = _mm256_setzero_si256();
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
    rounds!(v, m, _mm256_add_epi64, _mm256_xor_si256, r32, r24, r16, r63);
    _mm256_xor_si256(all(H0), _mm256_xor_si256(v[0], v[8]))
}

#[inline]
#[target_feature(enable = "avx2")]
fn lanes(start: u64) -> __m256i {
    _mm256_add_epi64(all(start), _mm256_setr_epi64x(0, 1, 2, 3))
}

/// The values of four nonces.
#[target_feature(enable = "avx2")]
pub(super) fn values(root: &[u64; 4], start: u64) -> [u64; 4] {
    let x = four(root, lanes(start));
    [
        _mm256_extract_epi64::<0>(x) as u64,
        _mm256_extract_epi64::<1>(x) as u64,
        _mm256_extract_epi64::<2>(x) as u64,
        _mm256_extract_epi64::<3>(x) as u64,
    ]
}

/// The first of `steps` times four nonces whose value reaches the threshold.
#[target_feature(enable = "avx2")]
pub(super) fn search(root: &[u64; 4], start: u64, steps: u64, threshold: u64) -> Option<u64> {
    // AVX2 compares signed numbers only, so the highest bit is turned on both sides; and it has > but no >=.
    let Some(below) = threshold.checked_sub(1) else { return Some(start) };
    let sign = all(1 << 63);
    let below = _mm256_xor_si256(all(below), sign);
    let mut nonces = lanes(start);
    for step in 0..steps {
        let hit = _mm256_cmpgt_epi64(_mm256_xor_si256(four(root, nonces), sign), below);
        let mask = _mm256_movemask_pd(_mm256_castsi256_pd(hit));
        if mask != 0 {
            return Some(start.wrapping_add(step * 4).wrapping_add(u64::from(mask.trailing_zeros())));
        }
        nonces = _mm256_add_epi64(nonces, all(4));
    }
    None
}
