//! A deal between this agent and another: where it stands, what may be sent, which ratings are owed.
//!
//! The [table](TABLE) governs what this agent sends and what is shown. It refuses nothing that was received: an
//! envelope that keeps the rules is logged and acknowledged whatever its order, and shown as `out_of_order`
//! when the table has no such move; it then changes nothing here. The log has every message, so all of this can
//! be made again from it.
//!
//! Contracts of a market have a state machine of their own (`zx1-market`); their envelopes do not come here.

mod book;
mod error;
mod table;

pub use book::{Conversations, Received};
pub use error::ConversationError;
pub use table::{Act, Phase, Role, TABLE};

use crate::defaults::{MAX_LINES, MAX_RATINGS};
use crate::text;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use zx1_protocol::context::Context;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::{Hash, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::{Feedback, bid_value};

/// Role of who is rated, as FEEDBACK has it.
pub const PARTICIPANT: u8 = 0;
/// Role of who is rated, as FEEDBACK has it.
pub const NOTARY: u8 = 1;

/// A rating that one agent gives another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Due {
    /// Who is rated.
    pub target: AgentId,
    /// [`PARTICIPANT`] or [`NOTARY`].
    pub role: u8,
}

/// What a party owes when its task is over: a rating of the counterparty, and of the notary if there was one.
pub fn owed_by_party(counterparty: AgentId, notary: Option<AgentId>) -> Vec<Due> {
    let of_notary = notary.map(|target| Due { target, role: NOTARY });
    [Due { target: counterparty, role: PARTICIPANT }].into_iter().chain(of_notary).collect()
}

/// What a notary owes after its VERDICT: a rating of each party.
pub fn owed_by_notary(parties: [AgentId; 2]) -> Vec<Due> {
    parties.into_iter().map(|target| Due { target, role: PARTICIPANT }).collect()
}

/// One message of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Hash of the message's header, which names it.
    #[serde(with = "text::bytes")]
    pub message32: Hash,
    /// Number of the message type.
    pub msg_type: u16,
    /// Who sent it.
    pub sender: AgentId,
    /// Whom it is for.
    pub recipient: AgentId,
    /// The sender's clock, unix microseconds.
    pub timestamp: u64,
    /// keccak256 of the payload.
    #[serde(with = "text::bytes")]
    pub payload_hash: Hash,
    /// Whether the table has no such move at that point.
    pub out_of_order: bool,
}

/// A deal between two parties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Id that all its messages have.
    pub id: ConversationId,
    /// The sender of the first PROPOSE.
    pub proposer: AgentId,
    /// The recipient of the first PROPOSE.
    pub responder: AgentId,
    /// Where it stands.
    pub phase: Phase,
    /// Value of the last bid that was in order.
    #[serde(with = "text::decimal")]
    pub value: i128,
    /// Whether the responder ever made a move.
    pub answered: bool,
    /// The notary whose VERDICT counts.
    pub notary: Option<AgentId>,
    /// A notary that let its time pass.
    pub silent_notary: Option<AgentId>,
    /// payload_hash of the last DELIVER that was in order.
    #[serde(with = "text::some_hash")]
    pub delivered: Option<Hash>,
    /// keccak256 of the VERDICT's envelope: what a DISPUTE names.
    #[serde(with = "text::some_hash")]
    pub verdict: Option<Hash>,
    /// The ratings that were given, with who gave them.
    pub ratings: Vec<(AgentId, Due)>,
    /// The latest messages, oldest first.
    pub lines: VecDeque<Line>,
    /// Number of messages that are in the log only.
    pub omitted: u64,
    /// When the last message came or went, unix microseconds.
    pub changed_micros: u64,
}

impl Conversation {
    /// One in which nothing was said yet.
    pub fn new(id: ConversationId, proposer: AgentId, responder: AgentId) -> Self {
        Self {
            id,
            proposer,
            responder,
            phase: Phase::New,
            value: 0,
            answered: false,
            notary: None,
            silent_notary: None,
            delivered: None,
            verdict: None,
            ratings: Vec::new(),
            lines: VecDeque::new(),
            omitted: 0,
            changed_micros: 0,
        }
    }

