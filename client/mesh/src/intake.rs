//! From bytes to outcome: the gate with all that it needs to know and to remember.
//!
//! State of an author changes only by messages that its own keys signed. A message of an author that is not known yet
//! waits, and all later ones of it behind it.
//!
//! Several of these can share the work of a peer as long as every author belongs to one of them.

use crate::counts::Counts;
use crate::facts::{Chain, Facts, Known, Need};
use crate::gate::{Gate, Mode, Opened, Path, Verdict, View};
use crate::limits::AuthorLimits;
use crate::reason::Reason;
use crate::replay::Windows;
use crate::senders::{Batch, Line, Senders, Waiting};
use std::hash::Hash;
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, WalletKey};

/// A message as the transport has it, with what the transport needs to report its outcome.
pub trait Arrived {
    /// The envelope's bytes.
    fn bytes(&self) -> &[u8];
    /// The way by which it came.
    fn path(&self) -> Path;
}

/// What is said of an accepted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The agent that sent it.
    pub author: AgentId,
    /// The key that signed it.
    pub signer: WalletKey,
    /// Type of the message.
    pub msg_type: MsgType,
    /// Where its nonce counts.
    pub channel: Channel,
}

/// What became clear about a message. Everything that comes in comes out once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<P, M> {
    /// It is forwarded and handed on.
    Accepted(P, M, Accepted),
    /// It is dropped, and nobody is to blame.
    Ignored(P, M, Reason),
    /// It is dropped, and the peer is to blame.
    Rejected(P, M, Reason),
}

/// The gate and its memory. `P` is the peer that forwarded a message, `M` the message.
#[derive(Debug)]
pub struct Intake<P, M> {
    gate: Gate,
    chain: Option<Chain>,
    senders: Senders,
    waiting: Waiting<P, M>,
    limits: AuthorLimits,
    windows: Windows,
    counts: Counts,
}

impl<P: Clone + Eq + Hash, M: Arrived> Intake<P, M> {
    /// Knows nothing of any author.
    pub fn new(gate: Gate) -> Self {
        Self {
            gate,
            chain: None,
            senders: Senders::default(),
            waiting: Waiting::default(),
            limits: AuthorLimits::default(),
            windows: Windows::default(),
            counts: Counts::default(),
        }
    }

    /// Slot and configuration of the cluster. Before the first, messages wait; then they are judged.
    pub fn set_chain(&mut self, chain: Chain, now: u64) -> Vec<Outcome<P, M>> {
        let is_first = self.chain.replace(chain).is_none();
        let authors = if is_first { self.waiting.authors() } else { Vec::new() };
        authors.iter().flat_map(|author| self.judge_waiting(author, now)).collect()
    }

    /// Takes a message that this peer brought. `None` while it waits.
    pub fn receive(&mut self, peer: P, message: M, now: u64) -> Option<Outcome<P, M>> {
        let outcome = self.judge(peer, message, now, now);
        if outcome.is_none() {
            self.counts.waited = self.counts.waited.saturating_add(1);
        }
        outcome
    }

    /// The next batch of authors to look up: see [`Senders::due`].
    pub fn due(&mut self, now: u64) -> Option<Batch> {
        self.senders.due(now)
    }

    /// Takes the answer to a batch and judges what waited for it.
    pub fn answer(&mut self, id: u64, found: Vec<(AgentId, Option<Facts>)>, now: u64) -> Vec<Outcome<P, M>> {
        let authors = self.senders.answer(id, found, now);
        authors.iter().flat_map(|author| self.judge_waiting(author, now)).collect()
    }

    /// The batch was not answered: see [`Senders::failed`].
    pub fn failed(&mut self, id: u64, now: u64) {
        self.senders.failed(id, now);
    }

    /// An account of this agent changed on chain: see [`Senders::changed`].
    pub fn changed(&mut self, author: &AgentId) {
        self.senders.changed(author);
    }

