//! What a node is started with.

use crate::defaults::*;
use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zx1_home::{Clock, SystemClock};

/// Settings of a node. [`Settings::new`] gives the usual ones, with nothing to listen on.
#[derive(Clone)]
pub struct Settings {
    /// The key of scope peer (decision I5); the node's peer id is made of it.
    pub key: Keypair,
    /// Where to listen. An address of a relay ending in `/p2p-circuit` asks it for a reservation.
    pub listen: Vec<Multiaddr>,
    /// Addresses at which others reach this node for sure, such as a forwarded port.
    pub external: Vec<Multiaddr>,
    /// Peers to begin with; each address ends in `/p2p/` and a peer id.
    pub bootstrap: Vec<Multiaddr>,
    /// Looks for peers on the local link.
    pub mdns: bool,
    /// Relays for others.
    pub relay_server: bool,
    /// Tests others' addresses for them, from another port.
    pub autonat_server: bool,
    /// Takes part in the in-process transport, for tests and simulations.
    pub memory_transport: bool,
    /// Memory of the process in bytes above which no connection is taken; `None` for no limit.
    pub memory_limit: Option<usize>,
    /// Connections that others opened.
    pub max_inbound: u32,
    /// Connections that this node opened.
    pub max_outbound: u32,
    /// Of those, the ones only a wanted peer gets.
    pub reserved_outbound: u32,
    /// Connections that are being opened, each way.
    pub max_pending: u32,
    /// Messages that wait for a verdict.
    pub max_queued: usize,
    /// Bytes of the messages that wait for a verdict.
    pub max_queued_bytes: usize,
    /// How long a second connection with a peer may last.
    pub second_connection: Duration,
    /// Events that wait for a reader.
    pub max_events: usize,
    /// Interval of trimming, scores and ended blocks.
    pub upkeep: Duration,
    /// The file in which peers are remembered; `None` remembers nothing.
    pub peers_file: Option<PathBuf>,
    /// The time that blocks and penalties go by.
    pub clock: Arc<dyn Clock>,
}

impl Settings {
    /// The usual settings under this key.
    pub fn new(key: Keypair) -> Self {
        Self {
            key,
            listen: Vec::new(),
            external: Vec::new(),
            bootstrap: Vec::new(),
            mdns: false,
            relay_server: false,
            autonat_server: true,
            memory_transport: false,
            memory_limit: Some(MEMORY_LIMIT),
            max_inbound: MAX_INBOUND,
            max_outbound: MAX_OUTBOUND,
            reserved_outbound: RESERVED_OUTBOUND,
            max_pending: MAX_PENDING,
            max_queued: MAX_QUEUED,
            max_queued_bytes: MAX_QUEUED_BYTES,
            second_connection: SECOND_CONNECTION,
            max_events: EVENTS,
            upkeep: UPKEEP,
            peers_file: None,
            clock: Arc::new(SystemClock),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the key.
        f.debug_struct("Settings")
            .field("peer", &self.key.public().to_peer_id())
            .field("listen", &self.listen)
            .field("external", &self.external)
            .field("bootstrap", &self.bootstrap)
            .field("peers_file", &self.peers_file)
            .finish_non_exhaustive()
    }
}
