//! What may happen to a challenge. The clock itself is zx1-protocol's; here it meets the account.

use crate::claim::{of_merkle, seed};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::{Error, seeds};
use zx1_protocol::challenge::Clock;
use zx1_protocol::derive::fill_free_fields;
use zx1_protocol::hash::Hash;
use zx1_protocol::merkle::{self, MerkleError, verify};
use zx1_protocol::units::Slot;
use zx1_runtime::{Now, Stored, Syscall, ensure, find, same};

/// Changes of a challenge, each followed by the invariant.
pub trait Challenged {
    /// Refuses unless this answer is right; then notes it.
    fn answer(&mut self, batch: &BatchAccount, answer: &Answer, now: &Now) -> Result<()>;
    /// Settles it: `succeeded` then says whether the agent loses.
    fn resolve(&mut self, now: &Now) -> Result<()>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
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

impl Challenged for ChallengeAccount {
    fn answer(&mut self, batch: &BatchAccount, answer: &Answer, now: &Now) -> Result<()> {
        ensure!(self.resolved == 0, Error::AlreadyResolved);
        ensure!(self.answered == 0, Error::AlreadyAnswered);
        ensure!(self.expected_len != 0, Error::NoAnswer);
        ensure!(Clock { submitted: Slot(self.submitted_slot) }.is_open(now.slot), Error::AnswerTooLate);
        let mut record = self.expected_record;
        let record = record.get_mut(..usize::from(self.expected_len)).ok_or(Error::InvariantBroken)?;
        fill_free_fields(record, self.value_known != 0, answer.bid_value, answer.attestation);
        let leaf = merkle::leaf::<Syscall>(record);
        verify::<Syscall>(&batch.arrays_root, batch.arrays_len, answer.leaf_index, &leaf, answer.proof)
            .map_err(|error| match error {
                MerkleError::RootMismatch => Error::WrongRecord,
                other => of_merkle(other),
            })?;
        self.answered = 1;
        self.answered_slot = now.slot.0;
        self.answerer = *answer.answerer;
        self.invariant()
    }

    fn resolve(&mut self, now: &Now) -> Result<()> {
        ensure!(self.resolved == 0, Error::AlreadyResolved);
        ensure!(Clock { submitted: Slot(self.submitted_slot) }.is_over(now.slot), Error::WindowNotOver);
        self.resolved = 1;
        self.succeeded = u8::from(self.answered == 0);
        self.invariant()
    }

    fn invariant(&self) -> Result<()> {
        // Only a settled challenge succeeds, and never one that was answered.
        let settled = self.succeeded == 0 || (self.resolved == 1 && self.answered == 0);
        let answered = (self.answered == 0) == (self.answered_slot == 0);
        ensure!(settled && answered, Error::InvariantBroken);
        Ok(())
    }
}

/// Refuses unless the account is the challenged batch.
pub fn expect_batch(challenge: &ChallengeAccount, batch: &Stored<BatchAccount>) -> Result<()> {
    ensure!(same(&challenge.batch, batch.key()), Error::WrongBatch);
    Ok(())
}

/// Refuses unless the account is the challenge's vault.
pub fn expect_vault(challenge: &Stored<ChallengeAccount>, vault: &AccountView) -> Result<()> {
    find(&[seeds::VAULT, challenge.key()], &crate::ID, vault)?;
    Ok(())
}

/// The last of the seeds with which a challenge signs for its vault.
pub fn claim_seed(challenge: &ChallengeAccount) -> Hash {
    seed(&challenge.evidence_hash, challenge.ground)
}
