//! The errors of the transport: numbers 7660 to 7679.

use libp2p::{Multiaddr, PeerId};
use std::io;
use std::path::PathBuf;
use zx1_coded::Coded;
use zx1_protocol::validate::MAX_MESSAGE_SIZE;

/// Why the node did not do what it was asked.
#[derive(Debug, thiserror::Error, Coded)]
#[non_exhaustive]
pub enum NodeError {
    /// The node was stopped, or its task ended.
    #[code(7660)]
    #[error("The mesh node is stopped.")]
    Stopped,
    /// A setting with which libp2p does not start.
    #[code(7661)]
    #[error("The mesh node cannot start: {0}.")]
    Start(String),
    /// An address cannot be listened on.
    #[code(7662, transient)]
    #[error("The mesh node cannot listen on {address}: {reason}.")]
    Listen {
        /// The address that was to be listened on.
        address: Multiaddr,
        /// What the transport or the system said.
        reason: String,
    },
    /// The message does not fit, or is empty.
    #[code(7663)]
    #[error("A message of the mesh has 1 to {MAX_MESSAGE_SIZE} bytes, and this one has {length}.")]
    Length {
        /// How many it has.
        length: usize,
    },
    /// A message for everyone was to go by a direct stream, or the other way round.
    #[code(7664)]
    #[error("Only messages on a topic can be published.")]
    NoTopic,
    /// The same bytes were published before.
    #[code(7665)]
    #[error("These bytes were published before.")]
    Duplicate,
    /// No connected peer has subscribed to the topic.
    #[code(7666, transient)]
    #[error("No connected peer takes messages on this topic.")]
    NoPeers,
    /// More waits to be sent than the node holds.
    #[code(7667, transient)]
    #[error("The mesh node is busy: too much waits to be sent.")]
    Busy,
    /// No address of the peer leads to it.
    #[code(7668, transient)]
    #[error("The peer {peer} cannot be reached: {reason}.")]
    Unreachable {
        /// The peer that was asked for.
        peer: PeerId,
        /// What was tried.
        reason: String,
    },
    /// The stream was reset, or closed without the answer, or nothing came in time. Whether the peer has the
    /// message is not known; sending it again is the caller's decision.
    #[code(7669)]
    #[error("The peer {peer} did not acknowledge the message; whether it has it is not known.")]
    Unanswered {
        /// The peer that was asked for.
        peer: PeerId,
    },
    /// The peer speaks other protocols, so it is not a node of this mesh.
    #[code(7670)]
    #[error("The peer {peer} does not take direct messages.")]
    NotSupported {
        /// The peer that was asked for.
        peer: PeerId,
    },
    /// The peer is on this node's block list.
    #[code(7671)]
    #[error("The peer {peer} is blocked.")]
    Blocked {
        /// The peer that was asked for.
        peer: PeerId,
    },
    /// The dial failed.
    #[code(7672, transient)]
    #[error("The address {address} cannot be reached: {reason}.")]
    Dial {
        /// The address that was dialled.
        address: Multiaddr,
        /// What was tried.
        reason: String,
    },
    /// The file of peers cannot be read or written.
    #[code(7673)]
    #[error("Could not {action} {}: {source}.", path.display())]
    PeersFile {
        /// "read" or "write".
        action: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file of peers is damaged or of a newer version. Nothing of it is taken.
    #[code(7674)]
    #[error("The file {} does not hold the peers of a mesh node: {reason}.", path.display())]
    PeersFormat {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// gossipsub could not sign or take the message.
    #[code(7675)]
    #[error("The message could not be published: {0}.")]
    Publish(String),
}
