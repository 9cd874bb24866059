//! Units as types, so that a slot cannot be added to an epoch and an amount to neither.

use zx1_interface::constants::EPOCH_SECONDS;

/// Decimals of USDC.
pub const USDC_DECIMALS: usize = 6;

const MICROS_PER_SECOND: u64 = 1_000_000;
const MICROS_PER_EPOCH: u64 = EPOCH_SECONDS * MICROS_PER_SECOND;

/// A zx1 epoch: a day of unix time (decision B1). Not Solana's validator epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// A Solana slot. Every window of the protocol is counted in slots (decision B1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u64);

/// An amount of USDC in its smallest unit, 10^-6 (decision B2). In JSON it is that number.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(not(feature = "std"), derive(Debug))]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct MicroUsdc(pub u64);

impl Epoch {
    /// The epoch of a unix time in seconds, as the chain's clock gives it; `None` before 1970, which no
    /// epoch number can express.
    pub fn from_unix_seconds(seconds: i64) -> Option<Self> {
        u64::try_from(seconds).ok().map(|seconds| Self(seconds / EPOCH_SECONDS))
    }

    /// The epoch of a unix time in microseconds, as an envelope gives it.
    pub fn from_unix_micros(micros: u64) -> Self {
        Self(micros / MICROS_PER_EPOCH)
    }

    /// `epochs` later; `None` on overflow.
    pub fn checked_add(self, epochs: u64) -> Option<Self> {
        self.0.checked_add(epochs).map(Self)
    }

    /// `epochs` earlier; `None` before epoch 0.
    pub fn checked_sub(self, epochs: u64) -> Option<Self> {
        self.0.checked_sub(epochs).map(Self)
    }

    /// How many epochs `self` is later than `other`; 0 when it is not later.
    pub fn since(self, other: Self) -> u64 {
        self.0.saturating_sub(other.0)
    }
}

impl Slot {
    /// `slots` later; `None` on overflow.
    pub fn checked_add(self, slots: u64) -> Option<Self> {
        self.0.checked_add(slots).map(Self)
    }

    /// `slots` later, or the last slot there can be. For deadlines: one that overflows never passes.
    pub fn saturating_add(self, slots: u64) -> Self {
        Self(self.0.saturating_add(slots))
    }
}

impl MicroUsdc {
    /// The sum; `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference; `None` when `other` is more.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The sum, or the largest amount. For what was spent: too much rather than too little.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference; 0 when `other` is more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The amount `times` over; `None` on overflow.
    pub fn checked_mul(self, times: u64) -> Option<Self> {
        self.0.checked_mul(times).map(Self)
    }
}

#[cfg(feature = "std")]
pub use text::{AmountError, parse_decimal, write_decimal};

#[cfg(feature = "std")]
mod text {
    use super::{MicroUsdc, USDC_DECIMALS};
    use crate::error::sentences;
    use core::fmt::{self, Write as _};

    /// Why text is not an amount.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AmountError {
        /// There is nothing.
        Empty,
        /// It begins with a minus sign.
        Negative,
        /// It has other characters than digits and one point between them.
        NotDecimal,
        /// It has more decimals than the unit.
        TooFine {
            /// Decimals of the unit.
            decimals: usize,
        },
        /// It does not fit 64 bits.
        TooLarge,
    }

    sentences!(AmountError {
        Self::Empty => "it is empty";
        Self::Negative => "it is negative";
        Self::NotDecimal => "expected a decimal number";
        Self::TooFine { decimals } => "it has more than {decimals} decimals";
        Self::TooLarge => "it is too large";
    });

    /// The smallest units of a decimal such as `10`, `10.5` or `0.000001`; nothing is rounded.
    pub fn parse_decimal(text: &str, decimals: usize) -> Result<u64, AmountError> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if text.starts_with('-') {
            return Err(AmountError::Negative);
        }
        if text.is_empty() {
            return Err(AmountError::Empty);
        }
        if whole.is_empty() || !digits(whole) || !digits(fraction) || text.ends_with('.') {
            return Err(AmountError::NotDecimal);
        }
        if fraction.len() > decimals {
            return Err(AmountError::TooFine { decimals });
        }
        format!("{whole}{fraction:0<decimals$}").parse().map_err(|_| AmountError::TooLarge)
    }

    /// The exact decimal of so many smallest units, with as many decimals as it needs, or as the format's
    /// precision asks for if that is more.
    pub fn write_decimal(units: u64, decimals: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{units:0>width$}", width = decimals.saturating_add(1));
        let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
        let needed = fraction.trim_end_matches('0').len().max(f.precision().unwrap_or(0));
        f.write_str(whole)?;
        match fraction.get(..needed.min(decimals)) {
            None | Some("") => Ok(()),
            Some(fraction) => {
                f.write_char('.')?;
                f.write_str(fraction)
            }
        }
    }

    /// `10.5 USDC`; `{:.6}` writes `10.500000 USDC`.
    impl fmt::Display for MicroUsdc {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_decimal(self.0, USDC_DECIMALS, f)?;
            f.write_str(" USDC")
        }
    }

    impl fmt::Debug for MicroUsdc {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            fmt::Display::fmt(self, f)
        }
    }

    /// USDC as people type it: `10.5`.
    impl core::str::FromStr for MicroUsdc {
        type Err = AmountError;

        fn from_str(text: &str) -> Result<Self, AmountError> {
            parse_decimal(text, USDC_DECIMALS).map(Self)
        }
    }
}
