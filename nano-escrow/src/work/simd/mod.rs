//! The inner loop of the solver: one BLAKE2b compression for several nonces at once.
//!
//! The message is 40 bytes (nonce, root), so only five of sixteen message words are not zero, one
//! compression is enough, and of the result only the first word counts. The rounds are written out by a
//! macro with fixed places; the compiler drops the additions of zero, what the last round computes for
//! nothing, and what does not depend on the nonce moves out of the loop.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::fmt;
use std::str::FromStr;

use crate::{BlockHash, Work};

/// The first state word: BLAKE2b's constant and the parameters (8 bytes of output, no key, sequential).
const H0: u64 = IV[0] ^ 0x0101_0008;
const IV: [u64; 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];
/// The constants of the lower half; the length (40) and the mark of the last block are already in.
const LOW: [u64; 8] = [IV[0], IV[1], IV[2], IV[3], IV[4] ^ 40, IV[5], !IV[6], IV[7]];

/// The rounds over `$v` (16 words) and `$m` (16 words), in terms of four operations on a word of any width.
macro_rules! rounds {
    ($v:ident, $m:ident, $add:path, $xor:path, $r32:path, $r24:path, $r16:path, $r63:path) => {
        macro_rules! mix {
            ($a:literal, $b:literal, $c:literal, $d:literal, $x:literal, $y:literal) => {
                $v[$a] = $add($add($v[$a], $v[$b]), $m[$x]);
                $v[$d] = $r32($xor($v[$d], $v[$a]));
                $v[$c] = $add($v[$c], $v[$d]);
                $v[$b] = $r24($xor($v[$b], $v[$c]));
                $v[$a] = $add($add($v[$a], $v[$b]), $m[$y]);
                $v[$d] = $r16($xor($v[$d], $v[$a]));
                $v[$c] = $add($v[$c], $v[$d]);
                $v[$b] = $r63($xor($v[$b], $v[$c]));
            };
        }
        macro_rules! round {
            (
                $s0:literal $s1:literal $s2:literal $s3:literal $s4:literal $s5:literal $s6:literal $s7:literal
                $s8:literal $s9:literal $sa:literal $sb:literal $sc:literal $sd:literal $se:literal $sf:literal
            ) => {
                mix!(0, 4, 8, 12, $s0, $s1);
                mix!(1, 5, 9, 13, $s2, $s3);
                mix!(2, 6, 10, 14, $s4, $s5);
                mix!(3, 7, 11, 15, $s6, $s7);
                mix!(0, 5, 10, 15, $s8, $s9);
                mix!(1, 6, 11, 12, $sa, $sb);
                mix!(2, 7, 8, 13, $sc, $sd);
                mix!(3, 4, 9, 14, $se, $sf);
            };
        }
        round!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        round!(14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3);
        round!(11 8 12 0 5 2 15 13 10 14 3 6 7 1 9 4);
        round!(7 9 3 1 13 12 11 14 2 6 5 10 4 0 15 8);
        round!(9 0 5 7 2 4 10 15 14 1 11 12 6 8 3 13);
        round!(2 12 6 10 0 11 8 3 4 13 7 5 15 14 1 9);
        round!(12 5 1 15 14 13 4 10 0 7 6 3 9 2 8 11);
        round!(13 11 7 14 12 1 3 9 5 0 15 4 8 6 2 10);
        round!(6 15 14 9 11 3 0 8 12 2 13 7 1 4 10 5);
        round!(10 2 8 4 7 6 1 5 15 11 9 14 3 12 13 0);
        round!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        round!(14 10 4 8 9 15 13 6 1 12 0 2 11 7 5 3);
    };
}
use rounds;

/// A way to compute, chosen when the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Path {
    /// Plain Rust, one nonce at a time.
    Portable,
    /// AVX2, four at a time.
    Avx2,
    /// AVX-512, eight at a time.
    Avx512,
}

impl Path {
    /// All of them, the fastest last.
    pub const ALL: [Path; 3] = [Path::Portable, Path::Avx2, Path::Avx512];

    /// Whether this machine can.
    pub fn is_available(self) -> bool {
        match self {
            Path::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The fastest that this machine can.
    pub fn best() -> Path {
        Self::ALL.into_iter().rev().find(|p| p.is_available()).unwrap_or(Path::Portable)
    }

    /// `portable`, `avx2`, `avx512`.
    pub const fn name(self) -> &'static str {
        match self {
            Path::Portable => "portable",
            Path::Avx2 => "avx2",
            Path::Avx512 => "avx512",
        }
    }

    /// How many nonces at a time.
    pub const fn lanes(self) -> u64 {
        match self {
            Path::Portable => 1,
            Path::Avx2 => 4,
            Path::Avx512 => 8,
        }
    }

    /// Try `count` nonces from `start` on (rounded up to whole steps). A path that this machine does not
    /// have is replaced by the portable one.
    #[allow(unsafe_code)]
    pub(super) fn search(self, root: &BlockHash, start: u64, count: u64, threshold: u64) -> Option<Work> {
        let root = words(root);
        let steps = count.div_ceil(self.lanes());
        let found = match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 if self.is_available() => {
                // SAFETY: the processor has AVX2, as the guard has just found.
                unsafe { avx2::search(&root, start, steps, threshold) }
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 if self.is_available() => {
                // SAFETY: the processor has AVX-512F, as the guard has just found.
                unsafe { avx512::search(&root, start, steps, threshold) }
            }
            _ => portable::search(&root, start, count, threshold),
        };
        found.map(Work)
    }

    /// The values of the nonces from `start` on, one a lane: what tests compare with the reference.
    #[doc(hidden)]
    #[allow(unsafe_code)]
    pub fn values(self, root: &BlockHash, start: u64) -> Vec<u64> {
        let root = words(root);
        match self {
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 if self.is_available() => {
                // SAFETY: the processor has AVX2, as the guard has just found.
                unsafe { avx2::values(&root, start) }.to_vec()
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512 if self.is_available() => {
                // SAFETY: the processor has AVX-512F, as the guard has just found.
                unsafe { avx512::values(&root, start) }.to_vec()
            }
            _ => vec![portable::value(&root, start)],
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Path {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|p| p.name() == text)
            .ok_or_else(|| format!("{text:?} is not a path; the paths are portable, avx2 and avx512"))
    }
}

fn words(root: &BlockHash) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(root.0.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}
