//! What answers cost.

use std::time::Duration;

use super::{Request, Usage};

/// An amount of money, tokens and time. All three are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// Price in micro-USD.
    pub micro_usd: u64,
    /// Tokens, read and written.
    pub tokens: u64,
    /// Milliseconds of waiting.
    pub millis: u64,
}

impl Spend {
    /// The sum; what cannot be counted stays at the largest number.
    pub fn plus(self, other: Spend) -> Spend {
        Spend {
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            tokens: self.tokens.saturating_add(other.tokens),
            millis: self.millis.saturating_add(other.millis),
        }
    }

    /// The larger of each.
    pub fn max(self, other: Spend) -> Spend {
        Spend {
            micro_usd: self.micro_usd.max(other.micro_usd),
            tokens: self.tokens.max(other.tokens),
            millis: self.millis.max(other.millis),
        }
    }
}

/// The price of a model in micro-USD. All zero for free and local models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// For a million tokens read: 3 USD a million is 3 000 000.
    pub input_per_million: u64,
    /// For a million tokens written.
    pub output_per_million: u64,
    /// For each call.
    #[serde(default)]
    pub per_call: u64,
}

impl Price {
    /// `IN/OUT`: US dollars for a million tokens read and written, such as `3/15`.
    pub fn parse(text: &str) -> Option<Price> {
        let (input, output) = text.split_once('/')?;
        let micro = |text: &str| micro_usd_of_decimal(text.trim());
        Some(Price { input_per_million: micro(input)?, output_per_million: micro(output)?, per_call: 0 })
    }

    /// What these tokens cost, rounded up to the micro-USD.
    pub fn of(self, usage: Usage) -> u64 {
        // A product of two u64 fits u128; the sum of two may not.
        let read = u128::from(usage.input) * u128::from(self.input_per_million);
        let written = u128::from(usage.output) * u128::from(self.output_per_million);
        let money = read.saturating_add(written).div_ceil(1_000_000) + u128::from(self.per_call);
        u64::try_from(money).unwrap_or(u64::MAX)
    }

    /// The most that a request can cost.
    pub(super) fn worst_case(self, request: &Request, time: Duration) -> Spend {
        let usage = Usage { input: request.input_tokens_at_most(), output: u64::from(request.max_tokens) };
        // A second for what lies around the call, so that its own limit is reached first.
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).saturating_add(1_000);
        Spend { micro_usd: self.of(usage), tokens: usage.total(), millis }
    }
}

/// Micro-USD of a decimal number of dollars as JSON writes it (`0.00014`, `1.4e-4`), rounded up. `None` for
/// what is negative, no number, or above 2^64 - 1. No floating point: a server's own price must not shrink.
pub fn micro_usd_of_decimal(text: &str) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() || text.len() > 64 || !(-400..=400).contains(&exponent) {
        return None;
    }
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // The number is digits * 10^(exponent - fraction); micro-USD are 10^6 as many.
    let shift = exponent - i64::try_from(fraction.len()).ok()? + 6;
    let keep = i64::try_from(digits.len()).ok()? + shift.min(0);
    let mut value: u64 = 0;
    let mut rest = false;
    for (i, digit) in (0i64..).zip(&digits) {
        let digit = u64::from(digit - b'0');
        if i < keep {
            value = value.checked_mul(10)?.checked_add(digit)?;
        } else {
            rest |= digit != 0;
        }
    }
    for _ in 0..shift.max(0) {
        if value == 0 {
            break;
        }
        value = value.checked_mul(10)?;
    }
    value.checked_add(u64::from(rest))
}
