//! What may happen to a stake. The rules themselves are zx1-protocol's; here they meet the account.

use anchor_lang::prelude::*;
use zx1_interface::accounts::{LeaseAccount, StakeLockAccount};
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::{Error, seeds};
use zx1_protocol::lease::Lease;
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::unlock::{ClaimFacts, Unlock, UnlockError};
use zx1_runtime::{Now, Stored, ensure, load_optional};

/// What a lease says about its agent's stake.
pub struct LeaseFacts {
    /// Neither paid nor in grace; also true without any lease.
    pub dead: bool,
    /// Slot of the last payment.
    pub last_paid: Option<Slot>,
}

/// Reads the lease of an agent, whose absence must be proven.
pub fn lease_facts(agent: &[u8; 32], view: &AccountView, now: &Now) -> Result<LeaseFacts> {
    let lease = load_optional::<LeaseAccount>(view, &[seeds::LEASE, agent])?;
    let Some(lease) = lease else { return Ok(LeaseFacts { dead: true, last_paid: None }) };
    ensure!(lease.agent_id == *agent, Error::WrongAgent);
    let dead = !Lease { paid_through: Epoch(lease.paid_through_epoch) }.is_live(now.epoch);
    Ok(LeaseFacts { dead, last_paid: Some(Slot(lease.last_paid_slot)) })
}

/// Changes of a stake, each followed by the invariant.
pub trait Stake {
    /// Adds to the stake, which must then reach the minimum.
    fn add(&mut self, owner: [u8; 32], amount: u64) -> Result<()>;
    /// Queues the unlock.
    fn queue(&mut self, owner: [u8; 32], lease: &LeaseFacts, now: &Now) -> Result<()>;
    /// Cancels the unlock.
    fn cancel(&mut self, lease: &LeaseFacts) -> Result<()>;
    /// Refuses unless the stake may be claimed.
    fn check_claim(&self, lease: &LeaseFacts, last_batch: Option<Slot>, now: &Now) -> Result<()>;
    /// Takes from the stake.
    fn take(&mut self, amount: u64) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Stake for StakeLockAccount {
    fn add(&mut self, owner: [u8; 32], amount: u64) -> Result<()> {
        ensure!(self.in_unlock_queue == 0, Error::UnlockQueued);
        self.stake_usdc = self.stake_usdc.checked_add(amount).ok_or(Error::ArithmeticOverflow)?;
        ensure!(self.stake_usdc >= MIN_STAKE, Error::StakeBelowMinimum);
        self.owner = owner;
        self.invariant()
    }

    fn queue(&mut self, owner: [u8; 32], lease: &LeaseFacts, now: &Now) -> Result<()> {
        unlock(self).check_queue(lease.dead, lease.last_paid).map_err(refusal)?;
        self.owner = owner;
        store(self, Unlock::queue(now.slot).map_err(refusal)?);
        self.invariant()
    }

    fn cancel(&mut self, lease: &LeaseFacts) -> Result<()> {
        unlock(self).check_cancel(!lease.dead).map_err(refusal)?;
        store(self, Unlock::default());
        self.invariant()
    }

    fn check_claim(&self, lease: &LeaseFacts, last_batch: Option<Slot>, now: &Now) -> Result<()> {
        let facts = ClaimFacts {
            now: now.slot,
            lease_deactivated_or_absent: lease.dead,
            lease_last_paid: lease.last_paid,
            open_challenges: self.open_challenges,
            last_batch,
        };
        Ok(unlock(self).check_claim(&facts).map_err(refusal)?)
    }

    fn take(&mut self, amount: u64) -> Result<()> {
        self.stake_usdc = self.stake_usdc.checked_sub(amount).ok_or(Error::SlashExceedsStake)?;
        self.invariant()
    }

    fn invariant(&self) -> Result<()> {
        let queued = self.in_unlock_queue == 1 && self.unlock_available_slot > self.queued_slot;
        let idle = self.in_unlock_queue == 0 && self.unlock_available_slot == 0 && self.queued_slot == 0;
        ensure!(queued || idle, Error::InvariantBroken);
        Ok(())
    }
}

fn unlock(stake: &StakeLockAccount) -> Unlock {
    Unlock {
        queued: stake.in_unlock_queue != 0,
        queued_slot: Slot(stake.queued_slot),
        available: Slot(stake.unlock_available_slot),
    }
}

fn store(stake: &mut StakeLockAccount, unlock: Unlock) {
    stake.in_unlock_queue = u8::from(unlock.queued);
    stake.queued_slot = unlock.queued_slot.0;
    stake.unlock_available_slot = unlock.available.0;
}

fn refusal(error: UnlockError) -> Error {
    match error {
        UnlockError::NotQueued => Error::UnlockNotQueued,
        UnlockError::AlreadyQueued => Error::UnlockAlreadyQueued,
        UnlockError::DelayNotOver { .. } => Error::UnlockDelayNotOver,
        UnlockError::LeaseNotDeactivated => Error::LeaseNotDeactivated,
        UnlockError::LeasePaidSinceQueueing => Error::LeasePaidSinceQueueing,
        UnlockError::OpenChallenges => Error::OpenChallenges,
        UnlockError::BatchInWindow { .. } => Error::BatchInWindow,
        UnlockError::LeaseNotPaid => Error::LeaseNotPaid,
        UnlockError::Overflow => Error::ArithmeticOverflow,
    }
}

/// Refuses unless the stake is of this agent.
pub fn expect_agent(stake: &Stored<StakeLockAccount>, agent: &Address) -> Result<()> {
    ensure!(stake.agent_mint == *agent.as_array(), Error::WrongAgent);
    Ok(())
}

/// Refuses unless the account is the agent's vault.
pub fn expect_vault(stake: &Stored<StakeLockAccount>, vault: &AccountView) -> Result<()> {
    anchor_lang::verify_program_address(
        &[seeds::VAULT, &stake.agent_mint, &[stake.vault_bump]],
        &crate::ID,
        vault.address(),
    )
    .map_err(|_| Error::WrongAddress.into())
}
