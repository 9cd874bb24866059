//! Record derivation: from a piece of evidence to the one record that an honest batch must hold
//! (decision B11).

use crate::challenge::Ground;
use crate::envelope::{EnvelopeHeader, MsgType, SignedFields};
use crate::error::sentences;
use crate::hash::{Hash, Keccak};
use crate::log_entry::LogEntry;
use crate::payload;
use crate::record::{self, Bid, Feedback, Record, Selection, Verifier};
use zx1_interface::constants::MAX_EVIDENCE_PAYLOAD;

/// Why a piece of evidence proves nothing on this ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeriveError {
    /// The message is not the agent's own, so the agent need not account for it.
    NotAgentsEntry,
    /// The message's type has no such ground.
    NoGround,
    /// A rating that the agent sent itself: an array holds only those received.
    FeedbackBySelf,
    /// The rating is about somebody else.
    FeedbackAboutAnother,
    /// The FEEDBACK payload does not parse, so no node had to take it.
    FeedbackUnparsable,
    /// The payload that is shown is not the one of the entry.
    PayloadHashMismatch,
    /// This ground has no use for a payload, so none may be shown.
    PayloadNotAllowed,
    /// The envelope's payload is longer than a challenge can rest on.
    PayloadTooLong,
    /// The two bids are of different messages.
    NotSameBid,
    /// The two bids have the same value.
    SameValue,
}

sentences!(DeriveError {
    Self::NotAgentsEntry => "The message was not sent by the challenged agent.";
    Self::NoGround => "A message of this type gives no such ground.";
    Self::FeedbackBySelf => "The rating was sent by the challenged agent itself.";
    Self::FeedbackAboutAnother => "The rating is not about the challenged agent.";
    Self::FeedbackUnparsable => "The FEEDBACK payload does not parse.";
    Self::PayloadHashMismatch => "The payload is not the one that the entry speaks of.";
    Self::PayloadNotAllowed => "A payload is shown, but this ground does not use one.";
    Self::PayloadTooLong => "The envelope's payload is longer than {MAX_EVIDENCE_PAYLOAD} bytes.";
    Self::NotSameBid => "The two bids are of different messages.";
    Self::SameValue => "The two bids have the same value.";
});

/// The record that must be under `arrays_root`, as far as the evidence determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The record, with zeros in the fields that the evidence leaves free.
    pub record: Record,
    /// Whether a bid's value is determined. Always true for the other records, which have none.
    pub value_known: bool,
}

impl Expected {
    /// The record with what the answerer supplies, and only where the evidence left it free: a bid's
    /// value when no payload was shown, a feedback event's attestation.
    pub fn with_free_fields(&self, value: i128, attestation: &Hash) -> Record {
        match self.record {
            Record::Bid(bid) if !self.value_known => Record::Bid(Bid { value, ..bid }),
            Record::Feedback(event) => Record::Feedback(Feedback { attestation: *attestation, ..event }),
            determined => determined,
        }
    }
}

/// [`Expected::with_free_fields`] on a packed record where it lies: a program keeps it so.
pub fn fill_free_fields(packed: &mut [u8], value_known: bool, value: i128, attestation: &Hash) {
    match packed.first() {
        Some(&record::KIND_BID) if !value_known => record::set_bid_value(packed, value),
        Some(&record::KIND_FEEDBACK) => record::set_attestation(packed, attestation),
        _ => {}
    }
}

/// What a log entry of `agent`'s log obliges it to. The caller has proven the entry's place under
/// log_merkle_root; `shown_payload` comes from the challenger and disputes a bid's value.
#[inline(never)]
pub fn from_log_entry<K: Keccak>(
    entry: &LogEntry<'_>,
    agent: &[u8; 32],
    ground: Ground,
    shown_payload: Option<&[u8]>,
) -> Result<Expected, DeriveError> {
    if ground == Ground::Feedback {
        if shown_payload.is_some() {
            return Err(DeriveError::PayloadNotAllowed);
        }
        return from_feedback::<K>(entry, agent);
    }
    check_own_message(&entry.header, agent, ground)?;
    if let Some(shown) = shown_payload {
        if ground != Ground::Bid {
            return Err(DeriveError::PayloadNotAllowed);
        }
        entry.header.check_payload::<K>(shown).map_err(|_| DeriveError::PayloadHashMismatch)?;
    }
    from_own_message::<K>(&entry.header, ground, shown_payload)
}

