//! Signing a message of this agent: the nonce is on disk before it is used, the message in the log before its bytes
//! leave.

use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::signers::Signers;
use crate::words::Words;
use std::sync::Arc;
use zx1_log::LogError;
use zx1_operator::Wallet;
use zx1_operator::message::type_name;
use zx1_operator::node::wire::ToSign;
use zx1_protocol::channel::channel_of;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::WalletKey;
use zx1_protocol::units::Epoch;

/// A message that is in the log.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Made {
    pub cbor: Vec<u8>,
    pub message32: Hash,
}

/// Why a message is not in the log.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct Unwritten {
    /// Why signing or logging failed.
    pub error: Error,
    /// There is a signature, and the log may have the message: it is never signed again.
    pub is_signed: bool,
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Self {
        Self { error, is_signed: false }
    }
}

/// Signs with the node's key, or has it signed.
#[derive(Debug)]
pub struct Pen {
    agent: Arc<Agent>,
    cluster: Arc<Cluster>,
    key: Wallet,
    signers: Arc<Signers>,
}

impl Pen {
    /// The pen of this agent, with the node's own key.
    pub fn new(agent: Arc<Agent>, cluster: Arc<Cluster>, key: Wallet, signers: Arc<Signers>) -> Self {
        Self { agent, cluster, key, signers }
    }

    /// The node's key.
    pub fn key(&self) -> WalletKey {
        WalletKey::from(self.key.address().to_bytes())
    }

    /// Whether the node's own key signs messages of this type now.
    pub fn signs(&self, msg_type: MsgType) -> bool {
        let epoch = Epoch::from_unix_micros(self.agent.now());
        self.cluster.own_key(&self.key()).is_some_and(|key| key.scopes.sign(msg_type) && key.counts_in(epoch))
    }

    /// Signs and logs a message.
    ///
    /// # Errors
    /// 7696, 7697 of the signer; the log's.
    pub async fn write(&self, words: &Words) -> Result<Made, Unwritten> {
        let timestamp = self.agent.now();
        let cbor = self.sign(words, timestamp).await?;
        let unlogged = |error: Error| Unwritten { error, is_signed: true };
        let (log, bytes) = (self.agent.log().clone(), cbor.clone());
        let place = blocking(move || {
            let envelope = Envelope::decode(&bytes).map_err(LogError::from)?;
            Ok(log.append_own(&envelope, timestamp)?)
        });
        let place = place.await.map_err(unlogged)?;
        let envelope = Envelope::decode(&cbor).map_err(|error| unlogged(LogError::from(error).into()))?;
        self.agent.sent(&envelope, &place);
        Ok(Made { message32: envelope.header.message32::<Sha3>(), cbor })
    }

    /// The envelope of a message, with a nonce that is spent.
    async fn sign(&self, words: &Words, timestamp: u64) -> Result<Vec<u8>> {
        if !words.msg_type.is_deal() && !self.signs(words.msg_type) {
            // Without a key that counts nobody takes the message.
            return Err(Error::NoStanding(format!("{} is not a key of this agent now.", self.key())));
        }
        let mut draft = Draft {
            msg_type: words.msg_type,
            sender: self.agent.id(),
            recipient: words.recipient,
            timestamp,
            block_ref: self.cluster.slot(),
            nonce: 0,
            conversation_id: words.conversation,
            payload: &words.payload,
        };
        // Asked before a nonce is spent, and a signer.
        let sample = draft.sign(|_| [0; 64])?;
        let log = self.agent.log().clone();
        let channel = channel_of(words.msg_type);
        draft.nonce = blocking(move || {
            log.check_own(&Envelope::decode(&sample).map_err(LogError::from)?, timestamp)?;
            Ok(log.reserve_nonce(channel, timestamp)?)
        })
        .await?;
        if self.signs(words.msg_type) {
            Ok(draft.sign(|bytes| self.key.sign(bytes))?)
        } else {
            self.signed_elsewhere(&draft).await
        }
    }

    async fn signed_elsewhere(&self, draft: &Draft<'_>) -> Result<Vec<u8>> {
        let question = ToSign {
            id: 0,
            r#type: type_name(draft.msg_type),
            sender: draft.sender.to_string(),
            recipient: draft.recipient.to_string(),
            conversation: draft.conversation_id.to_string(),
            timestamp_micros: draft.timestamp,
            block_ref: draft.block_ref.0,
            nonce: draft.nonce,
            payload: hex::encode(draft.payload),
        };
        let cbor = self.signers.ask(question).await?;
        let other = || Error::Signer("it signed another message than the one it was asked for".to_owned());
        let envelope = Envelope::decode(&cbor).map_err(|_| other())?;
        if envelope.signing_bytes() == draft.signing_bytes()? { Ok(cbor) } else { Err(other()) }
    }
}

/// Runs what blocks on a thread for it.
///
/// # Errors
/// Those of the work; 7695 when the runtime ends.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Error::Busy))
}
