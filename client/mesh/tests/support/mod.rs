//! Nodes with a judge and a shelf that a test controls, and waiting for conditions.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod bytes;

use libp2p::identity::Keypair;
use libp2p::{Multiaddr, PeerId};
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use zx1_mesh::node::{Event, Events, Node, PeerInfo, Settings};
use zx1_mesh::validate::{Message, NotKept, Sink, Validator, Verdict};
use zx1_protocol::channel::Channel;

/// How long any condition may take. Nothing waits this long unless it fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// `None` accepts after a lookup.
type Rule = dyn Fn(&Message) -> Option<Verdict> + Send + Sync;

/// Judges by a closure, and remembers what it saw.
pub struct Judge {
    rule: Box<Rule>,
    pub seen: Mutex<Vec<Message>>,
    /// A lookup takes one permit and never gives it back.
    pub lookups: Arc<Semaphore>,
}

impl Validator for Judge {
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        self.seen.lock().unwrap().push(message.clone());
        let verdict = (self.rule)(message);
        let lookups = Arc::clone(&self.lookups);
        async move {
            match verdict {
                Some(verdict) => verdict,
                None => {
                    lookups.acquire_owned().await.unwrap().forget();
                    Verdict::Accept
                }
            }
        }
    }
}

/// What begins with `bad` is rejected, with `old` ignored, with `not mine` misattributed; the rest is good.
pub fn by_prefix(message: &Message) -> Option<Verdict> {
    Some(match &message.bytes[..] {
        [b'b', b'a', b'd', ..] => Verdict::Reject(1),
        [b'o', b'l', b'd', ..] => Verdict::Ignore(2),
        [b'n', b'o', b't', ..] => Verdict::Misattributed(3),
        _ => Verdict::Accept,
    })
}

/// Keeps messages once it has a permit for each, and hands them to the test.
pub struct Shelf {
    pub permits: Arc<Semaphore>,
    pub refuses: bool,
    kept: mpsc::UnboundedSender<Message>,
}

impl Sink for Shelf {
    fn keep(&self, message: Message) -> impl Future<Output = Result<(), NotKept>> + Send + 'static {
        // In line at once; on disk when there is a permit.
        self.kept.send(message).ok();
        let (permits, refuses) = (Arc::clone(&self.permits), self.refuses);
        async move {
            permits.acquire_owned().await.unwrap().forget();
            if refuses { Err(NotKept) } else { Ok(()) }
        }
    }
}

/// A node under test.
pub struct Peer {
    pub node: Node,
    pub events: Events,
    pub judge: Arc<Judge>,
    pub shelf: Arc<Shelf>,
    pub kept: mpsc::UnboundedReceiver<Message>,
    pub address: Multiaddr,
}

/// What a node under test is made of.
pub struct Plan {
    pub settings: Settings,
    pub rule: Box<Rule>,
    pub lookups: usize,
    pub permits: usize,
    pub refuses: bool,
}

pub fn plan(listen: &str) -> Plan {
    let mut settings = Settings::new(Keypair::generate_ed25519());
    settings.memory_transport = true;
    settings.memory_limit = None;
    settings.listen = vec![listen.parse().unwrap()];
    Plan {
        settings,
        rule: Box::new(by_prefix),
        lookups: Semaphore::MAX_PERMITS,
        permits: Semaphore::MAX_PERMITS,
        refuses: false,
    }
}

pub const MEMORY: &str = "/memory/0";
pub const TCP: &str = "/ip4/127.0.0.1/tcp/0";
pub const QUIC: &str = "/ip4/127.0.0.1/udp/0/quic-v1";

impl Plan {
    pub async fn start(self) -> Peer {
        let judge = Arc::new(Judge {
            rule: self.rule,
            seen: Mutex::default(),
            lookups: Arc::new(Semaphore::new(self.lookups)),
        });
        let (kept, shelf_out) = mpsc::unbounded_channel();
        let shelf =
            Arc::new(Shelf { permits: Arc::new(Semaphore::new(self.permits)), refuses: self.refuses, kept });
        let (node, mut events) =
            Node::start(self.settings, Arc::clone(&judge), Arc::clone(&shelf), None).await.unwrap();
        let address = loop {
            if let Event::Listening(address) = within(events.recv()).await.unwrap() {
                break address;
            }
        };
        let address = address.with_p2p(node.peer_id()).unwrap();
        Peer { node, events, judge, shelf, kept: shelf_out, address }
    }
}

pub async fn start(listen: &str) -> Peer {
    plan(listen).start().await
}

impl Peer {
    pub fn id(&self) -> PeerId {
        self.node.peer_id()
    }

    /// Connects, and waits until both are in each other's mesh of the topic.
    pub async fn join(&self, other: &Peer, channel: Channel) {
        within(self.node.dial(other.address.clone())).await.unwrap();
        for (one, two) in [(self, other), (other, self)] {
            one.until(two.id(), |it| it.mesh.contains(&channel)).await;
        }
    }

    /// Waits until a connected peer is as it should be.
    pub async fn until(&self, peer: PeerId, is: impl Fn(&PeerInfo) -> bool) -> PeerInfo {
        let found = until(async || {
            let peers = self.node.peers().await.unwrap();
            peers.into_iter().find(|it| it.peer == peer && is(it))
        });
        found.await
    }

    /// Waits for an event.
    pub async fn event(&mut self, is: impl Fn(&Event) -> bool) -> Event {
        within(async {
            loop {
                let event = self.events.recv().await.unwrap();
                if is(&event) {
                    return event;
                }
            }
        })
        .await
    }

    /// The next message that the shelf took.
    pub async fn next(&mut self) -> Message {
        within(self.kept.recv()).await.unwrap()
    }

    pub async fn publish(&self, channel: Channel, text: &str) {
        within(self.node.publish(channel, text.as_bytes().to_vec())).await.unwrap();
    }

    pub async fn send(&self, to: &Peer, text: &str) -> Result<(), zx1_mesh::node::NodeError> {
        within(self.node.send(to.id(), text.as_bytes().to_vec())).await
    }

    pub fn judged(&self) -> Vec<String> {
        let seen = self.judge.seen.lock().unwrap();
        seen.iter().map(|it| String::from_utf8_lossy(&it.bytes).into_owned()).collect()
    }
}

/// Asks until there is an answer. The pause between two questions only keeps the processor free.
pub async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let mut pause = tokio::time::interval(Duration::from_millis(5));
    within(async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            pause.tick().await;
        }
    })
    .await
}

pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("the condition was not met in time")
}
