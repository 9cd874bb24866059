//! What the next batch is signed for: the rule (decision P2). It reads nothing and keeps nothing.
//!
//! A signed message is sent again until it has landed or is void, and nothing else is signed for its head
//! meanwhile. Whether it is void is computed from what nodes show as final, each time anew.

use crate::error::{LogError, Result};
use zx1_protocol::batch::{BatchMessage, head_digest, is_void, open_digest};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

/// An agent's head as one node shows it, finalized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Epoch of the last batch that landed.
    pub last_epoch: Epoch,
    /// What the next message must name as the previous digest.
    pub digest: Hash,
    /// The node's present epoch.
    pub current: Epoch,
}

/// What the chain says about an agent, as far as its batches depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The cluster's genesis hash.
    pub network: Hash,
    /// First epoch of the present tenure.
    pub tenure_from: Epoch,
    /// The head by each node that was asked: two, or one's own alone. No node is believed while another one
    /// shows something else.
    pub views: Vec<View>,
}

impl Seen {
    /// The head that all nodes show, with the earliest of their epochs.
    ///
    /// # Errors
    /// 7243 without a node, 7238 when two of them do not agree.
    pub fn agreed(&self) -> Result<View> {
        let (first, others) = self.views.split_first().ok_or(LogError::HeadUnknown)?;
        let head = |view: &View| (view.digest, view.last_epoch);
        if others.iter().any(|view| head(view) != head(first)) {
            return Err(LogError::HeadsDiffer);
        }
        let current = others.iter().map(|view| view.current).fold(first.current, Epoch::min);
        Ok(View { current, ..*first })
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The saved batch of this epoch may still land: the same bytes again, and nothing else.
    Send(Epoch),
    /// A message may be signed that follows this head. The epoch is the earliest of those that the nodes show.
    Sign(View),
}

/// What follows from what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) next: Next,
    /// The last batch of this folder, if it has landed.
    pub(crate) landed: Option<Epoch>,
}

/// A message of this folder, and the digest of the head that it leads to.
struct Link<'m> {
    message: &'m BatchMessage,
    after: Hash,
}

/// What comes after the messages that this folder signed (the oldest first), and after the head that a person
/// has adopted.
pub(crate) fn decide(
    agent: &AgentId,
    signed: &[BatchMessage],
    adopted: Option<&Hash>,
    seen: &Seen,
) -> Result<Decision> {
    let Seen { network, tenure_from, views } = seen;
    let links: Vec<Link<'_>> = signed.iter().map(Link::of).collect();
    let may_land =
        |message: &BatchMessage| views.iter().any(|view| !is_void(message, &view.digest, view.current));
    if let Some(open) = links.iter().rev().find(|link| may_land(link.message)) {
        let landed = views.iter().any(|view| view.digest == open.after);
        // Where one node has it on chain and another has not, there is nothing to send and nothing to sign.
        let next = Next::Send(open.message.epoch);
        return if landed { Err(LogError::HeadsDiffer) } else { Ok(Decision { next, landed: None }) };
    }
    let head = seen.agreed()?;
    let next = Next::Sign(head);
    // A message on a head that only nodes told of, and which no digest could save by now: no node that was asked is
    // behind it, so the head was a lie.
    let opening = open_digest::<Sha3>(network, agent.as_bytes());
    let founded = |digest: &Hash| {
        *digest == opening || adopted == Some(digest) || links.iter().any(|link| link.after == *digest)
    };
    let outlived = links.last().is_none_or(|last| {
        let base = &last.message.previous_digest;
        is_void(last.message, base, head.current) && !founded(base)
    });
    let (follows, landed) = match known(&links, &head, outlived)? {
        Known::Landed(epoch) => (true, Some(epoch)),
        Known::Before => (true, None),
        Known::Foreign => {
            let opened = head.digest == opening;
            // The head cannot go back to where it was opened.
            if opened && !outlived {
                return Err(LogError::HeadsDiffer);
            }
            // What landed in an earlier tenure is that tenure's to answer for.
            (opened || adopted == Some(&head.digest) || head.last_epoch < *tenure_from, None)
        }
    };
    if follows { Ok(Decision { next, landed }) } else { Err(LogError::ForeignBatch(head.last_epoch)) }
}

impl<'m> Link<'m> {
    fn of(message: &'m BatchMessage) -> Self {
        let after = head_digest::<Sha3>(&message.previous_digest, &message.to_bytes());
        Self { message, after }
    }
}

/// How a head fits the messages of this folder.
enum Known {
    /// A message of this epoch led to it.
    Landed(Epoch),
    /// The last message follows it, and is void.
    Before,
    /// No message of this folder knows it.
    Foreign,
}

/// A head that lies behind what was signed since shows that the node is behind, unless it is `outlived`.
fn known(links: &[Link<'_>], view: &View, outlived: bool) -> Result<Known> {
    let Some(last) = links.last() else { return Ok(Known::Foreign) };
    // Several void messages may have followed the same head; one that was taken for void too early may have
    // landed after all.
    let base = last.message.previous_digest;
    let counts = |link: &Link<'_>| outlived || link.message.previous_digest == base;
    if let Some(landed) = links.iter().rev().find(|link| counts(link) && link.after == view.digest) {
        let epoch = landed.message.epoch;
        return if view.last_epoch == epoch { Ok(Known::Landed(epoch)) } else { Err(LogError::HeadsDiffer) };
    }
    if links.iter().any(|link| counts(link) && link.message.previous_digest == view.digest) {
        return Ok(Known::Before);
    }
    let behind = |link: &Link<'_>| [link.message.previous_digest, link.after].contains(&view.digest);
    if links.iter().any(behind) { Err(LogError::HeadsDiffer) } else { Ok(Known::Foreign) }
}
