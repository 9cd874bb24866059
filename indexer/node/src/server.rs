//! A running node: everything put together, started and stopped.

use crate::agent::Agent;
use crate::beacon;
use crate::changes;
use crate::clock::NodeClock;
use crate::defaults::{CONNECTIONS, LOG_PATIENCE, REQUEST_WITHIN, WRITE_WITHIN};
use crate::departures;
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::first_peers::FirstPeers;
use crate::http::{App, Inner};
use crate::inbox::Acknowledged;
use crate::judge::{Judge, ScoreChange};
use crate::keep::Keeper;
use crate::local::Socket;
use crate::metrics;
use crate::notary::Notary;
use crate::notary::rows::Disk;
use crate::notary::ways::Live;
use crate::outbox::Sender;
use crate::pen::{Pen, blocking};
use crate::registration::Registrar;
use crate::signers::Signers;
use crate::store::Store;
use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::{Client, ClientOptions, Cluster as ClusterAddress, Identity};
use zx1_home::{Clock, Lock, files, keys};
use zx1_log::LogHandle;
use zx1_mesh::gate::Mode;
use zx1_mesh::node::{Event, Events, Node, Settings};
use zx1_operator::Wallet;
use zx1_operator::node::wire::Place;
use zx1_operator::node::{LOCK_FILE, PLACE_FILE, TOKEN_FILE};
use zx1_protocol::envelope::BROADCAST;
use zx1_protocol::ids::AgentId;
use zx1_server::jobs::Jobs;
use zx1_server::serve::{Bounds, listen};

/// The file in which peers are remembered.
const PEERS_FILE: &str = "node.peers";
/// The file that remembers which peers are whose.
const AGENTS_FILE: &str = "node.agents";
/// The registration file in the agent's folder, where no other is named.
const REGISTRATION_FILE: &str = "registration.json";

/// What a node is started with.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Config {
    pub agent: AgentId,
    /// Folder of zx1, which holds the agents' logs.
    pub home: PathBuf,
    /// RPC of the cluster: a URL, or a moniker.
    pub url: String,
    /// Whether the main network may be meant.
    pub may_be_mainnet: bool,
    /// The node's key, of scope peer.
    pub keypair: PathBuf,
    pub listen: Vec<Multiaddr>,
    pub external: Vec<Multiaddr>,
    pub bootstrap: Vec<Multiaddr>,
    pub api: SocketAddr,
    pub mdns: bool,
    pub relay: bool,
    pub mode: Mode,
    /// What the agent calls itself in BEACONs.
    pub name: String,
    /// By how many seconds the clock is wrong, for tests.
    pub wrong_clock: Option<i64>,
    /// The registration file that the node keeps; without one it lies in the agent's folder.
    pub registration: Option<PathBuf>,
}

/// A running node.
#[derive(Debug)]
pub struct Server {
    ready: Place,
    jobs: Jobs,
    node: Node,
    keeping: JoinHandle<()>,
    stop: CancellationToken,
    place_file: PathBuf,
    _lock: Lock,
}

