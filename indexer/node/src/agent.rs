//! What the node knows of its agent: the log, the deals, what was heard, and who wants to know of news.

use crate::defaults::{CONVERSATION_EPOCHS, NEWS};
use crate::error::Result;
use crate::heard::Heard;
use crate::inbox;
use serde::Serialize;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use zx1_home::Clock;
use zx1_log::{Admitted, Appended, LogHandle, LogReader};
use zx1_mesh::conversation::Conversations;
use zx1_mesh::validate::Message;
use zx1_operator::node::wire::News;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

/// One agent, as its node keeps it.
pub struct Agent {
    id: AgentId,
    name: String,
    log: LogHandle,
    clock: Arc<dyn Clock>,
    conversations: Mutex<Conversations>,
    heard: Mutex<Heard>,
    news: broadcast::Sender<Arc<News>>,
    /// Counts news that have no number of their own.
    count: AtomicU64,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Agent {
    /// Makes the deals again from the log of the last epochs. Blocks.
    ///
    /// # Errors
    /// The log's.
    pub fn open(id: AgentId, name: String, log: LogHandle, clock: Arc<dyn Clock>) -> Result<Self> {
        let now = clock.unix_micros();
        let conversations = conversations(&log.reader(), id, now)?;
        let (news, _) = broadcast::channel(NEWS);
        Ok(Self {
            id,
            name,
            log,
            clock,
            conversations: Mutex::new(conversations),
            heard: Mutex::new(Heard::new(id)),
            news,
            count: AtomicU64::new(0),
        })
    }

    /// The agent's mint.
    pub fn id(&self) -> AgentId {
        self.id
    }

    /// What it calls itself in BEACONs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The log that its batches are built from.
    pub fn log(&self) -> &LogHandle {
        &self.log
    }

    /// Present time in unix microseconds.
    pub fn now(&self) -> u64 {
        self.clock.unix_micros()
    }

    /// The deals of the last epochs.
    pub fn conversations(&self) -> MutexGuard<'_, Conversations> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was heard on topics.
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// News from here on.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<News>> {
        self.news.subscribe()
    }

    /// Readers of news at present.
    pub fn subscribers(&self) -> usize {
        self.news.receiver_count()
    }

    /// A message of another agent kept all rules, and is on disk as far as it is kept.
    pub fn took(&self, message: &Message, admitted: &Admitted) {
        let Ok(envelope) = Envelope::decode(&message.bytes) else { return };
        let now = self.now();
        let is_new = admitted.logged.is_none_or(|place| place.new);
        if !is_new || admitted.direction == Direction::Sent {
            return;
        }
        self.conversations().received(&envelope, now);
        let heard = self.heard().take(&envelope, &message.author, now);
        if let Some(place) = admitted.logged {
            let shown = inbox::of_envelope(&envelope, place, now);
            self.tell("message", shown.id.clone(), now, &shown);
        } else if heard {
            let id = self.count.fetch_add(1, Ordering::Relaxed).to_string();
            let shown = serde_json::json!({
                "type": zx1_operator::message::type_name(envelope.header.msg_type),
                "sender": envelope.header.sender().to_string(),
                "payload": zx1_mesh::payload::show(envelope.header.msg_type, envelope.payload),
            });
            self.tell("heard", id, now, &shown);
        }
    }

    /// A message of this agent is in its log.
    pub fn sent(&self, envelope: &Envelope<'_>, _place: &Appended) {
        self.conversations().sent(envelope, self.now());
    }

    /// Tells whoever listens.
    pub fn tell(&self, kind: &str, id: String, at_micros: u64, of: &impl Serialize) {
        // What is serialized here always can be.
        let of = serde_json::to_value(of).unwrap_or_default();
        let _ = self.news.send(Arc::new(News { r#type: kind.to_owned(), id, at_micros, of }));
    }
}

/// The deals of the last epochs, from the log.
fn conversations(reader: &LogReader, agent: AgentId, now: u64) -> Result<Conversations> {
    let mut all = Conversations::new(agent);
    let last = Epoch::from_unix_micros(now);
    let mut entries = reader.entries(Epoch(last.0.saturating_sub(CONVERSATION_EPOCHS)), Epoch(u64::MAX))?;
    while let Some(stored) = entries.next_entry()? {
        let (direction, at) = (stored.direction, stored.arrival_micros);
        let Ok(entry) = stored.entry() else { continue };
        // Payloads are kept beside the log, where they were not pruned.
        let kept = if entry.payload.is_empty() && entry.header.payload_len > 0 {
            reader.payload(entry.header.payload_hash).ok().flatten().unwrap_or_default()
        } else {
            entry.payload.to_vec()
        };
        let envelope = Envelope { header: entry.header, payload: &kept, signature: entry.signature };
        match direction {
            Direction::Sent => all.sent(&envelope, at),
            Direction::Received => all.received(&envelope, at),
        };
    }
    Ok(all)
}
