//! Messages of an agent: made, signed and logged; and judged as a receiver would (protocol.md, 5).

use crate::error::Result;
use crate::identity::{Use, owner_of};
use crate::operator::{Agent, Now, Operator, Wallet};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::registry::{Agreement, Sati};
use zx1_log::{LogError, LogHandle};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::channel_of;
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::nonce::{LastNonce, SeenNonces};
use zx1_protocol::payload;
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::validate::{Candidate, Context as Rules, Reason, Sender};

/// Epochs back in which the ACCEPT of a conversation is looked for.
const CONVERSATION_EPOCHS: u64 = 7;

/// A message type's name, as a word: PROPOSE is `propose`.
pub fn type_name(msg_type: MsgType) -> String {
    let name = format!("{msg_type:?}");
    let mut word = String::with_capacity(name.len());
    for (at, letter) in name.char_indices() {
        if at > 0 && letter.is_uppercase() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

/// The message type of a word, as [`type_name`] writes it.
pub fn type_of(word: &str) -> Option<MsgType> {
    MsgType::ALL.into_iter().find(|msg_type| type_name(*msg_type) == word)
}

/// A message that is to be made.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Request {
    pub msg_type: MsgType,
    /// `None` goes to everybody.
    pub recipient: Option<AgentId>,
    pub conversation: ConversationId,
    /// The payload without a pre-signature.
    pub payload: Vec<u8>,
    /// Whether it may carry the pre-signature for the counterparty's SATI rating (decision D5).
    pub presign: bool,
}

impl Request {
    fn recipient(&self) -> AgentId {
        self.recipient.unwrap_or(BROADCAST)
    }
}

/// A message that was signed and logged.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Made {
    #[serde(rename = "type")]
    pub kind: String,
    pub sender: String,
    pub recipient: Option<String>,
    pub conversation: String,
    pub nonce: u64,
    pub slot: u64,
    pub epoch: u64,
    pub index: u32,
    pub leaf: String,
    pub payload_hash: String,
    pub presigned: bool,
    /// The holder's wallet is not at hand, and SATI takes no other pre-signature, so there is none.
    #[serde(skip)]
    pub presign_refused: bool,
    #[serde(skip)]
    pub cbor: Vec<u8>,
}

/// A message that a receiver takes.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Accepted {
    pub valid: bool,
    #[serde(rename = "type")]
    pub kind: String,
    pub sender: String,
    pub signer: String,
    /// What the key may do: "deal,peer".
    pub scopes: String,
}

/// What a pre-signature needs: the registry, the holder's wallet, the counterparty and its holder's address.
type Presigner<'a> = (Sati, &'a Wallet, AgentId, Address);

impl Operator {
    /// Signs and logs a message. The nonce and the log entry are on disk before anybody sees the bytes. `owner` is
    /// the holder's wallet, if it is at hand: only its pre-signature counts at SATI.
    ///
    /// # Errors
    /// 7528 when no receiver would accept the key, 7584 for an unknown agent; the log's and the cluster's.
    pub async fn make_message(
        &self,
        agent: &Agent,
        key: &Wallet,
        owner: Option<&Wallet>,
        request: &Request,
    ) -> Result<Made> {
        let now = self.now().await?;
        self.check_key(agent, key.address(), Use::Sign(request.msg_type), now.epoch).await?;
        let log = self.open_log(agent)?;
        let accepted = if request.presign { accepted_slot(&log, request, now)? } else { None };
        let presigns = request.presign && (request.msg_type == MsgType::Accept || accepted.is_some());
        let (mut presigner, mut presign_refused) = (None, false);
        if let (Some(other), true) = (request.recipient, presigns) {
            presigner = self.presigner(agent, owner, other).await?;
            presign_refused = presigner.is_none();
        }
        // An ACCEPT fixes the slot itself; an answer to one takes the slot of that one (decision D5).
        let slot = if request.msg_type == MsgType::Accept { now.slot } else { accepted.unwrap_or(now.slot) };
        let payload = match &presigner {
            Some((sati, wallet, other, counterparty)) => {
                let agreement =
                    Agreement::of_task(agent.mint, *other, *counterparty, &request.conversation, slot);
                let presignature = wallet.sign(&sati.agreement_message(&agreement));
                payload::append_presignature(request.payload.clone(), &presignature)
            }
            // The place stays, so that no part of the content counts as one.
            None if request.msg_type == MsgType::Accept => {
                payload::append_presignature(request.payload.clone(), &[0; 64])
            }
            None => request.payload.clone(),
        };
        let mut draft = Draft {
            msg_type: request.msg_type,
            sender: agent.mint,
            recipient: request.recipient(),
            timestamp: now.micros,
            block_ref: now.slot,
            nonce: 0,
            conversation_id: request.conversation,
            payload: &payload,
        };
        // Asked before a nonce is spent.
        let sample = draft.sign(|_| [0; 64])?;
        log.check_own(&Envelope::decode(&sample).map_err(LogError::from)?, now.micros)?;
        draft.nonce = log.reserve_nonce(channel_of(request.msg_type), now.micros)?;
        let cbor = draft.sign(|bytes| key.sign(bytes))?;
        let envelope = Envelope::decode(&cbor).map_err(LogError::from)?;
        let appended = log.append_own(&envelope, now.micros)?;
        Ok(Made {
            kind: type_name(request.msg_type),
            sender: agent.mint.to_string(),
            recipient: request.recipient.map(|agent| agent.to_string()),
            conversation: hex::encode(request.conversation),
            nonce: draft.nonce,
            slot: now.slot.0,
            epoch: appended.epoch.0,
            index: appended.index,
            leaf: hex::encode(appended.leaf),
            payload_hash: hex::encode(Sha3::hashv(&[&payload])),
            presigned: presigner.is_some(),
            presign_refused,
            cbor,
        })
    }

