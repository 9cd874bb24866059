//! What may happen to an agent's chain of batches. The rules themselves are zx1-protocol's; here they meet
//! the accounts.

use anchor_lang::prelude::*;
use zx1_interface::accounts::{HeadAccount, LeaseAccount, StakeLockAccount};
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::{Error, ids};
use zx1_protocol::batch::{BatchError, Covered, check_epoch, check_lengths, head_digest};
use zx1_protocol::lease::Lease;
use zx1_protocol::units::Epoch;
use zx1_runtime::{Now, Syscall, ensure, load};

/// Refuses unless the agent has staked at least the minimum.
pub fn expect_stake(agent: &[u8; 32], view: &AccountView) -> Result<()> {
    ensure!(view.owned_by(&Address::new_from_array(ids::STAKE_LOCK)), Error::StakeMissing);
    let stake: &StakeLockAccount = load(view)?;
    ensure!(stake.agent_mint == *agent, Error::WrongAgent);
    ensure!(stake.stake_usdc >= MIN_STAKE, Error::StakeBelowMinimum);
    Ok(())
}

/// Refuses unless the agent's lease is paid or in grace by the clock, whatever the last tick saw.
pub fn expect_live_lease(agent: &[u8; 32], view: &AccountView, now: &Now) -> Result<()> {
    ensure!(view.owned_by(&Address::new_from_array(ids::LEASE)), Error::LeaseMissing);
    let lease: &LeaseAccount = load(view)?;
    ensure!(lease.agent_id == *agent, Error::WrongAgent);
    ensure!(
        Lease { paid_through: Epoch(lease.paid_through_epoch) }.is_live(now.epoch),
        Error::LeaseDeactivated
    );
    Ok(())
}

/// Refuses lengths that no tree may have.
pub fn expect_lengths(log_len: u32, arrays_len: u32) -> Result<()> {
    Ok(check_lengths(log_len, arrays_len).map_err(refusal)?)
}

/// An agent's chain of batches.
pub trait Head {
    /// Appends a batch of this epoch with this signed message; tells which epochs it covers.
    fn append(&mut self, epoch: Epoch, message: &[u8], now: &Now) -> Result<Covered>;
}

impl Head for HeadAccount {
    fn append(&mut self, epoch: Epoch, message: &[u8], now: &Now) -> Result<Covered> {
        let last = (self.count != 0).then_some(Epoch(self.last_epoch));
        let covered = check_epoch(epoch, now.epoch, last).map_err(refusal)?;
        self.last_epoch = epoch.0;
        self.last_slot = now.slot.0;
        self.count = self.count.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        self.digest = head_digest::<Syscall>(&self.digest, message);
        Ok(covered)
    }
}

fn refusal(error: BatchError) -> Error {
    match error {
        BatchError::FutureEpoch => Error::FutureEpoch,
        BatchError::CurrentEpoch => Error::CurrentEpoch,
        BatchError::TooOld => Error::EpochTooOld,
        BatchError::NotIncreasing => Error::EpochNotIncreasing,
        BatchError::LogTooLong | BatchError::ArraysTooLong => Error::LengthTooLarge,
    }
}
