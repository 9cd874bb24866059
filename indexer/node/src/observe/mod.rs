//! A node that only observes: it has a peer key and no agent, forwards what keeps all rules, says nothing of its own,
//! and serves what went over the topics. Messages between two agents are not for it, and it drops them.

pub mod http;
pub mod seen;

use crate::changes;
use crate::clock::NodeClock;
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::http::openapi;
use crate::judge::Judge;
use crate::local::Socket;
use crate::metrics;
use crate::server::{api_of, bounds, client_of, keypair, tell_scores, token};
use http::Parts;
use libp2p::Multiaddr;
use seen::Seen;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;
use zx1_home::{Clock, Lock, files, keys};
use zx1_mesh::gate::Mode;
use zx1_mesh::node::{Event, Events, Node, Settings};
use zx1_mesh::reason::Reason;
use zx1_mesh::validate::{Message, NotKept, Sink, Validator, Verdict};
use zx1_operator::node::wire::Place;
use zx1_operator::node::{LOCK_FILE, PLACE_FILE, TOKEN_FILE};
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::{BROADCAST, Envelope};
use zx1_server::jobs::Jobs;

/// The peer key in the folder, made at the first start.
pub const KEY_FILE: &str = "node.key.json";
const PEERS_FILE: &str = "node.peers";

/// What a node that only observes is started with.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Config {
    /// Where key, token and peers are kept.
    pub folder: PathBuf,
    /// RPC of the cluster: a URL, or a moniker.
    pub url: String,
    /// Whether the main network may be meant.
    pub may_be_mainnet: bool,
    pub listen: Vec<Multiaddr>,
    pub external: Vec<Multiaddr>,
    pub bootstrap: Vec<Multiaddr>,
    pub api: SocketAddr,
    pub mdns: bool,
    pub relay: bool,
    pub mode: Mode,
}

/// A running node that only observes.
#[derive(Debug)]
pub struct Observer {
    ready: Place,
    jobs: Jobs,
    node: Node,
    stop: CancellationToken,
    place_file: PathBuf,
    _lock: Lock,
}

impl Observer {
    /// Asks the cluster what messages are judged by, joins the mesh and serves.
    ///
    /// # Errors
    /// 7680 to 7686; the cluster's, the transport's.
    pub async fn start(config: Config) -> Result<Self> {
        let (listener, api) = api_of(config.api)?;
        let (client, network) = client_of(&config.url, config.may_be_mainnet).await?;
        let folder = config.folder;
        let file = |action| {
            let path = folder.clone();
            move |error: std::io::Error| Error::File { action, path, why: error.to_string() }
        };
        files::make_private_folder(&folder).map_err(file("written"))?;
        let lock = Lock::try_take(&folder.join(LOCK_FILE)).map_err(Error::Runs)?;
        let key = folder.join(KEY_FILE);
        if !key.exists() {
            let seed = keys::random().map_err(file("written"))?;
            keys::create(&key, &seed, keys::Form::SolanaJson).map_err(file("written"))?;
        }
        let (_, pair) = keypair(&key)?;

        let clock = Arc::new(NodeClock::default());
        let (judge, changes) = Judge::new(BROADCAST, config.mode, Arc::clone(&clock) as Arc<dyn Clock>);
        let judge = Arc::new(judge);
        let cluster =
            Cluster::start(client, network.public.is_none(), Arc::clone(&clock), Arc::clone(&judge)).await?;
        let cluster = Arc::new(cluster);
        let started_micros = clock.unix_micros();
        let seen = Arc::new(Mutex::new(Seen::new(started_micros)));
        let mut unfinished = metrics::Unfinished::new(Arc::clone(&judge));
        let mut settings = Settings::new(pair);
        (settings.listen, settings.external, settings.bootstrap) =
            (config.listen, config.external, config.bootstrap);
        (settings.mdns, settings.relay_server) = (config.mdns, config.relay);
        settings.peers_file = Some(folder.join(PEERS_FILE));
        let keeper = Keeper { seen: Arc::clone(&seen), clock: Arc::clone(&clock) };
        let (node, events) =
            Node::start(settings, TopicsOnly(Arc::clone(&judge)), keeper, Some(&mut unfinished.registry))
                .await?;
        let metrics = unfinished.finish(metrics::Parts { node: node.clone(), agent: None });

        let ready = Place {
            ready: true,
            url: format!("http://{api}"),
            pid: std::process::id(),
            agent: String::new(),
            peer: node.peer_id().to_string(),
        };
        let mut jobs = Jobs::new();
        let stop = CancellationToken::new();
        let parts = Arc::new(Parts {
            seen,
            cluster: Arc::clone(&cluster),
            judge: Arc::clone(&judge),
            node: node.clone(),
            clock,
            metrics: metrics.clone(),
            token: token(&folder.join(TOKEN_FILE)).map_err(file("written"))?,
            genesis: network.genesis,
            document: openapi::text(),
            started_micros,
            stop: stop.clone(),
        });
        let socket = Socket::open(&folder)?;
        jobs.serve(listener, http::router(Arc::clone(&parts), true), bounds(), metrics.http);
        let stopping = jobs.stopping().clone();
        jobs.tracker().spawn(socket.serve(http::router(parts, false), stopping));
        jobs.spawn(|cancel| Arc::clone(&cluster).follow(cancel));
        jobs.spawn(|cancel| changes::follow(Arc::clone(&cluster), cancel));
        jobs.spawn(|cancel| cluster.look_up(cancel));
        jobs.spawn(|cancel| tell_scores(node.clone(), changes, cancel));
        jobs.spawn(|cancel| watch(judge, node.clone(), events, cancel));
        let place_file = folder.join(PLACE_FILE);
        let text = serde_json::to_vec(&ready).map_err(|error| Error::Config(error.to_string()))?;
        files::replace(&place_file, &text).map_err(file("written"))?;
        Ok(Self { ready, jobs, node, stop, place_file, _lock: lock })
    }

