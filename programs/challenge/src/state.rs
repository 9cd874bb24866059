//! What may happen to a challenge, a draft and an ask. The rules themselves are zx1-protocol's; here they meet
//! the accounts.

use crate::claim::of_merkle;
use anchor_lang::prelude::*;
use zx1_interface::accounts::{AskAccount, BatchAccount, ChallengeAccount, EvidenceDraft, StakeLockAccount};
use zx1_interface::constants::MAX_EVIDENCE_BYTES;
use zx1_interface::{Error, seeds};
use zx1_protocol::challenge::{Clock, Ground, may_ask, may_show, rank_holds};
use zx1_protocol::derive::fill_free_fields;
use zx1_protocol::hash::Hash;
use zx1_protocol::merkle::{self, MerkleError, padding, verify};
use zx1_protocol::units::Slot;
use zx1_runtime::{Now, Stored, Syscall, ensure, load_optional, same};

pub use zx1_interface::states::{asked, outcome, rank};

/// Refuses unless the stake is the one of this agent's era.
#[inline(never)]
pub fn expect_era(stake: &StakeLockAccount, agent: &[u8; 32], era: u32) -> Result<()> {
    ensure!(same(&stake.agent_mint, agent), Error::WrongAgent);
    ensure!(stake.era == era, Error::WrongEra);
    Ok(())
}

/// Refuses when nothing can be won in the era any more.
pub fn expect_winnable(stake: &StakeLockAccount) -> Result<()> {
    ensure!(stake.stake_usdc != 0 || stake.pot_usdc != 0, Error::EraEmpty);
    Ok(())
}

/// The stake of an agent's era. None when it was claimed, which must be proven by its empty address; no era is
/// used twice, so that it stays so.
#[inline(never)]
pub fn stake_of<'a>(
    view: &'a AccountView,
    agent: &[u8; 32],
    era: u32,
) -> Result<Option<&'a StakeLockAccount>> {
    let stake = load_optional::<StakeLockAccount>(view, &[seeds::STAKE, agent, &era.to_le_bytes()])?;
    if let Some(stake) = stake {
        expect_era(stake, agent, era)?;
    }
    Ok(stake)
}

/// Divides what a settled challenge or ask brings: (into the stake, to the treasury). A stake of which nothing is
/// left gets nothing: the money of who lost it would be in reach of the next finder.
pub fn into_stake(stake: &StakeLockAccount, part: u64, treasury: u64) -> Result<(u64, u64)> {
    if stake.stake_usdc != 0 {
        return Ok((part, treasury));
    }
    Ok((0, treasury.checked_add(part).ok_or(Error::ArithmeticOverflow)?))
}

/// Refuses unless the account is the batch that a challenge, a draft or an ask names.
pub fn expect_batch(named: &[u8; 32], batch: &Stored<BatchAccount>) -> Result<()> {
    ensure!(same(named, batch.key()), Error::WrongBatch);
    Ok(())
}

/// Refuses unless the batch can still be challenged.
pub fn expect_open(batch: &BatchAccount, now: &Now) -> Result<()> {
    let window = Clock { submitted: Slot(batch.submitted_slot) };
    ensure!(window.is_open(now.slot), Error::ChallengeWindowOver);
    Ok(())
}

/// A place under arrays_root and the fields that the evidence does not determine.
pub struct Answer<'a> {
    /// Wallet of the answerer.
    pub answerer: &'a [u8; 32],
    /// Leaf, counted in the padded tree.
    pub leaf_index: u32,
    /// Proof from the leaf upward.
    pub proof: &'a [Hash],
    /// A bid's value where no payload was shown.
    pub bid_value: i128,
    /// A feedback's attestation hash.
    pub attestation: &'a Hash,
}