/// What an envelope that `agent` signed obliges it to. The caller has checked the signature over these
/// fields and, with [`SignedFields::check_payload`], the payload's hash.
pub fn from_envelope<K: Keccak>(
    fields: &SignedFields<'_>,
    agent: &[u8; 32],
    ground: Ground,
) -> Result<Expected, DeriveError> {
    check_own_message(&fields.header, agent, ground)?;
    if fields.payload.len() > MAX_EVIDENCE_PAYLOAD {
        return Err(DeriveError::PayloadTooLong);
    }
    from_own_message::<K>(&fields.header, ground, Some(fields.payload))
}

/// Whether two bids under one arrays root contradict each other: one message with two values. Conversation,
/// counterparty and slot may repeat, and are not looked at (decision P3).
pub fn double_bid(a: &Bid, b: &Bid) -> Result<(), DeriveError> {
    if a.message != b.message {
        return Err(DeriveError::NotSameBid);
    }
    if a.value == b.value { Err(DeriveError::SameValue) } else { Ok(()) }
}

/// The grounds that rest on a message of the agent's own, and the types that give them.
fn check_own_message(
    header: &EnvelopeHeader<'_>,
    agent: &[u8; 32],
    ground: Ground,
) -> Result<(), DeriveError> {
    let fits = match ground {
        Ground::Bid => matches!(header.msg_type, MsgType::Propose | MsgType::Counter | MsgType::Accept),
        Ground::Selection => header.msg_type == MsgType::Accept,
        Ground::Verifier => header.msg_type == MsgType::NotarizeAssign,
        Ground::Feedback | Ground::DoubleBid => false,
    };
    if !fits {
        return Err(DeriveError::NoGround);
    }
    if header.sender == agent { Ok(()) } else { Err(DeriveError::NotAgentsEntry) }
}

fn from_own_message<K: Keccak>(
    header: &EnvelopeHeader<'_>,
    ground: Ground,
    payload: Option<&[u8]>,
) -> Result<Expected, DeriveError> {
    let (conversation, recipient, slot) = (header.conversation(), header.recipient(), header.block_ref);
    let message = header.message32::<K>();
    let (record, value_known) = match ground {
        Ground::Bid => {
            let value = payload.map_or(0, payload::bid_value);
            let bid = Bid { conversation, counterparty: recipient, value, slot, message };
            (Record::Bid(bid), payload.is_some())
        }
        Ground::Selection => {
            (Record::Selection(Selection { conversation, counterparty: recipient, slot, message }), true)
        }
        Ground::Verifier => {
            (Record::Verifier(Verifier { conversation, verifier: recipient, slot, message }), true)
        }
        Ground::Feedback | Ground::DoubleBid => return Err(DeriveError::NoGround),
    };
    Ok(Expected { record, value_known })
}

fn from_feedback<K: Keccak>(entry: &LogEntry<'_>, agent: &[u8; 32]) -> Result<Expected, DeriveError> {
    let header = &entry.header;
    if header.msg_type != MsgType::Feedback {
        return Err(DeriveError::NoGround);
    }
    if header.sender == agent {
        return Err(DeriveError::FeedbackBySelf);
    }
    let feedback = payload::Feedback::decode(entry.payload);
    let feedback = feedback.as_ref().map_err(|_| DeriveError::FeedbackUnparsable)?;
    if feedback.target_agent.as_bytes() != agent {
        return Err(DeriveError::FeedbackAboutAnother);
    }
    Ok(Expected {
        record: Record::Feedback(Feedback {
            conversation: feedback.conversation_id,
            from: header.sender(),
            score: feedback.score,
            outcome: feedback.outcome,
            role: feedback.role,
            slot: header.block_ref,
            attestation: [0; 32],
            message: header.message32::<K>(),
        }),
        value_known: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{AgentId, ConversationId};
    use crate::units::Slot;

    #[test]
    fn filling_a_packed_record_is_packing_the_filled_one() {
        let (conversation, agent, slot) = (ConversationId([1; 16]), AgentId([2; 32]), Slot(3));
        let message = [7; 32];
        let records = [
            Record::Bid(Bid { conversation, counterparty: agent, value: 0, slot, message }),
            Record::Selection(Selection { conversation, counterparty: agent, slot, message }),
            Record::Verifier(Verifier { conversation, verifier: agent, slot, message }),
            Record::Feedback(Feedback {
                conversation,
                from: agent,
                score: -4,
                outcome: 0,
                role: 1,
                slot,
                attestation: [0; 32],
                message,
            }),
        ];
        for record in records {
            for value_known in [false, true] {
                let filled = Expected { record, value_known }.with_free_fields(-5, &[6; 32]);
                let mut packed = record.to_bytes();
                fill_free_fields(&mut packed, value_known, -5, &[6; 32]);
                assert_eq!(packed, filled.to_bytes());
            }
        }
    }
}
