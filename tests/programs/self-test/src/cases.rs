//! The computations of the self-test. This one file is compiled twice: into the SBF program, and by
//! `tests/vm/tests/toolchain.rs` natively; what the two builds return must be equal.
//!
//! Every function is `inline(never)` and gets its arguments from instruction data, so that the
//! compiler can neither fold the computation nor dissolve the call.

use alloc::{boxed::Box, vec::Vec};

/// What each case exercises; the index is the case's number.
pub const NAMES: &[&str] = &[
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
pub fn run(case: u8, input: &[u8]) -> Option<Vec<u8>> {
    let mut i = In { bytes: input, at: 0 };
    let mut o = Out(Vec::new());
    match case {
        0 => eight_arguments_case(&mut i, &mut o),
        1 => mixed_arguments_case(&mut i, &mut o),
        2 => struct_returns(&mut i, &mut o),
        3 => nested_returns(&mut i, &mut o),
        4 => wide_multiplication(&mut i, &mut o),
        5 => unsigned_wide_division(&mut i, &mut o),
        6 => signed_wide_division(&mut i, &mut o),
        7 => signed_division(&mut i, &mut o),
        8 => narrow_division(&mut i, &mut o),
        9 => checked_multiplication(&mut i, &mut o),
        10 => checked_wide_multiplication(&mut i, &mut o),
        11 => checked_sums(&mut i, &mut o),
        12 => full_products(&mut i, &mut o),
        13 => vectors(&mut i, &mut o),
        14 => boxes(&mut i, &mut o),
        15 => slices(&mut i, &mut o),
        16 => copies(&mut i, &mut o),
        17 => moves(&mut i, &mut o),
        18 => wide_bits(&mut i, &mut o),
        19 => counting_bits(&mut i, &mut o),
        20 => many_arms_case(&mut i, &mut o),
        21 => extension(&mut i, &mut o),
        22 => byte_order(&mut i, &mut o),
        23 => unaligned(&mut i, &mut o),
        24 => indirect_calls(&mut i, &mut o),
        25 => large_frames(&mut i, &mut o),
        26 => comparisons(&mut i, &mut o),
        27 => utf8(&mut i, &mut o),
        28 => roots(&mut i, &mut o),
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

/// Collects results.
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

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn eight_arguments(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> u64 {
    a.wrapping_mul(3)
        ^ b.rotate_left(5)
        ^ c.wrapping_sub(d)
        ^ e.wrapping_mul(7)
        ^ f.rotate_right(11)
        ^ g.wrapping_add(h).rotate_left(17)
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn forwards_eight(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64) -> u64 {
    eight_arguments(h, g, f, e, d, c, b, a).wrapping_add(eight_arguments(b, a, d, c, f, e, h, g))
}

fn eight_arguments_case(i: &mut In, o: &mut Out) {
    let v: [u64; 8] = core::array::from_fn(|_| i.u64());
    let [a, b, c, d, e, f, g, h] = v;
    o.u64(eight_arguments(a, b, c, d, e, f, g, h));
    o.u64(forwards_eight(a, b, c, d, e, f, g, h));
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn mixed_arguments(a: u8, b: u16, c: u32, d: u64, e: u128, f: i8, g: i128, h: bool) -> u128 {
    let sum = u128::from(a)
        .wrapping_add(u128::from(b) << 8)
        .wrapping_add(u128::from(c) << 24)
        .wrapping_add(u128::from(d) << 56)
        .wrapping_add(e)
        .wrapping_add(i128::from(f) as u128)
        .wrapping_add(g as u128);
    if h { !sum } else { sum }
}

fn mixed_arguments_case(i: &mut In, o: &mut Out) {
    let (a, b, c, d, e) = (i.u8(), i.u16(), i.u32(), i.u64(), i.u128());
    let (f, g, h) = (i.u8() as i8, i.i128(), i.u8() & 1 == 1);
    o.u128(mixed_arguments(a, b, c, d, e, f, g, h));
}

struct Large {
    a: u64,
    b: i128,
    c: [u8; 40],
    d: bool,
}

#[inline(never)]
fn large(a: u64, b: i128, c: u8, d: bool) -> Large {
    Large { a: a.wrapping_add(1), b: b.wrapping_neg(), c: [c; 40], d: !d }
}

#[inline(never)]
fn pair(a: u64, b: u64) -> (u64, u64) {
    (b ^ 1, a.wrapping_add(b))
}

#[inline(never)]
fn small(a: u32, b: u8) -> (u8, u32) {
    (b.wrapping_add(1), a.rotate_left(3))
}

#[inline(never)]
fn wide(a: u64, b: u64) -> u128 {
    (u128::from(a) << 64) | u128::from(b)
}

fn struct_returns(i: &mut In, o: &mut Out) {
    let value = large(i.u64(), i.i128(), i.u8(), i.u8() & 1 == 0);
    o.u64(value.a);
    o.i128(value.b);
    o.0.extend_from_slice(&value.c);
    o.u8(u8::from(value.d));
    let (a, b) = pair(i.u64(), i.u64());
    o.u64(a);
    o.u64(b);
    let (a, b) = small(i.u32(), i.u8());
    o.u8(a);
    o.u64(u64::from(b));
    o.u128(wide(a.into(), b.into()));
}

#[inline(never)]
fn nested(a: u64, b: u64) -> Result<Option<(u64, u32)>, (u8, i128)> {
    match a % 3 {
        0 => Ok(None),
        1 => Ok(Some((b.wrapping_mul(a), b as u32))),
        _ => Err((a as u8, -i128::from(b))),
    }
}

#[inline(never)]
fn propagates(a: u64, b: u64) -> Result<u64, (u8, i128)> {
    let first = nested(a, b)?.map_or(7, |(x, y)| x ^ u64::from(y));
    let second = nested(b, first)?.map_or(9, |(x, y)| x.wrapping_add(u64::from(y)));
    Ok(first ^ second)
}

fn nested_returns(i: &mut In, o: &mut Out) {
    match propagates(i.u64(), i.u64()) {
        Ok(v) => o.u64(v),
        Err((a, b)) => {
            o.u8(a);
            o.i128(b);
        }
    }
}

#[inline(never)]
fn wide_multiplication(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    o.u128(a.wrapping_mul(b));
    o.i128((a as i128).wrapping_mul(b as i128));
    o.u128(a.wrapping_mul(a).wrapping_add(b.wrapping_mul(b)));
}

#[inline(never)]
fn unsigned_wide_division(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    let small = u128::from(i.u64());
    for (n, d) in [(a, b), (b, a), (a, small), (a, b >> 64), (a, b >> 100), (small, b >> 90)] {
        o.some_u128(n.checked_div(d));
        o.some_u128(n.checked_rem(d));
    }
    o.u128(a / 1000);
    o.u128(a % 95);
}

#[inline(never)]
fn signed_wide_division(i: &mut In, o: &mut Out) {
    let (a, b) = (i.i128(), i.i128());
    let small = i128::from(i.i64());
    for (n, d) in [(a, b), (b, a), (a, small), (a, b >> 64), (a, b >> 100), (small, b >> 90), (a, -1)] {
        o.some_i128(n.checked_div(d));
        o.some_i128(n.checked_rem(d));
        o.some_i128(n.checked_rem_euclid(d));
    }
    o.i128(a / 100);
}

#[inline(never)]
fn signed_division(i: &mut In, o: &mut Out) {
    let (a, b) = (i.i64(), i.i64());
    for (n, d) in [(a, b), (b, a), (a, b >> 32), (a, b >> 57), (a, -1), (a >> 20, b >> 40)] {
        o.some_i64(n.checked_div(d));
        o.some_i64(n.checked_rem(d));
        o.some_i64(n.checked_div_euclid(d));
    }
    o.i64(a / 7);
    o.i64(a % 1000);
    o.i64(a / -16);
}

#[inline(never)]
fn narrow_division(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u32() as i32, i.u32() as i32);
    o.some_i64(a.checked_div(b).map(i64::from));
    o.some_i64(a.checked_rem(b).map(i64::from));
    o.some_i64(a.checked_div(b >> 24).map(i64::from));
    o.some_u64((a as u32).checked_div(b as u32).map(u64::from));
    let (a, b) = (a as i16, b as i16);
    o.some_i64(a.checked_div(b).map(i64::from));
    o.some_i64(a.checked_rem(b).map(i64::from));
    let (a, b) = (a as i8, b as i8);
    o.some_i64(a.checked_div(b).map(i64::from));
    o.some_i64(a.checked_rem(b).map(i64::from));
}

#[inline(never)]
fn checked_multiplication(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u64(), i.u64());
    for shift in [0, 8, 30, 32, 33, 50] {
        o.some_u64(a.checked_mul(b >> shift));
        o.some_i64((a as i64).checked_mul((b as i64) >> shift));
        o.some_u64((a as u32).checked_mul((b >> shift) as u32).map(u64::from));
        o.some_i64((a as i32).checked_mul((b >> shift) as i32).map(i64::from));
    }
    let (v, overflow) = (a as i64).overflowing_mul(b as i64);
    o.i64(v);
    o.u8(u8::from(overflow));
}

#[inline(never)]
fn checked_wide_multiplication(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    for shift in [0, 40, 63, 64, 65, 100, 120] {
        o.some_u128(a.checked_mul(b >> shift));
        o.some_i128((a as i128).checked_mul((b as i128) >> shift));
        o.some_i128(((a >> 64) as i128).checked_mul((b as i128) >> shift));
    }
    let (v, overflow) = (a as i128).overflowing_mul(b as i128);
    o.i128(v);
    o.u8(u8::from(overflow));
    o.some_i128(i128::from(a as i64).checked_mul(i128::from(b as i64)));
    o.i128((a as i128).saturating_mul(b as i128));
}

#[inline(never)]
fn checked_sums(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    o.some_u128(a.checked_add(b));
    o.some_u128(a.checked_sub(b));
    o.some_i128((a as i128).checked_add(b as i128));
    o.some_i128((a as i128).checked_sub(b as i128));
    o.i128((a as i128).saturating_add(b as i128));
    o.i128((a as i128).saturating_sub(b as i128));
    o.some_i128((a as i128).checked_neg());
    o.some_i128((a as i128).checked_abs());
    let (c, d) = (a as u64, b as u64);
    o.some_u64(c.checked_add(d));
    o.some_u64(c.checked_sub(d));
    o.some_i64((c as i64).checked_add(d as i64));
    o.some_i64((c as i64).checked_sub(d as i64));
    o.u64(c.saturating_sub(d));
    o.some_u64((c as u32).checked_add(d as u32).map(u64::from));
}

#[inline(never)]
fn full_products(i: &mut In, o: &mut Out) {
    let (a, b, c) = (i.u64(), i.u64(), i.u64());
    o.u128(u128::from(a) * u128::from(b));
    o.i128(i128::from(a as i64) * i128::from(b as i64));
    o.some_u128((u128::from(a) * u128::from(b)).checked_div(u128::from(c)));
    o.some_i128((i128::from(a as i64) * 999 + i128::from(b as i64)).checked_div(i128::from(c as i64)));
}

#[inline(never)]
fn vectors(i: &mut In, o: &mut Out) {
    let n = usize::from(i.u8());
    let mut bytes = Vec::new();
    let mut words: Vec<u64> = Vec::new();
    for k in 0..n {
        bytes.push(i.u8());
        if k % 3 == 0 {
            words.push(u64::from(i.u8()) << (k % 56));
        }
    }
    bytes.insert(n / 2, 0xEE);
    bytes.truncate(n.saturating_sub(n / 4) + 1);
    words.retain(|w| w % 3 != 0);
    words.extend_from_slice(&[1, 2, 3]);
    let pairs: Vec<(u8, u128)> = bytes.iter().map(|b| (*b, u128::from(*b) << 70)).collect();
    o.u64(bytes.iter().fold(5, |h: u64, b| h.wrapping_mul(31).wrapping_add(u64::from(*b))));
    o.u64(words.iter().rev().fold(7, |h, w| h.rotate_left(7) ^ w));
    o.u128(pairs.iter().fold(0, |h, (a, b)| h.wrapping_add(*b) ^ u128::from(*a)));
    o.u64(bytes.len() as u64);
    o.u64(words.len() as u64);
}

struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

#[inline(never)]
fn depth(node: &Option<Box<Node>>) -> u64 {
    match node {
        None => 1,
        Some(node) => depth(&node.next).wrapping_mul(33) ^ node.value,
    }
}

#[inline(never)]
fn boxes(i: &mut In, o: &mut Out) {
    let mut list = None;
    // SBF allows 64 nested calls.
    for _ in 0..i.u8() % 40 {
        list = Some(Box::new(Node { value: i.u64(), next: list }));
    }
    o.u64(depth(&list));
    let array: Box<[u64; 100]> = Box::new([i.u64(); 100]);
    o.u64(array.iter().fold(0, |a, b| a.wrapping_add(*b)));
}

#[inline(never)]
fn slices(i: &mut In, o: &mut Out) {
    let mut words: [u64; 24] = core::array::from_fn(|_| i.u64());
    words.rotate_left(usize::from(i.u8()) % 24);
    words[3..17].reverse();
    o.u64(words.chunks(5).fold(0, |h: u64, c| h.rotate_left(9) ^ c.iter().fold(0, |a, b| a ^ b)));
    o.u64(words.windows(2).filter(|w| w[0] < w[1]).count() as u64);
    words.sort_unstable();
    for word in words {
        o.u64(word);
    }
    o.u8(match words.binary_search(&i.u64()) {
        Ok(at) | Err(at) => at as u8,
    });
    let mut signed: Vec<i64> = words.iter().map(|w| *w as i64).collect();
    // Not `sort`: its buffer of 4 KiB on the stack does not fit an SBF frame.
    signed.sort_unstable();
    o.i64(signed[0]);
    o.u8(words.iter().position(|w| *w as i64 == signed[0]).unwrap_or(99) as u8);
}

#[inline(never)]
fn copies(i: &mut In, o: &mut Out) {
    let source: [u8; 200] = i.array();
    let n = usize::from(i.u8()) % 201;
    let from = usize::from(i.u8()) % (201 - n);
    let mut target = [0xA5u8; 216];
    let to = usize::from(i.u8()) % 16;
    target[to..to + n].copy_from_slice(&source[from..from + n]);
    o.0.extend_from_slice(&target);
    let whole = source;
    o.0.extend_from_slice(&whole);
    let words: [u64; 25] = core::array::from_fn(|k| source[k * 8] as u64);
    let copy = words;
    o.u64(copy.iter().sum());
}

#[inline(never)]
fn moves(i: &mut In, o: &mut Out) {
    let mut bytes: [u8; 200] = i.array();
    let n = usize::from(i.u8()) % 150;
    let (from, to) = (usize::from(i.u8()) % 50, usize::from(i.u8()) % 50);
    bytes.copy_within(from..from + n, to);
    let fill = usize::from(i.u8()) % 200;
    bytes[fill..(fill + 13).min(200)].fill(i.u8());
    o.0.extend_from_slice(&bytes);
    let (a, b) = bytes.split_at(100);
    o.u8(a.cmp(b) as i8 as u8);
    o.u8(u8::from(a[..n.min(100)] == b[..n.min(100)]));
    o.u8(u8::from(a[..32] == a[1..33]));
    bytes.swap(0, 199);
    bytes[10..90].swap_with_slice(&mut [7u8; 80]);
    o.0.extend_from_slice(&bytes);
}

#[inline(never)]
fn wide_bits(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    let n = u32::from(i.u8()) % 128;
    o.u128(a & b);
    o.u128(a | b);
    o.u128(a ^ !b);
    o.u128(a << n);
    o.u128(a >> n);
    o.i128((a as i128) >> n);
    o.u128(a.rotate_left(n));
    o.u128(b.rotate_right(n));
    o.some_u128(a.checked_shl(u32::from(i.u8())));
    o.u64((a as u64) << (n % 64));
    o.i64((a as i64) >> (n % 64));
    o.u64((a as u64).rotate_left(n));
    o.u64(u64::from((a as u32).rotate_right(n)));
    o.u64(u64::from((a as u16) >> (n % 16)));
    o.u8((b as u8).rotate_left(n));
    o.i64(i64::from((a as i32) >> (n % 32)));
}

#[inline(never)]
fn counting_bits(i: &mut In, o: &mut Out) {
    let a = i.u128() >> (i.u8() % 128);
    let b = i.u64() << (i.u8() % 64);
    for count in [a.leading_zeros(), a.trailing_zeros(), a.count_ones(), a.leading_ones(), a.trailing_ones()] {
        o.u8(count as u8);
    }
    for count in [b.leading_zeros(), b.trailing_zeros(), b.count_ones(), (b as u32).leading_zeros()] {
        o.u8(count as u8);
    }
    o.u8((b as u16).trailing_zeros() as u8);
    o.u8((b as u8).leading_zeros() as u8);
    o.u128(a.reverse_bits());
    o.u64(b.reverse_bits());
    o.u8((b as u8).reverse_bits());
    o.u8(u8::from(b.is_power_of_two()));
    o.some_u64(b.checked_next_power_of_two());
}

#[inline(never)]
fn many_arms(selector: u8, a: u64, b: u64) -> u64 {
    match selector {
        0 => a.wrapping_add(b),
        1 => a.wrapping_sub(b),
        2 => a ^ b,
        3 => a & b,
        4 => a | b,
        5 => a.wrapping_mul(b),
        6 => a.checked_div(b).unwrap_or(1),
        7 => a.checked_rem(b).unwrap_or(2),
        8 => a << (b % 64),
        9 => a >> (b % 64),
        10 => a.rotate_left(b as u32 % 64),
        11 => a.min(b),
        12 => a.max(b),
        13 => a.abs_diff(b),
        14 => !a,
        15 => !b,
        16..=20 => a.wrapping_add(u64::from(selector)),
        21 => 0xDEAD_BEEF,
        22 => a.swap_bytes(),
        23 => b.swap_bytes(),
        40..=60 => b.wrapping_mul(u64::from(selector)),
        100 => u64::from(a > b),
        101 => u64::from(a as i64 > b as i64),
        102 => a.count_ones().into(),
        _ => u64::MAX,
    }
}

fn many_arms_case(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u64(), i.u64());
    for selector in 0..=110 {
        o.u64(many_arms(selector, a, b));
    }
    let dynamic = i.u8();
    o.u64(many_arms(dynamic, b, a));
}

#[inline(never)]
fn extension(i: &mut In, o: &mut Out) {
    let v = i.u128();
    let cells: [i8; 4] = core::array::from_fn(|_| i.u8() as i8);
    let halves: [i16; 4] = core::array::from_fn(|_| i.u16() as i16);
    let words: [i32; 4] = core::array::from_fn(|_| i.u32() as i32);
    for k in 0..4 {
        o.i64(i64::from(cells[k]));
        o.i64(i64::from(halves[k]));
        o.i64(i64::from(words[k]));
        o.u64(u64::from(cells[k] as u8) + u64::from(halves[k] as u16) + u64::from(words[k] as u32));
    }
    o.i128(i128::from(v as i8));
    o.i128(i128::from(v as i16));
    o.i128(i128::from(v as i32));
    o.i128(i128::from(v as i64));
    o.i64(i64::from((v as i32).wrapping_add(1)));
    o.i64(i64::from((v as i16).wrapping_mul(3)));
    o.u64(u64::from((v as u32).wrapping_neg()));
    o.some_i64(i64::try_from(v as i128).ok());
    o.some_u64(u64::try_from(v).ok());
    o.some_i64(i8::try_from(v as i32).ok().map(i64::from));
}

#[inline(never)]
fn byte_order(i: &mut In, o: &mut Out) {
    let v = i.u128();
    o.u128(v.swap_bytes());
    o.u64((v as u64).swap_bytes());
    o.u64(u64::from((v as u32).swap_bytes()));
    o.u64(u64::from((v as u16).swap_bytes()));
    o.0.extend_from_slice(&v.to_be_bytes());
    o.0.extend_from_slice(&(v as u64).to_be_bytes());
    o.0.extend_from_slice(&(v as u32).to_be_bytes());
    o.0.extend_from_slice(&(v as u16).to_be_bytes());
    o.u64(u64::from_be_bytes(i.array()));
    o.u64(u64::from(u32::from_be_bytes(i.array())));
    o.i64(i64::from(i16::from_be_bytes(i.array())));
    o.i128(i128::from_be_bytes(i.array()));
}

#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Packed {
    a: u8,
    b: u64,
    c: u16,
    d: u128,
    e: u32,
}

#[inline(never)]
fn unaligned(i: &mut In, o: &mut Out) {
    let bytes: [u8; 64] = i.array();
    for at in 0..16 {
        let word = bytes[at..].first_chunk().copied().map_or(0, u64::from_le_bytes);
        let wide = bytes[at..].first_chunk().copied().map_or(0, u128::from_le_bytes);
        let half = bytes[at..].first_chunk().copied().map_or(0, u16::from_le_bytes);
        o.u64(word ^ u64::from(half));
        o.u128(wide);
    }
    let mut packed = [Packed { a: i.u8(), b: i.u64(), c: i.u16(), d: i.u128(), e: i.u32() }; 3];
    packed[1].b = packed[0].b.wrapping_add(1);
    packed[2].d = packed[0].d.wrapping_mul(3);
    packed[1].e = packed[2].e ^ u32::from(packed[0].c);
    for p in packed {
        o.u8(p.a);
        o.u64(p.b);
        o.u64(u64::from(p.c));
        o.u128(p.d);
        o.u64(u64::from(p.e));
    }
}

trait Shape {
    fn area(&self, scale: u64) -> u128;
}
struct Square(u64);
struct Rectangle(u64, u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, scale: u64) -> u128 {
        u128::from(self.0) * u128::from(self.0) ^ u128::from(scale)
    }
}
impl Shape for Rectangle {
    #[inline(never)]
    fn area(&self, scale: u64) -> u128 {
        (u128::from(self.0) * u128::from(self.1)).wrapping_add(scale.into())
    }
}

#[inline(never)]
fn indirect_calls(i: &mut In, o: &mut Out) {
    let shapes: Vec<Box<dyn Shape>> = (0..6)
        .map(|_| match i.u8() & 1 {
            0 => Box::new(Square(i.u64())) as Box<dyn Shape>,
            _ => Box::new(Rectangle(i.u64(), i.u64())),
        })
        .collect();
    for shape in &shapes {
        o.u128(shape.area(i.u64()));
    }
    const TABLE: [fn(u64, u64) -> (u64, u64); 3] = [pair, |a, b| (b, a), |a, b| (a ^ b, a & b)];
    let (a, b) = TABLE[usize::from(i.u8() % 3)](i.u64(), i.u64());
    o.u64(a);
    o.u64(b);
}

#[inline(never)]
fn frame(depth: u64, seed: u64) -> u64 {
    let mut local = [seed; 200];
    for (k, word) in local.iter_mut().enumerate() {
        *word = word.wrapping_mul(depth.wrapping_add(k as u64));
    }
    let below = if depth == 0 { 1 } else { frame(depth - 1, seed.rotate_left(1)) };
    // The locals are read after the inner call: a frame that overlaps its neighbour's shows here.
    local.iter().fold(below, |h, w| h.rotate_left(3) ^ w)
}

fn large_frames(i: &mut In, o: &mut Out) {
    o.u64(frame(u64::from(i.u8() % 8), i.u64()));
}

#[inline(never)]
fn comparisons(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    let (c, d) = (a as i128, b as i128);
    o.u8(a.cmp(&b) as i8 as u8);
    o.u8(c.cmp(&d) as i8 as u8);
    o.u8((a as u64).cmp(&(b as u64)) as i8 as u8);
    o.u8((a as i64).cmp(&(b as i64)) as i8 as u8);
    o.u8((a as i32).cmp(&(b as i32)) as i8 as u8);
    o.u8((a as u32).cmp(&(b as u32)) as i8 as u8);
    o.u8((a as i8).cmp(&(b as i8)) as i8 as u8);
    o.i128(c.min(d));
    o.u128(a.max(b));
    o.i128(c.clamp(-100_000, 100_000));
    o.u8(u8::from(c < 0) | u8::from(c == d) << 1 | u8::from(a >= b) << 2 | u8::from(c <= d) << 3);
    o.i128(c.signum());
    o.u128(c.unsigned_abs());
}

#[inline(never)]
fn utf8(i: &mut In, o: &mut Out) {
    let bytes: [u8; 48] = i.array();
    for n in 0..48 {
        match core::str::from_utf8(&bytes[n / 4..n]) {
            Ok(text) => o.u64(text.chars().fold(n as u64, |h, c| h.rotate_left(5) ^ u64::from(u32::from(c)))),
            Err(error) => o.u8(error.valid_up_to() as u8),
        }
    }
}

#[inline(never)]
fn roots(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u64(), i.u128());
    o.u64(a.isqrt());
    o.some_u64(a.checked_ilog2().map(u64::from));
    o.some_u64(b.checked_ilog10().map(u64::from));
    o.u64(u64::from(a as u32).pow(2));
    o.some_u64(a.checked_pow(u32::from(i.u8() % 5)));
    o.some_u128(b.checked_pow(u32::from(i.u8() % 4)));
    o.u64(a.div_ceil(1000));
    o.some_u64(a.checked_next_multiple_of(4096));
}
