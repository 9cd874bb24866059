//! The same with real nodes: `zx1_mesh::node::Node` over the memory transport, each with a real intake as its validator.
//!
//! Links in memory take no time, and what a node takes for a verdict depends on the machine. So each node is given a delay
//! of its own that is much longer, and the simulation has these delays as latencies. Connections and meshes are those that
//! the real nodes made.

use crate::agents::{Agents, BadMessage, START, chain_at};
use crate::network::{MESHED, Network, random_dials};
use crate::outcome::Times;
use crate::random::Random;
use crate::setup::{Setup, Traffic};
use crate::sim::Sim;
use libp2p::identity::Keypair;
use libp2p::{Multiaddr, PeerId};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use zx1_mesh::facts::Facts;
use zx1_mesh::gate::{Gate, Mode, Path};
use zx1_mesh::intake::{Arrived, Intake, Outcome};
use zx1_mesh::node::{Event, Events, Node, NodeError, Settings};
use zx1_mesh::score::MESH;
use zx1_mesh::validate::{Message, NotKept, Sink, Validator, Verdict};
use zx1_mesh::wire::message_id;
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::AgentId;

/// How long nodes may take to find each other.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause before the first message and after the last one.
const CALM: Duration = Duration::from_secs(3);
const DEGREE: u32 = 8;
const MICROS_PER_MILLI: u64 = 1_000;
const MILLION: u64 = 1_000_000;

/// What is run for a calibration.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of real nodes.
    pub nodes: u32,
    /// Messages, one after the other.
    pub messages: u32,
    /// Time between two of them.
    pub pause: Duration,
    /// Shortest and longest delay of a node, in milliseconds.
    pub delay_millis: (u32, u32),
    /// From which connections, delays and authors follow.
    pub seed: u64,
}

/// One side of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Delivered parts of a million.
    pub delivered_ppm: u64,
    /// Median from publishing to acceptance.
    pub p50_millis: u64,
    /// 99th percentile of the same.
    pub p99_millis: u64,
}

/// Real nodes beside simulated ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Calibration {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of messages.
    pub messages: u32,
    /// Shortest and longest delay of a node.
    pub delay_millis: (u32, u32),
    /// What real nodes did.
    pub real: Side,
    /// What the simulation says.
    pub simulated: Side,
}

impl Calibration {
    /// Whether deliveries are within one point of each other.
    pub fn is_delivery_close(&self) -> bool {
        self.real.delivered_ppm.abs_diff(self.simulated.delivered_ppm) <= MILLION / 100
    }

    /// Whether the simulation's median is within 20 % of the real one.
    pub fn is_latency_close(&self) -> bool {
        self.real.p50_millis.abs_diff(self.simulated.p50_millis) * 5 <= self.real.p50_millis
    }
}

/// Why there is no calibration.
#[derive(Debug)]
pub enum CalibrationError {
    /// A node did not do what it was asked.
    Node(NodeError),
    /// The simulation made a wrong message.
    Message(BadMessage),
    /// Nodes did not find each other in time.
    TooSlow(&'static str),
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(error) => error.fmt(f),
            Self::Message(error) => error.fmt(f),
            Self::TooSlow(what) => write!(f, "Within {} s {what}.", PATIENCE.as_secs()),
        }
    }
}

impl std::error::Error for CalibrationError {}

impl From<NodeError> for CalibrationError {
    fn from(error: NodeError) -> Self {
        Self::Node(error)
    }
}

