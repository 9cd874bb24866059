//! Attestations at SATI. Its program checks who signed them (FeedbackV1: the rated agent's owner and the
//! counterparty's wallet), writes them to a compressed tree or to SAS, and emits a self-CPI event; what was
//! attested stands in the instruction's data.
//!
//! They are shown among an agent's events. They count for no reputation: that rests on envelopes (decision D2).

use super::Fact;
use super::base58::base58;
use serde_json::{Map, Value, json};
use solana_address::Address;
use zx1_chain::rpc::Called;
use zx1_chain::sati::{self, Attestation, ContentType};
use zx1_interface::EVENT_TAG;

/// The name under which an attestation is kept.
pub const ATTESTED: &str = "AttestationCreated";
/// The name under which its closing is kept.
pub const UNATTESTED: &str = "AttestationClosed";

/// An attestation, or the closing of one. Its payload in the store is schema ‖ agent ‖ data; a closing has no
/// data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attested {
    /// Where it is: an account, or an address in a compressed tree.
    pub address: [u8; 32],
    /// The schema at SAS.
    pub schema: [u8; 32],
    /// The agent that it is about.
    pub agent: [u8; 32],
    /// SATI's universal layout; empty for a closing.
    pub data: Vec<u8>,
}

impl Attested {
    /// The event's name.
    pub fn name(&self) -> &'static str {
        if self.data.is_empty() { UNATTESTED } else { ATTESTED }
    }

    /// Bytes that stand for it in the index: schema, agent, data.
    pub fn payload(&self) -> Vec<u8> {
        [self.schema.as_slice(), &self.agent, &self.data].concat()
    }
}

/// The attestations that these calls made and closed, in order.
pub(super) fn attestations(calls: &[Called]) -> Vec<Fact> {
    let mut found = Vec::new();
    // Data whose event has not come yet.
    let mut waiting: Vec<&[u8]> = Vec::new();
    for called in calls.iter().filter(|called| called.call.program == sati::PROGRAM) {
        let Some((head, rest)) = called.call.data.split_first_chunk::<8>() else { continue };
        match *head {
            sati::instruction_discriminator::CREATE_COMPRESSED
            | sati::instruction_discriminator::CREATE_REGULAR => waiting.extend(bytes(rest)),
            EVENT_TAG => {
                let Some((name, event)) = rest.split_first_chunk::<8>() else { continue };
                let at = |from: usize| event.get(from..)?.first_chunk::<32>().copied();
                let of = match *name {
                    // Schema, mint, counterparty, storage, address.
                    sati::event_discriminator::ATTESTATION_CREATED => (at(97), at(0), at(32)),
                    // Schema, mint, address.
                    sati::event_discriminator::ATTESTATION_CLOSED => (at(64), at(0), at(32)),
                    _ => continue,
                };
                let (Some(address), Some(schema), Some(agent)) = of else { continue };
                let data = if *name == sati::event_discriminator::ATTESTATION_CREATED {
                    let is_it = |data: &&[u8]| {
                        data.get(33..65) == Some(&agent) && data.get(65..97) == event.get(64..96)
                    };
                    // Without its data there is nothing to show.
                    let Some(place) = waiting.iter().position(is_it) else { continue };
                    waiting.remove(place).to_vec()
                } else {
                    Vec::new()
                };
                found.push(Fact::Attested(Attested { address, schema, agent, data }));
            }
            _ => {}
        }
    }
    found
}

/// Bytes with their length before them.
fn bytes(data: &[u8]) -> Option<&[u8]> {
    let (length, rest) = data.split_first_chunk()?;
    rest.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

/// The fields of an attestation's payload.
pub(super) fn attested_fields(payload: &[u8]) -> Option<Map<String, Value>> {
    let base58 = |bytes: &[u8]| Value::String(base58(bytes));
    let (schema, rest) = payload.split_first_chunk::<32>()?;
    let (agent, data) = rest.split_first_chunk::<32>()?;
    let mut fields = Map::new();
    fields.insert("schema".to_owned(), base58(schema));
    fields.insert("mint".to_owned(), base58(agent));
    let Some(it) = Attestation::decode(data) else { return Some(fields) };
    let content = match it.content_type {
        ContentType::Json | ContentType::Utf8 | ContentType::Ipfs | ContentType::Arweave => {
            Value::String(String::from_utf8_lossy(&it.content).into_owned())
        }
        ContentType::None | ContentType::Encrypted => Value::String(hex::encode(&it.content)),
    };
    let content_type = format!("{:?}", it.content_type).to_lowercase();
    for (name, value) in [
        ("task_ref", json!(hex::encode(it.task_ref))),
        ("counterparty", base58(Address::as_array(&it.counterparty))),
        ("outcome", json!(it.outcome as u8)),
        ("data_hash", json!(hex::encode(it.data_hash))),
        ("content_type", json!(content_type)),
        ("content", content),
    ] {
        fields.insert(name.to_owned(), value);
    }
    Some(fields)
}
