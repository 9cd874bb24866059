//! What goes over the local API, as JSON. Numbers beyond 2^53 are decimal strings, bytes are lower-case hex, times are
//! unix microseconds.

mod notary;
mod observed;

pub use notary::*;
pub use observed::*;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Largest request in bytes: a payload of 64 KiB as hex.
pub const MAX_REQUEST: usize = 256 << 10;
/// Messages of one page.
pub const MAX_PAGE: usize = 256;

/// Where a node serves: the content of [`super::PLACE_FILE`], and its ready line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Place {
    pub ready: bool,
    /// Where the local API is, such as `http://127.0.0.1:4010`.
    pub url: String,
    pub pid: u32,
    /// The agent's mint; empty where the node only observes.
    pub agent: String,
    /// The node's libp2p peer id.
    pub peer: String,
}

/// Who and where the node is
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Identity {
    /// the agent's mint
    pub agent: String,
    /// libp2p peer id of the node
    pub peer: String,
    /// key of the node, a key account of scope peer
    pub key: String,
    /// addresses on which it listens
    pub listening: Vec<String>,
    /// addresses at which others are known to reach it
    pub external: Vec<String>,
}

/// How the node is
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Status {
    /// who and where it is
    pub identity: Identity,
    /// version of the program
    pub version: String,
    /// when it was started, unix microseconds
    pub started_micros: u64,
    /// `enforced`, or `dev` where every key may sign everything
    pub gates: String,
    /// what the node knows of the cluster
    pub cluster: Cluster,
    /// by how many seconds the node's clock is ahead of the cluster's; messages that are more than 30 s off are ignored
    #[serde(default)]
    pub clock_ahead_seconds: i64,
    /// whether other nodes take this agent's messages
    pub standing: Standing,
    /// number of connected peers
    pub peers: usize,
    /// messages by outcome
    pub messages: Messages,
    /// messages of the outbox by state
    pub outbox: OutboxCounts,
    /// whether a signer for deals is connected
    pub signer: bool,
    /// whether this process is the one that writes the agent's log
    pub owns_log: bool,
    /// the agent's registration file, and the copy that its owner hosts
    #[serde(default)]
    pub registration: Registration,
}

