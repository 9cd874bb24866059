//! The task that owns the swarm: commands, outcomes of the pool, and upkeep. What the swarm reports is in
//! [`reports`](super::reports).

use super::command::{Command, Identity, PeerInfo};
use super::error::NodeError;
use super::event::Event;
use super::peers::{self, Peers};
use super::pool::{Outcome, Pool, Ruling};
use super::queue::QueueLimits;
use super::scores::{Extra, count_subnets, from_hundredths, in_hundredths};
use super::transport;
use super::trim::{Held, to_trim};
use crate::addresses::{is_relayed, subnet};
use crate::behaviour::Behaviour;
use crate::behaviour::gossip::{points, topic_of};
use crate::defaults::*;
use crate::direct::Frame;
use crate::drops::{Counters, Dropped};
use crate::score::{MESH, THRESHOLDS};
use crate::settings::Settings;
use crate::validate::{Sink, Validator};
use crate::wire::TOPICS;
use libp2p::core::transport::ListenerId;
use libp2p::futures::StreamExt;
use libp2p::gossipsub::{MessageAcceptance, MessageId, PublishError};
use libp2p::kad::QueryId;
use libp2p::metrics::{Metrics, Registry};
use libp2p::multiaddr::Protocol;
use libp2p::request_response::OutboundRequestId;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};
use libp2p::swarm::{self, ConnectionId, DialError, Swarm};
use libp2p::{Multiaddr, PeerId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval};
use zx1_protocol::channel::Channel;
use zx1_protocol::hash::Hash;

/// A connected peer.
pub(super) struct Connected {
    pub(super) address: Multiaddr,
    pub(super) outbound: bool,
    pub(super) since: Instant,
    pub(super) last_use: Instant,
    pub(super) agent: Option<String>,
    pub(super) ping: Option<Duration>,
}

type Reply<T> = oneshot::Sender<Result<T, NodeError>>;

/// The task's state.
pub(super) struct Task<V, S> {
    pub(super) swarm: Swarm<Behaviour>,
    pub(super) pool: Pool<V, S>,
    outcomes: mpsc::Receiver<Outcome>,
    pub(super) settings: Settings,
    pub(super) counters: Arc<Counters>,
    news: mpsc::Sender<Event>,
    pub(super) metrics: Option<Metrics>,
    pub(super) peers: Peers,
    pub(super) connected: HashMap<PeerId, Connected>,
    pub(super) extras: HashMap<PeerId, Extra>,
    /// Peers that keep a place for us or for which we keep one: they are not trimmed.
    pub(super) relays: HashSet<PeerId>,
    /// Places at relays that are asked for or kept, by their listeners; and those that were lost.
    pub(super) places: HashMap<ListenerId, Multiaddr>,
    pub(super) lost_places: Vec<Multiaddr>,
    pub(super) sending: HashMap<OutboundRequestId, (PeerId, Reply<()>)>,
    pub(super) dialling: HashMap<ConnectionId, (Multiaddr, Reply<PeerId>)>,
    pub(super) finding: HashMap<QueryId, (PeerId, Reply<Vec<Multiaddr>>)>,
    saving: Option<oneshot::Receiver<Result<(), NodeError>>>,
}

impl<V: Validator, S: Sink> Task<V, S> {
    /// Reads the peers, builds the swarm and listens.
    pub(super) async fn new(
        settings: Settings,
        validator: V,
        sink: S,
        counters: Arc<Counters>,
        news: mpsc::Sender<Event>,
        mut registry: Option<&mut Registry>,
    ) -> Result<Self, NodeError> {
        let peers = load_peers(&settings).await?;
        let (transport, relay_client) = transport::new(&settings)?;
        let behaviour =
            Behaviour::new(relay_client, &settings, Arc::clone(&counters), registry.as_deref_mut())
                .map_err(NodeError::Start)?;
        let config = swarm::Config::with_tokio_executor().with_idle_connection_timeout(IDLE_TIMEOUT);
        let local = settings.key.public().to_peer_id();
        let mut swarm = Swarm::new(transport, behaviour, local, config);
        let mut places = HashMap::new();
        for address in &settings.listen {
            let listener = swarm
                .listen_on(address.clone())
                .map_err(|error| NodeError::Listen { address: address.clone(), reason: error.to_string() })?;
            if is_relayed(address) {
                places.insert(listener, address.clone());
            }
        }
        for address in &settings.external {
            swarm.add_external_address(address.clone());
        }
        let limits = QueueLimits { messages: settings.max_queued, bytes: settings.max_queued_bytes };
        let (pool, outcomes) = Pool::start(validator, sink, limits, Arc::clone(&counters));
        let mut task = Self {
            swarm,
            pool,
            outcomes,
            settings,
            counters,
            news,
            metrics: registry.map(Metrics::new),
            peers,
            connected: HashMap::new(),
            extras: HashMap::new(),
            relays: HashSet::new(),
            places,
            lost_places: Vec::new(),
            sending: HashMap::new(),
            dialling: HashMap::new(),
            finding: HashMap::new(),
            saving: None,
        };
        task.begin();
        Ok(task)
    }

