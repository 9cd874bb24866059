//! Signed ratings that are heard: FEEDBACK envelopes, brought by whoever holds one. They make the real-time
//! scores (protocol.md, 7.3), and they are what lets a batch's feedback event count (decision D2).

use crate::bundles::Put;
use crate::error::{Error, Result};
use crate::index::{Index, now_ms};
use crate::reputation;
use crate::store::{Commit, EnvelopeRow, Find, signed};
use std::collections::BTreeSet;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::Feedback;
use zx1_protocol::signature::PublicKey;

/// The longest envelope that is taken: a FEEDBACK has some 60 bytes of payload.
pub const MAX_ENVELOPE: usize = 4_096;

fn refuse(sentence: impl Into<String>) -> Error {
    Error::EnvelopeRefused(sentence.into())
}

/// Reads a rating without its signature. Pure.
///
/// # Errors
///
/// 9651
pub fn read(cbor: &[u8], now_ms: i64) -> Result<(EnvelopeRow, Vec<u8>, [u8; 64])> {
    let wrong = |what: &dyn std::fmt::Display| refuse(format!("The envelope is not taken. {what}"));
    if cbor.len() > MAX_ENVELOPE {
        return Err(refuse(format!(
            "The envelope is longer than {MAX_ENVELOPE} bytes; bring only FEEDBACK."
        )));
    }
    let envelope = Envelope::decode(cbor).map_err(|error| wrong(&error))?;
    if envelope.header.msg_type != MsgType::Feedback {
        return Err(refuse("Only FEEDBACK envelopes are taken here; send others to their recipient."));
    }
    envelope.check_payload::<Sha3>().map_err(|error| wrong(&error))?;
    let feedback = Feedback::decode(envelope.payload).map_err(|error| wrong(&error))?;
    if feedback.target_agent == envelope.header.sender() {
        return Err(refuse("Nobody rates itself; the envelope's sender is its target."));
    }
    let entry = LogEntry::of(&envelope).to_cbor::<Sha3>().map_err(|error| wrong(&error))?;
    let row = EnvelopeRow {
        hash: LogEntry::leaf::<Sha3>(&entry).to_vec(),
        rater: envelope.header.sender(),
        target: feedback.target_agent,
        conversation: feedback.conversation_id,
        score: i64::from(feedback.score),
        outcome: i64::from(feedback.outcome),
        role: i64::from(feedback.role),
        is_dispute: i64::from(feedback.is_dispute),
        slot: signed(envelope.header.block_ref.0),
        timestamp: signed(envelope.header.timestamp),
        signer: Vec::new(),
        at: now_ms,
        cbor: cbor.to_vec(),
    };
    Ok((row, envelope.signing_bytes(), *envelope.signature))
}

/// Takes a rating, if the rater's owner or a live delegate has signed it.
///
/// # Errors
///
/// 9651; the chain's when the keys cannot be read.
pub async fn put(index: &Index, cbor: &[u8]) -> Result<Put> {
    let (mut row, signed_bytes, signature) = read(cbor, now_ms())?;
    let (target, hash) = (row.target, hex::encode(&row.hash));
    if !index.store.envelopes(Find::by("hash", row.hash.clone())).await?.is_empty() {
        // Whoever brought it first may have been told of a failure after it was kept.
        reputation::refresh(index, &BTreeSet::from([target]), "rating", &hash).await?;
        return Ok(Put::Same);
    }
    let rater = row.rater;
    let agent = index.ledger.agent(rater).await?;
    let agent = agent.ok_or_else(|| refuse("The envelope's sender is not an agent of the registry."))?;
    let mut keys: Vec<[u8; 32]> = agent.owner.map(|owner| owner.to_bytes()).into_iter().collect();
    let verifies = |key: &[u8; 32]| {
        PublicKey::from_bytes(key).is_ok_and(|public| public.verify(&signed_bytes, &signature))
    };
    let mut signer = keys.iter().find(|key| verifies(key)).copied();
    if signer.is_none() {
        let delegates = index.ledger.delegates(rater).await?;
        keys = delegates.iter().filter(|it| it.live).map(|it| it.delegate.to_bytes()).collect();
        signer = keys.iter().find(|key| verifies(key)).copied();
    }
    let nobody =
        "The envelope's signature is neither its sender's owner's nor a live delegate's; check the key.";
    row.signer = signer.ok_or_else(|| refuse(nobody))?.to_vec();
    {
        let _writer = index.writer().await;
        index.write_rows(Commit { envelopes: vec![row], ..Commit::default() }).await?;
    }
    reputation::refresh(index, &BTreeSet::from([target]), "rating", &hash).await?;
    Ok(Put::Created)
}
