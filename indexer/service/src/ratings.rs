//! Signed ratings that are heard: FEEDBACK envelopes, brought by whoever holds one. They make the real-time
//! scores (protocol.md, 7.3), and they are what lets a batch's feedback event count (decision D2).

use crate::bundles::Put;
use crate::error::{Error, Result};
use crate::index::{Index, now_ms};
use crate::reputation;
use crate::store::{Commit, EnvelopeRow, Find, KeyRow, fixed, signed, unsigned};
use std::collections::BTreeSet;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::keys::{self, OPEN, Scopes};
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::payload::Feedback;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::Epoch;

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

/// Takes a rating, if a key of the rater has signed it that counts in the rating's epoch (decision P1), whatever
/// was ended or closed since. The holder's wallet signs transactions only.
///
/// # Errors
///
/// 9651; the store's.
pub async fn put(index: &Index, cbor: &[u8]) -> Result<Put> {
    let (mut row, signed_bytes, signature) = read(cbor, now_ms())?;
    let (target, hash) = (row.target, hex::encode(&row.hash));
    if !index.store.envelopes(Find::by("hash", row.hash.clone())).await?.is_empty() {
        // Whoever brought it first may have been told of a failure after it was kept.
        reputation::refresh(index, &BTreeSet::from([target]), "rating", &hash).await?;
        return Ok(Put::Same);
    }
    let epoch = Epoch::from_unix_micros(unsigned(row.timestamp));
    let counts = |key: &KeyRow| {
        let scopes = Scopes(u8::try_from(key.scopes).unwrap_or(0));
        let until = key.until_epoch.map_or(OPEN, unsigned);
        scopes.sign(MsgType::Feedback) && keys::counts(Epoch(unsigned(key.from_epoch)), until, epoch)
    };
    let verifies = |key: &KeyRow| {
        PublicKey::from_bytes(&fixed(&key.key)).is_ok_and(|public| public.verify(&signed_bytes, &signature))
    };
    let keys = index.store.keys(Find::by("agent", row.rater).order(&["created_slot", "key"])).await?;
    let signer = keys.into_iter().find(|key| counts(key) && verifies(key));
    let nobody = format!(
        "The envelope's signature is of no peer or deal key of its sender that counts in epoch {}; check the key, \
         or list it and wait for its first epoch.",
        epoch.0
    );
    row.signer = signer.ok_or_else(|| refuse(nobody))?.key;
    {
        let _writer = index.writer().await;
        index.write_rows(Commit { envelopes: vec![row], ..Commit::default() }).await?;
    }
    reputation::refresh(index, &BTreeSet::from([target]), "rating", &hash).await?;
    Ok(Put::Created)
}
