//! The computations of the self-test. These files are compiled twice: into the SBF program, and by
//! `tests/vm/tests/toolchain.rs` natively; what the two builds return must be equal.
//!
//! Every function is `inline(never)` and gets its arguments from instruction data, so that the
//! compiler can neither fold the computation nor dissolve the call.

mod calls;
mod memory;
mod numbers;

use alloc::vec::Vec;

/// What each case exercises; the index is the case's number. Only the host's test prints them.
#[allow(dead_code)]
pub(crate) const NAMES: &[&str] = &[
    "calls with eight arguments",
    "calls with eight arguments of mixed widths",
    "returning structs by pointer and in registers",
    "returning nested options and results",
    "wrapping 128-bit multiplication",
    "unsigned 128-bit division and remainder",
    "signed 128-bit division and remainder",
    "signed 64-bit division and remainder",
    "signed 32-, 16- and 8-bit division and remainder",
    "checked 64-bit multiplication",
    "checked 128-bit multiplication",
    "checked and saturating addition and subtraction",
    "products of 64-bit numbers in 128 bits",
    "growing vectors",
    "boxes and recursion through them",
    "slices: sorting, rotating, searching, chunks",
    "copies of 0 to 200 bytes",
    "overlapping moves, fills and comparisons",
    "128-bit shifts, rotations and bit operations",
    "counting and reversing bits",
    "a match with many arms",
    "sign and zero extension",
    "byte order",
    "unaligned reads and writes",
    "calls through trait objects and function pointers",
    "nested frames with large locals",
    "comparisons of wide integers",
    "UTF-8 checking",
    "integer logarithms and roots",
];

/// Runs one case; none if there is no such case.
pub(crate) fn run(case: u8, input: &[u8]) -> Option<Vec<u8>> {
    let mut i = In { bytes: input, at: 0 };
    let mut o = Out(Vec::new());
    match case {
        0 => calls::eight_arguments_case(&mut i, &mut o),
        1 => calls::mixed_arguments_case(&mut i, &mut o),
        2 => calls::struct_returns(&mut i, &mut o),
        3 => calls::nested_returns(&mut i, &mut o),
        4 => numbers::wide_multiplication(&mut i, &mut o),
        5 => numbers::unsigned_wide_division(&mut i, &mut o),
        6 => numbers::signed_wide_division(&mut i, &mut o),
        7 => numbers::signed_division(&mut i, &mut o),
        8 => numbers::narrow_division(&mut i, &mut o),
        9 => numbers::checked_multiplication(&mut i, &mut o),
        10 => numbers::checked_wide_multiplication(&mut i, &mut o),
        11 => numbers::checked_sums(&mut i, &mut o),
        12 => numbers::full_products(&mut i, &mut o),
        13 => memory::vectors(&mut i, &mut o),
        14 => memory::boxes(&mut i, &mut o),
        15 => memory::slices(&mut i, &mut o),
        16 => memory::copies(&mut i, &mut o),
        17 => memory::moves(&mut i, &mut o),
        18 => numbers::wide_bits(&mut i, &mut o),
        19 => numbers::counting_bits(&mut i, &mut o),
        20 => calls::many_arms_case(&mut i, &mut o),
        21 => numbers::extension(&mut i, &mut o),
        22 => numbers::byte_order(&mut i, &mut o),
        23 => memory::unaligned(&mut i, &mut o),
        24 => calls::indirect_calls(&mut i, &mut o),
        25 => calls::large_frames(&mut i, &mut o),
        26 => numbers::comparisons(&mut i, &mut o),
        27 => memory::utf8(&mut i, &mut o),
        28 => numbers::roots(&mut i, &mut o),
        _ => return None,
    }
    Some(o.0)
}

/// Reads numbers off the input, starting again at its front when it ends.
struct In<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl In<'_> {
    #[inline(never)]
    fn u8(&mut self) -> u8 {
        let n = self.bytes.len().max(1);
        let value = self.bytes.get(self.at % n).copied().unwrap_or(0);
        self.at += 1;
        value
    }
    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        for byte in &mut out {
            *byte = self.u8();
        }
        out
    }
    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }
    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }
    fn u128(&mut self) -> u128 {
        u128::from_le_bytes(self.array())
    }
    fn i64(&mut self) -> i64 {
        self.u64() as i64
    }
    fn i128(&mut self) -> i128 {
        self.u128() as i128
    }
}

struct Out(Vec<u8>);

impl Out {
    fn u8(&mut self, v: u8) {
        self.0.push(v);
    }
    fn u64(&mut self, v: u64) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn i64(&mut self, v: i64) {
        self.u64(v as u64);
    }
    fn u128(&mut self, v: u128) {
        self.0.extend_from_slice(&v.to_le_bytes());
    }
    fn i128(&mut self, v: i128) {
        self.u128(v as u128);
    }
    fn some_u128(&mut self, v: Option<u128>) {
        self.u8(u8::from(v.is_some()));
        self.u128(v.unwrap_or(0));
    }
    fn some_i128(&mut self, v: Option<i128>) {
        self.some_u128(v.map(|v| v as u128));
    }
    fn some_u64(&mut self, v: Option<u64>) {
        self.u8(u8::from(v.is_some()));
        self.u64(v.unwrap_or(0));
    }
    fn some_i64(&mut self, v: Option<i64>) {
        self.some_u64(v.map(|v| v as u64));
    }
}