impl Server {
    /// Reads key, log and outbox, asks the cluster who it is, joins the mesh and serves.
    ///
    /// # Errors
    /// 7680 to 7686; the cluster's, the log's, the transport's.
    pub async fn start(config: Config) -> Result<Self> {
        if !config.api.ip().is_loopback() {
            return Err(Error::NotLoopback(config.api));
        }
        let (wallet, pair) = keypair(&config.keypair)?;
        let (client, network) = client_of(&config.url, config.may_be_mainnet).await?;
        let folder = zx1_log::agent_dir(&config.home, &config.agent);
        let file = |action| {
            let path = folder.clone();
            move |error: std::io::Error| Error::File { action, path, why: error.to_string() }
        };
        files::make_private_folder(&folder).map_err(file("written"))?;
        let lock = Lock::try_take(&folder.join(LOCK_FILE)).map_err(Error::Runs)?;
        let (listener, api) = api_of(config.api)?;

        let clock = Arc::new(config.wrong_clock.map_or_else(NodeClock::default, NodeClock::wrong_by));
        let timed: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let (judge, changes) = Judge::new(config.agent, config.mode, Arc::clone(&timed));
        let judge = Arc::new(judge);
        let cluster = Cluster::start(client, network.public.is_none(), clock, Arc::clone(&judge)).await?;
        let cluster = Arc::new(cluster);
        let (id, name, at) = (config.agent, config.name.clone(), folder.clone());
        let restored = Arc::clone(&judge);
        let (agent, stored, disk) = blocking(move || {
            let log = LogHandle::open(&at, id, LOG_PATIENCE)?;
            let (disk, rows) = Disk::open(&at)?;
            let agent = Agent::open(id, name, log, timed, rows)?;
            for (author, channel, seen) in agent.recent_nonces()? {
                restored.restore(&author, channel, seen);
            }
            Ok((agent, Store::open(&at)?, disk))
        })
        .await?;
        let agent = Arc::new(agent);
        let (keeper, keeping) = Keeper::start(Arc::clone(&agent), Arc::clone(&judge))?;
        let mut unfinished = metrics::Unfinished::new(Arc::clone(&judge));
        let settings = settings(&config, pair, folder.join(PEERS_FILE));
        let (node, events) =
            Node::start(settings, Arc::clone(&judge), keeper, Some(&mut unfinished.registry)).await?;
        let first_peers = Arc::new(FirstPeers::new(config.agent, Arc::clone(&cluster), node.clone()));
        let signers = Arc::new(Signers::default());
        let pen = Pen::new(Arc::clone(&agent), Arc::clone(&cluster), wallet, Arc::clone(&signers));
        let pen = Arc::new(pen);
        cluster.read_own(config.agent, pen.key()).await;
        let registrar = Arc::new(Registrar::new(
            (config.agent, config.name.clone()),
            pen.key(),
            config.registration.clone().unwrap_or_else(|| folder.join(REGISTRATION_FILE)),
            Arc::clone(&cluster),
            node.clone(),
        ));
        let metrics = unfinished.finish(metrics::Parts {
            node: node.clone(),
            agent: Some(metrics::OfAgent {
                cluster: Arc::clone(&cluster),
                registrar: Arc::clone(&registrar),
                first_peers: Arc::clone(&first_peers),
            }),
        });
        let sender = Arc::new(Sender::new(
            Arc::clone(&agent),
            Arc::clone(&cluster),
            node.clone(),
            Arc::clone(&pen),
            stored,
        ));
        let ways = Live {
            agent: Arc::clone(&agent),
            sender: Arc::clone(&sender),
            cluster: Arc::clone(&cluster),
            judge: Arc::clone(&judge),
        };
        let notary = Arc::new(Notary::new(Arc::clone(&agent), ways, disk));
        let token = token(&folder.join(TOKEN_FILE)).map_err(file("written"))?;
        let ready = Place {
            ready: true,
            url: format!("http://{api}"),
            pid: std::process::id(),
            agent: config.agent.to_string(),
            peer: node.peer_id().to_string(),
        };
        let mut jobs = Jobs::new();
        let stop = CancellationToken::new();
        let app = App::new(Inner {
            agent: Arc::clone(&agent),
            cluster: Arc::clone(&cluster),
            judge: Arc::clone(&judge),
            node: node.clone(),
            pen: Arc::clone(&pen),
            sender: Arc::clone(&sender),
            notary: Arc::clone(&notary),
            signers,
            registrar: Arc::clone(&registrar),
            acknowledged: Arc::new(Mutex::new(Acknowledged::new(&folder))),
            metrics: metrics.clone(),
            token,
            genesis: network.genesis,
            started_micros: agent.now(),
            stopping: jobs.stopping().clone(),
            stop: stop.clone(),
            seats: App::seats(),
        });
        let socket = Socket::open(&folder)?;
        jobs.serve(listener, app.clone().router(true), bounds(), metrics.http);
        let stopping = jobs.stopping().clone();
        jobs.tracker().spawn(socket.serve(app.router(false), stopping));
        jobs.spawn(|cancel| Arc::clone(&cluster).follow(cancel));
        jobs.spawn(|cancel| Arc::clone(&cluster).look_up(cancel));
        jobs.spawn(|cancel| changes::follow(Arc::clone(&cluster), cancel));
        let key = pen.key();
        jobs.spawn(|cancel| Arc::clone(&cluster).watch_own(config.agent, key, cancel));
        jobs.spawn(|cancel| Arc::clone(&sender).run(cancel));
        jobs.spawn(|cancel| notary.run(cancel));
        jobs.spawn(|cancel| registrar.run(cancel));
        jobs.spawn(|cancel| first_peers.run(cancel));
        let (left, chain, whose) = (Arc::clone(&agent), Arc::clone(&cluster), folder.join(AGENTS_FILE));
        jobs.spawn(|cancel| departures::run(left, chain, node.clone(), whose, cancel));
        jobs.spawn(|cancel| beacon::run(Arc::clone(&agent), cluster, node.clone(), pen, cancel));
        jobs.spawn(|cancel| tell_scores(node.clone(), changes, cancel));
        jobs.spawn(|cancel| watch(agent, judge, sender, node.clone(), events, cancel));
        let place_file = folder.join(PLACE_FILE);
        let text = serde_json::to_vec(&ready).map_err(|error| Error::Config(error.to_string()))?;
        files::replace(&place_file, &text).map_err(file("written"))?;
        Ok(Self { ready, jobs, node, keeping, stop, place_file, _lock: lock })
    }

    /// The line that the node prints when it is ready.
    pub fn ready(&self) -> &Place {
        &self.ready
    }

