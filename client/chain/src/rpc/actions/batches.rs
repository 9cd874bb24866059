//! Heads and batches (decision P2).

use super::Actions;
use crate::instructions::behavior_log;
use crate::pda;
use crate::rpc::draft::Draft;
use crate::rpc::draft::ed25519;
use crate::rpc::error::{ChainError, Result};
use crate::rpc::intents;
use solana_address::Address;
use solana_signature::Signature;
use zx1_interface::accounts::TenureAccount;
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::ids::AgentId;

impl Actions<'_> {
    /// Makes an agent's head, before its first batch. Anyone may, once.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotAnAgent`].
    pub async fn open_head(&self, mint: AgentId, payer: Address) -> Result<Draft> {
        let agent = self.agent(mint).await?;
        let open = behavior_log::open_head(&agent.addresses_even_if_burned(), payer);
        let intent = intents::open_head(&mint);
        Ok(self.draft(intent, format!("Open the head of the agent {mint}"), payer, vec![open]))
    }

    /// Lands a batch message that a batch key signed; anyone may pay. The signature is checked first.
    ///
    /// # Errors
    ///
    /// [`ChainError::BadSignature`], [`ChainError::NotAnAgent`], [`ChainError::AgentBurned`],
    /// [`ChainError::AccountMissing`] before the first tenure.
    pub async fn submit_batch(
        &self,
        payer: Address,
        batch: &BatchMessage,
        signer: Address,
        signature: &[u8; 64],
    ) -> Result<Draft> {
        let (mint, epoch) = (AgentId(batch.agent), batch.epoch.0);
        let message = batch.to_bytes();
        if !Signature::from(*signature).verify(signer.as_ref(), &message) {
            return Err(ChainError::BadSignature { address: signer });
        }
        let agent = self.agent(mint).await?;
        let tenure = self.client.need::<TenureAccount>(pda::tenure(&mint)).await?;
        let check = ed25519(&signer, signature, &message)?;
        let submit = behavior_log::submit_batch(&agent.addresses()?, payer, signer, tenure.era, epoch);
        let intent = intents::submit_batch(&mint, epoch, &batch.batch_hash);
        let title = format!("Submit the batch of epoch {epoch} of {mint}");
        Ok(self.draft(intent, title, payer, vec![check, submit]))
    }

    /// Closes a batch whose window is over; its rent goes to whoever paid it.
    ///
    /// # Errors
    ///
    /// [`ChainError::AccountMissing`].
    pub async fn close_batch(&self, mint: AgentId, epoch: u64, payer: Address) -> Result<Draft> {
        let batch = self.batch(mint, epoch).await?;
        let rent_to = Address::new_from_array(batch.payer);
        let close = behavior_log::close_batch(mint, epoch, batch.era, rent_to);
        let intent = intents::close_batch(&mint, epoch);
        Ok(self.draft(intent, format!("Close the batch of epoch {epoch} of {mint}"), payer, vec![close]))
    }
}
