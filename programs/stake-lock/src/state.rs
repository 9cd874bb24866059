//! What may happen to a tenure, its keys and its stakes. The rules themselves are zx1-protocol's; here they
//! meet the accounts.

use anchor_lang::prelude::*;
use zx1_interface::accounts::{HeadAccount, KeyAccount, LeaseAccount, StakeLockAccount, TenureAccount};
use zx1_interface::constants::MAX_LIVE_KEYS;
use zx1_interface::events::{EraEnded, KeyEnded};
use zx1_interface::instruction::{Settle, mark};
use zx1_interface::{Error, seeds};
use zx1_protocol::keys::{self, OPEN, Scopes};
use zx1_protocol::lease::Lease;
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::unlock::{ClaimFacts, Unlock, UnlockError, check_claim_ended};
use zx1_runtime::{Now, Stored, bump, ensure, load_optional, same};

/// What a lease says about its agent's stake.
pub struct LeaseFacts {
    /// Neither paid nor in grace; also true without any lease.
    pub dead: bool,
    /// Slot of the last payment.
    pub last_paid: Option<Slot>,
}

/// For who locked a stake and no longer holds the NFT, so that the lease is another's, there is none.
pub const NO_LEASE: LeaseFacts = LeaseFacts { dead: true, last_paid: None };

/// Reads the lease of an agent, whose absence must be proven.
pub fn lease_facts(agent: &[u8; 32], view: &AccountView, now: &Now) -> Result<LeaseFacts> {
    let lease = load_optional::<LeaseAccount>(view, &[seeds::LEASE, agent])?;
    let Some(lease) = lease else { return Ok(NO_LEASE) };
    ensure!(same(&lease.agent_id, agent), Error::WrongAgent);
    let dead = !Lease { paid_through: Epoch(lease.paid_through_epoch) }.is_live(now.epoch);
    Ok(LeaseFacts { dead, last_paid: Some(Slot(lease.last_paid_slot)) })
}

/// Reads the head of an agent, whose absence must be proven. None also when no batch has landed.
pub fn last_batch<'a>(agent: &[u8; 32], view: &'a AccountView) -> Result<Option<&'a HeadAccount>> {
    let head = load_optional::<HeadAccount>(view, &[seeds::HEAD, agent])?;
    let Some(head) = head else { return Ok(None) };
    ensure!(same(&head.agent_id, agent), Error::WrongAgent);
    Ok((head.count != 0).then_some(head))
}

