//! Units as types, so that a slot cannot be added to an epoch and an amount to neither.

use zx1_interface::constants::EPOCH_SECONDS;

const MICROS_PER_SECOND: u64 = 1_000_000;
const MICROS_PER_EPOCH: u64 = EPOCH_SECONDS * MICROS_PER_SECOND;

/// A zx1 epoch: a day of unix time (decision B1). Not Solana's validator epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// A Solana slot. Every window of the protocol is counted in slots (decision B1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u64);

/// An amount of USDC in its smallest unit, 10^-6 (decision B2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// The amount `times` over; `None` on overflow.
    pub fn checked_mul(self, times: u64) -> Option<Self> {
        self.0.checked_mul(times).map(Self)
    }
}