/// The agent's registration file, and the copy that its owner hosts
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Registration {
    /// path of the file that the node keeps
    pub file: String,
    /// addresses on the mesh that the file names
    pub addresses: Vec<String>,
    /// where the owner hosts the file, as the chain says; none before it was asked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// `agrees`, `differs`, `unread` where the copy cannot be fetched, or `unknown` before it was compared
    pub hosted: String,
    /// why it does not agree, in a sentence
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What the node knows of the cluster
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cluster {
    /// hash of the genesis block
    pub genesis: String,
    /// slot that messages are judged by
    pub slot: u64,
    /// seconds since the cluster last answered
    pub age_seconds: u64,
    /// whether the last question was not answered
    pub is_away: bool,
}

/// Whether other nodes take this agent's messages
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Standing {
    /// whether stake and lease are as they have to be, and the node's key is a key of the agent
    pub is_good: bool,
    /// what is missing, in a sentence
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Messages by outcome since the start
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Messages {
    /// taken and forwarded, or acknowledged
    pub accepted: u64,
    /// dropped without blame
    pub ignored: u64,
    /// dropped, and the peers that brought them pay
    pub rejected: u64,
    /// waiting for facts about their senders
    pub waiting: usize,
}

/// Messages of the outbox by state
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OutboxCounts {
    /// unsigned drafts that wait for their recipients
    pub queued: usize,
    /// on their way
    pub sent: usize,
    /// perhaps received; the caller decides
    pub unanswered: usize,
}

/// A connected peer
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Peer {
    /// libp2p peer id
    pub peer: String,
    /// address of the connection
    pub address: String,
    /// whether this node opened the connection
    pub is_outbound: bool,
    /// topics in whose mesh the peer is
    pub mesh: Vec<String>,
    /// score in hundredths of a point
    pub score: i64,
    /// whether everything that it sends is dropped unread
    pub is_graylisted: bool,
    /// the program that it says it is
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// round trip of the last ping in microseconds
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ping_micros: Option<u64>,
    /// agent whose messages this peer signed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// A message to send
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Send {
    /// message type as a word, such as `propose`
    pub r#type: String,
    /// agent that it is for; none for the types that go to a topic
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// conversation, 32 hex digits; without one the message begins a new one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// bid value of PROPOSE, COUNTER and ACCEPT
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// content as text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// payload, or with a value the content behind it, as hex; instead of the text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// payload of a format that the protocol knows, as its fields; instead of text and hex
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Fields>,
    /// name of the intent: the same message under the same name is taken once
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// seconds after which it is not sent any more, at most a day
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u32>,
}

/// A payload as fields
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Fields {
    /// what this agent can do
    Advertise {
        /// what the agent can do
        caps: Vec<String>,
        /// name of the payload schema
        #[serde(default)]
        schema: String,
        /// in what the price is counted
        #[serde(default)]
        unit: String,
        /// usual price in that unit
        #[serde(default)]
        price: String,
        /// contract that is offered
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contract: Option<String>,
        /// seconds for which it stands
        ttl: u32,
    },
    /// a search for agents
    Discover {
        /// capabilities that are looked for
        want: Vec<String>,
        /// maximum number of answers
        #[serde(default)]
        max: u32,
    },
    /// a rating of another agent
    Feedback {
        /// who is rated
        target: String,
        /// -100 to 100
        score: i8,
        /// 0 negative, 1 neutral, 2 positive
        outcome: u8,
        /// whether the outcome is contested
        #[serde(default)]
        is_dispute: bool,
        /// 0 participant, 1 notary
        #[serde(default)]
        role: u8,
    },
    /// a notary's judgement
    Verdict {
        /// 0 negative, 1 neutral, 2 positive
        outcome: u8,
        /// payload hash of the judged DELIVER, 64 hex digits
        deliver: String,
        /// reason in the notary's words
        #[serde(default)]
        reason: String,
    },
    /// an objection to a judgement
    Dispute {
        /// hash of the VERDICT's envelope, 64 hex digits
        verdict: String,
        /// reason in the sender's words
        #[serde(default)]
        reason: String,
    },
}

/// A message that was taken for sending
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Draft {
    /// number of the message in the outbox
    pub draft: u64,
    /// name of the intent
    pub name: String,
    /// message type as a word
    pub r#type: String,
    /// agent that it is for; none for the types that go to a topic
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// conversation, 32 hex digits
    pub conversation: String,
    /// queued, sent, acknowledged, unanswered, expired or refused
    pub state: String,
    /// when it was taken
    pub created_micros: u64,
    /// when it expires unless it was begun
    pub expires_micros: u64,
    /// attempts that failed before anything was signed
    pub tries: u32,
    /// hash of the signed message's header
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// number of the error that refused it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<u32>,
    /// why it waits, or why it was refused, in a sentence
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// whether messages behind it may go
    pub is_over: bool,
}

/// A received message
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Message {
    /// place in the agent's log, which is what a reader resumes from
    pub id: String,
    /// hash of the message's header, which names it
    pub message: String,
    /// message type as a word
    pub r#type: String,
    /// agent that sent it
    pub sender: String,
    /// conversation, 32 hex digits
    pub conversation: String,
    /// the sender's clock
    pub timestamp_micros: u64,
    /// when it was taken
    pub arrival_micros: u64,
    /// slot that the sender saw
    pub block_ref: u64,
    /// the sender's nonce
    pub nonce: u64,
    /// hash of the payload
    pub payload_hash: String,
    /// length of the payload in bytes
    pub payload_len: u32,
    /// the payload taken apart, where it is kept
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub payload: Option<Value>,
}

/// Received messages in the log's order
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Inbox {
    /// the messages, oldest first
    pub messages: Vec<Message>,
    /// what to resume from; none while nothing was received
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// the last message that was acknowledged
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<String>,
}

/// An acknowledgement: everything up to this message was handled
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Acknowledge {
    /// id of the message
    pub id: String,
}

/// What an agent advertises
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Advert {
    /// agent that advertises
    pub agent: String,
    /// what the agent can do
    pub caps: Vec<String>,
    /// name of its payload schema
    pub schema: String,
    /// in what the price is counted
    pub unit: String,
    /// usual price in that unit
    pub price: String,
    /// contract that is offered
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// when it was heard
    pub heard_micros: u64,
    /// when it ends
    pub ends_micros: u64,
}

/// An agent that was heard on the mesh
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Heard {
    /// agent that was heard
    pub agent: String,
    /// what it calls itself; a stranger's text
    pub name: String,
    /// peer ids that signed for it
    pub peers: Vec<String>,
    /// when its last message was heard
    pub last_micros: u64,
    /// ratings that were heard of it, which proves nothing
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reputation: Option<Reputation>,
}

/// Reputation from ratings that were heard; apart from the one of batches, which alone counts (decision D2)
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reputation {
    /// agent that was rated
    pub agent: String,
    /// always `heard`, never `batch`
    pub source: String,
    /// score of reliability, in thousandths
    pub reliability: i32,
    /// score of cooperation, in thousandths
    pub cooperation: i32,
    /// score as a notary, in thousandths
    pub notary: i32,
    /// ratings as a participant
    pub tasks: u32,
    /// number of contested outcomes
    pub disputes: u32,
}

/// A conversation of this agent
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conversation {
    /// conversation, 32 hex digits
    pub conversation: String,
    /// agent that sent the first PROPOSE
    pub proposer: String,
    /// agent that it was sent to
    pub responder: String,
    /// where the deal stands, as a word such as `proposer_bid` or `agreed`
    pub phase: String,
    /// value of the last bid
    pub value: String,
    /// agent that judges the task
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notary: Option<String>,
    /// ratings that this agent owes
    #[serde(default)]
    pub owed: Vec<Due>,
    /// latest messages, the oldest first
    pub lines: Vec<Line>,
}

impl Conversation {
    /// The other party of the deal; `None` for an agent that is none of the two.
    pub fn counterparty(&self, agent: &str) -> Option<&str> {
        match (self.proposer == agent, self.responder == agent) {
            (true, _) => Some(&self.responder),
            (_, true) => Some(&self.proposer),
            _ => None,
        }
    }
}

/// A message of a conversation
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Line {
    /// hash of the message's header, which names it
    pub message: String,
    /// message type as a word
    pub r#type: String,
    /// agent that sent it
    pub sender: String,
    /// agent that it is for
    pub recipient: String,
    /// the sender's clock
    pub timestamp_micros: u64,
    /// hash of the payload
    pub payload_hash: String,
    /// whether it was not the deal's next move when it came
    pub is_out_of_order: bool,
}

/// A question to whoever holds the deal key
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ToSign {
    /// number of the question
    pub id: u64,
    /// message type as a word
    pub r#type: String,
    /// agent that sends
    pub sender: String,
    /// agent that it is for
    pub recipient: String,
    /// conversation, 32 hex digits
    pub conversation: String,
    /// timestamp of the message
    pub timestamp_micros: u64,
    /// slot of the message
    pub block_ref: u64,
    /// nonce of the message
    pub nonce: u64,
    /// payload as hex
    pub payload: String,
}

/// The signer's answer
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Signed {
    /// the signed envelope as hex; none when the signer refuses
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<String>,
    /// why it refuses, in a sentence
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// News of the websocket
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct News {
    /// what it is about: `message`, `draft`, `heard`, `peer`, `search`, `desk`
    pub r#type: String,
    /// place in the inbox of a message, number of a draft, otherwise counts up
    pub id: String,
    /// when it happened
    pub at_micros: u64,
    /// the thing itself
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub of: Value,
}