/// Changes of a tenure, each followed by the invariant.
pub trait Turn {
    /// Begins the tenure of another wallet, in an era of its own.
    fn begin(&mut self, owner: &[u8; 32], now: &Now) -> Result<()>;
    /// Counts a key that is listed.
    fn list_key(&mut self) -> Result<()>;
    /// Counts a key that ends.
    fn end_key(&mut self) -> Result<()>;
    /// Begins the next era. None is ever used twice, so that what belongs to an era never meets another stake.
    fn begin_era(&mut self) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Turn for TenureAccount {
    fn begin(&mut self, owner: &[u8; 32], now: &Now) -> Result<()> {
        self.owner = *owner;
        self.number = self.number.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        self.from_epoch = now.epoch.checked_add(1).ok_or(Error::ArithmeticOverflow)?.0;
        self.live_keys = 0;
        self.has_listed = 0;
        self.begin_era()
    }

    fn list_key(&mut self) -> Result<()> {
        ensure!(self.live_keys < MAX_LIVE_KEYS, Error::TooManyKeys);
        self.live_keys = self.live_keys.saturating_add(1);
        self.has_listed = 1;
        self.invariant()
    }

    fn end_key(&mut self) -> Result<()> {
        self.live_keys = self.live_keys.checked_sub(1).ok_or(Error::InvariantBroken)?;
        self.invariant()
    }

    fn begin_era(&mut self) -> Result<()> {
        self.era = self.era.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
        self.invariant()
    }

    fn invariant(&self) -> Result<()> {
        let keys = self.live_keys <= MAX_LIVE_KEYS && (self.live_keys == 0 || self.has_listed == 1);
        ensure!(keys && self.number != 0, Error::InvariantBroken);
        Ok(())
    }
}

/// Changes of a key, each followed by the invariant.
pub trait Key {
    /// Ends the key in the slot and epoch of `now`.
    fn end(&mut self, now: &Now) -> Result<KeyEnded>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Key for KeyAccount {
    fn end(&mut self, now: &Now) -> Result<KeyEnded> {
        ensure!(self.ended_slot == 0, Error::KeyEnded);
        self.ended_slot = now.slot.0;
        self.until_epoch = keys::until(Epoch(self.from_epoch), now.epoch);
        self.invariant()?;
        Ok(KeyEnded {
            agent_mint: self.agent,
            key: self.key,
            until_epoch: self.until_epoch,
            slot: self.ended_slot,
            sequence: bump(&mut self.event_sequence)?,
            account_created_slot: self.created_slot,
        })
    }

    fn invariant(&self) -> Result<()> {
        // One that was ended unborn has the epoch before its first as its last.
        let epochs = self.from_epoch <= self.until_epoch.saturating_add(1);
        let ended = (self.ended_slot != 0) == (self.until_epoch != OPEN);
        let scopes = Scopes(self.scopes).check().is_ok();
        ensure!(epochs && ended && scopes, Error::InvariantBroken);
        Ok(())
    }
}

/// Changes of a stake, each followed by the invariant.
pub trait Stake {
    /// Adds to the stake, which must then reach the minimum.
    fn add(&mut self, amount: u64, min_stake: u64) -> Result<()>;
    /// Ends the era, unless it has ended before.
    fn end(&mut self, now: &Now) -> Result<Option<EraEnded>>;
    /// Queues the unlock.
    fn queue(&mut self, lease: &LeaseFacts, now: &Now) -> Result<()>;
    /// Cancels the unlock.
    fn cancel(&mut self, lease: &LeaseFacts) -> Result<()>;
    /// Refuses unless the stake of the present era may be claimed.
    fn check_claim(&self, lease: &LeaseFacts, last_batch: Option<&HeadAccount>, now: &Now) -> Result<()>;
    /// Refuses unless the stake of an era that has ended may be claimed.
    fn check_claim_ended(&self, now: &Now) -> Result<()>;
    /// Gives out the next rank.
    fn take_rank(&mut self) -> Result<()>;
    /// Counts a challenge that has a rank.
    fn open_challenge(&mut self) -> Result<()>;
    /// Counts an ask, which takes the next rank of asks.
    fn open_ask(&mut self) -> Result<()>;
    /// Holds a deposit.
    fn hold(&mut self, amount: u64) -> Result<()>;
    /// Moves what a settled challenge or ask decides.
    fn settle(&mut self, moves: &Settle, now: Slot) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Stake for StakeLockAccount {
    fn add(&mut self, amount: u64, min_stake: u64) -> Result<()> {
        ensure!(self.ended_slot == 0, Error::EraEnded);
        ensure!(self.open_challenges == 0, Error::EraChallenged);
        ensure!(self.in_unlock_queue == 0, Error::UnlockQueued);
        self.stake_usdc = plus(self.stake_usdc, amount)?;
        ensure!(self.stake_usdc >= min_stake, Error::StakeBelowMinimum);
        self.invariant()
    }

    fn end(&mut self, now: &Now) -> Result<Option<EraEnded>> {
        if self.ended_slot != 0 {
            return Ok(None);
        }
        self.ended_slot = now.slot.0;
        self.invariant()?;
        Ok(Some(EraEnded {
            agent_mint: self.agent_mint,
            era: self.era,
            slot: now.slot.0,
            sequence: bump(&mut self.event_sequence)?,
            account_created_slot: self.created_slot,
        }))
    }

    fn queue(&mut self, lease: &LeaseFacts, now: &Now) -> Result<()> {
        ensure!(self.ended_slot == 0, Error::EraEnded);
        unlock(self).check_queue(lease.dead, lease.last_paid).map_err(refusal)?;
        store(self, Unlock::queue(now.slot).map_err(refusal)?);
        self.invariant()
    }

    fn cancel(&mut self, lease: &LeaseFacts) -> Result<()> {
        unlock(self).check_cancel(!lease.dead).map_err(refusal)?;
        store(self, Unlock::default());
        self.invariant()
    }

    fn check_claim(&self, lease: &LeaseFacts, last_batch: Option<&HeadAccount>, now: &Now) -> Result<()> {
        let facts = ClaimFacts {
            now: now.slot,
            lease_deactivated_or_absent: lease.dead,
            lease_last_paid: lease.last_paid,
            open_challenges: self.open_challenges,
            open_asks: self.open_asks,
            last_batch: last_batch.map(|head| Slot(head.last_slot)),
        };
        Ok(unlock(self).check_claim(&facts).map_err(refusal)?)
    }

    fn check_claim_ended(&self, now: &Now) -> Result<()> {
        let (challenges, asks) = (self.open_challenges, self.open_asks);
        check_claim_ended(now.slot, Slot(self.ended_slot), challenges, asks).map_err(refusal)?;
        // The finders' part goes to the treasury before, and nobody's rank is left behind.
        let settled = self.pot_usdc == 0 && self.settled_rank == self.next_rank;
        ensure!(self.slashed_slot == 0 || settled, Error::RanksOutstanding);
        Ok(())
    }

    fn take_rank(&mut self) -> Result<()> {
        ensure!(self.stake_usdc != 0 || self.pot_usdc != 0, Error::EraEmpty);
        count(&mut self.next_rank)?;
        self.invariant()
    }

    fn open_challenge(&mut self) -> Result<()> {
        count(&mut self.open_challenges)?;
        self.invariant()
    }

    fn open_ask(&mut self) -> Result<()> {
        count(&mut self.open_asks)?;
        count(&mut self.next_ask)?;
        self.invariant()
    }

    fn hold(&mut self, amount: u64) -> Result<()> {
        self.deposits_usdc = plus(self.deposits_usdc, amount)?;
        self.invariant()
    }

    fn settle(&mut self, moves: &Settle, now: Slot) -> Result<()> {
        let out = sum([moves.from_deposits, moves.from_stake, moves.from_pot, 0])?;
        let into = sum([moves.to_stake, moves.to_pot, moves.first, moves.second])?;
        ensure!(out == into, Error::DepositsUnbalanced);
        self.deposits_usdc =
            self.deposits_usdc.checked_sub(moves.from_deposits).ok_or(Error::DepositsUnbalanced)?;
        let stake = self.stake_usdc.checked_sub(moves.from_stake).ok_or(Error::SlashExceedsStake)?;
        self.stake_usdc = plus(stake, moves.to_stake)?;
        let pot = self.pot_usdc.checked_sub(moves.from_pot).ok_or(Error::DepositsUnbalanced)?;
        self.pot_usdc = plus(pot, moves.to_pot)?;

        ensure!(moves.marks & !mark::ALL == 0, Error::InvalidInstruction);
        let is_marked = |mark| moves.marks & mark != 0;
        if is_marked(mark::CHALLENGE) {
            self.open_challenges = self.open_challenges.checked_sub(1).ok_or(Error::NoOpenChallenge)?;
        }
        if is_marked(mark::ORDER) {
            count(&mut self.settled_rank)?;
        }
        if is_marked(mark::ASK) {
            self.open_asks = self.open_asks.checked_sub(1).ok_or(Error::InvariantBroken)?;
            count(&mut self.settled_ask)?;
        }
        if is_marked(mark::SLASH) {
            ensure!(self.slashed_slot == 0, Error::InvariantBroken);
            self.slashed_slot = now.0;
            if self.ended_slot == 0 {
                self.ended_slot = now.0;
            }
        }
        self.invariant()
    }

    fn invariant(&self) -> Result<()> {
        let queued = self.in_unlock_queue == 1 && self.unlock_available_slot > self.queued_slot;
        let idle = self.in_unlock_queue == 0 && self.unlock_available_slot == 0 && self.queued_slot == 0;
        // A slash takes the whole stake and ends the era; only a slash fills the finders' part.
        let slash = if self.slashed_slot == 0 {
            self.pot_usdc == 0
        } else {
            self.stake_usdc == 0 && self.ended_slot != 0
        };
        // Every open challenge has a rank that the order has not passed.
        let ranks = self.next_rank.checked_sub(self.settled_rank);
        let ranks = ranks.is_some_and(|outstanding| self.open_challenges <= outstanding);
        let asks = self.next_ask.checked_sub(self.settled_ask) == Some(self.open_asks);
        let held = self.deposits_usdc == 0 || self.open_challenges != 0 || self.open_asks != 0;
        ensure!((queued || idle) && slash && ranks && asks && held, Error::InvariantBroken);
        Ok(())
    }
}

fn plus(amount: u64, more: u64) -> Result<u64> {
    Ok(amount.checked_add(more).ok_or(Error::ArithmeticOverflow)?)
}

fn sum(amounts: [u64; 4]) -> Result<u64> {
    amounts.into_iter().try_fold(0, plus)
}

fn count(counter: &mut u32) -> Result<()> {
    *counter = counter.checked_add(1).ok_or(Error::ArithmeticOverflow)?;
    Ok(())
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
        UnlockError::OpenAsks => Error::AskNotSettled,
        UnlockError::BatchInWindow { .. } => Error::BatchInWindow,
        UnlockError::LeaseNotPaid => Error::LeaseNotPaid,
        UnlockError::Overflow => Error::ArithmeticOverflow,
    }
}

/// Refuses unless the stake is of this agent and era.
#[inline(never)]
pub fn expect_era(stake: &Stored<StakeLockAccount>, agent: &[u8; 32], era: u32) -> Result<()> {
    ensure!(same(&stake.agent_mint, agent), Error::WrongAgent);
    ensure!(stake.era == era, Error::WrongEra);
    Ok(())
}

/// Refuses unless the key account is of this agent and key.
pub fn expect_key(account: &Stored<KeyAccount>, agent: &[u8; 32], key: &[u8; 32]) -> Result<()> {
    ensure!(same(&account.agent, agent) && same(&account.key, key), Error::WrongKey);
    Ok(())
}
