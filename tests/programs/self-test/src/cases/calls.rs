//! Calls, returns and control flow.

use alloc::{boxed::Box, vec::Vec};

use super::{In, Out};

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

pub(super) fn eight_arguments_case(i: &mut In, o: &mut Out) {
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

pub(super) fn mixed_arguments_case(i: &mut In, o: &mut Out) {
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

pub(super) fn struct_returns(i: &mut In, o: &mut Out) {
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

pub(super) fn nested_returns(i: &mut In, o: &mut Out) {
    match propagates(i.u64(), i.u64()) {
        Ok(v) => o.u64(v),
        Err((a, b)) => {
            o.u8(a);
            o.i128(b);
        }
    }
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

pub(super) fn many_arms_case(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u64(), i.u64());
    for selector in 0..=110 {
        o.u64(many_arms(selector, a, b));
    }
    let dynamic = i.u8();
    o.u64(many_arms(dynamic, b, a));
}

trait Shape {
    fn area(&self, scale: u64) -> u128;
}
struct Square(u64);
struct Rectangle(u64, u64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self, scale: u64) -> u128 {
        (u128::from(self.0) * u128::from(self.0)) ^ u128::from(scale)
    }
}
impl Shape for Rectangle {
    #[inline(never)]
    fn area(&self, scale: u64) -> u128 {
        (u128::from(self.0) * u128::from(self.1)).wrapping_add(scale.into())
    }
}

#[inline(never)]
pub(super) fn indirect_calls(i: &mut In, o: &mut Out) {
    let shapes: Vec<Box<dyn Shape>> = (0..6)
        .map(|_| match i.u8() & 1 {
            0 => Box::new(Square(i.u64())) as Box<dyn Shape>,
            _ => Box::new(Rectangle(i.u64(), i.u64())),
        })
        .collect();
    for shape in &shapes {
        o.u128(shape.area(i.u64()));
    }
    type Swap = fn(u64, u64) -> (u64, u64);
    const TABLE: [Swap; 3] = [pair, |a, b| (b, a), |a, b| (a ^ b, a & b)];
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

pub(super) fn large_frames(i: &mut In, o: &mut Out) {
    o.u64(frame(u64::from(i.u8() % 8), i.u64()));
}
