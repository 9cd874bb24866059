//! All protocols of a node, with their limits.

pub(crate) mod admission;
pub(crate) mod gossip;

use crate::defaults::*;
use crate::direct::DirectCodec;
use crate::drops::Counters;
use crate::settings::Settings;
use crate::wire::{DIRECT_PROTOCOL, IDENTIFY_PROTOCOL, KAD_PROTOCOL};
use libp2p::allow_block_list::{self, BlockedPeers};
use libp2p::autonat::v2 as autonat;
use libp2p::identity::Keypair;
use libp2p::kad::{self, store::MemoryStore};
use libp2p::metrics::Registry;
use libp2p::request_response::{self, ProtocolSupport};
use libp2p::swarm::NetworkBehaviour;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{PeerId, connection_limits, dcutr, identify, mdns, memory_connection_limits, ping, relay};
use std::sync::Arc;

/// The protocols. Those that may refuse a connection come first, so that no other hears of it.
#[derive(NetworkBehaviour)]
#[behaviour(prelude = "libp2p::swarm::derive_prelude")]
pub(crate) struct Behaviour {
    pub(crate) blocked: allow_block_list::Behaviour<BlockedPeers>,
    pub(crate) limits: connection_limits::Behaviour,
    pub(crate) memory: Toggle<memory_connection_limits::Behaviour>,
    pub(crate) admission: admission::Behaviour,
    pub(crate) gossip: gossip::Gossip,
    pub(crate) direct: request_response::Behaviour<DirectCodec>,
    pub(crate) kad: kad::Behaviour<MemoryStore>,
    pub(crate) identify: identify::Behaviour,
    pub(crate) mdns: Toggle<mdns::tokio::Behaviour>,
    pub(crate) autonat: autonat::client::Behaviour,
    pub(crate) autonat_server: Toggle<autonat::server::Behaviour>,
    pub(crate) relay_client: relay::client::Behaviour,
    pub(crate) relay_server: Toggle<relay::Behaviour>,
    pub(crate) dcutr: dcutr::Behaviour,
    pub(crate) ping: ping::Behaviour,
}

impl Behaviour {
    /// # Errors
    /// What libp2p or the system says, in words.
    pub(crate) fn new(
        relay_client: relay::client::Behaviour,
        settings: &Settings,
        counters: Arc<Counters>,
        registry: Option<&mut Registry>,
    ) -> Result<Self, String> {
        let key = &settings.key;
        let local = key.public().to_peer_id();
        let mdns = settings.mdns.then(|| mdns::tokio::Behaviour::new(mdns::Config::default(), local));
        let unwanted = settings.max_outbound.saturating_sub(settings.reserved_outbound);
        Ok(Self {
            blocked: allow_block_list::Behaviour::default(),
            limits: connection_limits::Behaviour::new(limits(settings)),
            memory: settings.memory_limit.map(memory_connection_limits::Behaviour::with_max_bytes).into(),
            admission: admission::Behaviour::new(local, usize::try_from(unwanted).unwrap_or(usize::MAX)),
            gossip: gossip::new(key, registry)?,
            direct: direct(DirectCodec::new(counters)),
            kad: kad(local),
            identify: identify::Behaviour::new(identify(key)),
            mdns: mdns.transpose().map_err(|it| it.to_string())?.into(),
            autonat: autonat::client::Behaviour::default(),
            autonat_server: settings.autonat_server.then(autonat::server::Behaviour::default).into(),
            relay_client,
            relay_server: settings.relay_server.then(|| relay::Behaviour::new(local, relay())).into(),
            dcutr: dcutr::Behaviour::new(local),
            ping: ping::Behaviour::default(),
        })
    }
}

fn limits(settings: &Settings) -> connection_limits::ConnectionLimits {
    // One connection a peer is `admission`'s to keep: it knows relayed ones and dials that cross.
    connection_limits::ConnectionLimits::default()
        .with_max_established_incoming(Some(settings.max_inbound))
        .with_max_established_outgoing(Some(settings.max_outbound))
        .with_max_pending_incoming(Some(settings.max_pending))
        .with_max_pending_outgoing(Some(settings.max_pending))
}

fn direct(codec: DirectCodec) -> request_response::Behaviour<DirectCodec> {
    let config = request_response::Config::default()
        .with_request_timeout(DIRECT_TIMEOUT)
        .with_max_concurrent_streams(DIRECT_STREAMS);
    request_response::Behaviour::with_codec(codec, [(DIRECT_PROTOCOL, ProtocolSupport::Full)], config)
}

fn kad(local: PeerId) -> kad::Behaviour<MemoryStore> {
    let mut config = kad::Config::new(KAD_PROTOCOL);
    // Nobody stores anything here: the table is for FIND_NODE alone, and what is not put is dropped.
    config.set_record_filtering(kad::StoreInserts::FilterBoth);
    // Addresses go in after they were judged, not as they come.
    config.set_kbucket_inserts(kad::BucketInserts::Manual);
    kad::Behaviour::with_config(local, MemoryStore::new(local), config)
}

fn identify(key: &Keypair) -> identify::Config {
    let agent = concat!("zx1/", env!("CARGO_PKG_VERSION"));
    identify::Config::new(IDENTIFY_PROTOCOL.to_owned(), key.public())
        .with_agent_version(agent.to_owned())
        .with_push_listen_addr_updates(true)
        // The node feeds addresses to the table itself, after judging them.
        .with_cache_size(0)
}

fn relay() -> relay::Config {
    relay::Config {
        max_reservations: RELAY_RESERVATIONS,
        max_circuits: RELAY_RESERVATIONS,
        max_circuits_per_peer: RELAY_CIRCUITS_PER_PEER,
        max_circuit_duration: RELAY_TIME,
        max_circuit_bytes: RELAY_BYTES,
        ..relay::Config::default()
    }
}