/// Changes of a challenge, each followed by the invariant.
pub trait Challenged {
    /// Refuses unless this answer is right; then settles it as answered.
    fn answer(&mut self, batch: &BatchAccount, answer: &Answer, now: &Now) -> Result<()>;
    /// Refuses unless nothing can answer it any more and its rank is the era's next; then settles it, as
    /// succeeded when there is something to win.
    fn resolve(&mut self, stake: &StakeLockAccount, now: &Now) -> Result<()>;
    /// Gives it to another challenger; returns the rank that it had.
    fn take_over(&mut self, challenger: &[u8; 32], rank: u32) -> Result<u32>;
    /// Lets the order move past it.
    fn pass(&mut self) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Challenged for ChallengeAccount {
    fn answer(&mut self, batch: &BatchAccount, answer: &Answer, now: &Now) -> Result<()> {
        ensure!(self.outcome != outcome::ANSWERED, Error::AlreadyAnswered);
        ensure!(self.outcome == outcome::OPEN, Error::AlreadyResolved);
        ensure!(self.expected_len != 0, Error::NoAnswer);
        ensure!(Clock { submitted: Slot(self.submitted_slot) }.is_open(now.slot), Error::AnswerTooLate);
        let mut record = self.expected_record;
        let record = record.get_mut(..usize::from(self.expected_len)).ok_or(Error::InvariantBroken)?;
        fill_free_fields(record, self.value_known != 0, answer.bid_value, answer.attestation);
        let leaf = merkle::leaf::<Syscall>(record);
        verify::<Syscall>(&batch.arrays_root, batch.arrays_len, answer.leaf_index, &leaf, answer.proof)
            .map_err(|error| of_leaf(error, Error::WrongRecord))?;
        self.outcome = outcome::ANSWERED;
        self.settled_slot = now.slot.0;
        self.answerer = *answer.answerer;
        self.invariant()
    }

    fn resolve(&mut self, stake: &StakeLockAccount, now: &Now) -> Result<()> {
        ensure!(self.outcome == outcome::OPEN, Error::AlreadyResolved);
        let can_be_answered = self.ground != Ground::DoubleBid as u8;
        let over = Clock { submitted: Slot(self.submitted_slot) }.is_over(now.slot);
        ensure!(over || !can_be_answered, Error::WindowNotOver);
        ensure!(self.rank == stake.settled_rank, Error::LowerRankOpen);
        let winnable = expect_winnable(stake).is_ok();
        self.outcome = if winnable { outcome::SUCCEEDED } else { outcome::NOTHING_LEFT };
        self.settled_slot = now.slot.0;
        self.passed = 1;
        self.invariant()
    }

    fn take_over(&mut self, challenger: &[u8; 32], rank: u32) -> Result<u32> {
        ensure!(self.outcome == outcome::OPEN && rank < self.rank, Error::ChallengeExists);
        let former = self.rank;
        self.challenger = *challenger;
        self.rank = rank;
        self.invariant()?;
        Ok(former)
    }

    fn pass(&mut self) -> Result<()> {
        ensure!(self.outcome != outcome::OPEN && self.passed == 0, Error::RankNotPassable);
        self.passed = 1;
        self.invariant()
    }

    #[inline(never)]
    fn invariant(&self) -> Result<()> {
        let open = (self.outcome == outcome::OPEN) == (self.settled_slot == 0);
        let answered = (self.outcome == outcome::ANSWERED) != same(&self.answerer, &[0; 32]);
        // An order that moved past an open challenge would leave it open for ever.
        let passed = self.passed == 0 || self.outcome != outcome::OPEN;
        ensure!(open && answered && passed && self.outcome <= outcome::NOTHING_LEFT, Error::InvariantBroken);
        Ok(())
    }
}

/// What an account of a rank is to its era's order.
pub trait Drafted {
    /// Whether its rank can be used against the sealed batch: that landed before the rank was taken, and the rank
    /// has not lapsed.
    fn holds(&self, batch: &BatchAccount, now: &Now) -> bool;
    /// Notes that its rank is its challenge's now.
    fn use_rank(&mut self) -> Result<()>;
    /// Notes that it has the rank of the challenge that it took over.
    fn swap_rank(&mut self, former: u32) -> Result<()>;
    /// Lets the order move past it.
    fn pass(&mut self, now: &Now) -> Result<()>;
    /// Whether the order must still move past it.
    fn is_in_order(&self) -> bool;
    /// Whether a slash emptied the era while the rank held.
    fn was_emptied(&self, stake: &StakeLockAccount) -> bool;
    /// Whether this challenge took the claim from under it: opened after the rank was taken, by a lower one.
    fn was_forestalled(&self, by: &ChallengeAccount) -> bool;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Drafted for EvidenceDraft {
    fn holds(&self, batch: &BatchAccount, now: &Now) -> bool {
        let landed_before = batch.submitted_slot < self.begin_slot;
        self.state == rank::HELD && landed_before && rank_holds(Slot(self.begin_slot), now.slot)
    }

    fn use_rank(&mut self) -> Result<()> {
        self.state = rank::USED;
        self.used = 1;
        self.invariant()
    }

    fn swap_rank(&mut self, former: u32) -> Result<()> {
        self.rank = former;
        self.state = rank::SWAPPED;
        self.used = 1;
        self.invariant()
    }

    fn pass(&mut self, now: &Now) -> Result<()> {
        let lapsed = self.state == rank::HELD && !rank_holds(Slot(self.begin_slot), now.slot);
        ensure!(lapsed || self.state == rank::SWAPPED, Error::RankNotPassable);
        self.state = rank::PASSED;
        self.invariant()
    }

    fn is_in_order(&self) -> bool {
        self.state == rank::HELD || self.state == rank::SWAPPED
    }

    fn was_emptied(&self, stake: &StakeLockAccount) -> bool {
        let slashed = stake.slashed_slot;
        slashed >= self.begin_slot && rank_holds(Slot(self.begin_slot), Slot(slashed))
    }

    fn was_forestalled(&self, by: &ChallengeAccount) -> bool {
        by.rank < self.rank && by.submitted_slot >= self.begin_slot
    }

    #[inline(never)]
    fn invariant(&self) -> Result<()> {
        let written = self.written <= self.len && self.len as usize <= MAX_EVIDENCE_BYTES;
        let ranked = self.state != rank::NONE || (self.deposit == 0 && self.used == 0);
        let used = self.used == 1 || !(self.state == rank::USED || self.state == rank::SWAPPED);
        ensure!(written && ranked && used && self.state <= rank::PASSED, Error::InvariantBroken);
        Ok(())
    }
}

/// The log's tree.
const LOG: u8 = 0;
/// The tree of the economic arrays.
const ARRAYS: u8 = 1;

/// Root and length of a batch's tree.
pub fn tree(batch: &BatchAccount, number: u8) -> Result<(&Hash, u32)> {
    match number {
        LOG => Ok((&batch.log_merkle_root, batch.log_len)),
        ARRAYS => Ok((&batch.arrays_root, batch.arrays_len)),
        _ => Err(Error::UnknownTree.into()),
    }
}

/// Refuses unless this leaf of the batch may be asked for now.
pub fn expect_askable(batch: &BatchAccount, number: u8, index: u32, now: &Now) -> Result<()> {
    ensure!(index < tree(batch, number)?.1, Error::IndexOutOfRange);
    ensure!(may_ask(Slot(batch.submitted_slot), now.slot), Error::AskTooLate);
    ensure!(batch.withheld == 0, Error::BatchWithheld);
    Ok(())
}

/// What becomes of an ask that nobody answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// The batch is marked; price and fine wait for the era's challenges.
    Wait,
    /// The asker gets the price back and its part of the batch's one fine.
    Fine,
    /// The asker gets the price back: the batch was marked for another ask.
    PriceBack,
}

/// Changes of an ask, each followed by the invariant.
pub trait Asked {
    /// Refuses unless this is the leaf, shown in time; then notes it and returns the leaf's hash.
    fn show(&mut self, batch: &BatchAccount, leaf: &[u8], proof: &[Hash], now: &Now) -> Result<Hash>;
    /// Refuses unless nobody can answer it any more; then notes what becomes of it.
    fn settle(&mut self, batch: &BatchAccount, stake: &StakeLockAccount, now: &Now) -> Result<Unanswered>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

impl Asked for AskAccount {
    fn show(&mut self, batch: &BatchAccount, leaf: &[u8], proof: &[Hash], now: &Now) -> Result<Hash> {
        ensure!(self.state == asked::OPEN, Error::AskSettled);
        ensure!(may_show(Slot(self.created_slot), now.slot), Error::ShowTooLate);
        let (root, len) = tree(batch, self.tree)?;
        let index = padding(len).saturating_add(u64::from(self.index));
        let index = u32::try_from(index).map_err(|_| Error::IndexOutOfRange)?;
        let hash = merkle::leaf::<Syscall>(leaf);
        verify::<Syscall>(root, len, index, &hash, proof)
            .map_err(|error| of_leaf(error, Error::WrongLeaf))?;
        self.state = asked::SHOWN;
        self.invariant()?;
        Ok(hash)
    }

