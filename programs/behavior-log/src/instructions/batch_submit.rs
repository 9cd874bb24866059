//! submit_batch (spec section 10.2, decision B7).

use crate::state::{Head, expect_lengths, expect_live_lease, expect_stake};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, Config, HeadAccount, VERSION};
use zx1_interface::events::BatchSubmitted;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::batch::batch_message;
use zx1_protocol::units::Epoch;
use zx1_runtime::{Now, Stored, agent, bump, create, emit, ensure, existing, key, signature, time};

/// Accounts of submit_batch.
#[event_cpi]
#[derive(Accounts)]
pub struct SubmitBatch {
    /// Anyone; pays the rents. The batch's comes back when it is closed; the head's, paid once, never does.
    #[account(mut)]
    pub payer: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for its owner.
    pub agent_token: UncheckedAccount,
    /// The signer's DelegateV1 attestation, unless it is the owner.
    pub delegation: Option<UncheckedAccount>,
    /// The agent's stake; checked by type and agent.
    pub stake: UncheckedAccount,
    /// The agent's lease; checked by type and agent.
    pub lease: UncheckedAccount,
    /// The agent's head; created when absent. Checked by address or type.
    #[account(mut)]
    pub head: UncheckedAccount,
    /// Where the batch goes; checked by address.
    #[account(mut)]
    pub batch: UncheckedAccount,
    /// The instructions sysvar; checked by address.
    pub instructions: UncheckedAccount,
    /// The system program, called to create the accounts; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

/// The commitment that the agent's key signs.
pub struct Commitment {
    /// Mint of the agent's NFT: the agent id.
    pub agent_id: [u8; 32],
    /// The batch's epoch.
    pub epoch_number: u64,
    /// Merkle root of the log.
    pub log_merkle_root: [u8; 32],
    /// Entries of the log.
    pub log_len: u32,
    /// keccak256 of the batch.
    pub batch_hash: [u8; 32],
    /// Merkle root of the packed records.
    pub arrays_root: [u8; 32],
    /// Number of records in all four arrays.
    pub arrays_len: u32,
}

impl SubmitBatch {
    /// Refuses unless a living agent's owner or delegate signed exactly this message; tells who did.
    fn validate(&self, config: &Config, agent: &[u8; 32], message: &[u8], now: &Now) -> Result<[u8; 32]> {
        // agent_mint, agent_index: the named agent, registered with SATI.
        ensure!(agent == key(&self.agent_mint), Error::WrongAgent);
        agent::registered(config, &self.agent_mint, &self.agent_index)?;
        // stake, lease: enough of the one and the other alive.
        expect_stake(agent, &self.stake)?;
        expect_live_lease(agent, &self.lease, now)?;
        // instructions: the check of one signature over this very message right before this instruction.
        let signed = signature::preceding(&self.instructions)?;
        ensure!(signed.message == message, Error::SignedOtherBytes);
        // agent_token, delegation: the key that signed belongs to the owner or its delegate.
        let owner = agent::holder(agent, &self.agent_token)?;
        let delegation = self.delegation.as_deref();
        agent::owner_or_delegate(
            config,
            agent,
            &owner,
            &signed.signer,
            delegation,
            now.unix,
            Error::WrongSigner,
        )?;
        Ok(signed.signer)
    }

    pub(crate) fn handle(&mut self, commitment: &Commitment) -> Result<()> {
        let config = agent::config(&self.config)?;
        let now = time::now()?;
        let agent = &commitment.agent_id;
        expect_lengths(commitment.log_len, commitment.arrays_len)?;
        let message = batch_message(
            agent,
            Epoch(commitment.epoch_number),
            &commitment.log_merkle_root,
            commitment.log_len,
            &commitment.batch_hash,
            &commitment.arrays_root,
            commitment.arrays_len,
        );
        let signer = self.validate(config, agent, &message, &now)?;

        let mut head =
            if self.head.is_data_empty() { self.open_head(agent, &now)? } else { existing(&self.head)? };
        ensure!(head.agent_id == *agent, Error::WrongAgent);
        let covered = head.append(Epoch(commitment.epoch_number), &message, &now)?;
        let batch_seeds: &[&[u8]] = &[seeds::BATCH, agent, &commitment.epoch_number.to_le_bytes()];
        create(
            &self.payer,
            &self.batch,
            batch_seeds,
            0,
            Error::AccountExists,
            |account: &mut BatchAccount, bump| {
                account.epoch_number = commitment.epoch_number;
                account.covers_from_epoch = covered.from.0;
                account.submitted_slot = now.slot.0;
                account.log_len = commitment.log_len;
                account.arrays_len = commitment.arrays_len;
                account.agent_id = *agent;
                account.log_merkle_root = commitment.log_merkle_root;
                account.batch_hash = commitment.batch_hash;
                account.arrays_root = commitment.arrays_root;
                account.signer = signer;
                account.payer = *key(&self.payer);
                account.version = VERSION;
                account.bump = bump;
            },
        )?;
        let event = BatchSubmitted {
            agent_id: *agent,
            epoch_number: commitment.epoch_number,
            batch_hash: commitment.batch_hash,
            submitted_slot: now.slot.0,
            log_merkle_root: commitment.log_merkle_root,
            arrays_root: commitment.arrays_root,
            log_len: commitment.log_len,
            arrays_len: commitment.arrays_len,
            covers_from_epoch: covered.from.0,
            payer: *key(&self.payer),
            signer,
            sequence: bump(&mut head.event_sequence)?,
            account_created_slot: head.created_slot,
        };
        emit(&self.program, &self.event_authority, &pda::BEHAVIOR_LOG_EVENTS, &event)
    }

    fn open_head(&self, agent: &[u8; 32], now: &Now) -> Result<Stored<HeadAccount>> {
        create(
            &self.payer,
            &self.head,
            &[seeds::HEAD, agent],
            0,
            Error::AccountExists,
            |account: &mut HeadAccount, bump| {
                account.created_slot = now.slot.0;
                account.agent_id = *agent;
                account.version = VERSION;
                account.bump = bump;
            },
        )
    }
}
