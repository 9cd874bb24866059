//! What the swarm reports, and what the node does about it.

use super::error::NodeError;
use super::event::Event;
use super::pool::{Item, Origin, Outcome, Ruling};
use super::task::{Connected, Task, dial_reason};
use crate::addresses::{is_believable, is_relayed};
use crate::behaviour::BehaviourEvent;
use crate::defaults::*;
use crate::direct::{Answer, Fault, Frame};
use crate::drops::Dropped;
use crate::score::MESH;
use crate::validate::{Message, Sink, Validator};
use crate::wire::{DIRECT_PROTOCOL, KAD_PROTOCOL, channel_of_topic, key_of_peer};
use libp2p::core::ConnectedPoint;
use libp2p::metrics::{Metrics, Recorder};
use libp2p::request_response::{self, InboundFailure, OutboundFailure};
use libp2p::swarm::{ConnectionId, DialError, ListenError, SwarmEvent};
use libp2p::{Multiaddr, PeerId, gossipsub, identify, kad, mdns, relay};
use std::io::ErrorKind;
use tokio::time::Instant;
use zx1_protocol::channel::Channel;

impl<V: Validator, S: Sink> Task<V, S> {
    pub(super) fn report(&mut self, report: SwarmEvent<BehaviourEvent>) {
        if let Some(metrics) = &self.metrics {
            metrics.record(&report);
        }
        match report {
            SwarmEvent::Behaviour(event) => self.behaviour(event),
            SwarmEvent::ConnectionEstablished {
                peer_id, connection_id, endpoint, num_established, ..
            } => {
                self.connected(peer_id, connection_id, endpoint, num_established.get() == 1);
            }
            SwarmEvent::ConnectionClosed { peer_id, num_established: 0, .. } => self.disconnected(peer_id),
            SwarmEvent::IncomingConnectionError { error: ListenError::Denied { .. }, .. } => {
                self.counters.drop_one(Dropped::Connection);
            }
            SwarmEvent::OutgoingConnectionError { connection_id, error, .. } => {
                if matches!(error, DialError::Denied { .. }) {
                    self.counters.drop_one(Dropped::Connection);
                }
                if let Some((address, reply)) = self.dialling.remove(&connection_id) {
                    let _ = reply.send(Err(NodeError::Dial { address, reason: dial_reason(&error) }));
                }
            }
            SwarmEvent::ListenerClosed { listener_id, .. } => {
                if let Some(address) = self.places.remove(&listener_id) {
                    self.tell(Event::PlaceLost(address.clone()));
                    self.lost_places.push(address);
                }
            }
            SwarmEvent::NewListenAddr { address, .. } => self.tell(Event::Listening(address)),
            SwarmEvent::ExpiredListenAddr { address, .. } => self.tell(Event::NotListening(address)),
            SwarmEvent::ExternalAddrConfirmed { address } => self.tell(Event::External(address)),
            SwarmEvent::ExternalAddrExpired { address } => self.tell(Event::NotExternal(address)),
            _ => {}
        }
    }

    fn connected(&mut self, peer: PeerId, id: ConnectionId, endpoint: ConnectedPoint, first: bool) {
        let (address, outbound) = (address_of(&endpoint), endpoint.is_dialer());
        if let Some((_, reply)) = self.dialling.remove(&id) {
            let _ = reply.send(Ok(peer));
        }
        let now = Instant::now();
        let agent = self.connected.get(&peer).and_then(|it| it.agent.clone());
        let connected =
            Connected { address: address.clone(), outbound, since: now, last_use: now, agent, ping: None };
        // Beside a relayed connection the direct one is the one that counts.
        if first || !is_relayed(&address) {
            self.connected.insert(peer, connected);
        }
        self.peers.saw(peer, self.now());
        // The other end of an inbound connection is a port that nobody listens on.
        if outbound && !is_relayed(&address) {
            self.peers.learn(peer, &address);
        }
        self.refresh_score(peer);
        if first {
            self.tell(Event::Connected { peer, address, outbound });
        }
    }

    fn disconnected(&mut self, peer: PeerId) {
        self.connected.remove(&peer);
        self.relays.remove(&peer);
        self.peers.saw(peer, self.now());
        self.tell(Event::Disconnected(peer));
    }

