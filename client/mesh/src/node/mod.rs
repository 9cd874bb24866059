//! A running node: the task that owns the swarm, and the handle to it.
//!
//! The task never waits for a verdict, a disk or a lookup. Messages go to a pool of workers and come back as
//! outcomes; commands come in by a bounded channel; events go out by another.

mod command;
mod error;
mod event;
mod peers;
mod pool;
mod queue;
mod reports;
mod scores;
mod task;
mod transport;
mod trim;

pub use crate::drops::{Counters, Dropped, Refusal};
pub use crate::settings::Settings;
pub use command::{Identity, PeerInfo};
pub use error::NodeError;
pub use event::Event;

use crate::defaults::COMMANDS;
use crate::validate::{Sink, Validator};
use crate::wire::envelope_prefix;
use command::Command;
use libp2p::metrics::Registry;
use libp2p::{Multiaddr, PeerId};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use zx1_protocol::channel::Channel;
use zx1_protocol::hash::Hash;

/// A handle to a running node; clones are of the same one. The node ends with [`Node::stop`], or when the last
/// handle is dropped.
#[derive(Debug, Clone)]
pub struct Node {
    peer: PeerId,
    commands: mpsc::Sender<Command>,
    counters: Arc<Counters>,
}

/// The events of a node.
pub type Events = mpsc::Receiver<Event>;

impl Node {
    /// Starts a node in the present tokio runtime. With a registry, libp2p's own metrics go there: among them
    /// what gossipsub drops without asking, such as messages under another signature policy.
    ///
    /// # Errors
    /// [`NodeError::Start`], [`NodeError::Listen`], [`NodeError::PeersFile`], [`NodeError::PeersFormat`].
    pub async fn start<V: Validator, S: Sink>(
        settings: Settings,
        validator: V,
        sink: S,
        registry: Option<&mut Registry>,
    ) -> Result<(Self, Events), NodeError> {
        let counters = Arc::new(Counters::default());
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (news, events) = mpsc::channel(settings.max_events.max(1));
        let peer = settings.key.public().to_peer_id();
        let task = task::Task::new(settings, validator, sink, Arc::clone(&counters), news, registry).await?;
        tokio::spawn(task.run(inbox));
        Ok((Self { peer, commands, counters }, events))
    }

    /// The node's peer id.
    pub fn peer_id(&self) -> PeerId {
        self.peer
    }

    /// What was accepted and dropped since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Publishes an envelope on its topic, to every subscriber among the connected peers. It is not validated
    /// here. Returns the message's id.
    ///
    /// # Errors
    /// [`NodeError::Length`], [`NodeError::NoTopic`], [`NodeError::Duplicate`], [`NodeError::NoPeers`],
    /// [`NodeError::Busy`].
    pub async fn publish(&self, channel: Channel, envelope: Vec<u8>) -> Result<Hash, NodeError> {
        check_length(&envelope)?;
        self.ask(|reply| Command::Publish { channel, envelope, reply }).await?
    }

    /// Sends an envelope by a direct stream and waits for the acknowledgement, ten seconds at most. Dials the
    /// peer when it is not connected and an address is known.
    ///
    /// # Errors
    /// [`NodeError::Unreachable`]: it was not sent. [`NodeError::Unanswered`]: whether the peer has it is not
    /// known. [`NodeError::NotSupported`], [`NodeError::Blocked`], [`NodeError::Busy`], [`NodeError::Length`].
    pub async fn send(&self, peer: PeerId, envelope: Vec<u8>) -> Result<(), NodeError> {
        check_length(&envelope)?;
        self.ask(|reply| Command::Send { peer, envelope, reply }).await?
    }

    /// Opens a connection, and returns who is at the address. The connection may use a reserved place.
    ///
    /// # Errors
    /// [`NodeError::Dial`].
    pub async fn dial(&self, address: Multiaddr) -> Result<PeerId, NodeError> {
        self.ask(|reply| Command::Dial { address, reply }).await?
    }

    /// Asks the mesh where a peer is. Returns the addresses that are known afterwards, perhaps none.
    ///
    /// # Errors
    /// [`NodeError::Busy`].
    pub async fn find(&self, peer: PeerId) -> Result<Vec<Multiaddr>, NodeError> {
        self.ask(|reply| Command::Find { peer, reply }).await?
    }

    /// Takes a hint where a peer is, such as the endpoint of its registration file.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn hint(&self, peer: PeerId, address: Multiaddr) -> Result<(), NodeError> {
        self.ask(|reply| Command::Hint { peer, address, reply }).await
    }

    /// Takes an address by which others reach this node for sure, beside what AutoNAT finds out.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn confirm(&self, address: Multiaddr) -> Result<(), NodeError> {
        self.ask(|reply| Command::Confirm { address, reply }).await
    }

    /// The connected peers.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn peers(&self) -> Result<Vec<PeerInfo>, NodeError> {
        self.ask(|reply| Command::Peers { reply }).await
    }

    /// Who and where this node is.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn identity(&self) -> Result<Identity, NodeError> {
        self.ask(|reply| Command::Identity { reply }).await
    }

    /// Refuses connections with a peer until a time in unix seconds, and closes those there are.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn block(&self, peer: PeerId, until: u64) -> Result<(), NodeError> {
        self.ask(|reply| Command::Block { peer, until, reply }).await
    }

    /// Lifts a block; whether there was one.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn unblock(&self, peer: PeerId) -> Result<bool, NodeError> {
        self.ask(|reply| Command::Unblock { peer, reply }).await
    }

    /// Forgets a peer's addresses and score, such as those of an agent that was deactivated, and learns no addresses of
    /// it until it is [welcome](Node::welcome). A connection stays.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn forget(&self, peer: PeerId) -> Result<(), NodeError> {
        self.ask(|reply| Command::Forget { peer, reply }).await
    }

    /// Learns the addresses of a peer again that was [forgotten](Node::forget).
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn welcome(&self, peer: PeerId) -> Result<(), NodeError> {
        self.ask(|reply| Command::Welcome { peer, reply }).await
    }

    /// Sets what the layers above add to a peer's score (P5), in hundredths of a point.
    ///
    /// # Errors
    /// [`NodeError::Stopped`].
    pub async fn set_standing(&self, peer: PeerId, hundredths: i64) -> Result<(), NodeError> {
        self.ask(|reply| Command::Standing { peer, hundredths, reply }).await
    }

    /// Closes all connections, saves the peers and ends the task. What the sink already has is finished by the
    /// sink.
    ///
    /// # Errors
    /// [`NodeError::PeersFile`]; [`NodeError::Stopped`] when it was stopped before.
    pub async fn stop(&self) -> Result<(), NodeError> {
        self.ask(|reply| Command::Stop { reply }).await?
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, NodeError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| NodeError::Stopped)?;
        answer.await.map_err(|_| NodeError::Stopped)
    }
}

fn check_length(envelope: &[u8]) -> Result<(), NodeError> {
    envelope_prefix(envelope).map(drop).map_err(|_| NodeError::Length { length: envelope.len() })
}
