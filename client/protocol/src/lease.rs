//! The lease: what an agent pays per epoch to be on the mesh, and when it falls out (decision B5).

use crate::error::sentences;
use crate::units::{Epoch, MicroUsdc};
use zx1_interface::constants::{GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH};

/// How many epochs ahead of the current one a lease may be paid: ten years. A typing error in `epochs`
/// should not cost a stake's worth of USDC, and paid_through stays far from overflow.
pub const MAX_EPOCHS_AHEAD: u64 = 3_650;

/// What a lease is worth at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    /// Paid up to the current epoch or beyond.
    Active,
    /// One to [`GRACE_PERIOD_EPOCHS`] epochs behind: still live, to be caught up.
    Grace,
    /// Further behind: off the mesh until it is reactivated.
    Deactivated,
}

impl LeaseState {
    /// Whether the agent counts as on the mesh: paid or in grace.
    pub fn is_live(self) -> bool {
        !self.is_deactivated()
    }

    /// Whether the agent has fallen behind, but not out.
    pub fn is_grace(self) -> bool {
        matches!(self, Self::Grace)
    }

    /// Whether the agent has fallen out.
    pub fn is_deactivated(self) -> bool {
        matches!(self, Self::Deactivated)
    }
}

/// A lease as it is stored: the last epoch that has been paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The last epoch that is paid for.
    pub paid_through: Epoch,
}

impl Lease {
    /// The state at `current`. It depends on nothing but the clock, so that nobody has to wait for a
    /// `tick_lease` to know it (decision B5).
    pub fn state(&self, current: Epoch) -> LeaseState {
        match current.since(self.paid_through) {
            0 => LeaseState::Active,
            1..=GRACE_PERIOD_EPOCHS => LeaseState::Grace,
            _ => LeaseState::Deactivated,
        }
    }

    /// Whether the agent is on the mesh at `current`: paid or in grace.
    pub fn is_live(&self, current: Epoch) -> bool {
        self.state(current).is_live()
    }
}

/// What kind of payment this is; the event says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentKind {
    /// The lease begins.
    First,
    /// A live lease is extended, or caught up from grace.
    Renewal,
    /// A deactivated lease comes back, the grace period's back-lease included.
    Reactivation,
}

/// What to transfer and what to store afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Price of all paid epochs.
    pub amount: MicroUsdc,
    /// The last epoch that is paid for once the amount has been transferred.
    pub paid_through: Epoch,
    /// Which of the three cases it was.
    pub kind: PaymentKind,
}

/// Why a payment is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseError {
    /// `epochs` is 0.
    NoEpochs,
    /// The lease would be paid more than [`MAX_EPOCHS_AHEAD`] epochs ahead.
    TooFarAhead,
    /// An epoch or amount would overflow.
    Overflow,
}

sentences!(LeaseError {
    Self::NoEpochs => "A lease payment must cover at least one epoch.";
    Self::TooFarAhead => "A lease can be paid at most {MAX_EPOCHS_AHEAD} epochs ahead.";
    Self::Overflow => "The lease payment overflows.";
});

/// What paying `epochs` epochs costs and buys at `current` (decision B5).
///
/// `existing` is the stored lease, `None` before the first payment. A first payment and a reactivation
/// cover the current epoch and those after it; a renewal extends what is there, so in grace it catches up
/// from the oldest unpaid epoch. Paying less than the arrears is allowed, it just does not end the grace.
pub fn payment(existing: Option<Lease>, current: Epoch, epochs: u32) -> Result<Payment, LeaseError> {
    let epochs = u64::from(epochs);
    // The current epoch is one of those paid for; the rest lie ahead of it.
    let further = epochs.checked_sub(1).ok_or(LeaseError::NoEpochs)?;
    let (kind, paid_through, charged) = match existing {
        None => (PaymentKind::First, current.checked_add(further), Some(epochs)),
        Some(lease) if lease.is_live(current) => {
            (PaymentKind::Renewal, lease.paid_through.checked_add(epochs), Some(epochs))
        }
        Some(_) => (
            PaymentKind::Reactivation,
            current.checked_add(further),
            // The back-lease of the grace period comes on top.
            epochs.checked_add(GRACE_PERIOD_EPOCHS),
        ),
    };
    let paid_through = paid_through.ok_or(LeaseError::Overflow)?;
    let amount = charged
        .and_then(|charged| MicroUsdc(LEASE_COST_PER_EPOCH).checked_mul(charged))
        .ok_or(LeaseError::Overflow)?;
    if paid_through.since(current) > MAX_EPOCHS_AHEAD {
        return Err(LeaseError::TooFarAhead);
    }
    Ok(Payment { amount, paid_through, kind })
}
