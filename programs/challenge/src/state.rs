//! What may happen to a challenge. The clock itself is zx1-protocol's; here it meets the account.

use crate::claim::{of_merkle, seed};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::{Error, seeds};
use zx1_protocol::challenge::Clock;
use zx1_protocol::derive::Expected;
use zx1_protocol::hash::Hash;
use zx1_protocol::merkle::{MerkleError, verify};
use zx1_protocol::record::Record;
use zx1_protocol::units::Slot;
use zx1_runtime::{Now, Stored, Syscall, ensure};

/// Changes of a challenge, each followed by the invariant.
pub trait Challenged {
    /// Refuses unless this answer is right; then notes it.
    fn answer(&mut self, batch: &BatchAccount, answer: &Answer, answerer: [u8; 32], now: &Now) -> Result<()>;
    /// Settles it; tells whether the agent loses.
    fn resolve(&mut self, now: &Now) -> Result<bool>;
    /// Refuses unless the fields fit each other.
    fn invariant(&self) -> Result<()>;
}

/// A place under arrays_root and the fields that the evidence does not determine.
pub struct Answer<'a> {
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
    fn answer(&mut self, batch: &BatchAccount, answer: &Answer, answerer: [u8; 32], now: &Now) -> Result<()> {
        ensure!(self.resolved == 0, Error::AlreadyResolved);
        ensure!(self.answered == 0, Error::AlreadyAnswered);
        ensure!(self.expected_len != 0, Error::NoAnswer);
        ensure!(Clock { submitted: Slot(self.submitted_slot) }.is_open(now.slot), Error::AnswerTooLate);
        let packed =
            self.expected_record.get(..usize::from(self.expected_len)).ok_or(Error::InvariantBroken)?;
        let record = Record::parse(packed).map_err(|_| Error::InvariantBroken)?;
        let expected = Expected { record, value_known: self.value_known != 0 };
        let leaf = expected.with_free_fields(answer.bid_value, answer.attestation).leaf::<Syscall>();
        verify::<Syscall>(&batch.arrays_root, batch.arrays_len, answer.leaf_index, &leaf, answer.proof)
            .map_err(|error| match error {
                MerkleError::RootMismatch => Error::WrongRecord,
                other => of_merkle(other),
            })?;
        self.answered = 1;
        self.answered_slot = now.slot.0;
        self.answerer = answerer;
        self.invariant()
    }

    fn resolve(&mut self, now: &Now) -> Result<bool> {
        ensure!(self.resolved == 0, Error::AlreadyResolved);
        ensure!(Clock { submitted: Slot(self.submitted_slot) }.is_over(now.slot), Error::WindowNotOver);
        let succeeded = self.answered == 0;
        self.resolved = 1;
        self.succeeded = u8::from(succeeded);
        self.invariant()?;
        Ok(succeeded)
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
    ensure!(challenge.batch == *batch.key(), Error::WrongBatch);
    Ok(())
}

/// Refuses unless the account is the challenge's vault.
pub fn expect_vault(challenge: &Stored<ChallengeAccount>, vault: &AccountView) -> Result<()> {
    anchor_lang::verify_program_address(
        &[seeds::VAULT, challenge.key(), &[challenge.vault_bump]],
        &crate::ID,
        vault.address(),
    )
    .map_err(|_| Error::WrongAddress.into())
}

/// The last of the seeds with which a challenge signs for its vault.
pub fn claim_seed(challenge: &ChallengeAccount) -> Hash {
    seed(&challenge.evidence_hash, challenge.ground)
}
