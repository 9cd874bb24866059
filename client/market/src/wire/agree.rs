//! A body and the entry in it must say the same (decision E2).

use crate::canonical::Json;
use crate::chain::{Entry, EntryType};
use crate::{PartyId, Reason, Refusal, Result};

/// Fields of bodies that name the sender, whatever the entry calls it.
const SENDERS: [&str; 3] = ["agent_pubkey", "principal_pubkey", "pubkey"];

/// Check an entry against the body that carries it and the key that signed the request: the types that the
/// call takes, one author, and equal values in every field that both have (`argument`, `fix`, `success`,
/// ...). The names of the sender in the body must be the sender.
pub fn check_entry(body: &Json, entry: &Entry, kinds: &[EntryType], signer: &PartyId) -> Result<()> {
    if !kinds.contains(&entry.kind()) {
        return Err(Refusal::with(Reason::EntryKind, entry.kind()));
    }
    if entry.author() != *signer {
        return Err(Reason::EntryAuthorKey.into());
    }
    check_sender(body, signer)?;
    let (Some(body), Some(data)) = (body.as_object(), entry.data().as_object()) else { return Ok(()) };
    match data.iter().find(|(name, value)| body.get(*name).is_some_and(|other| other != *value)) {
        Some((name, _)) => Err(Refusal::with(Reason::EntryBody, crate::canonical::clip(name))),
        None => Ok(()),
    }
}

/// The names of the sender in a body must be the key that signed the request.
pub fn check_sender(body: &Json, signer: &PartyId) -> Result<()> {
    for name in SENDERS {
        let Some(said) = body.get(name).filter(|said| **said != Json::Null) else { continue };
        let key = said.as_str().map(|text| text.strip_prefix("fix_").unwrap_or(text));
        if key != Some(signer.hex().as_str()) {
            return Err(Refusal::with(Reason::EntryBody, name));
        }
    }
    Ok(())
}
