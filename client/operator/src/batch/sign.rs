//! Signing a batch with the batch key: it is saved with its data before anything is sent.

use super::build::Plan;
use super::checked;
use crate::error::{Origin, Refusal, Result};
use crate::identity::{Use, owner_of};
use crate::operator::{Agent, Operator, Wallet};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::registry::Sati;
use zx1_log::{LogHandle, Next, SavedBatch, Seen};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::Epoch;

/// A signature over a batch. Bytes are in hex, the signer in base58.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Signed {
    pub epoch: u64,
    pub covers_from: u64,
    pub batch_hash: String,
    pub signer: String,
    pub signature: String,
    pub message: String,
    /// Whether the batch is saved with it.
    pub saved: bool,
}

impl Signed {
    fn new(message: &BatchMessage, signer: &impl ToString, signature: &[u8; 64], saved: bool) -> Self {
        Self {
            epoch: message.epoch.0,
            covers_from: message.covers_from.0,
            batch_hash: hex::encode(message.batch_hash),
            signer: signer.to_string(),
            signature: hex::encode(signature),
            message: hex::encode(message.to_bytes()),
            saved,
        }
    }
}

/// The message for a batch of these contents, out of its bytes.
///
/// # Errors
/// 7532 when they are none, or one for another batch.
pub fn message_for(commitment: &Commitment, bytes: &[u8]) -> Result<BatchMessage> {
    let message = BatchMessage::parse(bytes).filter(|message| Commitment::from(message) == *commitment);
    message.ok_or_else(|| Refusal::OtherMessage { epoch: commitment.epoch.0 }.into())
}

/// Signs the message for the data of an unsigned batch, and saves nothing: for a key that lies elsewhere.
///
/// # Errors
/// 7532 when the message is not one for this data.
pub fn sign_file(bytes: &[u8], message: &[u8], key: &Wallet) -> Result<Signed> {
    let checked = checked(bytes).map_err(Origin::File.error())?;
    let message = message_for(checked.commitment(), message)?;
    let signature = key.sign(&message.to_bytes());
    Ok(Signed::new(&message, &key.address(), &signature, false))
}

/// Signs a bundle and saves it with its data.
pub(crate) fn sign_and_seal(
    log: &LogHandle,
    bytes: &[u8],
    (plan, seen): (&Plan, &Seen),
    key: &Wallet,
) -> Result<Signed> {
    let bundle = Bundle::decode(bytes).map_err(Origin::Unsigned.error())?;
    let checked = bundle.check().map_err(Origin::Unsigned.error())?;
    let message = plan.message(checked.commitment());
    let signature = key.sign(&message.to_bytes());
    log.seal(&bundle, &message, key.address(), signature, seen)?;
    Ok(Signed::new(&message, &key.address(), &signature, true))
}

impl Operator {
    /// Signs the batch that [`Operator::build_batch`] left in the agent's folder, and saves it with its data.
    /// The covered epochs take no more messages.
    ///
    /// # Errors
    /// 7523 when none was built, 7528 when the key is not a batch key of the agent; the log's while another signed
    /// batch may still land.
    pub async fn sign_batch(&self, agent: &Agent, key: &Wallet, epoch: Option<u64>) -> Result<Signed> {
        let seen = self.seen(agent).await?;
        let log = self.open_log(agent)?;
        let view = match log.next_batch(&seen)? {
            // The same bytes again, and nothing else.
            Next::Send(epoch) => {
                let saved = log.batches().get(epoch)?;
                let saved = saved.ok_or(Refusal::BatchMissing { epoch: epoch.0 })?;
                return Ok(again(&saved));
            }
            Next::Sign(view) => view,
        };
        let plan = self.plan_batch(&seen, &view, epoch).await?;
        let epoch = plan.covered.to;
        let bytes = self.unsigned(agent, epoch)?;
        Bundle::decode(&bytes).map_err(Origin::Unsigned.error())?;
        self.check_batch_key(agent, key.address(), epoch).await?;
        let signed = sign_and_seal(&log, &bytes, (&plan, &seen), key)?;
        self.forget_unsigned(agent, epoch)?;
        Ok(signed)
    }

    /// Whether the chain takes this key's signature over a batch of that epoch.
    ///
    /// # Errors
    /// 7528 when it does not.
    pub(crate) async fn check_batch_key(&self, agent: &Agent, key: Address, epoch: Epoch) -> Result<()> {
        let sati = Sati::connect(self.client()).await?;
        let holder = owner_of(&sati, agent.mint).await?;
        self.check_key(agent, key, Use::Act(Scopes::BATCH, holder), epoch).await
    }
}

fn again(saved: &SavedBatch) -> Signed {
    Signed::new(&saved.message, &saved.signer, &saved.signature, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::check_signature;
    use solana_keypair::Keypair;
    use zx1_protocol::batch::Covered;
    use zx1_protocol::behavior_batch::{Builder, Built};
    use zx1_protocol::ids::AgentId;
    use zx1_protocol::units::Slot;

    fn built(agent: u8, epoch: u64) -> Built {
        let covered = Covered { from: Epoch(epoch), to: Epoch(epoch) };
        Builder::new(AgentId([agent; 32]), covered, Slot(1), Slot(2)).unwrap().finish().unwrap()
    }

    #[test]
    fn a_key_that_lies_elsewhere_signs_no_message_of_other_data() {
        let (key, batch) = (Wallet::new(Keypair::new_from_array([3; 32])), built(9, 7));
        let bytes = batch.bundle().unwrap().to_vec();
        let message = batch.commitment().message(&[1; 32], Epoch(5), &[2; 32]);
        let signed = sign_file(&bytes, &message.to_bytes(), &key).unwrap();
        assert_eq!((signed.epoch, signed.covers_from, signed.saved), (7, 5, false));
        let signature: Vec<u8> = hex::decode(signed.signature).unwrap();
        let signature: [u8; 64] = signature.try_into().unwrap();
        check_signature(&message, key.address(), &signature).unwrap();
        let moved = BatchMessage { previous_digest: [3; 32], ..message };
        assert_eq!(check_signature(&moved, key.address(), &signature).unwrap_err().code(), 7527);
        let other = [
            built(8, 7).commitment().message(&[1; 32], Epoch(5), &[2; 32]).to_bytes().to_vec(),
            built(9, 6).commitment().message(&[1; 32], Epoch(5), &[2; 32]).to_bytes().to_vec(),
            BatchMessage { log_len: 1, ..message }.to_bytes().to_vec(),
            message.to_bytes()[1..].to_vec(),
            vec![0; 237],
        ];
        for bytes_of_other in other {
            assert_eq!(sign_file(&bytes, &bytes_of_other, &key).unwrap_err().code(), 7532);
        }
    }
}