    /// Cancelled when a request asked the node to stop.
    pub fn stop_asked(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops: requests and what is on its way are finished, peers are saved, what was received is written.
    ///
    /// # Errors
    /// 7673 when peers could not be saved.
    pub async fn stop(self) -> Result<()> {
        let _ = files::remove(&self.place_file);
        self.jobs.stop().await;
        let saved = self.node.stop().await;
        drop(self.node);
        let joined = tokio::task::spawn_blocking(move || self.keeping.join()).await;
        if !matches!(joined, Ok(Ok(()))) {
            tracing::error!("the thread of the log failed");
        }
        Ok(saved?)
    }
}

/// The listener of the local API, and where it listens.
pub(crate) fn api_of(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    if !address.ip().is_loopback() {
        return Err(Error::NotLoopback(address));
    }
    let cannot = |error| Error::CannotListen(address.to_string(), error);
    let listener = listen(address).map_err(cannot)?;
    let api = listener.local_addr().map_err(cannot)?;
    Ok((listener, api))
}

/// The cluster, and which network it is.
pub(crate) async fn client_of(url: &str, may_be_mainnet: bool) -> Result<(Client, Identity)> {
    let client = Client::new(ClusterAddress::parse(url)?, ClientOptions::default());
    let network = client.identity().await?;
    if network.is_real_money() && !may_be_mainnet {
        return Err(Error::MainnetUnasked(url.to_owned()));
    }
    Ok((client, network))
}

pub(crate) fn bounds() -> Bounds {
    Bounds {
        connections: CONNECTIONS,
        per_address: CONNECTIONS,
        proxies: Vec::new(),
        head: REQUEST_WITHIN,
        write: WRITE_WITHIN,
    }
}

fn settings(config: &Config, key: Keypair, peers_file: PathBuf) -> Settings {
    let mut settings = Settings::new(key);
    settings.listen.clone_from(&config.listen);
    settings.external.clone_from(&config.external);
    settings.bootstrap.clone_from(&config.bootstrap);
    (settings.mdns, settings.relay_server) = (config.mdns, config.relay);
    settings.peers_file = Some(peers_file);
    settings
}

/// The node's key, for messages and for the transport.
pub(crate) fn keypair(path: &Path) -> Result<(Wallet, Keypair)> {
    if path.as_os_str().is_empty() {
        return Err(Error::Config(
            "No keypair file is named; name the node's key, a key of the agent with the scope peer."
                .to_owned(),
        ));
    }
    let wrong = |why| Error::Key { path: path.to_owned(), why };
    let key = keys::read(path).map_err(wrong)?;
    if !key.private {
        tracing::warn!(path = %path.display(), "others on this machine can read the keypair file; run chmod 600");
    }
    let wallet = Wallet::new(solana_keypair::Keypair::new_from_array(*key.seed));
    let mut seed = *key.seed;
    // It wipes what it is given.
    let pair = Keypair::ed25519_from_bytes(&mut seed).map_err(|error| Error::Config(error.to_string()))?;
    Ok((wallet, pair))
}

/// The token of the local API, made at the first start.
pub(crate) fn token(path: &Path) -> std::io::Result<String> {
    if let Some(bytes) = files::read_if_there(path)?
        && let Ok(text) = String::from_utf8(bytes)
        && text.trim().len() == 64
    {
        return Ok(text.trim().to_owned());
    }
    let token = hex::encode(*keys::random()?);
    files::replace(path, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// Hands what the judge says of peers to the transport.
pub(crate) async fn tell_scores(
    node: Node,
    mut changes: mpsc::Receiver<ScoreChange>,
    cancel: CancellationToken,
) {
    while let Some(Some((peer, hundredths))) = cancel.run_until_cancelled(changes.recv()).await {
        if node.set_standing(peer, hundredths).await.is_err() {
            return;
        }
    }
}

/// Takes the transport's events.
async fn watch(
    agent: Arc<Agent>,
    judge: Arc<Judge>,
    sender: Arc<Sender>,
    node: Node,
    mut events: Events,
    cancel: CancellationToken,
) {
    while let Some(Some(event)) = cancel.run_until_cancelled(events.recv()).await {
        match event {
            Event::Listening(address) => tracing::info!("listening on {address}/p2p/{}", node.peer_id()),
            Event::External(address) => tracing::info!("reachable at {address}/p2p/{}", node.peer_id()),
            Event::Connected { peer, .. } => {
                let known = agent.heard().agent_of(&peer.to_string());
                if let Some(other) = known.and_then(|other| other.parse().ok()) {
                    sender.reachable(other).await;
                }
                agent.tell("peer", peer.to_string(), agent.now(), &serde_json::json!({ "connected": true }));
            }
            // Somebody takes messages to all: they need not wait for their pauses.
            Event::Subscribed(..) => sender.reachable(BROADCAST).await,
            Event::Disconnected(peer) => {
                judge.disconnected(&peer);
                agent.tell("peer", peer.to_string(), agent.now(), &serde_json::json!({ "connected": false }));
            }
            Event::Relayed(relay) => tracing::info!("a relay keeps a place for this node: {relay}"),
            Event::PlaceLost(place) => {
                tracing::info!("a relay does not keep a place for this node, and is asked again: {place}");
            }
            Event::HolePunched(peer) => tracing::info!("connected directly, no longer by a relay: {peer}"),
            Event::StaysRelayed { peer, reason } => {
                tracing::info!(reason, "the connection stays relayed: {peer}");
            }
            Event::NotSaved(why) => tracing::warn!("peers could not be saved: {why}"),
            event => tracing::debug!(?event, "mesh"),
        }
    }
}
