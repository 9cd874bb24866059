//! A message: what it says, whether it is the one encoding of that, and under whose key its signature holds.

use super::fields::{self, Fields};
use super::{Malformed, cbor};
use crate::error::Result;
use serde_json::json;
use solana_address::Address;
use zx1_chain::rpc::Client;
use zx1_protocol::beacon::Beacon;
use zx1_protocol::envelope::{Envelope, EnvelopeError, MsgType};
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::keys::{Scopes, counts};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::{self, BidType, Feedback, NotarizeBid, PayloadError};
use zx1_protocol::signature::{self, PublicKey};
use zx1_protocol::units::Epoch;

/// A message as it was read.
#[derive(Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    envelope: Envelope<'a>,
}

impl<'a> Message<'a> {
    /// Reads the bytes.
    ///
    /// # Errors
    /// Why the bytes are not an envelope.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let envelope = Envelope::decode(bytes).map_err(|error| match error {
            EnvelopeError::Malformed | EnvelopeError::NotCanonical => {
                Malformed(cbor::fault(bytes, &cbor::ENVELOPE))
            }
            other => Malformed(other.to_string()),
        })?;
        Ok(Self { bytes, envelope })
    }

    /// The keys that are listed for the sender, each with what it may do.
    ///
    /// # Errors
    /// The cluster's.
    pub async fn registered_keys(&self, client: &Client) -> Result<Vec<(Address, String)>> {
        let header = &self.envelope.header;
        let found = client.keys(header.sender()).await?.into_iter().map(|key| {
            let (scopes, epoch) = (Scopes(key.scopes), header.epoch());
            let counts =
                scopes.sign(header.msg_type) && counts(Epoch(key.from_epoch), key.until_epoch, epoch);
            let not = if counts { "counts" } else { "does not count" };
            let what = format!("a {} key of the sender, which {not} for this message", scopes.names());
            (Address::new_from_array(key.key), what)
        });
        Ok(found.collect())
    }

    /// The key that a beacon names.
    pub fn own_key(&self) -> Option<(Address, String)> {
        let beacon = (self.envelope.header.msg_type == MsgType::Beacon).then_some(self.envelope.payload)?;
        let key = Beacon::parse(beacon).ok()?.verifying_key;
        Some((key, "named by the beacon itself, which proves nothing yet".to_owned()))
    }

    /// All fields, and what holds. `encoding` is how the bytes came; `candidates` are keys that may have signed, each
    /// with where it comes from.
    pub fn fields(&self, encoding: &str, candidates: &[(Address, String)]) -> Fields {
        let Self { bytes, envelope } = self;
        let mut fields = Fields::new("Envelope");
        fields.both("bytes", json!(bytes.len()), format!("{} ({encoding})", bytes.len()));
        fields::header(&mut fields, &envelope.header);
        fields
            .text("payload", hex::encode(envelope.payload))
            .text("signature", hex::encode(envelope.signature));
        describe_payload(&mut fields, envelope.header.msg_type, envelope.payload);
        verdicts(&mut fields, bytes, envelope, candidates);
        fields
    }
}

fn verdicts(fields: &mut Fields, bytes: &[u8], envelope: &Envelope<'_>, candidates: &[(Address, String)]) {
    let signed = envelope.signing_bytes();
    let holds =
        |(key, _): &&(Address, String)| signature::verify(key.as_array(), &signed, envelope.signature);
    let signer = candidates.iter().find(holds);
    let payload = envelope.check_payload::<Sha3>();
    let mut verdict = Fields::new("Verdicts");
    verdict.both("canonical", json!(true), "yes");
    match &payload {
        Ok(()) => verdict.both("payload_fits", json!(true), "yes: length and hash are the header's"),
        Err(error) => verdict.both("payload_fits", json!(false), format!("no: {error}")),
    };
    match signer {
        Some((key, origin)) => {
            verdict.both("signature_valid", json!(true), format!("under {key} ({origin})"));
            verdict.hidden("signer", json!(key.to_string()));
        }
        None if candidates.is_empty() => {
            verdict.both("signature_valid", json!(null), "not checked: no key is known");
        }
        None => {
            let tried: Vec<String> = candidates.iter().map(|(key, _)| key.to_string()).collect();
            verdict.both("signature_valid", json!(false), format!("under none of {}", tried.join(", ")));
        }
    }
    let weak = candidates.iter().find(|(key, _)| PublicKey::from_bytes(key.as_array()).is_err());
    if let Some((key, _)) = weak {
        verdict
            .text("warning", format!("{key} is not a valid public key, so no signature can hold under it"));
    }
    verdict.text("signing_hash", hex::encode(Sha3::hashv(&[&signed])));
    verdict.text("envelope_hash", hex::encode(Sha3::hashv(&[bytes])));
    verdict.text("message_hash", hex::encode(envelope.header.message32::<Sha3>()));
    if let Ok(entry) = LogEntry::of(envelope).to_cbor::<Sha3>() {
        verdict.text("log_leaf", hex::encode(LogEntry::leaf::<Sha3>(&entry)));
    }
    fields.section("verdicts", verdict);
}

