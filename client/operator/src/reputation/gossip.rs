//! Ratings that this machine's own log has received: checked messages, in the order in which they came.

use super::{Found, Note};
use crate::error::{Error, Refusal, Result, Silent};
use crate::identity::signer_of;
use crate::operator::{Agent, Operator};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use zx1_log::LogReader;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::AgentKey;
use zx1_protocol::payload::Feedback;
use zx1_protocol::reputation::Rating;
use zx1_protocol::units::{Epoch, Slot};

/// A rating with the rater's signed message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) from: AgentId,
    pub(super) feedback: Feedback,
    pub(super) slot: Slot,
    pub(super) epoch: Epoch,
    /// The hash of the message's header, which its record ends with.
    pub(super) message: Hash,
}

/// All ratings of an agent that the logs on this machine hold, with signatures that hold.
pub(super) async fn heard(operator: &Operator, about: &Agent, own: &[AgentId]) -> Result<Vec<Heard>> {
    let mut found = Vec::new();
    let mut keys: BTreeMap<AgentId, Vec<AgentKey>> = BTreeMap::new();
    for own in own {
        let folder = zx1_log::agent_dir(&operator.home, own);
        if !folder.exists() {
            continue;
        }
        let reader = LogReader::new(folder, *own);
        let mut entries = reader.entries(Epoch(0), Epoch(u64::MAX))?;
        while let Some(stored) = entries.next_entry()? {
            let entry = stored.entry().map_err(zx1_log::LogError::from)?;
            if entry.header.msg_type != MsgType::Feedback || entry.header.sender() == about.mint {
                continue;
            }
            let Ok(feedback) = Feedback::decode(entry.payload) else { continue };
            if feedback.target_agent != about.mint {
                continue;
            }
            let sender = entry.header.sender();
            if let Entry::Vacant(place) = keys.entry(sender) {
                place.insert(operator.client().agent_keys(sender).await?);
            }
            // A FEEDBACK entry holds its payload, so the whole message can be checked again.
            let envelope =
                Envelope { header: entry.header, payload: entry.payload, signature: entry.signature };
            let signed = envelope.signing_bytes();
            let what = (entry.header.msg_type, entry.header.epoch());
            let known = keys.get(&sender).map(Vec::as_slice).unwrap_or_default();
            if signer_of(known, what, &signed, entry.signature).is_some() {
                let message = entry.header.message32::<Sha3>();
                found.push(Heard {
                    from: sender,
                    feedback,
                    slot: entry.header.block_ref,
                    epoch: what.1,
                    message,
                });
            }
        }
    }
    Ok(found)
}

pub(super) async fn read(operator: &Operator, agent: &Agent, own: &[AgentId]) -> Result<Found> {
    let mut found = Found::default();
    let heard = heard(operator, agent, own).await?;
    for one in &heard {
        found.counted.rate(&Rating::from(&one.feedback)).map_err(Error::Rating)?;
    }
    if heard.is_empty() {
        return Err(Refusal::NoSuchSource { silent: Silent::Gossip }.into());
    }
    found.notes.push(Note::RealTime);
    Ok(found)
}