    /// SATI takes the holder's pre-signature only; `None` where its wallet is not at hand.
    async fn presigner<'a>(
        &self,
        agent: &Agent,
        owner: Option<&'a Wallet>,
        other: AgentId,
    ) -> Result<Option<Presigner<'a>>> {
        let sati = Sati::connect(self.client()).await?;
        let holder = owner_of(&sati, agent.mint).await?;
        let Some(wallet) = owner.filter(|wallet| wallet.address() == holder) else { return Ok(None) };
        let counterparty = owner_of(&sati, other).await?;
        Ok(Some((sati, wallet, other, counterparty)))
    }

    /// Judges a message by the nine rules of a receiver (protocol.md, 5.5). `log` has the nonces that were seen;
    /// without one every nonce is accepted. `at` is the time in unix microseconds, by default now.
    ///
    /// # Errors
    /// The cluster's and the log's. Within: the rule that is broken.
    pub async fn check_message(
        &self,
        candidate: Candidate<'_>,
        log: Option<&LogHandle>,
        at: Option<u64>,
    ) -> Result<Result<Accepted, Reason>> {
        let sender = candidate.sender();
        let keys = self.client().receiving_keys(sender).await?;
        let seen = match log {
            Some(log) => log.seen_nonces(&sender, candidate.channel())?,
            None => SeenNonces::Strict(LastNonce::default()),
        };
        // The slot of another time is not known any more.
        let (micros, slot) = match at {
            Some(micros) => (micros, None),
            None => {
                let now = self.now().await?;
                (now.micros, Some(now.slot))
            }
        };
        let known = if keys.is_empty() { Sender::Unknown } else { Sender::Registered { keys: &keys, seen } };
        Ok(candidate.validate(&Rules::new(micros, slot, known)).map(|valid| {
            let key = keys.iter().find(|key| key.key.to_bytes() == valid.signer.to_bytes());
            Accepted {
                valid: true,
                kind: type_name(valid.envelope.header.msg_type),
                sender: sender.to_string(),
                signer: valid.signer.to_string(),
                scopes: key.map(|key| key.scopes.names()).unwrap_or_default(),
            }
        }))
    }
}

/// The slot of the counterparty's ACCEPT in this conversation, when this is the first message after it: it
/// then carries the pre-signature (decision D5).
fn accepted_slot(log: &LogHandle, request: &Request, now: Now) -> Result<Option<Slot>> {
    let opaque = !request.msg_type.payload_is_logged() && request.recipient.is_some();
    if !opaque || request.msg_type == MsgType::Accept {
        return Ok(None);
    }
    let from = Epoch(now.epoch.0.saturating_sub(CONVERSATION_EPOCHS));
    let mut entries = log.reader().entries(from, now.epoch)?;
    let mut accepted = None;
    while let Some(stored) = entries.next_entry()? {
        let entry: LogEntry<'_> = stored.entry().map_err(LogError::from)?;
        let header = entry.header;
        if header.conversation() != request.conversation {
            continue;
        }
        match stored.direction {
            Direction::Received
                if header.msg_type == MsgType::Accept && header.sender() == request.recipient() =>
            {
                accepted = Some(header.block_ref);
            }
            Direction::Sent if header.recipient() == request.recipient() => accepted = None,
            _ => {}
        }
    }
    Ok(accepted)
}
