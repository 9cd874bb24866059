//! What a node that only observes has heard on topics.

use super::Cluster;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A message that went over a topic; its payload only where it is a rating
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Observed {
    /// place among what was observed, which a reader resumes from
    pub id: String,
    /// hash of the message's header, which names it
    pub hash: String,
    /// version of the envelope
    pub version: u8,
    /// message type as a word
    pub msg_type: String,
    /// agent that sent it
    pub sender: String,
    /// agent that it is for; none for everybody
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipient: Option<String>,
    /// the sender's clock, unix microseconds
    pub timestamp: u64,
    /// slot that the sender saw
    pub block_ref: u64,
    /// the sender's nonce
    pub nonce: u64,
    /// conversation, 32 hex digits
    pub conversation: String,
    /// hash of the payload
    pub payload_hash: String,
    /// length of the payload in bytes
    pub payload_len: u32,
    /// fields of a FEEDBACK or a NOTARIZE_BID, without terms in a format of the sender's own
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub summary: Option<Value>,
    /// the whole envelope of a FEEDBACK as hex: a rating is public, and only its signature makes it count
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<String>,
    /// when it was heard
    pub heard_micros: u64,
}

/// Observed messages in the order in which they were heard
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ObservedPage {
    /// the messages, oldest first
    pub messages: Vec<Observed>,
    /// what to resume from; none while nothing was heard
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// whether messages may be missing before the first one: they are not kept any more, or the node was started anew
    pub has_gap: bool,
}

/// The mesh, as one node sees it
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MeshMap {
    /// libp2p peer id of the node
    pub peer: String,
    /// version of the program
    pub version: String,
    /// when it was started, unix microseconds
    pub started_micros: u64,
    /// `enforced`, or `dev` where every key may sign everything
    pub gates: String,
    /// what the node knows of the cluster
    pub cluster: Cluster,
    /// the topics, in the order of their numbers
    pub topics: Vec<MeshTopic>,
    /// connected peers, the best first
    pub peers: Vec<MeshPeer>,
    /// number of agents that were heard
    pub agents: usize,
    /// messages that were not taken, by the reason's name
    pub refused: BTreeMap<String, u64>,
}

/// A topic and its traffic
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MeshTopic {
    /// name of the topic
    pub topic: String,
    /// connected peers in its mesh
    pub peers: usize,
    /// messages of the last 60 seconds
    pub per_minute: u64,
    /// messages since the start
    pub total: u64,
}

/// A connected peer, without its address
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MeshPeer {
    /// libp2p peer id
    pub peer: String,
    /// agent whose messages this peer signed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// what that agent calls itself; a stranger's text
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// the program that it says it is
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// topics in whose mesh the peer is
    pub mesh: Vec<String>,
    /// whether this node opened the connection
    pub is_outbound: bool,
    /// score in hundredths of a point
    pub score: i64,
    /// whether everything that it sends is dropped unread
    pub is_graylisted: bool,
    /// round trip of the last ping in microseconds
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_micros: Option<u64>,
}
