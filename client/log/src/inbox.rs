//! The one door for messages that others sent: the nine rules of protocol.md, 5.5, the nonce, the selection
//! of what is logged, and one sync for many.

use crate::agent_log::{Appended, NonceRule};
use crate::error::{LogError, Result};
use crate::owner::{Entrant, LogHandle};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::Channel;
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::AgentId;
pub use zx1_protocol::keys::AgentKey as Key;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::nonce::{LastNonce, SeenNonces};
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::validate::{Candidate, Context, Reason, Sender, TIMESTAMP_TOLERANCE_MICROS};

/// The key accounts of agents, as the chain has them (decision P1). They are looked up before a message is
/// admitted, because that takes time, and may be at most 60 s old.
pub trait Keys {
    /// The keys of this agent; empty when it has none or is not registered. For what is received now without
    /// those that have ended; for a transcript with them, because their signatures still count in their epochs.
    fn keys_of(&self, agent: &AgentId) -> Cow<'_, [Key]>;
}

impl Keys for HashMap<AgentId, Vec<Key>> {
    fn keys_of(&self, agent: &AgentId) -> Cow<'_, [Key]> {
        Cow::Borrowed(self.get(agent).map(Vec::as_slice).unwrap_or_default())
    }
}

impl Keys for BTreeMap<AgentId, Vec<Key>> {
    fn keys_of(&self, agent: &AgentId) -> Cow<'_, [Key]> {
        Cow::Borrowed(self.get(agent).map(Vec::as_slice).unwrap_or_default())
    }
}

/// A rule of protocol.md, 5.5, that is not applied as it stands, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// The rule's number.
    pub rule: u8,
    /// What is done instead, and the reason.
    pub why: &'static str,
}

/// The way by which a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A topic of the mesh, or the direct stream. All rules hold.
    Mesh {
        /// Which one: the message must belong there.
        channel: Channel,
        /// The present slot, near which the message's block_ref must be (decision P2).
        slot: Slot,
    },
    /// A person handed it over. All rules hold, as of the time that the person says.
    File {
        /// The slot of that time; `None` when it is not known any more, and block_ref is not compared.
        slot: Option<Slot>,
    },
    /// The data of an entry in a verified market transcript (decision G1). See [`Self::waivers`]. It may be read
    /// long after its receipt, so block_ref is not compared.
    Market {
        /// The time that the entry's author signed, unix microseconds.
        signed_micros: u64,
        /// When the server chained the entry, unix microseconds.
        chained_micros: u64,
    },
}

impl Origin {
    /// The rules that do not hold as they stand. The signature is none of them, wherever a message comes
    /// from.
    pub fn waivers(&self) -> &'static [Waiver] {
        match self {
            Self::Mesh { .. } | Self::File { .. } => &[],
            Self::Market { .. } => &[
                Waiver {
                    rule: 5,
                    why: "Nonces may come in any order: one sender's messages are spread over contracts that \
                          are read one after the other, and again. A nonce that another message in the log \
                          has is refused all the same, and a message that is there is not added again.",
                },
                Waiver {
                    rule: 6,
                    why: "The timestamp is compared with the time that the entry's author signed, because a \
                          transcript is read long after its entries were made. That time itself must be at \
                          most a day before the server chained the entry, and neither may lie in the future.",
                },
            ],
        }
    }

    /// When the message arrived.
    fn arrival(&self, now_micros: u64) -> u64 {
        match self {
            Self::Mesh { .. } | Self::File { .. } => now_micros,
            Self::Market { chained_micros, .. } => *chained_micros,
        }
    }

    /// The time that the message's timestamp is compared with (rule 6).
    fn clock(&self, now_micros: u64) -> Result<u64, Reason> {
        let Self::Market { signed_micros, chained_micros } = self else { return Ok(now_micros) };
        let latest = now_micros.saturating_add(TIMESTAMP_TOLERANCE_MICROS);
        for future in [signed_micros, chained_micros] {
            if *future > latest {
                return Err(Reason::Timestamp { off_by: future.abs_diff(now_micros) });
            }
        }
        let off_by = signed_micros.abs_diff(*chained_micros);
        // So that a copy of an old message is looked for in epochs that are in memory.
        if off_by > MOST_BETWEEN { Err(Reason::Timestamp { off_by }) } else { Ok(*signed_micros) }
    }

    /// The slot that the message's block_ref is compared with.
    fn slot(&self) -> Option<Slot> {
        match self {
            Self::Mesh { slot, .. } => Some(*slot),
            Self::File { slot } => *slot,
            Self::Market { .. } => None,
        }
    }

    fn nonce_rule(&self) -> NonceRule {
        match self {
            Self::Mesh { .. } | Self::File { .. } => NonceRule::Channel,
            Self::Market { .. } => NonceRule::AnyOrder,
        }
    }
}

/// How long a server may take to chain an entry: a bond waits for its deposit. An epoch, in microseconds.
const MOST_BETWEEN: u64 = 86_400_000_000;

