//! Envelopes that are shown: to a notary by the parties, to a party by the one that chose the notary.

use super::NotaryError;
use crate::conversation::{Act, act_of};
use crate::text;
use serde::{Deserialize, Serialize};
use zx1_protocol::context::Context;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::AgentKey;
use zx1_protocol::mesh_payload::Offer;
use zx1_protocol::payload::{BidType, NotarizeBid};
use zx1_protocol::validate::{Candidate, Reason};

/// The key accounts of an agent as the chain has them, also those that have ended: their signatures still count
/// in their epochs. None for an agent that is not registered.
pub type KeysOf<'k> = &'k dyn Fn(&AgentId) -> Vec<AgentKey>;

/// What is known of an envelope that was shown and holds. It was not received: nonce and time are not checked,
/// and it goes into no log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhibit {
    /// Hash of the message's header, which names it.
    #[serde(with = "text::bytes")]
    pub message32: Hash,
    /// Number of the message type.
    pub msg_type: u16,
    /// Who signed it.
    pub sender: AgentId,
    /// Whom it is for.
    pub recipient: AgentId,
    /// The sender's clock, unix microseconds.
    pub timestamp: u64,
    /// keccak256 of the payload.
    #[serde(with = "text::bytes")]
    pub payload_hash: Hash,
    /// Whether it is a work product, which a VERDICT can name.
    pub is_delivery: bool,
}

impl Exhibit {
    fn of(envelope: &Envelope<'_>) -> Self {
        let header = &envelope.header;
        Self {
            message32: header.message32::<Sha3>(),
            msg_type: header.msg_type.wire(),
            sender: header.sender(),
            recipient: header.recipient(),
            timestamp: header.timestamp,
            payload_hash: *header.payload_hash,
            is_delivery: act_of(header.msg_type, envelope.payload) == Some(Act::Deliver),
        }
    }
}

/// Two parties, of which the second may not be known yet.
pub(super) struct Parties {
    /// The one that assigned the notary.
    pub(super) asker: AgentId,
    /// The other one.
    pub(super) other: Option<AgentId>,
    /// The notary, who is neither.
    pub(super) notary: AgentId,
}

/// Reads what `sender` shows the notary: the checked envelopes, and who the other party is. All of the payload is
/// refused when one envelope is not right. Signatures, which cost most, are checked last.
pub(super) fn read_context(
    sender: AgentId,
    payload: &[u8],
    conversation: ConversationId,
    parties: &Parties,
    keys: KeysOf<'_>,
) -> Result<(Vec<Exhibit>, AgentId), NotaryError> {
    let context = Context::decode(payload)?;
    let candidates: Vec<Candidate<'_>> =
        context.envelopes.iter().map(|bytes| Candidate::parse(bytes)).collect::<Result<_, _>>()?;
    let envelopes: Vec<&Envelope<'_>> = candidates
        .iter()
        .map(|candidate| candidate.envelope().ok_or(Reason::PayloadHash))
        .collect::<Result<_, _>>()?;
    let headers = || envelopes.iter().map(|envelope| &envelope.header);
    let named = headers().find(|header| header.sender() == parties.asker).map(EnvelopeHeader::recipient);
    let other = parties.other.or(named).ok_or(NotaryError::OtherPartyUnknown)?;
    if sender != parties.asker && sender != other {
        return Err(NotaryError::NotAParty);
    }
    let theirs = [(parties.asker, other), (other, parties.asker)];
    let between = headers().all(|header| theirs.contains(&(header.sender(), header.recipient())));
    if !between || other == parties.asker || other == parties.notary {
        return Err(NotaryError::NotTheirs);
    }
    let exhibits = candidates.iter().map(|candidate| check(candidate, conversation, keys));
    Ok((exhibits.collect::<Result<_, _>>()?, other))
}

/// The rules that hold of one envelope whenever it is read, and its conversation.
fn check(
    candidate: &Candidate<'_>,
    conversation: ConversationId,
    keys: KeysOf<'_>,
) -> Result<Exhibit, NotaryError> {
    let envelope = candidate.envelope().ok_or(Reason::PayloadHash)?;
    if envelope.header.conversation() != conversation {
        return Err(NotaryError::NotTheirs);
    }
    let keys = keys(&candidate.sender());
    if keys.is_empty() {
        return Err(Reason::UnknownSender.into());
    }
    candidate.evidence(&keys)?;
    Ok(Exhibit::of(envelope))
}

/// A choice of a notary, as the party that made it shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Who was chosen.
    pub notary: AgentId,
    /// Within how many seconds it offered to judge.
    pub seconds: u32,
}

/// The payload of the DELIVER that shows the other party a choice: the notary's NOTARIZE_BID and the
/// NOTARIZE_ASSIGN, as a context.
pub fn choice_payload(offer: &[u8], assignment: &[u8]) -> Result<Vec<u8>, NotaryError> {
    Ok(Context { envelopes: vec![offer, assignment] }.to_payload()?)
}

/// Reads [`choice_payload`] of the party `chooser`: both envelopes must hold, be of this conversation, and of
/// the notary and the chooser.
pub fn read_choice(
    payload: &[u8],
    conversation: ConversationId,
    chooser: AgentId,
    keys: KeysOf<'_>,
) -> Result<Choice, NotaryError> {
    let context = Context::decode(payload)?;
    let [offer, assignment] = context.envelopes[..] else { return Err(NotaryError::NotAChoice) };
    let (offer, assignment) = (Candidate::parse(offer)?, Candidate::parse(assignment)?);
    let notary = offer.sender();
    let right = offer.msg_type() == MsgType::NotarizeBid
        && assignment.msg_type() == MsgType::NotarizeAssign
        && assignment.sender() == chooser;
    if !right {
        return Err(NotaryError::NotAChoice);
    }
    check(&offer, conversation, keys)?;
    if check(&assignment, conversation, keys)?.recipient != notary {
        return Err(NotaryError::NotAChoice);
    }
    let terms = offer.envelope().map(|envelope| NotarizeBid::decode(envelope.payload));
    match terms {
        Some(Ok(bid)) if bid.bid_type == BidType::Offer && bid.conversation_id == conversation => {
            Ok(Choice { notary, seconds: Offer::decode(bid.terms)?.seconds })
        }
        _ => Err(NotaryError::NotAChoice),
    }
}
