//! The pool that judges messages beside the swarm task.
//!
//! Messages wait in the [`Queue`] of their authors. Workers judge them, hand the verdict back to the swarm task
//! and accepted messages to the sink. One author's messages are judged and put in line in their order.

use super::queue::{Queue, QueueLimits};
use crate::defaults::{MAX_SAVING, MAX_WAITING, MAX_WAITING_PER_PEER, VERDICTS, WAIT_TIME};
use crate::direct::Answer;
use crate::drops::{Counters, Dropped, Refusal};
use crate::validate::{Message, Sink, Validator, Verdict};
use libp2p::PeerId;
use libp2p::futures::FutureExt;
use libp2p::gossipsub::MessageId;
use libp2p::request_response::ResponseChannel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::task::JoinSet;
use zx1_protocol::ids::WalletKey;

/// Who waits for the verdict.
#[derive(Debug)]
pub(crate) enum Origin {
    /// Gossipsub, which forwards the message or not.
    Gossip {
        /// The message's id.
        id: MessageId,
    },
    /// The peer at the other end of a direct stream.
    Direct {
        /// Where its answer goes.
        answer: ResponseChannel<Answer>,
    },
}

/// A message in the pool.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) message: Message,
    pub(crate) origin: Origin,
}

/// What the swarm task has to do about a message.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Tell gossipsub what to do with it.
    Gossip { id: MessageId, forwarder: PeerId, ruling: Ruling },
    /// Answer a direct stream, whose peer pays when it is to `blame`.
    Direct { answer: ResponseChannel<Answer>, with: Answer, blame: Option<PeerId> },
}

/// What gossipsub does with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// Forward it to the mesh.
    Accept,
    /// Drop it, and nobody pays.
    Ignore,
    /// Drop it, and all who brought it pay.
    Reject,
    /// Drop it, and only the peer that brought it first pays.
    BlameForwarder,
}

impl Outcome {
    /// The outcome of a message that is not accepted.
    pub(crate) fn refused(item: Item, ruling: Ruling) -> Self {
        match item.origin {
            Origin::Gossip { id } => Self::Gossip { id, forwarder: item.message.forwarder, ruling },
            Origin::Direct { answer } => {
                let is_fault = matches!(ruling, Ruling::Reject | Ruling::BlameForwarder);
                let blame = is_fault.then_some(item.message.forwarder);
                Self::Direct { answer, with: Answer::Reset, blame }
            }
        }
    }
}

struct State {
    queue: Queue<Item>,
    /// Messages that wait for facts, by the peer that brought them.
    waiting: HashMap<PeerId, usize>,
    waiting_total: usize,
}

struct Shared<V, S> {
    validator: V,
    sink: S,
    counters: Arc<Counters>,
    state: Mutex<State>,
    work: Notify,
    saving: Arc<Semaphore>,
    outcomes: mpsc::Sender<Outcome>,
}

/// The pool. Dropped, its workers end; what the sink already has is finished.
pub(crate) struct Pool<V, S> {
    shared: Arc<Shared<V, S>>,
    _workers: JoinSet<()>,
}

impl<V: Validator, S: Sink> Pool<V, S> {
    /// Starts as many workers as there are cores. What they decide comes out of the receiver.
    pub(crate) fn start(
        validator: V,
        sink: S,
        limits: QueueLimits,
        counters: Arc<Counters>,
    ) -> (Self, mpsc::Receiver<Outcome>) {
        let (outcomes, receiver) = mpsc::channel(VERDICTS);
        let shared = Arc::new(Shared {
            validator,
            sink,
            counters,
            state: Mutex::new(State { queue: Queue::new(limits), waiting: HashMap::new(), waiting_total: 0 }),
            work: Notify::new(),
            saving: Arc::new(Semaphore::new(MAX_SAVING)),
            outcomes,
        });
        let mut workers = JoinSet::new();
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            workers.spawn(work(Arc::clone(&shared)));
        }
        (Self { shared, _workers: workers }, receiver)
    }

    /// Puts a message in line and returns what is dropped for it, which may be itself. Never waits.
    pub(crate) fn push(&self, item: Item) -> Vec<Outcome> {
        let (author, length) = (item.message.author, item.message.bytes.len());
        let gone = self.shared.state().queue.push(author, item, length);
        self.shared.work.notify_one();
        let dropped = gone.into_iter().map(|item| {
            self.shared.counters.drop_one(Dropped::QueueFull);
            Outcome::refused(item, Ruling::Ignore)
        });
        dropped.collect()
    }
}

