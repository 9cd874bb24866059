//! Getting a stake back: queue, wait, claim (decisions B6 and P1, protocol.md, 10.5).

use crate::error::sentences;
use crate::units::Slot;
use zx1_interface::constants::{CHALLENGE_WINDOW_SLOTS, UNLOCK_DELAY_SLOTS};

/// The unlock part of a stake account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlock {
    /// Whether an unlock is queued. While it is not, the slots mean nothing.
    pub queued: bool,
    /// Slot in which it was queued.
    pub queued_slot: Slot,
    /// The first slot at which the delay is over.
    pub available: Slot,
}

/// What the claim of the present era depends on besides the queue itself. Who locked the stake and no longer
/// holds the NFT cannot let the lease die: for that wallet the lease counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimFacts {
    /// The current slot.
    pub now: Slot,
    /// Whether the lease is deactivated at the current epoch, or was never begun.
    pub lease_deactivated_or_absent: bool,
    /// The slot of the lease's last payment, if there is a lease.
    pub lease_last_paid: Option<Slot>,
    /// Challenges against batches of the era that are not settled yet.
    pub open_challenges: u32,
    /// Asks for leaves of batches of the era that are not settled yet.
    pub open_asks: u32,
    /// The slot of the agent's last batch, if there is one.
    pub last_batch: Option<Slot>,
}

/// Why the stake stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnlockError {
    /// No unlock is queued.
    NotQueued,
    /// An unlock is queued already; queueing again would only restart its delay.
    AlreadyQueued,
    /// The delay runs until `available`.
    DelayNotOver {
        /// The first slot at which the delay is over.
        available: Slot,
    },
    /// The agent is live: its stake answers for what it does.
    LeaseNotDeactivated,
    /// The agent was live after the queueing, so the delay that ran does not count.
    LeasePaidSinceQueueing,
    /// A challenge is not settled yet.
    OpenChallenges,
    /// An ask is not settled yet.
    OpenAsks,
    /// The last batch can still be challenged, up to and including `until`.
    BatchInWindow {
        /// The last slot of the last batch's challenge window.
        until: Slot,
    },
    /// The lease is not paid, so there is no return to the mesh to cancel for.
    LeaseNotPaid,
    /// The slot number would overflow.
    Overflow,
}

sentences!(UnlockError {
    Self::NotQueued => "No unlock is queued for this stake.";
    Self::AlreadyQueued => "An unlock is already queued for this stake.";
    Self::DelayNotOver { available } => "The unlock delay runs until slot {}.", available.0;
    Self::LeaseNotDeactivated => "The agent's lease is still live, so its stake stays locked.";
    Self::LeasePaidSinceQueueing => "The lease was paid after the unlock was queued; queue the unlock again.";
    Self::OpenChallenges => "A challenge against a batch of this stake is not settled yet.";
    Self::OpenAsks => "An ask for a leaf of a batch of this stake is not settled yet.";
    Self::BatchInWindow { until } => "The agent's last batch can be challenged until slot {}.", until.0;
    Self::LeaseNotPaid => "The lease must be paid before the unlock can be canceled.";
    Self::Overflow => "The slot number overflows.";
});

impl Unlock {
    /// Queues an unlock at `now`: claimable [`UNLOCK_DELAY_SLOTS`] later.
    pub fn queue(now: Slot) -> Result<Self, UnlockError> {
        let available = now.checked_add(UNLOCK_DELAY_SLOTS).ok_or(UnlockError::Overflow)?;
        Ok(Self { queued: true, queued_slot: now, available })
    }

    /// Whether an unlock may be queued now. One that is queued already stands, unless the lease was paid
    /// since: that one can never be claimed, so it may be queued anew and its delay starts again.
    pub fn check_queue(
        &self,
        lease_deactivated_or_absent: bool,
        lease_last_paid: Option<Slot>,
    ) -> Result<(), UnlockError> {
        if !lease_deactivated_or_absent {
            return Err(UnlockError::LeaseNotDeactivated);
        }
        if self.queued && !self.was_paid_since(lease_last_paid) {
            return Err(UnlockError::AlreadyQueued);
        }
        Ok(())
    }

    /// Whether a queued unlock may be canceled: by an agent that has come back.
    pub fn check_cancel(&self, lease_live: bool) -> Result<(), UnlockError> {
        if !self.queued {
            return Err(UnlockError::NotQueued);
        }
        if !lease_live {
            return Err(UnlockError::LeaseNotPaid);
        }
        Ok(())
    }

    /// Whether the stake may be claimed: only when nobody can hold anything against it any more.
    pub fn check_claim(&self, facts: &ClaimFacts) -> Result<(), UnlockError> {
        if !self.queued {
            return Err(UnlockError::NotQueued);
        }
        if facts.now < self.available {
            return Err(UnlockError::DelayNotOver { available: self.available });
        }
        if !facts.lease_deactivated_or_absent {
            return Err(UnlockError::LeaseNotDeactivated);
        }
        if self.was_paid_since(facts.lease_last_paid) {
            return Err(UnlockError::LeasePaidSinceQueueing);
        }
        check_settled(facts.open_challenges, facts.open_asks)?;
        if let Some(last_batch) = facts.last_batch {
            let until = last_batch.saturating_add(CHALLENGE_WINDOW_SLOTS);
            if facts.now <= until {
                return Err(UnlockError::BatchInWindow { until });
            }
        }
        Ok(())
    }

    /// A payment in the very slot of the queueing counts as later: its order within the slot is unknown.
    fn was_paid_since(&self, lease_last_paid: Option<Slot>) -> bool {
        lease_last_paid.is_some_and(|paid| paid >= self.queued_slot)
    }
}

/// Whether the stake of an era that has ended may be claimed. Nothing landed in it since, so its last batch's
/// window is over when the delay is.
pub fn check_claim_ended(
    now: Slot,
    ended: Slot,
    open_challenges: u32,
    open_asks: u32,
) -> Result<(), UnlockError> {
    let last = ended.checked_add(UNLOCK_DELAY_SLOTS.max(CHALLENGE_WINDOW_SLOTS));
    let last = last.ok_or(UnlockError::Overflow)?;
    if now <= last {
        return Err(UnlockError::DelayNotOver { available: last.saturating_add(1) });
    }
    check_settled(open_challenges, open_asks)
}

fn check_settled(open_challenges: u32, open_asks: u32) -> Result<(), UnlockError> {
    if open_challenges != 0 {
        return Err(UnlockError::OpenChallenges);
    }
    if open_asks != 0 { Err(UnlockError::OpenAsks) } else { Ok(()) }
}
