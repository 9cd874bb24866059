//! The heap, slices, copies and unaligned access.

use alloc::{boxed::Box, vec::Vec};

use super::{In, Out};

#[inline(never)]
pub(super) fn vectors(i: &mut In, o: &mut Out) {
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
pub(super) fn boxes(i: &mut In, o: &mut Out) {
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
pub(super) fn slices(i: &mut In, o: &mut Out) {
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
pub(super) fn copies(i: &mut In, o: &mut Out) {
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
pub(super) fn moves(i: &mut In, o: &mut Out) {
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
pub(super) fn unaligned(i: &mut In, o: &mut Out) {
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

#[inline(never)]
pub(super) fn utf8(i: &mut In, o: &mut Out) {
    let bytes: [u8; 48] = i.array();
    for n in 0..48 {
        match core::str::from_utf8(&bytes[n / 4..n]) {
            Ok(text) => o.u64(text.chars().fold(n as u64, |h, c| h.rotate_left(5) ^ u64::from(u32::from(c)))),
            Err(error) => o.u8(error.valid_up_to() as u8),
        }
    }
}