async fn work<V: Validator, S: Sink>(shared: Arc<Shared<V, S>>) {
    loop {
        let next = shared.state().queue.pop();
        match next {
            Some((author, item)) => shared.judge(author, item).await,
            // A push between the look and this line leaves a permit, so nothing is missed.
            None => shared.work.notified().await,
        }
        // Judging is work without a pause: others get their turn.
        tokio::task::yield_now().await;
    }
}

impl<V: Validator, S: Sink> Shared<V, S> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn judge(self: &Arc<Self>, author: WalletKey, item: Item) {
        let mut verdict = Box::pin(self.validator.judge(&item.message));
        match verdict.as_mut().now_or_never() {
            Some(verdict) => {
                self.act(item, verdict).await;
                self.done(author);
            }
            None => self.wait(author, item, verdict).await,
        }
    }

    async fn act(self: &Arc<Self>, item: Item, verdict: Verdict) {
        match verdict {
            Verdict::Accept => self.accept(item).await,
            Verdict::Ignore(reason) => self.refuse(item, Refusal::Ignored, reason).await,
            Verdict::Reject(reason) => self.refuse(item, Refusal::Rejected, reason).await,
            Verdict::Misattributed(reason) => self.refuse(item, Refusal::Misattributed, reason).await,
        }
    }

    /// The author's next message may be judged.
    fn done(&self, author: WalletKey) {
        self.state().queue.done(author);
        self.work.notify_one();
    }

    async fn accept(self: &Arc<Self>, item: Item) {
        self.counters.accept();
        let Item { message, origin } = item;
        let answer = match origin {
            Origin::Gossip { id } => {
                let forwarder = message.forwarder;
                self.send(Outcome::Gossip { id, forwarder, ruling: Ruling::Accept }).await;
                None
            }
            Origin::Direct { answer } => Some(answer),
        };
        // Closed only when the pool is gone.
        let Ok(permit) = Arc::clone(&self.saving).acquire_owned().await else { return };
        let kept = self.sink.keep(message);
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let kept = kept.await;
            if kept.is_err() {
                this.counters.drop_one(Dropped::NotKept);
            }
            if let Some(answer) = answer {
                let with = if kept.is_ok() { Answer::Acknowledge } else { Answer::Reset };
                this.send(Outcome::Direct { answer, with, blame: None }).await;
            }
            drop(permit);
        });
    }

    async fn refuse(&self, item: Item, kind: Refusal, reason: u32) {
        self.counters.refuse(kind, reason);
        let ruling = match kind {
            Refusal::Ignored => Ruling::Ignore,
            Refusal::Rejected => Ruling::Reject,
            Refusal::Misattributed => Ruling::BlameForwarder,
        };
        self.send(Outcome::refused(item, ruling)).await;
    }

    /// Holds the author's messages while facts are fetched, without holding a worker.
    async fn wait(
        self: &Arc<Self>,
        author: WalletKey,
        item: Item,
        verdict: impl Future<Output = Verdict> + Send + 'static,
    ) {
        let forwarder = item.message.forwarder;
        if !self.state().may_wait(forwarder) {
            self.drop_item(item, Dropped::WaitFull).await;
            return self.done(author);
        }
        let this = Arc::clone(self);
        tokio::spawn(async move {
            let verdict = tokio::time::timeout(WAIT_TIME, verdict).await;
            this.state().waited(forwarder);
            match verdict {
                Ok(verdict) => this.act(item, verdict).await,
                Err(_) => {
                    // The others of this author would wait as long again, and for nothing.
                    let others = this.state().queue.take_all(author);
                    this.drop_item(item, Dropped::WaitExpired).await;
                    for other in others {
                        this.drop_item(other, Dropped::WaitExpired).await;
                    }
                }
            }
            this.done(author);
        });
    }

    async fn drop_item(&self, item: Item, reason: Dropped) {
        self.counters.drop_one(reason);
        self.send(Outcome::refused(item, Ruling::Ignore)).await;
    }

    async fn send(&self, outcome: Outcome) {
        // The swarm task is gone only when the node is.
        let _ = self.outcomes.send(outcome).await;
    }
}

impl State {
    fn may_wait(&mut self, forwarder: PeerId) -> bool {
        let of_peer = self.waiting.get(&forwarder).copied().unwrap_or(0);
        if self.waiting_total >= MAX_WAITING || of_peer >= MAX_WAITING_PER_PEER {
            return false;
        }
        self.waiting_total = self.waiting_total.saturating_add(1);
        self.waiting.insert(forwarder, of_peer.saturating_add(1));
        true
    }

    fn waited(&mut self, forwarder: PeerId) {
        self.waiting_total = self.waiting_total.saturating_sub(1);
        if let Some(count) = self.waiting.get_mut(&forwarder) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.waiting.remove(&forwarder);
            }
        }
    }
}
