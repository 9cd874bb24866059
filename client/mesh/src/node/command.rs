//! What a node can be asked.

use super::error::NodeError;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::oneshot::Sender;
use zx1_protocol::channel::Channel;
use zx1_protocol::hash::Hash;

/// A connected peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerInfo {
    /// The peer's id.
    pub peer: PeerId,
    /// By which address it is connected.
    pub address: Multiaddr,
    /// This node opened the connection.
    pub outbound: bool,
    /// Connections with it; more than one for some seconds only.
    pub connections: usize,
    /// The topics in whose mesh it is.
    pub mesh: Vec<Channel>,
    /// Its score, in hundredths of a point.
    pub score: i64,
    /// Its score is so low that all it sends is dropped unread.
    pub graylisted: bool,
    /// Its program, once it has said so.
    pub agent: Option<String>,
    /// The last ping, in microseconds.
    pub ping_micros: Option<u64>,
}

/// Who and where a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its peer id.
    pub peer: PeerId,
    /// Where it listens.
    pub listening: Vec<Multiaddr>,
    /// Where others are known to reach it.
    pub external: Vec<Multiaddr>,
}

/// A command and where its answer goes.
#[derive(Debug)]
pub(super) enum Command {
    Publish { channel: Channel, envelope: Vec<u8>, reply: Sender<Result<Hash, NodeError>> },
    Send { peer: PeerId, envelope: Vec<u8>, reply: Sender<Result<(), NodeError>> },
    Dial { address: Multiaddr, reply: Sender<Result<PeerId, NodeError>> },
    Find { peer: PeerId, reply: Sender<Result<Vec<Multiaddr>, NodeError>> },
    Hint { peer: PeerId, address: Multiaddr, reply: Sender<()> },
    Confirm { address: Multiaddr, reply: Sender<()> },
    Peers { reply: Sender<Vec<PeerInfo>> },
    Identity { reply: Sender<Identity> },
    Block { peer: PeerId, until: u64, reply: Sender<()> },
    Unblock { peer: PeerId, reply: Sender<bool> },
    Forget { peer: PeerId, reply: Sender<()> },
    Welcome { peer: PeerId, reply: Sender<()> },
    Standing { peer: PeerId, hundredths: i64, reply: Sender<()> },
    Stop { reply: Sender<Result<(), NodeError>> },
}