    fn behaviour(&mut self, event: BehaviourEvent) {
        if let Some(metrics) = &self.metrics {
            record(metrics, &event);
        }
        match event {
            BehaviourEvent::Gossip(event) => self.gossip(event),
            BehaviourEvent::Direct(event) => self.direct(event),
            BehaviourEvent::Kad(event) => self.kad(event),
            BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. }) => {
                self.identified(peer_id, info);
            }
            BehaviourEvent::Mdns(mdns::Event::Discovered(found)) => self.discovered(found),
            BehaviourEvent::RelayClient(relay::client::Event::ReservationReqAccepted {
                relay_peer_id,
                ..
            }) => {
                self.relays.insert(relay_peer_id);
                self.tell(Event::Relayed(relay_peer_id));
            }
            BehaviourEvent::RelayServer(event) => self.relaying(&event),
            BehaviourEvent::Dcutr(event) => {
                let peer = event.remote_peer_id;
                self.tell(match event.result {
                    Ok(_) => Event::HolePunched(peer),
                    Err(error) => Event::StaysRelayed { peer, reason: error.to_string() },
                });
            }
            BehaviourEvent::Ping(event) => {
                if let (Ok(time), Some(peer)) = (event.result, self.connected.get_mut(&event.peer)) {
                    peer.ping = Some(time);
                }
            }
            _ => {}
        }
    }

    fn gossip(&mut self, event: gossipsub::Event) {
        match event {
            gossipsub::Event::Message { propagation_source, message_id, message } => {
                self.used(propagation_source);
                self.gossiped(propagation_source, message_id, message);
            }
            gossipsub::Event::Subscribed { peer_id, topic } => {
                if let Some(channel) = channel_of_topic(topic.as_str()) {
                    self.tell(Event::Subscribed(peer_id, channel));
                }
            }
            gossipsub::Event::Unsubscribed { peer_id, topic } => {
                if let Some(channel) = channel_of_topic(topic.as_str()) {
                    self.tell(Event::Unsubscribed(peer_id, channel));
                }
            }
            gossipsub::Event::SlowPeer { peer_id, failed_messages } => {
                let failed = failed_messages.priority.saturating_add(failed_messages.non_priority);
                let messages = u64::try_from(failed).unwrap_or(u64::MAX);
                self.counters.drop_many(Dropped::SlowPeer, messages);
                self.tell(Event::Slow { peer: peer_id, messages });
            }
            gossipsub::Event::GossipsubNotSupported { .. } => {}
        }
    }

    fn gossiped(&mut self, forwarder: PeerId, id: gossipsub::MessageId, message: gossipsub::Message) {
        let refuse = |ruling| Outcome::Gossip { id: id.clone(), forwarder, ruling };
        let Some(channel) = channel_of_topic(message.topic.as_str()) else {
            self.counters.drop_one(Dropped::Topic);
            return self.settle(refuse(Ruling::Ignore));
        };
        // Strict mode lets no message through without an author whose signature holds.
        let Some(author) = message.source.as_ref().and_then(key_of_peer) else {
            self.counters.drop_one(Dropped::AuthorKey);
            return self.settle(refuse(Ruling::BlameForwarder));
        };
        let message = Message { bytes: message.data.into(), channel, author, forwarder };
        self.judge(Item { message, origin: Origin::Gossip { id } });
    }

    fn judge(&mut self, item: Item) {
        for outcome in self.pool.push(item) {
            self.settle(outcome);
        }
    }

    fn direct(&mut self, event: request_response::Event<Frame, Answer>) {
        match event {
            request_response::Event::Message { peer, message, .. } => {
                self.used(peer);
                match message {
                    request_response::Message::Request { request, channel, .. } => {
                        self.streamed(peer, request, channel);
                    }
                    request_response::Message::Response { request_id, .. } => {
                        if let Some((_, reply)) = self.sending.remove(&request_id) {
                            let _ = reply.send(Ok(()));
                        }
                    }
                }
            }
            request_response::Event::OutboundFailure { peer, request_id, error, .. } => {
                if let Some((_, reply)) = self.sending.remove(&request_id) {
                    let _ = reply.send(Err(match error {
                        OutboundFailure::DialFailure => {
                            NodeError::Unreachable { peer, reason: "no address of it answers".to_owned() }
                        }
                        OutboundFailure::UnsupportedProtocols => NodeError::NotSupported { peer },
                        OutboundFailure::Timeout
                        | OutboundFailure::ConnectionClosed
                        | OutboundFailure::Io(_) => NodeError::Unanswered { peer },
                    }));
                }
            }
            request_response::Event::InboundFailure { error, .. } => match error {
                // A reset is the node's own answer to what it does not take, and counted where it was decided.
                InboundFailure::Io(error) if error.kind() == ErrorKind::ConnectionReset => {}
                _ => self.counters.drop_one(Dropped::Stream),
            },
            request_response::Event::ResponseSent { .. } => {}
        }
    }

    /// A peer wrote to a direct stream.
    fn streamed(&mut self, peer: PeerId, frame: Frame, answer: request_response::ResponseChannel<Answer>) {
        let reset = |answer| Outcome::Direct { answer, with: Answer::Reset, blame: None };
        let envelope = match frame {
            Frame::Envelope(envelope) => envelope,
            Frame::Broken(fault) => {
                self.blame(peer, if fault == Fault::Length { FAULT } else { FAULT_CUT_OFF });
                return self.settle(reset(answer));
            }
        };
        if self.is_graylisted(&peer) {
            self.counters.drop_one(Dropped::Graylisted);
            return self.settle(reset(answer));
        }
        let Some(author) = key_of_peer(&peer) else {
            self.counters.drop_one(Dropped::AuthorKey);
            return self.settle(reset(answer));
        };
        let message = Message { bytes: envelope.into(), channel: Channel::Direct, author, forwarder: peer };
        self.judge(Item { message, origin: Origin::Direct { answer } });
    }

    fn kad(&mut self, event: kad::Event) {
        let kad::Event::OutboundQueryProgressed { id, result, step, .. } = event else { return };
        let kad::QueryResult::GetClosestPeers(result) = result else { return };
        let found = match result {
            Ok(it) => it.peers,
            Err(kad::GetClosestPeersError::Timeout { peers, .. }) => peers,
        };
        let Some((wanted, _)) = self.finding.get(&id) else { return };
        let wanted = *wanted;
        for peer in found.into_iter().filter(|it| it.peer_id == wanted) {
            for address in peer.addrs {
                // Who said so is not known; the addresses of peers say in what kind of network this node is.
                if self.connected.values().any(|it| is_believable(&address, &it.address)) {
                    self.peers.learn(wanted, &address);
                } else {
                    self.counters.drop_one(Dropped::Address);
                }
            }
        }
        if step.last
            && let Some((_, reply)) = self.finding.remove(&id)
        {
            let _ = reply.send(Ok(self.peers.addresses(&wanted).to_vec()));
        }
    }

    fn identified(&mut self, peer: PeerId, info: identify::Info) {
        let Some(from) = self.connected.get(&peer).map(|it| it.address.clone()) else { return };
        if !info.protocols.contains(&DIRECT_PROTOCOL) {
            return;
        }
        let (believed, doubted): (Vec<_>, Vec<_>) =
            info.listen_addrs.into_iter().take(PEER_ADDRESSES).partition(|it| is_believable(it, &from));
        self.counters.drop_many(Dropped::Address, u64::try_from(doubted.len()).unwrap_or(u64::MAX));
        for address in &believed {
            self.peers.learn(peer, address);
            if info.protocols.contains(&KAD_PROTOCOL) && !self.peers.is_forgotten(&peer) {
                self.swarm.behaviour_mut().kad.add_address(&peer, address.clone());
            }
        }
        if let Some(connected) = self.connected.get_mut(&peer) {
            connected.agent = Some(info.agent_version.clone());
        }
        self.tell(Event::Identified { peer, agent: info.agent_version, addresses: believed });
    }

    fn discovered(&mut self, found: Vec<(PeerId, Multiaddr)>) {
        for (peer, address) in found {
            self.peers.learn(peer, &address);
            if self.connected.len() < MESH.high && !self.connected.contains_key(&peer) {
                self.dial_quietly(peer, vec![address]);
            }
        }
    }

    fn relaying(&mut self, event: &relay::Event) {
        match event {
            relay::Event::ReservationReqAccepted { src_peer_id, .. } => {
                self.relays.insert(*src_peer_id);
            }
            relay::Event::ReservationClosed { src_peer_id }
            | relay::Event::ReservationTimedOut { src_peer_id } => {
                self.relays.remove(src_peer_id);
            }
            _ => {}
        }
    }

    fn used(&mut self, peer: PeerId) {
        if let Some(connected) = self.connected.get_mut(&peer) {
            connected.last_use = Instant::now();
        }
    }
}

/// By which address a peer is connected. Who comes through a relay gives only a name as the address; the relay's
/// belongs before it.
fn address_of(endpoint: &ConnectedPoint) -> Multiaddr {
    match endpoint {
        ConnectedPoint::Listener { local_addr, send_back_addr } if endpoint.is_relayed() => {
            local_addr.iter().chain(send_back_addr).collect()
        }
        _ => endpoint.get_remote_address().clone(),
    }
}

fn record(metrics: &Metrics, event: &BehaviourEvent) {
    match event {
        BehaviourEvent::Gossip(it) => metrics.record(it),
        BehaviourEvent::Kad(it) => metrics.record(it),
        BehaviourEvent::Identify(it) => metrics.record(it),
        BehaviourEvent::RelayServer(it) => metrics.record(it),
        BehaviourEvent::Dcutr(it) => metrics.record(it),
        BehaviourEvent::Ping(it) => metrics.record(it),
        _ => {}
    }
}
