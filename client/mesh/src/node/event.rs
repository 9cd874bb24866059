//! What a node tells its reader.

use libp2p::{Multiaddr, PeerId};
use zx1_protocol::channel::Channel;

/// Something happened. Events are news, not state: a reader that is too slow misses some, which are counted as
/// [`Dropped::EventReader`](crate::drops::Dropped::EventReader), and asks [`Node::peers`](super::Node::peers) instead.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The node listens on an address.
    Listening(Multiaddr),
    /// The node no longer listens on an address.
    NotListening(Multiaddr),
    /// Others are known to reach the node by this address.
    External(Multiaddr),
    /// They no longer do.
    NotExternal(Multiaddr),
    /// A connection is open, the first with this peer.
    Connected {
        /// The peer at the other end.
        peer: PeerId,
        /// By which address.
        address: Multiaddr,
        /// This node opened it.
        outbound: bool,
    },
    /// The last connection with a peer is gone.
    Disconnected(PeerId),
    /// A peer takes messages on a topic.
    Subscribed(PeerId, Channel),
    /// A peer no longer does.
    Unsubscribed(PeerId, Channel),
    /// A peer speaks this mesh's protocols and said where it listens.
    Identified {
        /// The peer that said so.
        peer: PeerId,
        /// The program that it says it is.
        agent: String,
        /// The addresses that were believed.
        addresses: Vec<Multiaddr>,
    },
    /// A peer does not take messages as fast as they are sent.
    Slow {
        /// The peer that is too slow.
        peer: PeerId,
        /// Messages that were dropped for it.
        messages: u64,
    },
    /// A relay keeps a place for this node.
    Relayed(PeerId),
    /// A relay did not give this place, or keeps it no longer; it is asked for again.
    PlaceLost(Multiaddr),
    /// A relayed connection became a direct one.
    HolePunched(PeerId),
    /// A connection stays relayed: no direct one came about.
    StaysRelayed {
        /// The peer at the other end.
        peer: PeerId,
        /// What hole punching says.
        reason: String,
    },
    /// The peer was let go to make room.
    Trimmed(PeerId),
    /// Peers could not be saved; they will be tried again.
    NotSaved(String),
}