    /// The line that the node prints when it is ready.
    pub fn ready(&self) -> &Place {
        &self.ready
    }

    /// Cancelled when a request asked the node to stop.
    pub fn stop_asked(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops: requests are finished and peers are saved.
    ///
    /// # Errors
    /// 7673 when peers could not be saved.
    pub async fn stop(self) -> Result<()> {
        let _ = files::remove(&self.place_file);
        self.jobs.stop().await;
        Ok(self.node.stop().await?)
    }
}

/// Judges what goes over topics. A message to one agent is never for a node without one, whatever recipient it names.
#[derive(Debug)]
struct TopicsOnly(Arc<Judge>);

impl Validator for TopicsOnly {
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        let judged = (message.channel != Channel::Direct).then(|| self.0.judge(message));
        async move {
            match judged {
                Some(judged) => judged.await,
                None => Verdict::Ignore(Reason::Recipient.code()),
            }
        }
    }
}

/// Accepted messages on their way to readers; nothing is kept on disk.
#[derive(Debug)]
struct Keeper {
    seen: Arc<Mutex<Seen>>,
    clock: Arc<NodeClock>,
}

impl Sink for Keeper {
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        let kept = Envelope::decode(&message.bytes).map_err(|_| NotKept).map(|envelope| {
            let now = self.clock.unix_micros();
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).take(&envelope, &message.author, now);
        });
        std::future::ready(kept)
    }
}

/// Takes the transport's events.
async fn watch(judge: Arc<Judge>, node: Node, mut events: Events, cancel: CancellationToken) {
    while let Some(Some(event)) = cancel.run_until_cancelled(events.recv()).await {
        match event {
            Event::Listening(address) => tracing::info!("listening on {address}/p2p/{}", node.peer_id()),
            Event::External(address) => tracing::info!("reachable at {address}/p2p/{}", node.peer_id()),
            Event::Disconnected(peer) => judge.disconnected(&peer),
            Event::NotSaved(why) => tracing::warn!("peers could not be saved: {why}"),
            event => tracing::debug!(?event, "mesh"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::{Signer as _, SigningKey};
    use zx1_home::FixedClock;
    use zx1_mesh::facts::Chain;
    use zx1_protocol::draft::Draft;
    use zx1_protocol::envelope::MsgType;
    use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
    use zx1_protocol::units::{MicroUsdc, Slot};

    const NOW_MS: u64 = 1_700_000_000_000;

    #[tokio::test]
    async fn a_message_to_one_agent_is_never_taken_also_not_one_to_nobody() {
        let (judge, _changes) = Judge::new(BROADCAST, Mode::Dev, Arc::new(FixedClock::new(NOW_MS)));
        judge.set_chain(Chain { slot: Slot(500), min_stake: MicroUsdc(10) });
        let judge = TopicsOnly(Arc::new(judge));
        let key = SigningKey::from_bytes(&[5; 32]);
        let message = |msg_type, channel, recipient| {
            let draft = Draft {
                msg_type,
                sender: AgentId([2; 32]),
                recipient,
                timestamp: NOW_MS * 1_000,
                block_ref: Slot(500),
                nonce: 1,
                conversation_id: ConversationId([3; 16]),
                payload: b"free text",
            };
            let bytes = draft.sign(|bytes| key.sign(bytes).to_bytes()).unwrap();
            let author = WalletKey::from(key.verifying_key().to_bytes());
            Message { bytes: bytes.into(), channel, author, forwarder: libp2p::PeerId::random() }
        };
        for recipient in [BROADCAST, AgentId([7; 32])] {
            let direct = message(MsgType::Deliver, Channel::Direct, recipient);
            assert_eq!(judge.judge(&direct).await, Verdict::Ignore(Reason::Recipient.code()));
        }
        let public = message(MsgType::Advertise, Channel::Broadcast, BROADCAST);
        assert_eq!(judge.judge(&public).await, Verdict::Accept);
    }
}
