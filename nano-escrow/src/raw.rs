//! Amounts: raw, the smallest unit, and XNO (10^30 raw).

use std::fmt;
use std::iter::Sum;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zx1_coded::Coded;

/// Why a text is not an amount, or two amounts have no sum or difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum AmountError {
    /// The text has no characters.
    #[code(8000)]
    #[error("the amount is empty")]
    Empty,
    /// The text starts with a minus sign.
    #[code(8001)]
    #[error("the amount is negative")]
    Negative,
    /// The text starts with a plus sign.
    #[code(8002)]
    #[error("the amount starts with a plus sign")]
    Plus,
    /// The text has an exponent, such as `1e3`.
    #[code(8003)]
    #[error("the amount has an exponent")]
    Exponent,
    /// The text is a number of another base, such as `0x10`.
    #[code(8004)]
    #[error("the amount is not a decimal number")]
    Base,
    /// The text has a comma.
    #[code(8005)]
    #[error("the amount has a comma; the decimal sign is a point, and digits are not grouped")]
    Comma,
    /// The text has spaces.
    #[code(8006)]
    #[error("the amount has a space or another blank in it")]
    Blank,
    /// The text has more than one point.
    #[code(8007)]
    #[error("the amount has more than one point")]
    Points,
    /// No digits before or after the point.
    #[code(8008)]
    #[error("the amount needs digits on both sides of the point")]
    BarePoint,
    /// A zero before other digits.
    #[code(8009)]
    #[error("the amount starts with a zero that means nothing")]
    LeadingZero,
    /// More than 30 digits after the point.
    #[code(8010)]
    #[error("the amount has more than 30 decimals, so it is not a whole number of raw")]
    Decimals,
    /// A point in an amount of raw.
    #[code(8011)]
    #[error("an amount of raw is a whole number, without a point")]
    Fraction,
    /// Above 2^128 - 1 raw.
    #[code(8012)]
    #[error("the amount is above 340282366.920938463463374607431768211455 XNO, more than there can be")]
    TooLarge,
    /// It has another character.
    #[code(8013)]
    #[error("the amount has a character that is not a digit from 0 to 9")]
    Character,
    /// Zero, where something must be paid.
    #[code(8014)]
    #[error("the amount is zero")]
    Zero,
    /// Adding two amounts passes 2^128 - 1.
    #[code(8015)]
    #[error("the sum of {0} and {1} raw is more than there can be")]
    SumTooLarge(Raw, Raw),
    /// Taking away more than there is.
    #[code(8016)]
    #[error("{1} raw cannot be taken from {0} raw")]
    NotEnough(Raw, Raw),
}

/// An amount in raw, the smallest unit of Nano: 0 to 2^128 - 1. 1 XNO is 10^30 raw.
///
/// Prints and reads as a whole number of raw. [`Raw::xno`] and [`Raw::from_xno`] print and read XNO. Other
/// units ("nano" meant 10^24 in old programs) are not known here. Arithmetic is checked; there is no `+`
/// that can wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Raw(pub u128);

impl Raw {
    /// Nothing: 0 raw.
    pub const ZERO: Raw = Raw(0);
    /// 1 XNO in raw: 10^30.
    pub const XNO: Raw = Raw(1_000_000_000_000_000_000_000_000_000_000);
    /// All the raw that there can be, 2^128 - 1; the supply that genesis held.
    pub const MAX: Raw = Raw(u128::MAX);
    /// Digits after the point of an XNO amount.
    pub const DECIMALS: usize = 30;

    /// The number of raw.
    pub const fn get(self) -> u128 {
        self.0
    }

    /// Whether there is nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum. Fails with 8015 above 2^128 - 1.
    // The trait's `add` cannot fail, and money must not wrap.
    #[allow(clippy::should_implement_trait)]
    pub fn add(self, other: Raw) -> Result<Raw, AmountError> {
        self.checked_add(other).ok_or(AmountError::SumTooLarge(self, other))
    }

    /// The difference. Fails with 8016 below zero.
    #[allow(clippy::should_implement_trait)]
    pub fn sub(self, other: Raw) -> Result<Raw, AmountError> {
        self.checked_sub(other).ok_or(AmountError::NotEnough(self, other))
    }

    /// The sum, or `None` above 2^128 - 1.
    pub const fn checked_add(self, other: Raw) -> Option<Raw> {
        match self.0.checked_add(other.0) {
            Some(v) => Some(Raw(v)),
            None => None,
        }
    }

    /// The difference, or `None` below zero.
    pub const fn checked_sub(self, other: Raw) -> Option<Raw> {
        match self.0.checked_sub(other.0) {
            Some(v) => Some(Raw(v)),
            None => None,
        }
    }

    /// The difference, zero instead of less.
    pub const fn saturating_sub(self, other: Raw) -> Raw {
        Raw(self.0.saturating_sub(other.0))
    }

