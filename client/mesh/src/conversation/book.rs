//! All conversations of one agent, bounded.

use super::{Act, Conversation, ConversationError, Due, Phase, act_of};
use crate::defaults::{MAX_CONVERSATIONS, MAX_CONVERSATIONS_WITH_ONE};
use std::collections::BTreeMap;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::{Feedback, bid_value};

/// How a received message is shown. It is logged and acknowledged in every case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It is the next move, or a message that is none.
    InOrder,
    /// The table has no such move now.
    OutOfOrder,
    /// It is of no conversation that is kept here: of a stranger, broadcast, or the table is full.
    Apart,
}

/// The conversations of one agent.
#[derive(Clone, Debug)]
pub struct Conversations {
    me: AgentId,
    all: BTreeMap<ConversationId, Conversation>,
}

impl Conversations {
    /// None yet, of this agent.
    pub fn new(me: AgentId) -> Self {
        Self { me, all: BTreeMap::new() }
    }

    /// The one with this id.
    pub fn get(&self, id: ConversationId) -> Result<&Conversation, ConversationError> {
        self.all.get(&id).ok_or(ConversationError::Unknown(id))
    }

    /// The one with this id, for what the search for a notary says about it.
    pub fn get_mut(&mut self, id: ConversationId) -> Result<&mut Conversation, ConversationError> {
        self.all.get_mut(&id).ok_or(ConversationError::Unknown(id))
    }

    /// All, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &Conversation> {
        self.all.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether this agent may send such a message now. To be asked before it is signed; [`Self::sent`] after.
    pub fn check(
        &self,
        msg_type: MsgType,
        recipient: AgentId,
        id: ConversationId,
        payload: &[u8],
    ) -> Result<(), ConversationError> {
        let Some(act) = act_of(msg_type, payload) else { return Ok(()) };
        if act == Act::Propose {
            if self.all.contains_key(&id) {
                return Err(ConversationError::Exists(id));
            }
            if recipient == self.me {
                return Err(ConversationError::WrongRecipient);
            }
            return self.room(recipient).map(|_| ());
        }
        let it = self.get(id)?;
        if !it.can(self.me, act) {
            return Err(ConversationError::OutOfOrder { act, phase: it.phase });
        }
        if act == Act::Accept && bid_value(payload) != it.value {
            return Err(ConversationError::OtherValue { bid: it.value });
        }
        if act == Act::Feedback {
            let due = Feedback::decode(payload)
                .map(|feedback| Due { target: feedback.target_agent, role: feedback.role });
            let right = due.is_ok_and(|due| it.can_rate(self.me, due));
            return if right { Ok(()) } else { Err(ConversationError::NotToRate) };
        }
        let right = it.counterparty(self.me) == Some(recipient);
        if right { Ok(()) } else { Err(ConversationError::WrongRecipient) }
    }

    /// A message of this agent is in its log.
    pub fn sent(&mut self, envelope: &Envelope<'_>, now_micros: u64) -> Received {
        self.take(envelope, now_micros)
    }

    /// A message of another agent kept the rules.
    pub fn received(&mut self, envelope: &Envelope<'_>, now_micros: u64) -> Received {
        self.take(envelope, now_micros)
    }

    fn take(&mut self, envelope: &Envelope<'_>, now_micros: u64) -> Received {
        let header = &envelope.header;
        let (sender, recipient, id) = (header.sender(), header.recipient(), header.conversation());
        if !self.all.contains_key(&id) {
            let other = if sender == self.me { recipient } else { sender };
            let mine = sender == self.me || recipient == self.me;
            if header.msg_type != MsgType::Propose
                || !mine
                || other == self.me
                || self.make_room(other).is_err()
            {
                return Received::Apart;
            }
            self.all.insert(id, Conversation::new(id, sender, recipient));
        }
        let Some(it) = self.all.get_mut(&id) else { return Received::Apart };
        // An id is public once a notary was asked for. Strangers who use it move nothing and displace no line.
        if it.role_of(sender).is_none() {
            return Received::Apart;
        }
        if it.take(envelope, now_micros) { Received::InOrder } else { Received::OutOfOrder }
    }

    fn make_room(&mut self, other: AgentId) -> Result<(), ConversationError> {
        if let Some(id) = self.room(other)? {
            self.all.remove(&id);
        }
        Ok(())
    }

    /// Which one has to leave for another with this agent; `None` when there is room.
    fn room(&self, other: AgentId) -> Result<Option<ConversationId>, ConversationError> {
        let with_other = || self.all.values().filter(|it| it.counterparty(self.me) == Some(other));
        if with_other().count() >= MAX_CONVERSATIONS_WITH_ONE {
            let limit = MAX_CONVERSATIONS_WITH_ONE;
            return self.victim(with_other()).map(Some).ok_or(ConversationError::Full { limit });
        }
        if self.all.len() >= MAX_CONVERSATIONS {
            let limit = MAX_CONVERSATIONS;
            return self.victim(self.all.values()).map(Some).ok_or(ConversationError::Full { limit });
        }
        Ok(None)
    }

    /// The one that is missed least: done, else a proposal that this agent never answered; of these the oldest.
    fn victim<'c>(&self, among: impl Iterator<Item = &'c Conversation>) -> Option<ConversationId> {
        let rank = |it: &Conversation| {
            let unanswered = it.phase == Phase::ProposerBid && it.responder == self.me && !it.answered;
            if it.is_done(self.me) { Some(0) } else { unanswered.then_some(1) }
        };
        among.filter_map(|it| Some((rank(it)?, it.changed_micros, it.id))).min().map(|(_, _, id)| id)
    }
}