impl From<BadMessage> for CalibrationError {
    fn from(error: BadMessage) -> Self {
        Self::Message(error)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message in an intake.
struct Taken(Message);

impl Arrived for Taken {
    fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    fn path(&self) -> Path {
        Path { channel: self.0.channel, source: Some(self.0.author) }
    }
}

/// A real intake whose cluster answers at once.
struct Judge {
    intake: Mutex<Intake<PeerId, Taken>>,
    registry: Arc<HashMap<AgentId, Facts>>,
    begun: Instant,
    delay: Duration,
}

impl Judge {
    fn verdict(&self, message: &Message) -> Verdict {
        let passed = self.begun.elapsed().as_micros() as u64;
        let now = START + passed;
        let mut intake = lock(&self.intake);
        let mut outcomes = intake.set_chain(chain_at(passed), now);
        outcomes.extend(intake.receive(message.forwarder, Taken(message.clone()), now));
        while let Some(batch) = intake.due(now) {
            let authors = batch.lookups.into_iter().map(|(author, _)| author);
            let found = authors.map(|author| (author, self.registry.get(&author).cloned())).collect();
            outcomes.extend(intake.answer(batch.id, found, now));
        }
        match outcomes.pop() {
            Some(Outcome::Accepted(..)) => Verdict::Accept,
            Some(Outcome::Rejected(..)) => Verdict::Reject(1),
            Some(Outcome::Ignored(..)) | None => Verdict::Ignore(1),
        }
    }
}

impl Validator for Judge {
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        let (verdict, delay) = (self.verdict(message), self.delay);
        async move {
            sleep(delay).await;
            verdict
        }
    }
}

/// When which message was accepted, by all nodes.
#[derive(Clone)]
struct Diary(Arc<Mutex<Vec<(Hash, Instant)>>>);

impl Sink for Diary {
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        lock(&self.0).push((message_id(&message.bytes), Instant::now()));
        std::future::ready(Ok(()))
    }
}

struct Peer {
    node: Node,
    address: Multiaddr,
    /// Nobody reads them; without a receiver the node would not count what it drops.
    _events: Events,
}

/// Runs real nodes and then the same network simulated.
///
/// # Errors
/// A node's, or that they do not find each other.
pub async fn calibrate(plan: Plan) -> Result<Calibration, CalibrationError> {
    let mut agents = Agents::new(plan.seed, plan.nodes);
    let mut random = Random::new(plan.seed, "delays");
    let (low, high) = (u64::from(plan.delay_millis.0), u64::from(plan.delay_millis.1));
    let delays: Vec<u64> = (0..plan.nodes).map(|_| random.between(low, high) * MICROS_PER_MILLI).collect();
    let mut registry = HashMap::new();
    for agent in 0..plan.nodes {
        registry.insert(agents.id(u64::from(agent)), agents.facts(agent)?);
    }
    let (registry, diary) = (Arc::new(registry), Diary(Arc::default()));
    let begun = Instant::now();
    let mut peers = Vec::new();
    for agent in 0..plan.nodes {
        let judge = Judge {
            intake: Mutex::new(Intake::new(Gate::new(agents.id(u64::from(agent)), Mode::Enforced))),
            registry: Arc::clone(&registry),
            begun,
            delay: Duration::from_micros(delays[agent as usize]),
        };
        peers.push(start(agents.secret(agent), judge, diary.clone()).await?);
    }
    let dials = random_dials(plan.nodes, DEGREE, &mut Random::new(plan.seed, "dials"));
    for (from, to) in &dials {
        peers[*from as usize].node.dial(peers[*to as usize].address.clone()).await?;
    }
    timeout(PATIENCE, meshes_formed(&peers))
        .await
        .map_err(|_| CalibrationError::TooSlow("some nodes had no mesh"))??;
    sleep(CALM).await;
    let meshes = meshes(&peers).await?;

    let mut random = Random::new(plan.seed, "authors");
    let mut published = HashMap::new();
    let mut next = Instant::now();
    for _ in 0..plan.messages {
        let author = random.below(u64::from(plan.nodes)) as u32;
        sleep_until(next).await;
        next += plan.pause;
        let signed = agents.sign(author, MsgType::Advertise, begun.elapsed().as_micros() as u64)?;
        let (id, at) = (message_id(&signed.bytes), Instant::now());
        published.insert(id, at);
        peers[author as usize].node.publish(Channel::Broadcast, signed.bytes).await?;
    }
    sleep(CALM).await;
    let mut times = Times::default();
    let mut delivered = 0;
    for (id, at) in lock(&diary.0).iter() {
        if let Some(published) = published.get(id) {
            delivered += 1;
            times.add(at.duration_since(*published).as_micros() as u64);
        }
    }
    for peer in &peers {
        peer.node.stop().await?;
    }
    let expected = u64::from(plan.messages) * u64::from(plan.nodes - 1);
    let real = Side {
        delivered_ppm: (delivered * MILLION).checked_div(expected).unwrap_or_default(),
        p50_millis: times.percentile(50),
        p99_millis: times.percentile(99),
    };
    let simulated = simulate(plan, &dials, &delays, &meshes)?;
    let Plan { nodes, messages, delay_millis, .. } = plan;
    Ok(Calibration { nodes, messages, delay_millis, real, simulated })
}