    /// The role of an agent; `None` for a stranger.
    pub fn role_of(&self, agent: AgentId) -> Option<Role> {
        if agent == self.proposer {
            Some(Role::Proposer)
        } else if agent == self.responder {
            Some(Role::Responder)
        } else {
            (self.notary == Some(agent)).then_some(Role::Notary)
        }
    }

    /// The other party; `None` for whoever is not a party.
    pub fn counterparty(&self, party: AgentId) -> Option<AgentId> {
        match self.role_of(party)? {
            Role::Proposer => Some(self.responder),
            Role::Responder => Some(self.proposer),
            Role::Notary => None,
        }
    }

    /// Whether this agent's next move can be that one.
    pub fn can(&self, agent: AgentId, act: Act) -> bool {
        self.role_of(agent).is_some_and(|role| self.phase.after(act, role).is_some())
    }

    /// Whether the agent may answer the last bid with another.
    pub fn can_counter(&self, agent: AgentId) -> bool {
        self.can(agent, Act::Counter)
    }

    /// Whether the agent may make the deal.
    pub fn can_accept(&self, agent: AgentId) -> bool {
        self.can(agent, Act::Accept)
    }

    /// Whether the agent may end the bargaining.
    pub fn can_reject(&self, agent: AgentId) -> bool {
        self.can(agent, Act::Reject)
    }

    /// Whether the agent may send a work product.
    pub fn can_deliver(&self, agent: AgentId) -> bool {
        self.can(agent, Act::Deliver)
    }

    /// Whether the agent may contest the verdict.
    pub fn can_dispute(&self, agent: AgentId) -> bool {
        self.can(agent, Act::Dispute)
    }

    /// Whether the agent may ask for a notary, or show that it chose one.
    pub fn can_ask_for_notary(&self, agent: AgentId) -> bool {
        self.counterparty(agent).is_some() && self.phase.takes_notary() && self.notary.is_none()
    }

    /// Whether the agent may give this rating: once, after a deal, about somebody who took part.
    pub fn can_rate(&self, rater: AgentId, due: Due) -> bool {
        self.can(rater, Act::Feedback) && self.took_part(rater, due) && !self.was_given(rater, due)
    }

    /// The ratings that the agent still owes. A deal without a notary is over with its DELIVER.
    pub fn owed(&self, rater: AgentId) -> Vec<Due> {
        let over = match self.phase {
            Phase::Judged | Phase::Disputed | Phase::Unjudged => true,
            Phase::Delivered => self.notary.is_none(),
            _ => false,
        };
        let all = match self.role_of(rater) {
            _ if !over => Vec::new(),
            None => Vec::new(),
            Some(Role::Notary) => owed_by_notary([self.proposer, self.responder]),
            Some(Role::Proposer) => owed_by_party(self.responder, self.rated_notary()),
            Some(Role::Responder) => owed_by_party(self.proposer, self.rated_notary()),
        };
        all.into_iter().filter(|due| !self.was_given(rater, *due)).collect()
    }

    /// Whether nothing is left to do here for this agent.
    pub fn is_done(&self, agent: AgentId) -> bool {
        self.phase == Phase::Rejected || (self.phase.is_over() && self.owed(agent).is_empty())
    }

    /// The notary is this one from now on; one before it let its time pass.
    pub fn set_notary(&mut self, notary: AgentId) -> Result<(), ConversationError> {
        if self.notary == Some(notary) {
            return Ok(());
        }
        if self.counterparty(notary).is_some() {
            return Err(ConversationError::PartyAsNotary);
        }
        if !self.phase.takes_notary() {
            return Err(ConversationError::NoNotaryNow { phase: self.phase });
        }
        self.silent_notary = self.notary.or(self.silent_notary);
        self.notary = Some(notary);
        Ok(())
    }

    /// No notary judged in time. Whoever was asked last is rated as silent.
    pub fn set_unjudged(&mut self) -> Result<(), ConversationError> {
        if self.phase == Phase::Unjudged {
            return Ok(());
        }
        if !self.phase.can_stay_unjudged() {
            return Err(ConversationError::NoNotaryNow { phase: self.phase });
        }
        self.silent_notary = self.notary.take().or(self.silent_notary);
        self.phase = Phase::Unjudged;
        Ok(())
    }