    fn settle(&mut self, batch: &BatchAccount, stake: &StakeLockAccount, now: &Now) -> Result<Unanswered> {
        let unanswered = match self.state {
            asked::OPEN => {
                ensure!(!may_show(Slot(self.created_slot), now.slot), Error::ShowNotOver);
                match (batch.withheld, stake.open_challenges) {
                    (0, 0) => Unanswered::Fine,
                    (0, _) => Unanswered::Wait,
                    _ => Unanswered::PriceBack,
                }
            }
            asked::WITHHELD => {
                ensure!(stake.open_challenges == 0, Error::OpenChallenges);
                Unanswered::Fine
            }
            _ => return Err(Error::AskSettled.into()),
        };
        self.state = if unanswered == Unanswered::Wait { asked::WITHHELD } else { asked::SETTLED };
        self.invariant()?;
        Ok(unanswered)
    }

    fn invariant(&self) -> Result<()> {
        ensure!(self.state <= asked::SETTLED && self.tree <= ARRAYS, Error::InvariantBroken);
        Ok(())
    }
}

/// The number of a proof's fault, where the root's says that it is the wrong leaf.
fn of_leaf(error: MerkleError, wrong: Error) -> Error {
    match error {
        MerkleError::RootMismatch => wrong,
        other => of_merkle(other),
    }
}