async fn start(mut secret: [u8; 32], judge: Judge, diary: Diary) -> Result<Peer, CalibrationError> {
    let key = Keypair::ed25519_from_bytes(&mut secret);
    let mut settings = Settings::new(key.map_err(|_| BadMessage("a node's key is not valid"))?);
    settings.memory_transport = true;
    settings.memory_limit = None;
    settings.autonat_server = false;
    settings.listen = vec!["/memory/0".parse().map_err(|_| BadMessage("a node has no address"))?];
    let (node, mut events) = Node::start(settings, judge, diary, None).await?;
    let address = loop {
        match timeout(PATIENCE, events.recv()).await {
            Ok(Some(Event::Listening(address))) => break address,
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return Err(CalibrationError::TooSlow("a node did not listen")),
        }
    };
    let address =
        address.with_p2p(node.peer_id()).map_err(|_| CalibrationError::TooSlow("a node had no address"))?;
    Ok(Peer { node, address, _events: events })
}

/// Waits until every node has the mesh that it aims at, or all of its peers in it.
async fn meshes_formed(peers: &[Peer]) -> Result<(), NodeError> {
    for peer in peers {
        loop {
            let all = peer.node.peers().await?;
            let meshed = all.iter().filter(|it| it.mesh.contains(&Channel::Broadcast)).count();
            if meshed >= MESH.low.min(all.len()) && meshed > 0 {
                break;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

/// Pairs of nodes of which one has the other in its mesh of the broadcast topic.
async fn meshes(peers: &[Peer]) -> Result<HashSet<(u32, u32)>, NodeError> {
    let numbers: HashMap<PeerId, u32> = peers.iter().map(|it| it.node.peer_id()).zip(0..).collect();
    let mut meshes = HashSet::new();
    for (peer, number) in peers.iter().zip(0..) {
        for it in peer.node.peers().await? {
            let other = numbers.get(&it.peer).filter(|_| it.mesh.contains(&Channel::Broadcast));
            meshes.extend(other.map(|other| (number, *other)));
        }
    }
    Ok(meshes)
}

fn simulate(
    plan: Plan,
    dials: &[(u32, u32)],
    delays: &[u64],
    meshes: &HashSet<(u32, u32)>,
) -> Result<Side, BadMessage> {
    let delay = |node: u32| delays[node as usize] as u32;
    let mut network = Network::of(plan.nodes, dials, |from, to| (delay(to), delay(from)));
    for link in 0..network.links.len() {
        let (owner, peer) = (network.owner(link), network.links[link].to);
        let either = meshes.contains(&(owner, peer)) || meshes.contains(&(peer, owner));
        network.set(link, MESHED, either);
    }
    let seconds = plan.pause.as_secs_f64() * f64::from(plan.messages);
    let mut setup = Setup::new(plan.nodes, seconds.ceil() as u32, plan.seed);
    let chatter = 1_000.0 / plan.pause.as_secs_f64().max(0.001);
    setup.traffic = Traffic { chatter: chatter as u32, ..Traffic::default() };
    let outcome = Sim::over(setup, network).run()?;
    Ok(Side {
        delivered_ppm: outcome.deliveries.ppm(),
        p50_millis: outcome.p50_millis,
        p99_millis: outcome.p99_millis,
    })
}
