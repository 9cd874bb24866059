//! What may happen to a lease. The windows themselves are zx1-protocol's; here they meet the account.

use anchor_lang::prelude::*;
use zx1_interface::Error;
use zx1_interface::accounts::LeaseAccount;
use zx1_protocol::lease::{Lease, LeaseError, LeaseState, Payment, PaymentKind, payment};
use zx1_protocol::units::Epoch;
use zx1_runtime::{Now, ensure};

/// What a payment of these epochs costs and reaches. `existing` is false for the first payment.
pub fn quote(lease: &LeaseAccount, existing: bool, epochs: u32, now: &Now) -> Result<Payment> {
    let existing = existing.then_some(Lease { paid_through: Epoch(lease.paid_through_epoch) });
    Ok(payment(existing, now.epoch, epochs).map_err(|error| match error {
        LeaseError::NoEpochs => Error::NoEpochs,
        LeaseError::TooFarAhead => Error::LeaseTooFarAhead,
        LeaseError::Overflow => Error::ArithmeticOverflow,
    })?)
}

/// The number of a payment's kind in events.
pub fn kind(payment: &Payment) -> u8 {
    match payment.kind {
        PaymentKind::First => 0,
        PaymentKind::Renewal => 1,
        PaymentKind::Reactivation => 2,
    }
}

/// Changes of a lease, each followed by the invariant.
pub trait Leased {
    /// Applies a payment.
    fn pay(&mut self, payment: &Payment, now: &Now) -> Result<()>;
    /// Takes the state that the clock says; tells what was entered, if anything.
    fn tick(&mut self, now: &Now) -> Result<Option<LeaseState>>;
    /// Refuses unless the flags exclude each other.
    fn invariant(&self) -> Result<()>;
}

impl Leased for LeaseAccount {
    fn pay(&mut self, payment: &Payment, now: &Now) -> Result<()> {
        self.paid_through_epoch = payment.paid_through.0;
        self.last_paid_slot = now.slot.0;
        mark(self, now);
        self.invariant()
    }

    fn tick(&mut self, now: &Now) -> Result<Option<LeaseState>> {
        let before = (self.in_grace_period, self.deactivated);
        let state = mark(self, now);
        self.invariant()?;
        let changed = before != (self.in_grace_period, self.deactivated);
        Ok((changed && state != LeaseState::Active).then_some(state))
    }

    fn invariant(&self) -> Result<()> {
        ensure!(self.in_grace_period.saturating_add(self.deactivated) <= 1, Error::InvariantBroken);
        Ok(())
    }
}

fn mark(lease: &mut LeaseAccount, now: &Now) -> LeaseState {
    let state = Lease { paid_through: Epoch(lease.paid_through_epoch) }.state(now.epoch);
    lease.in_grace_period = u8::from(state == LeaseState::Grace);
    lease.deactivated = u8::from(state == LeaseState::Deactivated);
    state
}
