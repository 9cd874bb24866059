//! Sends what waits: when its recipient can be reached a draft is signed, logged and sent, in this order, and each step
//! is on disk before the next (see [`zx1_mesh::outbox`]).

use crate::agent::Agent;
use crate::defaults::{MAX_SENDING, OUTBOX_EVERY, REACH_WITHIN};
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::pen::{Pen, Unwritten, blocking};
use crate::store::Store;
use crate::words::Words;
use libp2p::PeerId;
use libp2p::multiaddr::Protocol;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::{Mutex, Notify, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zx1_coded::Coded as _;
use zx1_mesh::node::{Node, NodeError};
use zx1_mesh::outbox::{Draft, Outbox, OutboxError, Row, State};
use zx1_operator::message::type_name;
use zx1_operator::node::wire;
use zx1_protocol::channel::channel_of;
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};

/// The messages that wait, and what sends them.
#[derive(Debug)]
pub struct Sender {
    agent: Arc<Agent>,
    cluster: Arc<Cluster>,
    node: Node,
    pen: Arc<Pen>,
    store: Store,
    outbox: Mutex<Outbox>,
    /// Rows that a task works on now.
    busy: std::sync::Mutex<BTreeSet<u64>>,
    /// Why rows wait, for whoever looks.
    why: std::sync::Mutex<BTreeMap<u64, String>>,
    wake: Notify,
    seats: Arc<Semaphore>,
}

impl Sender {
    /// With what the store had.
    pub fn new(
        agent: Arc<Agent>,
        cluster: Arc<Cluster>,
        node: Node,
        pen: Arc<Pen>,
        (store, outbox): (Store, Outbox),
    ) -> Self {
        Self {
            agent,
            cluster,
            node,
            pen,
            store,
            outbox: Mutex::new(outbox),
            busy: std::sync::Mutex::default(),
            why: std::sync::Mutex::default(),
            wake: Notify::new(),
            seats: Arc::new(Semaphore::new(MAX_SENDING)),
        }
    }

    /// Takes a message for sending. It is on disk when this returns.
    ///
    /// # Errors
    /// The outbox's; the table's of deals; the protocol's for what receivers would drop.
    pub async fn add(&self, name: &str, words: &Words, ttl_micros: u64) -> Result<wire::Draft> {
        let mut outbox = self.outbox.lock().await;
        let is_new = outbox.named(name).is_none();
        if is_new {
            self.agent
                .check(words)
                .or_else(|error| self.may_follow(&outbox, words).then_some(()).ok_or(error))?;
        }
        let draft = Draft {
            name,
            msg_type: words.msg_type,
            recipient: words.recipient,
            conversation: words.conversation,
            payload: &words.payload,
            ttl_micros,
        };
        let row = outbox.add(&draft, self.agent.now())?;
        if let Err(error) = self.put(vec![row.clone()]).await {
            // Whoever reads the error may decide otherwise, so it is not sent later.
            if is_new {
                outbox.undo_add(row.id);
            }
            return Err(error);
        }
        let forgotten = outbox.forget();
        drop(outbox);
        if !forgotten.is_empty() {
            let store = self.store.clone();
            blocking(move || store.remove(&forgotten)).await?;
        }
        self.wake.notify_one();
        Ok(self.shown(&row))
    }

    /// The conversation of the message with this name, so that the same intent again begins no other one.
    pub async fn conversation_of(&self, name: &str) -> Option<ConversationId> {
        self.outbox.lock().await.named(name).map(|row| row.conversation)
    }

    /// What is out of order now may follow a message of the same conversation that still waits; it is judged again
    /// before it is signed.
    fn may_follow(&self, outbox: &Outbox, words: &Words) -> bool {
        outbox.iter().any(|row| {
            !row.is_over() && row.conversation == words.conversation && row.recipient == words.recipient
        })
    }

    /// One message.
    ///
    /// # Errors
    /// 7650
    pub async fn get(&self, id: u64) -> Result<wire::Draft> {
        Ok(self.shown(self.outbox.lock().await.get(id)?))
    }

    /// The message of this name.
    pub async fn named(&self, name: &str) -> Option<wire::Draft> {
        self.outbox.lock().await.named(name).map(|row| self.shown(row))
    }

    /// All, the oldest first.
    pub async fn list(&self) -> Vec<wire::Draft> {
        self.outbox.lock().await.iter().map(|row| self.shown(row)).collect()
    }

    /// How many wait, are on their way, or are without an answer.
    pub async fn counts(&self) -> wire::OutboxCounts {
        let outbox = self.outbox.lock().await;
        let of = |state: State| outbox.iter().filter(|row| row.state == state && !row.is_over()).count();
        wire::OutboxCounts {
            queued: of(State::Queued),
            sent: of(State::Sent),
            unanswered: of(State::Unanswered),
        }
    }

