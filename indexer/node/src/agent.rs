//! What the node knows of its agent: the log, the deals, what was heard, and who wants to know of news.

use crate::defaults::{CONVERSATION_EPOCHS, NEWS, REPLAY_EPOCHS};
use crate::error::Result;
use crate::heard::Heard;
use crate::inbox;
use crate::notary::line::{Line, chosen_in};
use crate::notary::rows::Rows;
use crate::transcript;
use crate::watch::Watch;
use crate::words::Words;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use zx1_home::Clock;
use zx1_log::{Admitted, Appended, LogHandle};
use zx1_mesh::conversation::{ConversationError, Conversations, envelope_hash};
use zx1_mesh::defaults::{MAX_WINDOWS, WINDOW_LIFE};
use zx1_mesh::notary::{Search, Stage};
use zx1_mesh::validate::Message;
use zx1_mesh::wire::peer_of_key;
use zx1_operator::node::wire::News;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::ids::AgentId;
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::units::Epoch;

/// One agent, as its node keeps it.
pub struct Agent {
    id: AgentId,
    name: String,
    log: LogHandle,
    clock: Arc<dyn Clock>,
    conversations: Mutex<Conversations>,
    /// Searches for notaries, and tasks as one. Locked before the deals where both are.
    rows: Mutex<Rows>,
    /// What the notary's part has to look at.
    line: Line,
    heard: Mutex<Heard>,
    watch: Mutex<Watch>,
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
    /// Makes the deals again from the log of the last epochs; `rows` are those of the notary's part. Blocks.
    ///
    /// # Errors
    /// The log's.
    pub fn open(
        id: AgentId,
        name: String,
        log: LogHandle,
        clock: Arc<dyn Clock>,
        rows: Rows,
    ) -> Result<Self> {
        let (news, _) = broadcast::channel(NEWS);
        let agent = Self {
            id,
            name,
            log,
            clock,
            conversations: Mutex::new(Conversations::new(id)),
            rows: Mutex::new(rows),
            line: Line::default(),
            heard: Mutex::new(Heard::new(id)),
            watch: Mutex::default(),
            news,
            count: AtomicU64::new(0),
        };
        agent.replay()?;
        let searches: Vec<Search> = agent.rows().searches.iter().cloned().collect();
        searches.iter().for_each(|row| agent.tell_deal(row));
        Ok(agent)
    }

    /// The deals of the last epochs, from the log, and what the notary's part may not have looked at yet.
    fn replay(&self) -> Result<()> {
        let recent = self.first_epoch(REPLAY_EPOCHS);
        let (rows, mut deals) = (self.rows(), self.conversations());
        transcript::each(
            &self.log.reader(),
            self.first_epoch(CONVERSATION_EPOCHS),
            |_| true,
            |envelope, direction, at| {
                if Epoch::from_unix_micros(at) >= recent && self.line.wants(&rows, &deals, self.id, envelope)
                {
                    self.line.push(envelope.header.conversation(), envelope.to_cbor().into(), at);
                }
                said_again(&mut deals, &rows, envelope, direction, at);
            },
        )
    }