    /// Takes a message that was received, or sent; says whether it is in order.
    pub fn take(&mut self, envelope: &Envelope<'_>, now_micros: u64) -> bool {
        let message32 = envelope.header.message32::<Sha3>();
        if let Some(line) = self.lines.iter().find(|line| line.message32 == message32) {
            return !line.out_of_order;
        }
        let in_order = self.moves(envelope);
        self.changed_micros = now_micros;
        if self.lines.len() >= MAX_LINES {
            self.lines.pop_front();
            self.omitted = self.omitted.saturating_add(1);
        }
        let header = &envelope.header;
        self.lines.push_back(Line {
            message32,
            msg_type: header.msg_type.wire(),
            sender: header.sender(),
            recipient: header.recipient(),
            timestamp: header.timestamp,
            payload_hash: *header.payload_hash,
            out_of_order: !in_order,
        });
        in_order
    }

    /// Moves to the next phase, if the message is a move and the table has it. Other messages are in
    /// order when they are between those who take part.
    fn moves(&mut self, envelope: &Envelope<'_>) -> bool {
        let header = &envelope.header;
        let (sender, recipient) = (header.sender(), header.recipient());
        let Some(role) = self.role_of(sender) else { return false };
        let Some(act) = act_of(header.msg_type, envelope.payload) else { return true };
        let among = act == Act::Feedback || (self.counterparty(recipient).is_some() && recipient != sender);
        let Some(next) = self.phase.after(act, role).filter(|_| among) else { return false };
        match act {
            // An ACCEPT of another value than the last bid's is none of that bid.
            Act::Accept if bid_value(envelope.payload) != self.value => return false,
            Act::Accept => {}
            Act::Propose | Act::Counter => self.value = bid_value(envelope.payload),
            Act::Deliver => self.delivered = Some(*header.payload_hash),
            Act::Verdict => self.verdict = Some(envelope_hash(envelope)),
            Act::Feedback => return self.note_rating(sender, envelope.payload),
            Act::Reject | Act::Dispute => {}
        }
        self.answered |= role == Role::Responder;
        self.phase = next;
        true
    }

    fn note_rating(&mut self, rater: AgentId, payload: &[u8]) -> bool {
        let Ok(feedback) = Feedback::decode(payload) else { return false };
        let due = Due { target: feedback.target_agent, role: feedback.role };
        let right = feedback.conversation_id == self.id
            && self.can_rate(rater, due)
            && self.ratings.len() < MAX_RATINGS;
        if right {
            self.ratings.push((rater, due));
        }
        right
    }

    fn was_given(&self, rater: AgentId, due: Due) -> bool {
        self.ratings.contains(&(rater, due))
    }

    fn took_part(&self, rater: AgentId, due: Due) -> bool {
        let notary = [self.notary, self.silent_notary].contains(&Some(due.target));
        let party = self.counterparty(due.target).is_some();
        due.target != rater && (if due.role == NOTARY { notary } else { party })
    }

    /// Whom a party rates as notary: who judged, or the last who did not.
    fn rated_notary(&self) -> Option<AgentId> {
        self.notary.or(self.silent_notary)
    }
}

/// What a message is to the table; `None` for what moves nothing.
pub fn act_of(msg_type: MsgType, payload: &[u8]) -> Option<Act> {
    match msg_type {
        MsgType::Propose => Some(Act::Propose),
        MsgType::Counter => Some(Act::Counter),
        MsgType::Accept => Some(Act::Accept),
        MsgType::Reject => Some(Act::Reject),
        MsgType::Deliver if Context::is_one(payload) => None,
        MsgType::Deliver => Some(Act::Deliver),
        MsgType::Verdict => Some(Act::Verdict),
        MsgType::Dispute => Some(Act::Dispute),
        MsgType::Feedback => Some(Act::Feedback),
        MsgType::Advertise
        | MsgType::Discover
        | MsgType::NotarizeBid
        | MsgType::NotarizeAssign
        | MsgType::Beacon => None,
    }
}

/// keccak256 of a whole envelope as it travels: what a DISPUTE names, and the message id of gossip.
pub fn envelope_hash(envelope: &Envelope<'_>) -> Hash {
    use zx1_protocol::hash::Keccak;
    Sha3::hashv(&[&envelope.to_cbor()])
}
