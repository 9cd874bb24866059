//! What each side pays, and the sums that follow from the fees alone.

use serde::{Deserialize, Serialize};

use crate::defaults as d;
use crate::{Raw, Reason, Refusal, Result};

/// What each side pays and who gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fees {
    /// The smallest bounty.
    pub min_bounty: Raw,
    /// The largest bounty.
    pub max_bounty: Raw,
    /// Each side's dispute insurance.
    pub judge_fee: Raw,
    /// The platform's share of the bounty, in hundredths of a percent.
    pub platform_fee_bp: u32,
    /// The least that the platform takes.
    pub platform_fee_min: Raw,
    /// What leaving late costs, in hundredths of a percent of the bounty.
    pub cancel_fee_bp: u32,
    /// The courts' fees: district, appeals, supreme.
    pub courts: [Raw; 3],
}

impl Default for Fees {
    fn default() -> Fees {
        Fees {
            min_bounty: d::MIN_BOUNTY,
            max_bounty: d::MAX_BOUNTY,
            judge_fee: d::JUDGE_FEE,
            platform_fee_bp: d::PLATFORM_FEE_BP,
            platform_fee_min: d::PLATFORM_FEE_MIN,
            cancel_fee_bp: d::CANCEL_FEE_BP,
            courts: d::COURT_FEES,
        }
    }
}

pub(crate) fn too_large() -> Refusal {
    Reason::MoneyOverflow.into()
}

fn fraction(amount: Raw, basis_points: u32) -> Result<Raw> {
    amount.mul_div_floor(basis_points.into(), 10_000).ok_or_else(too_large)
}

pub(crate) fn plus(a: Raw, b: Raw) -> Result<Raw> {
    a.checked_add(b).ok_or_else(too_large)
}

pub(crate) fn minus(a: Raw, b: Raw) -> Result<Raw> {
    a.checked_sub(b).ok_or_else(|| Reason::MoneyShort.into())
}

/// The platform's fee on a bounty: its share, rounded down to the raw, and never less than the minimum.
pub fn platform_fee(fees: &Fees, bounty: Raw) -> Result<Raw> {
    Ok(fraction(bounty, fees.platform_fee_bp)?.max(fees.platform_fee_min))
}

/// Half of what leaving late costs: so much each for the other side and the platform. Rounded down to the
/// raw. Zero instead of what cannot be computed, which [`crate::Terms::check`] rules out.
pub(crate) fn cancel_share(fees: &Fees, bounty: Raw) -> Raw {
    bounty.mul_div_floor(fees.cancel_fee_bp.into(), 20_000).unwrap_or(Raw::ZERO)
}

/// What an agent gets whose principal left with the fix (decision E20). Rounded down to the raw.
pub(crate) const fn half_of(bounty: Raw) -> Raw {
    Raw(bounty.0 / 2)
}

/// What each side deposits: bounty and judge fee. 9100 when that is more than there is.
pub fn inclusive_bond(fees: &Fees, bounty: Raw) -> Result<Raw> {
    plus(bounty, fees.judge_fee)
}