    /// What has waited too long. To be called at least each 100 ms.
    pub fn tick(&mut self, now: u64) -> Vec<Outcome<P, M>> {
        let late = self.waiting.expire(now);
        late.into_iter().map(|(peer, message)| self.refused(peer, message, Reason::WaitedTooLong)).collect()
    }

    /// Outcomes so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// What is remembered of authors' nonces; the log's is restored into it.
    pub fn windows(&mut self) -> &mut Windows {
        &mut self.windows
    }

    /// Messages that wait for facts.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What is known of authors.
    pub fn senders(&self) -> &Senders {
        &self.senders
    }

    /// `None`: it waits, since `since`.
    fn judge(&mut self, peer: P, message: M, since: u64, now: u64) -> Option<Outcome<P, M>> {
        let opened = match self.gate.open(message.bytes(), message.path()) {
            Ok(opened) => opened,
            Err(reason) => return Some(self.refused(peer, message, reason)),
        };
        let line = (opened.author(), opened.source());
        let bytes = message.bytes().len();
        match self.decide(&opened, &line, &peer, bytes, now) {
            Ok(Some(accepted)) => Some(self.accepted(peer, message, accepted)),
            Ok(None) => match self.waiting.push(line, peer, message, bytes, since) {
                Ok(()) => None,
                Err((peer, message, reason)) => Some(self.refused(peer, message, reason)),
            },
            Err(reason) => Some(self.refused(peer, message, reason)),
        }
    }

    /// `None`: it has to wait.
    fn decide(
        &mut self,
        opened: &Opened<'_>,
        line: &Line,
        peer: &P,
        bytes: usize,
        now: u64,
    ) -> Result<Option<Accepted>, Reason> {
        let (author, channel) = (opened.author(), opened.channel());
        let seen = self.windows.seen(&author, channel);
        let unasked = View { now, chain: self.chain, author: Known::Asked, seen };
        let verdict = match self.gate.mode() {
            Mode::Dev => self.gate.judge(opened, &unasked),
            Mode::Enforced => {
                let must_wait = self.waiting.has(line);
                let need = Need::Key(opened.source());
                if must_wait || !self.senders.has(&author, need) {
                    // What no key signed is refused, and room there must be, before anybody is asked.
                    let verdict = self.gate.judge(opened, &unasked);
                    if let Verdict::Reject(reason) | Verdict::Ignore(reason) = verdict {
                        return Err(reason);
                    }
                    self.waiting.check_room(peer, bytes)?;
                }
                let author = self.senders.ask(&author, need, now)?;
                if must_wait {
                    return Ok(None);
                }
                self.gate.judge(opened, &View { author, ..unasked })
            }
        };
        let valid = match verdict {
            Verdict::Accept(valid) => valid,
            Verdict::Ignore(reason) | Verdict::Reject(reason) => return Err(reason),
            Verdict::Wait(need) => {
                if need == Need::AllKeys {
                    self.senders.ask(&author, need, now)?;
                }
                return Ok(None);
            }
        };
        let header = valid.envelope.header;
        self.limits.take(&author, header.msg_type, now)?;
        self.windows.accept(&author, channel, header.nonce, now)?;
        Ok(Some(Accepted { author, signer: valid.signer, msg_type: header.msg_type, channel }))
    }

    fn judge_waiting(&mut self, author: &AgentId, now: u64) -> Vec<Outcome<P, M>> {
        let released = self.waiting.release(author);
        let outcomes =
            released.into_iter().filter_map(|(peer, message, since)| self.judge(peer, message, since, now));
        outcomes.collect()
    }

    fn accepted(&mut self, peer: P, message: M, accepted: Accepted) -> Outcome<P, M> {
        self.counts.accepted = self.counts.accepted.saturating_add(1);
        Outcome::Accepted(peer, message, accepted)
    }

    fn refused(&mut self, peer: P, message: M, reason: Reason) -> Outcome<P, M> {
        self.counts.refused(&reason);
        if reason.is_reject() {
            Outcome::Rejected(peer, message, reason)
        } else {
            Outcome::Ignored(peer, message, reason)
        }
    }
}