    /// Takes a draft back.
    ///
    /// # Errors
    /// 7650, 7651
    pub async fn take_back(&self, id: u64) -> Result<wire::Draft> {
        let mut outbox = self.outbox.lock().await;
        let changed = outbox.take_back(id)?;
        self.put(changed).await?;
        Ok(self.shown(outbox.get(id)?))
    }

    /// The caller decided about an unanswered message.
    ///
    /// # Errors
    /// 7650, 7651
    pub async fn settle(&self, id: u64) -> Result<wire::Draft> {
        let mut outbox = self.outbox.lock().await;
        let row = outbox.settle(id)?;
        self.put(vec![row.clone()]).await?;
        self.wake.notify_one();
        Ok(self.shown(&row))
    }

    /// A message of this agent was heard, so what waits for it need not wait longer.
    pub async fn reachable(&self, agent: AgentId) {
        let now = self.agent.now();
        self.outbox.lock().await.reachable(agent, now);
        self.wake.notify_one();
    }

    /// Sends until cancelled; what was begun is ended.
    pub async fn run(self: Arc<Self>, cancel: CancellationToken) {
        let tasks = TaskTracker::new();
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                () = self.wake.notified() => {}
                () = tokio::time::sleep(OUTBOX_EVERY) => {}
            }
            if let Err(error) = self.expire().await {
                tracing::error!(%error, "the outbox cannot be written");
                continue;
            }
            if self.cluster.check_standing().is_err() {
                continue;
            }
            for row in self.due().await {
                let Ok(seat) = Arc::clone(&self.seats).try_acquire_owned() else { break };
                if !self.busy().insert(row.id) {
                    continue;
                }
                let this = Arc::clone(&self);
                tasks.spawn(async move {
                    if let Err(error) = this.advance(&row).await {
                        tracing::error!(%error, draft = row.id, "a message cannot be sent");
                    }
                    this.busy().remove(&row.id);
                    drop(seat);
                    this.wake.notify_one();
                });
            }
        }
        tasks.close();
        tasks.wait().await;
    }

    async fn expire(&self) -> Result<()> {
        let mut outbox = self.outbox.lock().await;
        let changed = outbox.advance(self.agent.now());
        self.put(changed).await
    }

    async fn due(&self) -> Vec<Row> {
        self.outbox.lock().await.due(self.agent.now()).into_iter().cloned().collect()
    }

    /// Takes one message as far as it goes now.
    async fn advance(&self, row: &Row) -> Result<()> {
        let id = row.id;
        let to = match self.reach(row).await {
            Ok(to) => to,
            Err(error) => {
                self.say(id, &error);
                let changed = self.outbox.lock().await.unreachable(id, self.agent.now());
                // It may have been taken back meanwhile.
                return match changed {
                    Ok(row) => self.put(vec![row]).await,
                    Err(OutboxError::NotNow { .. }) => Ok(()),
                    Err(error) => Err(error.into()),
                };
            }
        };
        let begun = self.outbox.lock().await.begin(id, self.agent.now());
        match begun {
            Ok(row) => {
                if let Err(error) = self.put(vec![row]).await {
                    // On disk it waits still, and nothing was signed.
                    self.say(id, &error);
                    self.outbox.lock().await.not_signed(id, self.agent.now())?;
                    return Err(error);
                }
            }
            Err(OutboxError::NotNow { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let words = Words {
            msg_type: row.msg_type()?,
            recipient: row.recipient,
            conversation: row.conversation,
            payload: row.payload.clone(),
        };
        let made = match self.agent.check(&words) {
            Ok(()) => self.pen.write(&words).await,
            Err(error) => Err(Unwritten::from(Error::from(error))),
        };
        let made = match made {
            Ok(made) => made,
            Err(Unwritten { error, is_signed: true }) => return self.lost(id, &error).await,
            Err(Unwritten { error, .. }) => return self.not_signed(id, &error).await,
        };
        let signed = self.outbox.lock().await.signed(id, made.message32)?;
        if let Err(error) = self.put(vec![signed]).await {
            return self.lost(id, &error).await;
        }
        if words.msg_type == MsgType::Advertise {
            self.agent.heard().advertise_own(&words.payload, self.agent.now());
        }
        let sent = match to {
            None => self.node.publish(channel_of(words.msg_type), made.cbor).await.map(|_| ()),
            Some(peer) => self.node.send(peer, made.cbor).await,
        };
        let mut outbox = self.outbox.lock().await;
        let row = match (&sent, to) {
            (Ok(()), None) => outbox.published(id)?,
            (Ok(()), Some(_)) => outbox.acknowledged(id)?,
            (Err(error), _) => {
                self.say(id, error);
                outbox.lost(id)?
            }
        };
        if sent.is_ok() {
            self.unsay(id);
        }
        self.put(vec![row]).await
    }

    /// It is signed, and whether it counts is not known: it is not sent, nor signed again. The caller decides.
    async fn lost(&self, id: u64, error: &Error) -> Result<()> {
        self.say(id, error);
        let row = self.outbox.lock().await.lost(id)?;
        self.put(vec![row]).await
    }

    /// Nothing was signed: again later, or never.
    async fn not_signed(&self, id: u64, error: &Error) -> Result<()> {
        self.say(id, error);
        let mut outbox = self.outbox.lock().await;
        let changed = if error.transient() {
            vec![outbox.not_signed(id, self.agent.now())?]
        } else {
            outbox.refuse(id, error.code())?
        };
        self.put(changed).await
    }

    /// The peer that takes the message, connected; `None` for a topic.
    async fn reach(&self, row: &Row) -> Result<Option<PeerId>> {
        let connected = self.node.peers().await?;
        if row.is_gossip() {
            let topic = channel_of(row.msg_type()?);
            let is_heard = connected.iter().any(|peer| peer.mesh.contains(&topic));
            return if is_heard { Ok(None) } else { Err(NodeError::NoPeers.into()) };
        }
        let peers = if self.cluster.is_dev() {
            let heard = self.agent.heard().peers_of(&row.recipient);
            heard.iter().filter_map(|peer| peer.parse().ok()).collect()
        } else {
            self.cluster.peers_of(row.recipient).await?
        };
        if let Some(peer) = peers.iter().find(|peer| connected.iter().any(|it| it.peer == **peer)) {
            return Ok(Some(*peer));
        }
        let mut last = None;
        for peer in peers {
            match timeout(REACH_WITHIN, self.connect(peer)).await {
                Ok(Ok(())) => return Ok(Some(peer)),
                Ok(Err(error)) => last = Some(error),
                Err(_) => last = Some(Error::Unreachable(format!("{peer} did not answer in time"))),
            }
        }
        Err(last.unwrap_or_else(|| Error::Unreachable("none of its peers is known".to_owned())))
    }

    async fn connect(&self, peer: PeerId) -> Result<()> {
        let addresses = self.node.find(peer).await?;
        if addresses.is_empty() {
            return Err(Error::Unreachable(format!("no address of {peer} is known")));
        }
        let mut last = None;
        for mut address in addresses {
            if !matches!(address.iter().last(), Some(Protocol::P2p(_))) {
                address.push(Protocol::P2p(peer));
            }
            match self.node.dial(address).await {
                Ok(found) if found == peer => return Ok(()),
                Ok(found) => last = Some(Error::Unreachable(format!("{found} is at the address of {peer}"))),
                Err(error) => last = Some(error.into()),
            }
        }
        Err(last.unwrap_or_else(|| Error::Unreachable("no address was dialled".to_owned())))
    }

    /// On disk, and told to whoever listens.
    async fn put(&self, rows: Vec<Row>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let (store, written) = (self.store.clone(), rows.clone());
        blocking(move || store.put(&written)).await?;
        for row in &rows {
            if row.is_over() && row.error.is_none() {
                self.unsay(row.id);
            }
            self.agent.tell("draft", row.id.to_string(), self.agent.now(), &self.shown(row));
        }
        Ok(())
    }

    fn shown(&self, row: &Row) -> wire::Draft {
        let is_topic = row.recipient == BROADCAST;
        wire::Draft {
            draft: row.id,
            name: row.name.clone(),
            r#type: row.msg_type().map(type_name).unwrap_or_default(),
            recipient: (!is_topic).then(|| row.recipient.to_string()),
            conversation: row.conversation.to_string(),
            state: row.state.to_string(),
            created_micros: row.created_micros,
            expires_micros: row.expires_micros,
            tries: row.tries,
            message: row.message32.map(hex::encode),
            error: row.error,
            why: self.why_of(row),
            is_over: row.is_over(),
        }
    }

    /// Why it waits, or was not sent.
    fn why_of(&self, row: &Row) -> Option<String> {
        let standing = self.cluster.check_standing().err().filter(|_| row.state.is_queued());
        standing.map(|error| error.to_string()).or_else(|| self.why().get(&row.id).cloned())
    }

    fn say(&self, id: u64, why: &impl std::fmt::Display) {
        let mut all = self.why();
        all.insert(id, why.to_string());
        while all.len() > zx1_mesh::defaults::MAX_DRAFTS {
            all.pop_first();
        }
    }

    fn unsay(&self, id: u64) {
        self.why().remove(&id);
    }

    fn why(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, String>> {
        self.why.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn busy(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.busy.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
