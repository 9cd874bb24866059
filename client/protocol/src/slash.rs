//! Who gets a slashed stake (decision B12).

use crate::units::MicroUsdc;
use zx1_interface::constants::CHALLENGE_REWARD_PERCENT;

/// A stake, divided. The parts always add up to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The challenger's part: [`CHALLENGE_REWARD_PERCENT`] of it, rounded down.
    pub challenger: MicroUsdc,
    /// The rest, the treasury's.
    pub treasury: MicroUsdc,
}

/// Divides the whole remaining stake. It cannot fail: whatever is left, however little, is divided.
pub fn split(stake: MicroUsdc) -> Split {
    // Hundreds and remainder apart, so that the product fits 64 bits; the result is the exact floor.
    let hundreds = (stake.0 / 100).saturating_mul(CHALLENGE_REWARD_PERCENT);
    let remainder = (stake.0 % 100).saturating_mul(CHALLENGE_REWARD_PERCENT) / 100;
    let challenger = hundreds.saturating_add(remainder).min(stake.0);
    Split { challenger: MicroUsdc(challenger), treasury: MicroUsdc(stake.0.saturating_sub(challenger)) }
}
