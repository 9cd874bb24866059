//! One message, judged: form, channel, signature, then what the chain says of its author, then the nine rules.
//!
//! What every peer that keeps the rules sees the same way comes first, so that two of them never disagree about a
//! rejection (decision I4), and nobody makes a peer ask the chain with bytes that no key signed. That is why the
//! signature on a topic is verified under the key that published the message: which keys an agent has now is a view,
//! which key signed these bytes is not. On a stream the peer at its other end must be the author's own; then any of
//! the author's keys may have signed, as the deal key does, which no peer holds (decision P1).

use crate::facts::{Chain, Known, Need};
use crate::reason::Reason;
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::Epoch;
use zx1_protocol::validate::{self, Candidate, Context, Sender, Signed, Valid};

/// How strict the gate is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Authors need registration, key, stake and lease.
    #[default]
    Enforced,
    /// The chain is not asked: every key may sign everything for every agent. For closed networks of developers.
    Dev,
}

/// The way by which a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The topic, or the direct stream.
    pub channel: Channel,
    /// The Ed25519 key of the peer that published it on a topic (gossipsub's `from`), or of the peer at the other end
    /// of the stream; `None` for a peer with a key of another kind.
    pub source: Option<WalletKey>,
}

/// What a message is judged against.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The local clock, unix microseconds.
    pub now: u64,
    /// Slot and configuration; `None` before they were read.
    pub chain: Option<Chain>,
    /// Facts about the author.
    pub author: Known<'a>,
    /// Nonces that were accepted from the author on the message's channel.
    pub seen: SeenNonces,
}

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It keeps all rules. Its rate is still to be counted and its nonce to be remembered.
    Accept(Valid<'a>),
    /// It goes no further, and nobody is to blame.
    Ignore(Reason),
    /// It goes no further, and whoever brought it is to blame.
    Reject(Reason),
    /// It is judged again when this is known of its author.
    Wait(Need),
}

impl From<Reason> for Verdict<'_> {
    fn from(reason: Reason) -> Self {
        if reason.is_reject() { Self::Reject(reason) } else { Self::Ignore(reason) }
    }
}

/// A message of the right form that came by the right channel.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a> {
    candidate: Candidate<'a>,
    channel: Channel,
    source: WalletKey,
}

impl<'a> Opened<'a> {
    /// What it claims to be, and from whom.
    pub fn candidate(&self) -> &Candidate<'a> {
        &self.candidate
    }

    /// The agent that claims to have sent it.
    pub fn author(&self) -> AgentId {
        self.candidate.sender()
    }

    /// The topic, or the direct stream.
    pub fn channel(&self) -> Channel {
        self.channel
    }

    /// The peer that published it, or brought it on its stream.
    pub fn source(&self) -> WalletKey {
        self.source
    }
}

/// Judges messages for one agent's peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    agent: AgentId,
    mode: Mode,
}

/// Why there is no valid message.
enum Stop {
    Reason(Reason),
    Wait(Need),
}

impl<E: Into<Reason>> From<E> for Stop {
    fn from(reason: E) -> Self {
        Self::Reason(reason.into())
    }
}

impl Gate {
    /// The gate of this agent's peer.
    pub const fn new(agent: AgentId, mode: Mode) -> Self {
        Self { agent, mode }
    }

    /// How strict it is.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Form and channel; nothing that costs much.
    ///
    /// # Errors
    /// Size, form, version, type, channel, recipient or source.
    pub fn open<'a>(&self, bytes: &'a [u8], path: Path) -> Result<Opened<'a>, Reason> {
        let candidate = Candidate::parse(bytes)?;
        if candidate.channel() != path.channel {
            return Err(validate::Reason::WrongChannel.into());
        }
        if path.channel == Channel::Direct && candidate.recipient() != self.agent {
            return Err(Reason::Recipient);
        }
        let source = path.source.ok_or(Reason::Source)?;
        Ok(Opened { candidate, channel: path.channel, source })
    }

    /// All other rules. Pure: the caller counts and remembers.
    pub fn judge<'a>(&self, opened: &Opened<'a>, view: &View<'_>) -> Verdict<'a> {
        let judged = match self.mode {
            Mode::Enforced => enforced(opened, view),
            Mode::Dev => without_chain(opened, view).map_err(Stop::Reason),
        };
        match judged {
            Ok(valid) => Verdict::Accept(valid),
            Err(Stop::Reason(reason)) => reason.into(),
            Err(Stop::Wait(need)) => Verdict::Wait(need),
        }
    }

    /// Both steps at once, for a caller that knows the author already.
    pub fn verdict<'a>(&self, bytes: &'a [u8], path: Path, view: &View<'_>) -> Verdict<'a> {
        match self.open(bytes, path) {
            Ok(opened) => self.judge(&opened, view),
            Err(reason) => reason.into(),
        }
    }
}

fn enforced<'a>(opened: &Opened<'a>, view: &View<'_>) -> Result<Valid<'a>, Stop> {
    let is_direct = opened.channel == Channel::Direct;
    let published = if is_direct { None } else { Some(signed_by_source(opened, view.author)?) };
    let need_source = Stop::Wait(Need::Key(opened.source));
    let facts = match view.author {
        Known::Asked => return Err(need_source),
        Known::Absent => return Err(validate::Reason::UnknownSender.into()),
        Known::TooOld => return Err(Reason::FactsTooOld.into()),
        Known::Present(facts) => facts,
    };
    let Some(chain) = view.chain else { return Err(need_source) };
    let Some(source) = facts.key(&opened.source) else {
        return if facts.knows(&opened.source) { Err(Reason::UnknownKey.into()) } else { Err(need_source) };
    };
    facts.check_standing(chain.min_stake, Epoch::from_unix_micros(view.now))?;
    let sender = Sender::Registered { keys: &facts.keys, seen: view.seen };
    let context = Context::new(view.now, Some(chain.slot), sender);
    match published.or_else(|| opened.candidate.signed_by(&source.key)) {
        Some(signed) => Ok(signed.validate(&context)?),
        // Another key of the author signed it, as the deal key does, or none. Only the author's own peer has its keys
        // listed.
        None if facts.has_all_keys => Ok(opened.candidate.validate(&context)?),
        None => Err(Stop::Wait(Need::AllKeys)),
    }
}

/// A message as one that its publisher signed. Where the key is one of the author's it is at hand.
fn signed_by_source<'a>(opened: &Opened<'a>, author: Known<'_>) -> Result<Signed<'a>, Reason> {
    let listed = match author {
        Known::Present(facts) => facts.key(&opened.source),
        _ => None,
    };
    if let Some(listed) = listed {
        return opened.candidate.signed_by(&listed.key).ok_or(Reason::Rule(validate::Reason::Signature));
    }
    let key = PublicKey::from_bytes(&opened.source.to_bytes()).map_err(|_| Reason::Source)?;
    opened.candidate.signed_by(&key).ok_or(Reason::Source)
}

/// Without the chain the source's key is taken as the author's.
fn without_chain<'a>(opened: &Opened<'a>, view: &View<'_>) -> Result<Valid<'a>, Reason> {
    let key = PublicKey::from_bytes(&opened.source.to_bytes()).map_err(|_| Reason::Source)?;
    let keys = [AgentKey { key, scopes: Scopes::ALL, from: Epoch(0), until: OPEN }];
    let sender = Sender::Registered { keys: &keys, seen: view.seen };
    let context = Context::new(view.now, view.chain.map(|chain| chain.slot), sender);
    Ok(opened.candidate.validate(&context)?)
}
