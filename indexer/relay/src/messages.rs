//! What connections, core and desk say to each other.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::oneshot;
use zx1_relay_rules::access::Subject;
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::hub::{Kept, Out, Room};
use zx1_relay_rules::login::Proven;
use zx1_relay_rules::proposal::{Key, Party, State};
use zx1_relay_rules::signing::Terms;
use zx1_relay_rules::{AgentId, Close, RelayError};

use crate::outbox::Outbox;

/// A connection that has identified.
#[derive(Debug)]
pub struct Enter {
    /// Unique among the connections of this process.
    pub number: u64,
    /// Its unsent frames.
    pub outbox: Arc<Outbox>,
    /// Where it comes from, for who it displaces.
    pub address: String,
    /// The name that it asked for.
    pub name: String,
    /// What it proved; `None` for agents without a key.
    pub proven: Option<Proven>,
    /// Its id, or `None` when it was refused; then it has an ERROR already.
    pub reply: oneshot::Sender<Option<AgentId>>,
}

/// What the core is asked to do.
#[derive(Debug)]
pub enum Command {
    /// Whether an agent with this key, or without one, may identify.
    Check(Option<Key>, oneshot::Sender<Result<(), RelayError>>),
    /// A connection has identified.
    Enter(Box<Enter>),
    /// A frame of an identified connection, within its rates and with a signature that holds.
    Frame(u64, AgentId, Box<Frame>),
    /// The public channels, for a connection that has not identified.
    Channels(Arc<Outbox>),
    /// A frame for one connection, behind what was asked before.
    Reply(Arc<Outbox>, String),
    /// Ends a connection, behind what was asked before.
    Close(Arc<Outbox>, Close),
    /// The connection is gone.
    Gone(u64, AgentId),
    /// Frames of the desk.
    Send(Vec<Out>),
    /// A change of bans or the allowlist, which is kept now.
    Changed(Box<Change>, AgentId),
    /// Who is here.
    Look(oneshot::Sender<Look>),
    /// The buffer of a public channel; nothing for others.
    Read(String, oneshot::Sender<Option<Vec<Kept>>>),
}

/// Who is here.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Look {
    pub connected: usize,
    pub with_identity: usize,
    pub rooms: Vec<Room>,
}

/// A proposal whose signatures hold.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Proposing {
    pub from: Party,
    pub to: Party,
    pub terms: Terms,
    pub sig: String,
    pub zx1_sig: Option<String>,
    pub envelope: Option<String>,
}

/// What a party does with a proposal.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Act {
    Accept { payment_code: Option<String>, elo_stake: Option<f64> },
    Reject { reason: Option<String> },
    Complete { proof: Option<String> },
    Dispute { reason: String },
}

/// A change of who may be here.
#[derive(Debug, Clone)]
pub enum Change {
    /// A key comes onto the allowlist, with a note.
    Allow(Key, Option<String>),
    /// A key comes off it.
    Revoke(Key),
    /// Nobody lets this subject in any more; the agent is the one that is here, the text the reason.
    Ban(Subject, AgentId, String),
    /// It is let in again.
    Unban(Subject),
}

/// What the desk is asked to do.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Task {
    /// Keep the id of a key.
    Remember(Key, AgentId),
    Propose(Box<Proposing>),
    Act {
        proposal: String,
        by: Party,
        act: Act,
        sig: String,
        envelope: Option<String>,
    },
    /// An admin's ruling.
    Rule {
        proposal: String,
        winner: Option<AgentId>,
        admin: AgentId,
    },
    Change(Box<Change>, AgentId),
    /// Buffers of channels, as JSON.
    Buffers(Vec<(String, String)>),
    /// How many proposals are in each state, and of how many agents.
    Census(oneshot::Sender<(Vec<(State, usize)>, usize)>),
}

/// A frame for one agent.
pub(crate) fn one(id: &AgentId, frame: String) -> Out {
    Out { to: vec![id.clone()], frame: frame.into(), extension: false }
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], RelayError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| RelayError::Busy)?;
    Ok(bytes)
}
