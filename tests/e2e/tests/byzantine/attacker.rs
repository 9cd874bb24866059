//! A peer that keeps none of the mesh's rules: libp2p without a node.

use crate::bytes::Bytes;
use libp2p::futures::{StreamExt, future};
use libp2p::gossipsub::{self, IdentTopic, MessageAuthenticity};
use libp2p::identity::Keypair;
use libp2p::request_response::{self, ProtocolSupport};
use libp2p::swarm::{NetworkBehaviour, StreamProtocol, SwarmEvent};
use libp2p::{Multiaddr, PeerId, SwarmBuilder, noise, tcp, yamux};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::watch;
use zx1_protocol::channel::Channel;

/// As protocol.md, 5.3 names it.
const DIRECT: StreamProtocol = StreamProtocol::new("/0x01/bilateral/1.0.0");
/// Streams at a time, fewer than a node takes.
const AT_ONCE: usize = 16;

/// What a peer does.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    pub(crate) key: Keypair,
    /// Published at once, before the others begin.
    pub(crate) first: Vec<(Channel, Vec<u8>)>,
    /// Published when all begin.
    pub(crate) gossip: Vec<(Channel, Vec<u8>)>,
    /// Written to the first node, a stream each.
    pub(crate) streams: Vec<Vec<u8>>,
    /// After that it does not read what it is sent.
    pub(crate) stalls: bool,
}

impl Attack {
    pub(crate) fn new(name: &'static str, key: Keypair) -> Self {
        Self { name, key, first: Vec::new(), gossip: Vec::new(), streams: Vec::new(), stalls: false }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.key.public().to_peer_id()
    }
}

#[derive(NetworkBehaviour)]
#[behaviour(prelude = "libp2p::swarm::derive_prelude")]
struct Behaviour {
    gossip: gossipsub::Behaviour,
    direct: request_response::Behaviour<Bytes>,
}

fn behaviour(key: &Keypair) -> Behaviour {
    // More than a node takes.
    let config = gossipsub::ConfigBuilder::default().max_transmit_size(80_000).build().unwrap();
    let mut gossip = gossipsub::Behaviour::new(MessageAuthenticity::Signed(key.clone()), config).unwrap();
    for topic in Channel::ALL.into_iter().filter_map(Channel::topic) {
        gossip.subscribe(&IdentTopic::new(topic)).unwrap();
    }
    let direct = request_response::Behaviour::with_codec(
        Bytes::default(),
        [(DIRECT, ProtocolSupport::Full)],
        request_response::Config::default(),
    );
    Behaviour { gossip, direct }
}

/// Connects to all nodes, says so by `ready`, and attacks when told to.
pub(crate) async fn run(
    attack: Attack,
    nodes: Vec<Multiaddr>,
    ready: tokio::sync::mpsc::Sender<&'static str>,
    mut begin: watch::Receiver<bool>,
) {
    let mut swarm = SwarmBuilder::with_existing_identity(attack.key)
        .with_tokio()
        .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
        .unwrap()
        .with_behaviour(behaviour)
        .unwrap()
        .with_swarm_config(|config| config.with_idle_connection_timeout(Duration::from_secs(600)))
        .build();
    for node in &nodes {
        swarm.dial(node.clone()).unwrap();
    }
    let topics = Channel::ALL.into_iter().filter_map(Channel::topic).count();
    let mut subscribed = 0;
    while subscribed < topics * nodes.len() {
        match swarm.select_next_some().await {
            SwarmEvent::Behaviour(BehaviourEvent::Gossip(gossipsub::Event::Subscribed { .. })) => {
                subscribed += 1;
            }
            SwarmEvent::OutgoingConnectionError { error, .. } => panic!("{}: {error}", attack.name),
            _ => {}
        }
    }
    for (channel, bytes) in attack.first {
        publish(&mut swarm, channel, bytes);
    }
    ready.send(attack.name).await.unwrap();
    loop {
        tokio::select! {
            _ = swarm.select_next_some() => {}
            told = begin.wait_for(|told| *told) => {
                told.unwrap();
                break;
            }
        }
    }
    if attack.stalls {
        return future::pending().await;
    }
    for (channel, bytes) in attack.gossip {
        publish(&mut swarm, channel, bytes);
    }
    let target = nodes.first().and_then(|node| match node.iter().last() {
        Some(libp2p::multiaddr::Protocol::P2p(peer)) => Some(peer),
        _ => None,
    });
    let target = target.unwrap();
    let (mut waiting, mut open) = (VecDeque::from(attack.streams), 0);
    loop {
        while open < AT_ONCE
            && let Some(bytes) = waiting.pop_front()
        {
            swarm.behaviour_mut().direct.send_request(&target, bytes);
            open += 1;
        }
        if let SwarmEvent::Behaviour(BehaviourEvent::Direct(
            request_response::Event::Message { message: request_response::Message::Response { .. }, .. }
            | request_response::Event::OutboundFailure { .. },
        )) = swarm.select_next_some().await
        {
            open -= 1;
        }
    }
}

fn publish(swarm: &mut libp2p::Swarm<Behaviour>, channel: Channel, bytes: Vec<u8>) {
    let topic = IdentTopic::new(channel.topic().unwrap());
    swarm.behaviour_mut().gossip.publish(topic, bytes).unwrap();
}