    /// `self * numerator / denominator`, rounded down to the raw, computed without overflow in between.
    /// `None` when the denominator is zero or the result is above 2^128 - 1.
    pub const fn mul_div_floor(self, numerator: u64, denominator: u64) -> Option<Raw> {
        if denominator == 0 {
            return None;
        }
        // self = q * d + r with r < d, so self * n / d = q * n + r * n / d, and r * n fits 128 bits.
        let (n, d) = (numerator as u128, denominator as u128);
        let (q, r) = (self.0 / d, self.0 % d);
        match q.checked_mul(n) {
            Some(high) => match high.checked_add(r * n / d) {
                Some(v) => Some(Raw(v)),
                None => None,
            },
            None => None,
        }
    }

    /// The sum of all, or `None` above 2^128 - 1.
    pub fn checked_sum<I: IntoIterator<Item = Raw>>(amounts: I) -> Option<Raw> {
        amounts.into_iter().try_fold(Raw::ZERO, Raw::checked_add)
    }

    /// Big-endian bytes, as a block's hash covers them.
    pub const fn to_be_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// From big-endian bytes.
    pub const fn from_be_bytes(bytes: [u8; 16]) -> Raw {
        Raw(u128::from_be_bytes(bytes))
    }

    /// Read XNO: digits, and at most one point with 1 to 30 digits behind it. Exact, or refused with the
    /// reason.
    pub fn from_xno(text: &str) -> Result<Raw, AmountError> {
        check_shape(text)?;
        let (whole, fraction) = match text.split_once('.') {
            None => (text, ""),
            Some((_, f)) if f.contains('.') => return Err(AmountError::Points),
            Some((w, f)) if w.is_empty() || f.is_empty() => return Err(AmountError::BarePoint),
            Some(parts) => parts,
        };
        if fraction.len() > Self::DECIMALS {
            return Err(AmountError::Decimals);
        }
        let whole = digits(whole)?.checked_mul(Self::XNO.0).ok_or(AmountError::TooLarge)?;
        let mut part = if fraction.is_empty() { 0 } else { all_digits(fraction)? };
        for _ in fraction.len()..Self::DECIMALS {
            part = part.checked_mul(10).ok_or(AmountError::TooLarge)?;
        }
        whole.checked_add(part).map(Raw).ok_or(AmountError::TooLarge)
    }

    /// Print as XNO, without zeros that mean nothing: `5.1`, `0`, `0.000001`.
    pub fn xno(self) -> String {
        let (whole, fraction) = (self.0 / Self::XNO.0, self.0 % Self::XNO.0);
        if fraction == 0 {
            return whole.to_string();
        }
        let fraction = format!("{fraction:030}");
        format!("{whole}.{}", fraction.trim_end_matches('0'))
    }

    /// Print as XNO with all 30 decimals.
    pub fn xno_fixed(self) -> String {
        format!("{}.{:030}", self.0 / Self::XNO.0, self.0 % Self::XNO.0)
    }

    /// The amount, refused with 8014 when it is zero.
    pub fn nonzero(self) -> Result<Raw, AmountError> {
        if self.is_zero() { Err(AmountError::Zero) } else { Ok(self) }
    }
}

/// Names the reason why a text is not a plain number, so that the reader need not guess.
fn check_shape(text: &str) -> Result<(), AmountError> {
    if text.is_empty() {
        return Err(AmountError::Empty);
    }
    if text.chars().any(char::is_whitespace) {
        return Err(AmountError::Blank);
    }
    if text.starts_with('-') || text.starts_with('\u{2212}') {
        return Err(AmountError::Negative);
    }
    if text.starts_with('+') {
        return Err(AmountError::Plus);
    }
    if text.contains(',') {
        return Err(AmountError::Comma);
    }
    let bytes = text.as_bytes();
    if let [b'0', b'x' | b'X' | b'b' | b'B' | b'o' | b'O', ..] = bytes {
        return Err(AmountError::Base);
    }
    if bytes.first().is_some_and(u8::is_ascii_digit) && bytes.iter().any(|b| matches!(b, b'e' | b'E')) {
        return Err(AmountError::Exponent);
    }
    if bytes.iter().any(|b| !b.is_ascii_digit() && *b != b'.') {
        return Err(AmountError::Character);
    }
    Ok(())
}

fn all_digits(text: &str) -> Result<u128, AmountError> {
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(AmountError::Character);
    }
    text.parse().map_err(|_| AmountError::TooLarge)
}

fn digits(text: &str) -> Result<u128, AmountError> {
    if text.len() > 1 && text.starts_with('0') {
        return Err(AmountError::LeadingZero);
    }
    all_digits(text)
}

impl FromStr for Raw {
    type Err = AmountError;

    /// Read a whole number of raw.
    fn from_str(text: &str) -> Result<Raw, AmountError> {
        check_shape(text)?;
        if text.contains('.') {
            return Err(AmountError::Fraction);
        }
        digits(text).map(Raw)
    }
}

impl fmt::Display for Raw {
    /// The number of raw; width and fill of the format string apply.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Raw {
    /// A decimal string: JSON numbers lose digits in many readers.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Raw, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(d)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Sum<Raw> for Option<Raw> {
    fn sum<I: Iterator<Item = Raw>>(iter: I) -> Option<Raw> {
        Raw::checked_sum(iter)
    }
}
