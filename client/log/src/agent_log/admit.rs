//! Taking in what others sent: nonces, the selection of what is logged, and one sync for a group.

use super::stage::{Group, Staged, mark_repeated};
use super::{AgentLog, Append, Appended};
use crate::error::{LogError, Result};
use crate::nonces::Line;
use std::collections::{HashMap, HashSet};
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::channel::channel_of;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::log_entry::LogEntry;
use zx1_protocol::nonce::{NonceError, SeenNonces};
use zx1_protocol::payload::{Feedback, NotarizeBid};
use zx1_protocol::validate::Reason;

/// How the nonce of a message is judged (rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum NonceRule {
    /// As its channel has it: strictly increasing, or within the replay window.
    Channel,
    /// In any order, but not that of another message in the log.
    AnyOrder,
}

/// A message that keeps all rules but that of the nonce, which is decided here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) envelope: Envelope<'a>,
    pub(crate) arrival_micros: u64,
    pub(crate) nonce_rule: NonceRule,
}

/// Nonces of a group whose messages are not written yet.
#[derive(Default)]
struct Nonces {
    seen: HashMap<Line, SeenNonces>,
    used: HashSet<(Line, u64)>,
    logged: Vec<(Line, u64)>,
    unlogged: Vec<(Line, u64)>,
}

impl AgentLog {
    /// Takes the messages of a group, each for itself: what is refused keeps no other one out. All that is
    /// accepted is on disk when it returns, with one sync of the log: its entry when it concerns this agent
    /// (decision I2), else the nonce, so that no replay is accepted after a restart. `None`: accepted and not
    /// logged.
    ///
    /// # Errors
    /// Of the disk, for the whole group. Nothing was acknowledged then; some may have been added, and the
    /// same group again is safe.
    pub(crate) fn admit_group(&mut self, messages: &[Incoming<'_>]) -> Result<Vec<Result<Option<Appended>>>> {
        let (mut group, mut nonces) = (Group::default(), Nonces::default());
        let verdicts: Vec<Result<Option<Staged>>> =
            messages.iter().map(|message| self.judge(message, &mut group, &mut nonces)).collect();
        let logged = messages.iter().zip(&verdicts).filter(|(_, verdict)| matches!(verdict, Ok(Some(_))));
        let places = self.write(&group, logged.map(|(message, _)| message.envelope))?;
        self.nonces.saw_logged(nonces.logged);
        self.nonces.saw_unlogged(&nonces.unlogged)?;
        let place = |staged: Staged| staged.place(&places).ok_or(LogError::LogChanged);
        let mut outcomes: Vec<Result<Option<Appended>>> =
            verdicts.into_iter().map(|verdict| verdict?.map(&place).transpose()).collect();
        mark_repeated(outcomes.iter_mut().filter_map(|outcome| outcome.as_mut().ok()?.as_mut()));
        Ok(outcomes)
    }

    fn judge(
        &mut self,
        message: &Incoming<'_>,
        group: &mut Group,
        nonces: &mut Nonces,
    ) -> Result<Option<Staged>> {
        let Incoming { envelope, arrival_micros, nonce_rule } = message;
        let header = &envelope.header;
        let (envelope, arrival_micros) = (*envelope, *arrival_micros);
        if header.sender() == self.agent {
            // An own message that came back, or was signed elsewhere.
            return self
                .stage(&Append { envelope, direction: Direction::Sent, arrival_micros }, group)
                .map(Some);
        }
        let append = Append { envelope, direction: Direction::Received, arrival_micros };
        let concerns = self.concerns(&envelope);
        // A copy of what the log has is not a replay: it came by another way, or an answer was lost.
        if concerns && self.has(&envelope, group)? {
            return self.stage(&append, group).map(Some);
        }
        let line = (header.sender(), channel_of(header.msg_type));
        let received = (line, header.nonce);
        let seen = nonces.seen.get(&line).copied().unwrap_or_else(|| self.nonces.seen(&line.0, line.1));
        let used = || {
            let in_log = self.live.values().any(|live| live.index.has_nonce(&received));
            in_log || nonces.used.contains(&received) || seen.has(header.nonce)
        };
        let next = match nonce_rule {
            // Of what is not logged nothing but the channel's nonces is remembered.
            NonceRule::AnyOrder if concerns && !used() => Ok(seen.with(header.nonce)),
            NonceRule::AnyOrder if concerns => {
                Err(NonceError::Replayed { highest: seen.highest().unwrap_or_default() })
            }
            NonceRule::AnyOrder | NonceRule::Channel => seen.accept(header.nonce),
        };
        let next = next.map_err(|error| LogError::Rule(Reason::Nonce(error)))?;
        let staged = if concerns { Some(self.stage(&append, group)?) } else { None };
        nonces.seen.insert(line, next);
        nonces.used.insert(received);
        let kept = if concerns { &mut nonces.logged } else { &mut nonces.unlogged };
        kept.push(received);
        Ok(staged)
    }

    /// Whether a received message belongs into this agent's log (decision I2): it is addressed to the agent,
    /// rates it, or is an offer or a request in one of its conversations.
    pub(super) fn concerns(&self, envelope: &Envelope<'_>) -> bool {
        let header = &envelope.header;
        if header.recipient() == self.agent {
            return true;
        }
        match header.msg_type {
            MsgType::Feedback => {
                Feedback::decode(envelope.payload).is_ok_and(|rating| rating.target_agent == self.agent)
            }
            MsgType::NotarizeBid => NotarizeBid::decode(envelope.payload).is_ok_and(|bid| {
                self.live.values().any(|live| live.index.has_conversation(&bid.conversation_id))
            }),
            _ => false,
        }
    }

    fn has(&self, envelope: &Envelope<'_>, group: &Group) -> Result<bool> {
        let leaf = LogEntry::leaf::<Sha3>(&LogEntry::of(envelope).to_cbor::<Sha3>()?);
        Ok(group.has(&leaf) || self.find(&leaf).is_some())
    }
}
