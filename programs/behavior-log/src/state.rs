//! What may happen to an agent's chain of batches. The rules themselves are zx1-protocol's; here they meet
//! the accounts.

use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, Config, HeadAccount, LeaseAccount, StakeLockAccount};
use zx1_interface::constants::MAX_COVERED_EPOCHS;
use zx1_interface::{Error, Layout};
use zx1_protocol::batch::{BatchError, BatchMessage, check_epoch, check_trees, head_digest};
use zx1_protocol::lease::Lease;
use zx1_protocol::units::Epoch;
use zx1_runtime::{Now, Stored, Syscall, ensure, existing, is_owned_by, same};

/// An account of this layout; one of another program, or none at all, is refused as missing.
pub fn existing_or<T: Layout>(view: &AccountView, missing: Error) -> Result<Stored<T>> {
    existing(view).map_err(|error| if is_owned_by(view, &T::PROGRAM) { error } else { missing.into() })
}

/// Refuses unless the stake of this era is the agent's, at least the minimum, and nothing hangs over it.
pub fn expect_stake(config: &Config, agent: &[u8; 32], era: u32, view: &AccountView) -> Result<()> {
    let stake = existing_or::<StakeLockAccount>(view, Error::StakeMissing)?;
    ensure!(same(&stake.agent_mint, agent), Error::WrongAgent);
    ensure!(stake.era == era, Error::WrongEra);
    ensure!(stake.ended_slot == 0, Error::EraEnded);
    ensure!(stake.open_challenges == 0, Error::EraChallenged);
    ensure!(stake.stake_usdc >= config.min_stake, Error::StakeBelowMinimum);
    Ok(())
}

/// Refuses unless the agent's lease is paid or in grace by the clock, whatever the last tick saw.
pub fn expect_live_lease(agent: &[u8; 32], view: &AccountView, now: &Now) -> Result<()> {
    let lease = existing_or::<LeaseAccount>(view, Error::LeaseMissing)?;
    ensure!(same(&lease.agent_id, agent), Error::WrongAgent);
    ensure!(
        Lease { paid_through: Epoch(lease.paid_through_epoch) }.is_live(now.epoch),
        Error::LeaseDeactivated
    );
    Ok(())
}

/// Refuses trees that cannot be.
pub fn expect_trees(message: &BatchMessage) -> Result<()> {
    let (log, arrays) = (&message.log_merkle_root, &message.arrays_root);
    Ok(check_trees(message.log_len, log, message.arrays_len, arrays).map_err(refusal)?)
}

/// What a batch takes over from the tenure in which it lands.
pub struct Turn {
    /// Number of the tenure.
    pub number: u32,
    /// The tenure's era.
    pub era: u32,
    /// First epoch of the tenure.
    pub from: Epoch,
}

/// An agent's chain of batches.
pub trait Chain {
    /// Appends a batch, whose message was signed as these bytes.
    fn append(&mut self, message: &BatchMessage, signed: &[u8], tenure: &Turn, now: &Now) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Chain for HeadAccount {
    fn append(&mut self, message: &BatchMessage, signed: &[u8], tenure: &Turn, now: &Now) -> Result<()> {
        ensure!(same(&message.previous_digest, &self.digest), Error::WrongPreviousDigest);
        let covered = check_epoch(message.epoch, now.epoch, Epoch(self.last_epoch), tenure.from);
        ensure!(covered.map_err(refusal)?.from == message.covers_from, Error::WrongCoverage);
        self.last_epoch = message.epoch.0;
        self.last_slot = now.slot.0;
        self.count = self.count.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        self.digest = head_digest::<Syscall>(&self.digest, signed);
        Ok(())
    }

    fn invariant(&self) -> Result<()> {
        // A batch has a slot; and each has an event, after the one of the opening.
        let fits = (self.count == 0) == (self.last_slot == 0) && self.count < self.event_sequence;
        ensure!(fits, Error::InvariantBroken);
        Ok(())
    }
}

/// Changes of a batch, each followed by the invariant.
pub trait Batch {
    /// Marks the batch: a leaf that was asked for was not shown.
    fn withhold(&mut self) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Batch for BatchAccount {
    fn withhold(&mut self) -> Result<()> {
        // Challenge marks a batch once.
        ensure!(self.withheld == 0, Error::InvariantBroken);
        self.withheld = 1;
        self.invariant()
    }

    fn invariant(&self) -> Result<()> {
        let earlier = self.epoch_number.checked_sub(self.covers_from_epoch);
        let covers = earlier.is_some_and(|earlier| earlier < MAX_COVERED_EPOCHS);
        ensure!(covers && self.submitted_slot != 0 && self.withheld <= 1, Error::InvariantBroken);
        Ok(())
    }
}

fn refusal(error: BatchError) -> Error {
    match error {
        BatchError::FutureEpoch => Error::FutureEpoch,
        BatchError::CurrentEpoch => Error::CurrentEpoch,
        BatchError::TooOld => Error::EpochTooOld,
        BatchError::NotIncreasing => Error::EpochNotIncreasing,
        BatchError::BeforeTenure => Error::BeforeTenure,
        BatchError::LogTooLong | BatchError::ArraysTooLong => Error::LengthTooLarge,
        BatchError::LengthRoot => Error::LengthRootMismatch,
    }
}
