//! Submitting and closing batches.

use super::Actions;
use crate::instructions::behavior_log;
use crate::pda;
use crate::rpc::draft::Draft;
use crate::rpc::draft::ed25519;
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use solana_address::Address;
use solana_signature::Signature;
use zx1_interface::instruction::SubmitBatch;
use zx1_protocol::batch::batch_message;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

impl Actions<'_> {
    /// Submits a batch that the agent's owner or live delegate signed (decision B7); anyone may pay. The
    /// signature is checked first.
    ///
    /// # Errors
    ///
    /// [`ChainError::BadSignature`], [`ChainError::NotAuthorized`].
    pub async fn submit_batch(
        &self,
        payer: Address,
        batch: &SubmitBatch,
        signer: Address,
        signature: &[u8; 64],
    ) -> Result<Draft> {
        let mint = AgentId(batch.agent_id);
        let message = batch_message(
            &batch.agent_id,
            Epoch(batch.epoch_number),
            &batch.log_merkle_root,
            batch.log_len,
            &batch.batch_hash,
            &batch.arrays_root,
            batch.arrays_len,
        );
        if !Signature::from(*signature).verify(signer.as_ref(), &message) {
            return Err(ChainError::BadSignature { address: signer });
        }
        let agent = self.agent(mint).await?;
        let delegation = self.delegation(&agent, signer).await?;
        let check = ed25519(&signer, signature, &message)?;
        let submit = behavior_log::submit_batch(&agent.addresses()?, payer, delegation, batch);
        let intent = intents::submit_batch(&mint, batch.epoch_number, &batch.batch_hash);
        let title = format!("Submit the batch of epoch {} of {mint}", batch.epoch_number);
        Ok(self.draft(intent, title, payer, vec![check, submit]))
    }

    /// Closes a batch whose window is over; its rent goes to whoever paid it.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn close_batch(&self, mint: AgentId, epoch: u64, payer: Address) -> Result<Draft> {
        let address = pda::batch(&mint, epoch);
        let batch = self.client.batch(mint, epoch).await?;
        let what = format!("batch of epoch {epoch}").into();
        let batch = batch.ok_or(ChainError::AccountMissing { what, address })?;
        let rent_to = Address::new_from_array(batch.payer);
        let close = behavior_log::close_batch(mint, epoch, rent_to);
        let intent = intents::close_batch(&mint, epoch);
        Ok(self.draft(intent, format!("Close the batch of epoch {epoch} of {mint}"), payer, vec![close]))
    }
}