/// What the protocol itself reads in a payload.
pub(super) fn describe_payload(fields: &mut Fields, msg_type: MsgType, payload: &[u8]) {
    let described = match msg_type {
        MsgType::Propose | MsgType::Counter | MsgType::Accept => Some(bid(payload)),
        MsgType::Feedback => Some(Feedback::decode(payload).map_or_else(malformed, |read| feedback(&read))),
        MsgType::NotarizeBid => {
            Some(NotarizeBid::decode(payload).map_or_else(malformed, |read| notarize_bid(&read)))
        }
        MsgType::Beacon => Beacon::parse(payload).ok().map(|beacon| {
            let mut fields = Fields::new("Beacon");
            fields
                .text("agent_id", beacon.agent_id)
                .text("verifying_key", beacon.verifying_key)
                .text("name", beacon.name.escape_debug());
            fields
        }),
        _ => None,
    };
    if let Some(described) = described {
        fields.section("payload_fields", described);
    }
}

fn malformed(error: PayloadError) -> Fields {
    let mut fields = Fields::new("Payload");
    fields.text("malformed", error);
    fields
}

fn bid(bytes: &[u8]) -> Fields {
    let mut fields = Fields::new("Payload: a bid");
    fields.text("bid_value", payload::bid_value(bytes));
    let content = bytes.get(payload::BID_VALUE_LEN..).unwrap_or_default();
    if let Some((hint, content)) = content.split_first_chunk::<4>()
        && hint.iter().all(u8::is_ascii_graphic)
    {
        fields.text("format", String::from_utf8_lossy(hint));
        fields.text("content", readable(content));
    } else if !content.is_empty() {
        fields.text("content", readable(content));
    }
    fields
}

fn feedback(read: &Feedback) -> Fields {
    let mut fields = Fields::new("Payload: a rating");
    let outcome = ["negative", "neutral", "positive"].get(usize::from(read.outcome)).copied();
    let role = ["participant", "notary"].get(usize::from(read.role)).copied();
    fields
        .text("conversation_id", read.conversation_id)
        .text("target_agent", read.target_agent)
        .both("score", json!(read.score), read.score.to_string())
        .both("outcome", json!(read.outcome), outcome.unwrap_or("unknown"))
        .both("is_dispute", json!(read.is_dispute), if read.is_dispute { "yes" } else { "no" })
        .both("role", json!(read.role), role.unwrap_or("unknown"));
    fields
}

fn notarize_bid(read: &NotarizeBid<'_>) -> Fields {
    let mut fields = Fields::new("Payload: notarization");
    let kind = match read.bid_type {
        BidType::Request => "request",
        BidType::Offer => "offer",
    };
    fields
        .both("bid_type", json!(read.bid_type as u8), kind)
        .text("conversation_id", read.conversation_id)
        .text("terms", readable(read.terms));
    fields
}

/// Text as text, escaped so that it cannot steer a terminal; anything else as hex.
fn readable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|letter| !letter.is_control() || letter.is_whitespace()) => {
            text.escape_debug().to_string()
        }
        _ => hex::encode(bytes),
    }
}
