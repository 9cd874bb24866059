//! submit_batch (protocol.md, 10.2; decisions B7, P1 and P2).

use crate::state::{Batch, Chain, Turn, existing_or, expect_live_lease, expect_stake, expect_trees};
use anchor_lang::prelude::*;
use zx1_interface::accounts::{BatchAccount, Config, HeadAccount};
use zx1_interface::events::BatchSubmitted;
use zx1_interface::{Error, pda, seeds};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::Epoch;
use zx1_runtime::{Now, agent, bump, create, emit, ensure, key, same, signature, time};

/// Accounts of submit_batch.
#[event_cpi]
#[derive(Accounts)]
pub struct SubmitBatch {
    /// Anyone; pays the batch's rent, which comes back when it is closed.
    #[account(mut)]
    pub payer: Signer,
    /// The configuration; checked by address.
    pub config: UncheckedAccount,
    /// The agent's mint; proven to be registered (decision B3).
    pub agent_mint: UncheckedAccount,
    /// SATI's AgentIndex of the mint; checked by address.
    pub agent_index: UncheckedAccount,
    /// Holds the NFT for its holder.
    pub agent_token: UncheckedAccount,
    /// The agent's tenure; checked by type and agent.
    pub tenure: UncheckedAccount,
    /// The signer's key account; checked by type, agent and key.
    pub key: UncheckedAccount,
    /// The stake of the tenure's era; checked by type, agent and era.
    pub stake: UncheckedAccount,
    /// The agent's lease; checked by type and agent.
    pub lease: UncheckedAccount,
    /// The agent's head; checked by type and agent.
    #[account(mut)]
    pub head: UncheckedAccount,
    /// Where the batch goes; checked by address.
    #[account(mut)]
    pub batch: UncheckedAccount,
    /// The instructions sysvar; checked by address.
    pub instructions: UncheckedAccount,
    /// The system program, called to create the account; a wrong one cannot be called in its place.
    pub system_program: UncheckedAccount,
}

impl SubmitBatch {
    /// Refuses unless a key of a living agent signed a batch of this network for it; tells in which tenure.
    fn validate(
        &self,
        config: &Config,
        message: &BatchMessage,
        signer: &[u8; 32],
        now: &Now,
    ) -> Result<Turn> {
        // The message: of this network, about the agent whose mint is given, with trees that can be.
        ensure!(same(&message.network, &config.network), Error::WrongNetwork);
        let agent = &message.agent;
        ensure!(same(agent, key(&self.agent_mint)), Error::WrongAgent);
        expect_trees(message)?;
        // agent_mint, agent_index: registered with SATI.
        agent::registered(config, &self.agent_mint, &self.agent_index)?;
        // agent_token, tenure: it is the holder's turn.
        let holder = agent::holder(agent, &self.agent_token)?;
        let tenure = agent::tenure_of(&self.tenure, agent, &holder)?;
        // key: the holder's, live, for batches, and valid in the batch's epoch.
        agent::acting_key(&self.key, agent, signer, &holder, Scopes::BATCH, message.epoch)?;
        // stake, lease: enough of the one, in an era that nothing hangs over, and the other alive.
        expect_stake(config, agent, tenure.era, &self.stake)?;
        expect_live_lease(agent, &self.lease, now)?;
        Ok(Turn { number: tenure.number, era: tenure.era, from: Epoch(tenure.from_epoch) })
    }

    pub(crate) fn handle(&mut self) -> Result<()> {
        let config = agent::config(&self.config)?;
        let now = time::now()?;
        // instructions: the check of one signature right before this instruction, over a batch message.
        let signed = signature::preceding(&self.instructions)?;
        // Looked at where it was read: moving it out would copy it twice.
        let message = BatchMessage::parse(signed.message);
        let message = message.as_ref().ok_or(Error::NotBatchMessage)?;
        let tenure = self.validate(config, message, &signed.signer, &now)?;

        let agent = &message.agent;
        // head: opened, and the agent's.
        let mut head = existing_or::<HeadAccount>(&self.head, Error::HeadMissing)?;
        ensure!(same(&head.agent_id, agent), Error::WrongAgent);
        head.append(message, signed.message, &tenure, &now)?;
        let batch_seeds: &[&[u8]] = &[seeds::BATCH, agent, &message.epoch.0.to_le_bytes()];
        let batch = create(
            &self.payer,
            &self.batch,
            batch_seeds,
            0,
            Error::AccountExists,
            |batch: &mut BatchAccount, bump| {
                batch.epoch_number = message.epoch.0;
                batch.covers_from_epoch = message.covers_from.0;
                batch.submitted_slot = now.slot.0;
                batch.log_len = message.log_len;
                batch.arrays_len = message.arrays_len;
                batch.era = tenure.era;
                batch.tenure = tenure.number;
                batch.agent_id = *agent;
                batch.log_merkle_root = message.log_merkle_root;
                batch.batch_hash = message.batch_hash;
                batch.arrays_root = message.arrays_root;
                batch.signer = signed.signer;
                batch.payer = *key(&self.payer);
                batch.bump = bump;
            },
        )?;
        batch.invariant()?;
        let event = BatchSubmitted {
            agent_id: *agent,
            epoch_number: message.epoch.0,
            batch_hash: message.batch_hash,
            submitted_slot: now.slot.0,
            log_merkle_root: message.log_merkle_root,
            arrays_root: message.arrays_root,
            log_len: message.log_len,
            arrays_len: message.arrays_len,
            covers_from_epoch: message.covers_from.0,
            era: tenure.era,
            tenure: tenure.number,
            previous_digest: message.previous_digest,
            payer: *key(&self.payer),
            signer: signed.signer,
            sequence: bump(&mut head.event_sequence)?,
            account_created_slot: head.created_slot,
        };
        head.invariant()?;
        emit(&self.program, &self.event_authority, &pda::BEHAVIOR_LOG_EVENTS, &event)
    }
}