    /// Runs until it is stopped.
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let every = |period: Duration| {
            let mut ticks = interval(period.max(Duration::from_millis(1)));
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        };
        let (mut upkeep, mut redial, mut save) =
            (every(self.settings.upkeep), every(REDIAL), every(SAVE_PEERS));
        loop {
            tokio::select! {
                report = self.swarm.select_next_some() => self.report(report),
                Some(outcome) = self.outcomes.recv() => self.settle(outcome),
                command = commands.recv() => match command {
                    Some(Command::Stop { reply }) => {
                        let saved = self.stop().await;
                        let _ = reply.send(saved);
                        return;
                    }
                    Some(command) => self.command(command),
                    None => {
                        let _ = self.stop().await;
                        return;
                    }
                },
                _ = upkeep.tick() => self.upkeep(),
                _ = redial.tick() => self.redial(),
                _ = save.tick() => self.save(),
            }
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.settings.clock.unix_secs()
    }

    /// Tells the reader, if it listens.
    pub(super) fn tell(&self, event: Event) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.news.try_send(event) {
            self.counters.drop_one(Dropped::EventReader);
        }
    }

    /// Does what the pool decided.
    pub(super) fn settle(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Gossip { id, forwarder, ruling } => self.rule(&id, forwarder, ruling),
            // The stream may be gone meanwhile, and then nobody waits for the answer.
            Outcome::Direct { answer, with, blame } => {
                let _ = self.swarm.behaviour_mut().direct.send_response(answer, with);
                if let Some(peer) = blame {
                    self.blame(peer, FAULT);
                }
            }
        }
    }

    fn rule(&mut self, id: &MessageId, forwarder: PeerId, ruling: Ruling) {
        let acceptance = match ruling {
            Ruling::Accept => MessageAcceptance::Accept,
            Ruling::Reject => MessageAcceptance::Reject,
            Ruling::Ignore | Ruling::BlameForwarder => MessageAcceptance::Ignore,
        };
        let gossip = &mut self.swarm.behaviour_mut().gossip;
        if !gossip.report_message_validation_result(id, &forwarder, acceptance) {
            self.counters.drop_one(Dropped::Late);
        }
        if ruling == Ruling::BlameForwarder {
            self.blame(forwarder, FAULT);
        }
    }

    /// A peer brought what no honest peer brings.
    pub(super) fn blame(&mut self, peer: PeerId, weight: u64) {
        if self.extras.len() < MAX_STANDINGS || self.connected.contains_key(&peer) {
            self.extras.entry(peer).or_default().blame(weight);
            self.refresh_score(peer);
        }
    }

    /// Whether nothing of a peer is read.
    pub(super) fn is_graylisted(&self, peer: &PeerId) -> bool {
        let score = self.swarm.behaviour().gossip.peer_score(peer);
        score.is_some_and(|score| score < points(THRESHOLDS.graylist))
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Publish { channel, envelope, reply } => {
                answer(reply, self.publish(channel, envelope));
            }
            Command::Send { peer, envelope, reply } => self.send(peer, envelope, reply),
            Command::Dial { address, reply } => self.dial(address, reply),
            Command::Find { peer, reply } => self.find(peer, reply),
            Command::Hint { peer, address, reply } => {
                self.peers.learn(peer, &address);
                answer(reply, ());
            }
            Command::Confirm { address, reply } => {
                self.swarm.add_external_address(address.clone());
                // The swarm reports only what it found out itself.
                self.tell(Event::External(address));
                answer(reply, ());
            }
            Command::Peers { reply } => answer(reply, self.peer_infos()),
            Command::Identity { reply } => answer(
                reply,
                Identity {
                    peer: *self.swarm.local_peer_id(),
                    listening: self.swarm.listeners().cloned().collect(),
                    external: self.swarm.external_addresses().cloned().collect(),
                },
            ),
            Command::Block { peer, until, reply } => {
                self.block(peer, until);
                answer(reply, ());
            }
            Command::Unblock { peer, reply } => {
                self.swarm.behaviour_mut().blocked.unblock_peer(peer);
                answer(reply, self.peers.unblock(&peer));
            }
            Command::Forget { peer, reply } => {
                self.peers.forget(&peer);
                self.extras.remove(&peer);
                self.swarm.behaviour_mut().kad.remove_peer(&peer);
                answer(reply, ());
            }
            Command::Welcome { peer, reply } => {
                self.peers.welcome(&peer);
                answer(reply, ());
            }
            Command::Standing { peer, hundredths, reply } => {
                if self.extras.len() < MAX_STANDINGS || self.connected.contains_key(&peer) {
                    self.extras.entry(peer).or_default().standing = hundredths;
                    self.refresh_score(peer);
                }
                answer(reply, ());
            }
            // `run` takes it.
            Command::Stop { reply } => drop(reply),
        }
    }

    fn publish(&mut self, channel: Channel, envelope: Vec<u8>) -> Result<Hash, NodeError> {
        let topic = topic_of(channel).ok_or(NodeError::NoTopic)?;
        let id = crate::wire::message_id(&envelope);
        let published = self.swarm.behaviour_mut().gossip.publish(topic, envelope);
        published.map(|_| id).map_err(|error| match error {
            PublishError::Duplicate => NodeError::Duplicate,
            PublishError::NoPeersSubscribedToTopic => NodeError::NoPeers,
            PublishError::AllQueuesFull(_) => NodeError::Busy,
            other => NodeError::Publish(other.to_string()),
        })
    }

    fn send(&mut self, peer: PeerId, envelope: Vec<u8>, reply: Reply<()>) {
        if self.peers.is_blocked(&peer, self.now()) {
            return answer(reply, Err(NodeError::Blocked { peer }));
        }
        if self.sending.len() >= MAX_DIRECT_SENDING {
            return answer(reply, Err(NodeError::Busy));
        }
        let addresses = self.peers.addresses(&peer).to_vec();
        let behaviour = self.swarm.behaviour_mut();
        behaviour.admission.want(peer);
        let request =
            behaviour.direct.send_request_with_addresses(&peer, Frame::Envelope(envelope), addresses);
        self.sending.insert(request, (peer, reply));
    }

    fn dial(&mut self, address: Multiaddr, reply: Reply<PeerId>) {
        let peer = match address.iter().last() {
            Some(Protocol::P2p(peer)) => Some(peer),
            _ => None,
        };
        if let Some(peer) = peer.filter(|it| self.swarm.is_connected(it)) {
            self.swarm.behaviour_mut().admission.want(peer);
            return answer(reply, Ok(peer));
        }
        if self.dialling.len() >= usize::try_from(self.settings.max_pending).unwrap_or(usize::MAX) {
            return answer(reply, Err(NodeError::Busy));
        }
        let options = match peer {
            Some(peer) => DialOpts::peer_id(peer)
                .condition(PeerCondition::Disconnected)
                .addresses(vec![address.clone()])
                .build(),
            None => DialOpts::unknown_peer_id().address(address.clone()).build(),
        };
        let options = self.swarm.behaviour_mut().admission.want_dial(options);
        let id = options.connection_id();
        match self.swarm.dial(options) {
            Ok(()) => drop(self.dialling.insert(id, (address, reply))),
            Err(error) => {
                let reason = dial_reason(&error);
                answer(reply, Err(NodeError::Dial { address, reason }));
            }
        }
    }

    fn find(&mut self, peer: PeerId, reply: Reply<Vec<Multiaddr>>) {
        if self.finding.len() >= MAX_FINDING {
            return answer(reply, Err(NodeError::Busy));
        }
        let query = self.swarm.behaviour_mut().kad.get_closest_peers(peer);
        self.finding.insert(query, (peer, reply));
    }

    fn block(&mut self, peer: PeerId, until: u64) {
        let displaced = self.peers.block(peer, until);
        let blocked = &mut self.swarm.behaviour_mut().blocked;
        if until > self.settings.clock.unix_secs() {
            blocked.block_peer(peer);
        }
        for peer in displaced {
            blocked.unblock_peer(peer);
        }
    }

    fn peer_infos(&self) -> Vec<PeerInfo> {
        let gossip = &self.swarm.behaviour().gossip;
        let infos = self.connected.iter().map(|(peer, it)| {
            let score = gossip.peer_score(peer).unwrap_or(0.0);
            PeerInfo {
                peer: *peer,
                address: it.address.clone(),
                outbound: it.outbound,
                connections: self.swarm.behaviour().admission.connections(peer),
                mesh: self.meshes_of(peer),
                score: in_hundredths(score),
                graylisted: score < points(THRESHOLDS.graylist),
                agent: it.agent.clone(),
                ping_micros: it.ping.map(|it| u64::try_from(it.as_micros()).unwrap_or(u64::MAX)),
            }
        });
        infos.collect()
    }

    fn meshes_of(&self, peer: &PeerId) -> Vec<Channel> {
        let gossip = &self.swarm.behaviour().gossip;
        let in_mesh = |channel: &Channel| {
            topic_of(*channel).is_some_and(|topic| gossip.mesh_peers(&topic.hash()).any(|it| it == peer))
        };
        TOPICS.into_iter().filter(in_mesh).collect()
    }

    /// Sets what the node adds to gossipsub's score of a connected peer.
    pub(super) fn refresh_score(&mut self, peer: PeerId) {
        let subnets = count_subnets(self.connected.values().map(|it| subnet(&it.address)));
        self.set_score(peer, &subnets);
    }

    fn set_score(&mut self, peer: PeerId, subnets: &HashMap<crate::addresses::Subnet, usize>) {
        let Some(connected) = self.connected.get(&peer) else { return };
        let in_subnet = subnet(&connected.address).and_then(|it| subnets.get(&it)).copied().unwrap_or(0);
        let carried = self.peers.carried(&peer, self.now());
        let extra = self.extras.get(&peer).copied().unwrap_or_default();
        let score = from_hundredths(extra.hundredths(carried, in_subnet));
        self.swarm.behaviour_mut().gossip.set_application_score(&peer, score);
    }

    /// Scores, ended blocks, trimming, and whether the last save went well.
    fn upkeep(&mut self) {
        let now = self.now();
        self.ask_for_places();
        for peer in self.peers.lift_ended(now) {
            self.swarm.behaviour_mut().blocked.unblock_peer(peer);
        }
        self.extras.values_mut().for_each(Extra::decay);
        let connected: Vec<_> = self.connected.keys().copied().collect();
        self.extras.retain(|peer, extra| !extra.is_plain() || self.connected.contains_key(peer));
        let subnets = count_subnets(self.connected.values().map(|it| subnet(&it.address)));
        for peer in connected {
            self.set_score(peer, &subnets);
            let score = self.swarm.behaviour().gossip.peer_score(&peer).map_or(0, in_hundredths);
            self.peers.score(peer, score);
            self.peers.saw(peer, now);
        }
        let grace = self.settings.second_connection;
        self.swarm.behaviour_mut().admission.settle(Instant::now(), grace);
        for peer in to_trim(&self.held()) {
            if self.swarm.disconnect_peer_id(peer).is_ok() {
                self.tell(Event::Trimmed(peer));
            }
        }
        self.look_at_save();
    }

    /// Whether the last save is done, and if it failed, that it is to be tried again.
    fn look_at_save(&mut self) {
        let Some(saving) = &mut self.saving else { return };
        match saving.try_recv() {
            Err(oneshot::error::TryRecvError::Empty) => return,
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                self.peers.touch();
                self.tell(Event::NotSaved(error.to_string()));
            }
            Err(oneshot::error::TryRecvError::Closed) => self.peers.touch(),
        }
        self.saving = None;
    }

    fn held(&self) -> Vec<Held> {
        let behaviour = self.swarm.behaviour();
        let held = self.connected.iter().map(|(peer, it)| Held {
            peer: *peer,
            outbound: it.outbound,
            in_mesh: !self.meshes_of(peer).is_empty(),
            score: behaviour.gossip.peer_score(peer).map_or(0, in_hundredths),
            unused: it.last_use.elapsed(),
            age: it.since.elapsed(),
            needed: self.relays.contains(peer) || behaviour.admission.is_wanted(peer),
        });
        held.collect()
    }

    /// Blocks and saved addresses take effect, and the first peers are dialled.
    fn begin(&mut self) {
        let blocked: Vec<_> = self.peers.blocked().collect();
        for peer in blocked {
            self.swarm.behaviour_mut().blocked.block_peer(peer);
        }
    }

    /// Asks relays again for places that they did not give or do not keep any more.
    fn ask_for_places(&mut self) {
        for address in std::mem::take(&mut self.lost_places) {
            match self.swarm.listen_on(address.clone()) {
                Ok(listener) => drop(self.places.insert(listener, address)),
                Err(_) => self.lost_places.push(address),
            }
        }
    }

    /// With few peers, dials those of the settings and those that are remembered.
    fn redial(&mut self) {
        let missing = MESH.peers.saturating_sub(self.connected.len());
        if missing == 0 {
            return;
        }
        for address in self.settings.bootstrap.clone() {
            if let Some(Protocol::P2p(peer)) = address.iter().last() {
                self.swarm.behaviour_mut().admission.want(peer);
                self.swarm.behaviour_mut().kad.add_address(&peer, address.clone());
                self.dial_quietly(peer, vec![address]);
            }
        }
        let remembered = self.peers.to_dial(self.now()).into_iter();
        let remembered: Vec<_> =
            remembered.filter(|it| !self.connected.contains_key(it)).take(missing).collect();
        for peer in remembered {
            let addresses = self.peers.addresses(&peer).to_vec();
            self.dial_quietly(peer, addresses);
        }
    }

    /// Dials a peer that is not connected; nobody waits for it.
    pub(super) fn dial_quietly(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        // A refusal here is that it is connected, dialled, blocked or over a limit.
        let _ = self.swarm.dial(DialOpts::peer_id(peer).addresses(addresses).build());
    }

    fn save(&mut self) {
        self.look_at_save();
        let Some(path) = self.settings.peers_file.clone() else { return };
        // Writes keep their order: while one is under way no other begins.
        if self.saving.is_none()
            && let Some(bytes) = self.peers.take_unsaved()
        {
            let (done, saving) = oneshot::channel();
            tokio::task::spawn_blocking(move || done.send(peers::save(&path, &bytes)));
            self.saving = Some(saving);
        }
    }

    async fn stop(&mut self) -> Result<(), NodeError> {
        self.upkeep();
        // The write under way ends first; if it failed, this one says the same.
        if let Some(saving) = self.saving.take()
            && !matches!(saving.await, Ok(Ok(())))
        {
            self.peers.touch();
        }
        self.save();
        match self.saving.take() {
            Some(saving) => saving.await.unwrap_or(Err(NodeError::Stopped)),
            None => Ok(()),
        }
    }
}

/// Answers whoever asked, who may not wait any more.
fn answer<T>(reply: oneshot::Sender<T>, with: T) {
    let _ = reply.send(with);
}

async fn load_peers(settings: &Settings) -> Result<Peers, NodeError> {
    let Some(path) = settings.peers_file.clone() else { return Ok(Peers::default()) };
    let loaded = tokio::task::spawn_blocking(move || peers::load(&path)).await;
    loaded.unwrap_or(Err(NodeError::Stopped))
}

/// A dial's failure without the addresses, which whoever dialled knows.
pub(super) fn dial_reason(error: &DialError) -> String {
    match error {
        DialError::Transport(tries) => {
            let reasons: Vec<_> = tries.iter().map(|(_, error)| error.to_string()).collect();
            reasons.join("; ")
        }
        DialError::Denied { cause } => {
            std::error::Error::source(cause).map_or_else(|| cause.to_string(), |it| it.to_string())
        }
        other => other.to_string(),
    }
}
