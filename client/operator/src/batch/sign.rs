//! Signing a batch: it is saved with its data before anything is sent.

use super::checked;
use crate::error::{Origin, Result};
use crate::operator::{Agent, Operator, Wallet};
use serde::Serialize;
use zx1_log::LogHandle;
use zx1_protocol::batch::Covered;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;

/// A signature over a batch. Bytes are in hex, the signer in base58.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Signed {
    pub epoch: u64,
    pub batch_hash: String,
    pub signer: String,
    pub signature: String,
    pub message: String,
    /// Whether the batch is saved with it.
    pub saved: bool,
}

impl Signed {
    fn new(commitment: &Commitment, key: &Wallet, signature: [u8; 64], saved: bool) -> Self {
        Self {
            epoch: commitment.epoch.0,
            batch_hash: hex::encode(commitment.batch_hash),
            signer: key.address().to_string(),
            signature: hex::encode(signature),
            message: hex::encode(commitment.message()),
            saved,
        }
    }
}

/// Signs the data of an unsigned batch, and saves nothing: for a key that lies elsewhere.
pub fn sign_file(bytes: &[u8], key: &Wallet) -> Result<Signed> {
    let checked = checked(bytes).map_err(Origin::File.error())?;
    let signature = key.sign(&checked.commitment().message());
    Ok(Signed::new(checked.commitment(), key, signature, false))
}

/// Signs a bundle and saves it with its data.
pub(crate) fn sign_and_seal(log: &LogHandle, bytes: &[u8], covered: Covered, key: &Wallet) -> Result<Signed> {
    let bundle = Bundle::decode(bytes).map_err(Origin::Unsigned.error())?;
    let checked = bundle.check().map_err(Origin::Unsigned.error())?;
    let signature = key.sign(&checked.commitment().message());
    log.seal(&bundle, covered, key.address(), signature)?;
    Ok(Signed::new(checked.commitment(), key, signature, true))
}

impl Operator {
    /// Signs the batch that [`Operator::build_batch`] left in the agent's folder, and saves it with its data.
    /// The covered epochs take no more messages.
    ///
    /// # Errors
    /// 7523 when none was built, 7528 when the chain does not take this key's signature.
    pub async fn sign_batch(&self, agent: &Agent, key: &Wallet, epoch: Option<u64>) -> Result<Signed> {
        let plan = self.plan_batch(agent, epoch).await?;
        let epoch = plan.covered.to;
        let bytes = self.unsigned(agent, epoch)?;
        Bundle::decode(&bytes).map_err(Origin::Unsigned.error())?;
        self.check_signer(agent, key.address()).await?;
        let log = self.open_log(agent)?;
        let signed = sign_and_seal(&log, &bytes, plan.covered, key)?;
        self.forget_unsigned(agent, epoch)?;
        Ok(signed)
    }
}