    /// Who sent what the log took so recently that copies of it could still come, with the nonces that it remembers of
    /// them. Blocks.
    ///
    /// # Errors
    /// The log's.
    pub fn recent_nonces(&self) -> Result<Vec<(AgentId, Channel, SeenNonces)>> {
        let since = self.now().saturating_sub(WINDOW_LIFE);
        let mut authors = BTreeSet::new();
        let all = |envelope: &Envelope<'_>, direction, at| {
            if direction == Direction::Received && at >= since && authors.len() < MAX_WINDOWS {
                authors.insert((envelope.header.sender(), channel_of(envelope.header.msg_type)));
            }
        };
        transcript::each(&self.log.reader(), Epoch::from_unix_micros(since), |_| true, all)?;
        let seen = |(author, channel)| -> Result<_> {
            Ok((author, channel, self.log.seen_nonces(&author, channel)?))
        };
        authors.into_iter().map(seen).collect()
    }

    /// Puts in line what had no room there, from the log. Blocks.
    ///
    /// # Errors
    /// The log's.
    pub fn read_again(&self) -> Result<()> {
        transcript::each(
            &self.log.reader(),
            self.first_epoch(REPLAY_EPOCHS),
            |_| true,
            |envelope, _, at| {
                let wants = self.line.wants(&self.rows(), &self.conversations(), self.id, envelope);
                if wants {
                    self.line.push(envelope.header.conversation(), envelope.to_cbor().into(), at);
                }
            },
        )
    }

    /// The epoch that lies this number of epochs before the present one.
    pub fn first_epoch(&self, epochs: u64) -> Epoch {
        Epoch(Epoch::from_unix_micros(self.now()).0.saturating_sub(epochs))
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

    /// Its searches for notaries, and its tasks as one.
    pub fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the notary's part has to look at.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Whether this agent may send such a message now, in its deals or as a notary.
    ///
    /// # Errors
    /// 7620 to 7628
    pub fn check(&self, words: &Words) -> Result<(), ConversationError> {
        let checked =
            self.conversations().check(words.msg_type, words.recipient, words.conversation, &words.payload);
        match checked {
            Err(ConversationError::Unknown(_)) if self.rows().desk_says(words) => Ok(()),
            checked => checked,
        }
    }

    /// What was heard on topics.
    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which agents were heard and have not left.
    pub fn watch(&self) -> MutexGuard<'_, Watch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.deal_with(&envelope, message, now);
        let sender = envelope.header.sender();
        if sender != self.id {
            self.watch().heard(sender, peer_of_key(&message.author), now);
        }
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

    /// A received message, for the deals and for the notary's part. A VERDICT of a task with a search is for the search
    /// first.
    fn deal_with(&self, envelope: &Envelope<'_>, message: &Message, now: u64) {
        let (rows, mut deals) = (self.rows(), self.conversations());
        let wants = self.line.wants(&rows, &deals, self.id, envelope);
        if wants {
            self.line.push(envelope.header.conversation(), Arc::clone(&message.bytes), now);
        }
        if !wants || envelope.header.msg_type != MsgType::Verdict {
            deals.received(envelope, now);
        }
    }

    /// A message of this agent is in its log.
    pub fn sent(&self, envelope: &Envelope<'_>, _place: &Appended) {
        let now = self.now();
        let (rows, mut deals) = (self.rows(), self.conversations());
        deals.sent(envelope, now);
        if self.line.wants(&rows, &deals, self.id, envelope) {
            self.line.push(envelope.header.conversation(), envelope.to_cbor().into(), now);
        }
        // What follows from an assignment waits until it is signed.
        if envelope.header.msg_type == MsgType::NotarizeAssign {
            self.line.wake();
        }
    }

    /// A deal gets the notary whose VERDICT counts now, or that nobody judged. A notary whose time passed while this
    /// node was down never heard that it was chosen, and is not the one who was silent.
    pub fn tell_deal(&self, row: &Search) {
        let mut deals = self.conversations();
        let Ok(deal) = deals.get_mut(row.conversation()) else { return };
        let told = match (row.stage(), row.notary()) {
            (Stage::Assigned, Some(notary)) => deal.set_notary(notary),
            (Stage::Unjudged, _) => deal.set_unjudged(),
            _ => Ok(()),
        };
        if let Err(error) = told {
            tracing::debug!(%error, conversation = %row.conversation(), "the deal takes no notary now");
        }
    }

    /// Tells whoever listens.
    pub fn tell(&self, kind: &str, id: String, at_micros: u64, of: &impl Serialize) {
        // What is serialized here always can be.
        let of = serde_json::to_value(of).unwrap_or_default();
        let _ = self.news.send(Arc::new(News { r#type: kind.to_owned(), id, at_micros, of }));
    }
}

/// A message of the log, as it was when it came or went: who the notary was by then, say the rows.
fn said_again(
    deals: &mut Conversations,
    rows: &Rows,
    envelope: &Envelope<'_>,
    direction: Direction,
    at: u64,
) {
    let header = &envelope.header;
    if let Ok(search) = rows.searches.get(header.conversation()) {
        let notary = match (header.msg_type, direction) {
            (MsgType::NotarizeAssign, Direction::Sent) => Some(header.recipient()),
            (MsgType::Deliver, Direction::Received) => chosen_in(envelope.payload),
            (MsgType::Verdict, Direction::Received) => {
                let counts = search.verdict().filter(|verdict| verdict.envelope == envelope_hash(envelope));
                let Some(verdict) = counts else { return };
                Some(verdict.notary)
            }
            _ => None,
        };
        if let Some(notary) = notary.filter(|notary| search.notaries().any(|it| it == *notary))
            && let Ok(deal) = deals.get_mut(header.conversation())
        {
            // A deal that takes none now keeps what it has.
            let _ = deal.set_notary(notary);
        }
    }
    match direction {
        Direction::Sent => deals.sent(envelope, at),
        Direction::Received => deals.received(envelope, at),
    };
}
