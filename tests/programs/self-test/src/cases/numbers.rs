//! Arithmetic and bits.

use super::{In, Out};

#[inline(never)]
pub(super) fn wide_multiplication(i: &mut In, o: &mut Out) {
    let (a, b) = (i.u128(), i.u128());
    o.u128(a.wrapping_mul(b));
    o.i128((a as i128).wrapping_mul(b as i128));
    o.u128(a.wrapping_mul(a).wrapping_add(b.wrapping_mul(b)));
}

#[inline(never)]
pub(super) fn unsigned_wide_division(i: &mut In, o: &mut Out) {
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
pub(super) fn signed_wide_division(i: &mut In, o: &mut Out) {
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
pub(super) fn signed_division(i: &mut In, o: &mut Out) {
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
pub(super) fn narrow_division(i: &mut In, o: &mut Out) {
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
pub(super) fn checked_multiplication(i: &mut In, o: &mut Out) {
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
pub(super) fn checked_wide_multiplication(i: &mut In, o: &mut Out) {
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
pub(super) fn checked_sums(i: &mut In, o: &mut Out) {
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
pub(super) fn full_products(i: &mut In, o: &mut Out) {
    let (a, b, c) = (i.u64(), i.u64(), i.u64());
    o.u128(u128::from(a) * u128::from(b));
    o.i128(i128::from(a as i64) * i128::from(b as i64));
    o.some_u128((u128::from(a) * u128::from(b)).checked_div(u128::from(c)));
    o.some_i128((i128::from(a as i64) * 999 + i128::from(b as i64)).checked_div(i128::from(c as i64)));
}

#[inline(never)]
pub(super) fn wide_bits(i: &mut In, o: &mut Out) {
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
pub(super) fn counting_bits(i: &mut In, o: &mut Out) {
    let a = i.u128() >> (i.u8() % 128);
    let b = i.u64() << (i.u8() % 64);
    for count in [a.leading_zeros(), a.trailing_zeros(), a.count_ones(), a.leading_ones(), a.trailing_ones()]
    {
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
pub(super) fn extension(i: &mut In, o: &mut Out) {
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
pub(super) fn byte_order(i: &mut In, o: &mut Out) {
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

#[inline(never)]
pub(super) fn comparisons(i: &mut In, o: &mut Out) {
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
pub(super) fn roots(i: &mut In, o: &mut Out) {
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