/// A message as it came.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// The envelope's CBOR.
    pub bytes: &'a [u8],
    /// The way by which it came.
    pub origin: Origin,
}

/// A message that keeps all rules. It is on disk, as far as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Received, or this agent's own: read back from a transcript, or signed elsewhere.
    pub direction: Direction,
    /// Where it is in the log; `None` when it is not logged, because it does not concern this agent
    /// (decision I2).
    pub logged: Option<Appended>,
}

/// Takes messages into an agent's log: see [`LogHandle::inbox`].
#[derive(Clone, Copy, Debug)]
pub struct Inbox<'l> {
    log: &'l LogHandle,
}

impl LogHandle {
    /// The door for messages that others sent.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox { log: self }
    }
}

impl Inbox<'_> {
    /// Takes one message: see [`Self::admit_all`].
    ///
    /// # Errors
    /// [`LogError::Rule`] with the rule that the message breaks; otherwise what the log refuses.
    pub fn admit(&self, bytes: &[u8], keys: &dyn Keys, now_micros: u64, origin: Origin) -> Result<Admitted> {
        let mut admitted = self.admit_all(&[Received { bytes, origin }], keys, now_micros)?;
        // One in, one out.
        admitted.pop().unwrap_or(Err(LogError::LogChanged))
    }

    /// Takes messages in this order, each for itself, with one sync for all. A message that is in the log
    /// already is accepted and not added again.
    ///
    /// An own message must be signed by one of this agent's keys. Its nonce, time and slot are its own: it
    /// belongs to the epoch of its timestamp.
    ///
    /// # Errors
    /// When the log cannot be written or reached. Then none was acknowledged.
    pub fn admit_all(
        &self,
        messages: &[Received<'_>],
        keys: &dyn Keys,
        now_micros: u64,
    ) -> Result<Vec<Result<Admitted>>> {
        let mut entrants = Vec::new();
        let mut judged = Vec::with_capacity(messages.len());
        for message in messages {
            judged.push(match self.judge(message, keys, now_micros) {
                Ok(Judged::Entrant(entrant, direction)) => {
                    entrants.push(entrant);
                    Ok(direction)
                }
                Ok(Judged::Known(admitted)) => Err(Ok(admitted)),
                Err(error) => Err(Err(error)),
            });
        }
        let mut places = self.log.admit(entrants)?.into_iter();
        let outcomes = judged.into_iter().map(|judged| match judged {
            Ok(direction) => {
                let logged = places.next().unwrap_or(Err(LogError::LogChanged))?;
                Ok(Admitted { direction, logged })
            }
            Err(decided) => decided,
        });
        Ok(outcomes.collect())
    }

    /// Every rule but that of the nonce, which the log decides together with the entry.
    fn judge(&self, message: &Received<'_>, keys: &dyn Keys, now_micros: u64) -> Result<Judged> {
        let Received { bytes, origin } = message;
        let candidate = Candidate::parse(bytes)?;
        if matches!(origin, Origin::Mesh { channel, .. } if *channel != candidate.channel()) {
            return Err(Reason::WrongChannel.into());
        }
        let own = candidate.sender() == self.log.agent();
        let direction = if own { Direction::Sent } else { Direction::Received };
        let keys = keys.keys_of(&candidate.sender());
        let any_nonce = SeenNonces::Strict(LastNonce::default());
        let sender = match keys.as_ref() {
            [] => Sender::Unknown,
            keys => Sender::Registered { keys, seen: any_nonce },
        };
        let (clock, slot) =
            if own { (candidate.timestamp(), None) } else { (origin.clock(now_micros)?, origin.slot()) };
        let valid = match candidate.validate(&Context::new(clock, slot, sender)) {
            Ok(valid) => valid,
            Err(reason) => {
                // What a person gives twice is there, however late it is by now.
                let known = match (reason, origin) {
                    (Reason::Timestamp { .. } | Reason::BlockRef { .. }, Origin::File { .. }) => {
                        self.known(&candidate)?
                    }
                    _ => None,
                };
                let logged = Some(known.ok_or(reason)?);
                return Ok(Judged::Known(Admitted { direction, logged }));
            }
        };
        let arrival_micros = if own { candidate.timestamp() } else { origin.arrival(now_micros) };
        let entrant =
            Entrant { envelope: valid.envelope.to_cbor(), arrival_micros, nonce_rule: origin.nonce_rule() };
        Ok(Judged::Entrant(entrant, direction))
    }

    fn known(&self, candidate: &Candidate<'_>) -> Result<Option<Appended>> {
        let Some(envelope) = candidate.envelope() else { return Ok(None) };
        let leaf = LogEntry::leaf::<Sha3>(&LogEntry::of(envelope).to_cbor::<Sha3>()?);
        self.log.find_near(Epoch::from_unix_micros(candidate.timestamp()), leaf)
    }
}

enum Judged {
    Entrant(Entrant, Direction),
    Known(Admitted),
}
