//! One message that is to be sent: its row in the store.

use super::{Input, OutboxError, State};
use crate::text;
use serde::{Deserialize, Serialize};
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};

/// Version of the row's form.
pub const ROW_VERSION: u8 = 1;

/// A message, as the store keeps it: one JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Version of the form: [`ROW_VERSION`].
    pub version: u8,
    /// Number of the row; later ones are larger.
    pub id: u64,
    /// The name of the intent, under which it is taken once.
    pub name: String,
    /// Number of the message type.
    pub msg_type: u16,
    /// Whom it is for; zeros for a topic.
    pub recipient: AgentId,
    /// Conversation in which it is sent.
    pub conversation: ConversationId,
    /// Payload, as hex in JSON.
    #[serde(with = "text::bytes")]
    pub payload: Vec<u8>,
    /// When it was taken, unix microseconds.
    pub created_micros: u64,
    /// When it expires unless it was begun, unix microseconds.
    pub expires_micros: u64,
    /// Attempts that failed before anything was signed.
    pub tries: u32,
    /// Before this it is not tried again, unix microseconds.
    pub next_micros: u64,
    /// Where it stands.
    pub state: State,
    /// Hash of the signed message's header; at most one signature is made of a draft.
    #[serde(with = "text::some_hash")]
    pub message32: Option<Hash>,
    /// Number of the error that refused it; 0 when the caller took it back, or a message before it was dropped.
    pub error: Option<u32>,
    /// Those behind it may go: it was published on a topic, or the caller decided about an unanswered one.
    pub settled: bool,
}

impl Row {
    /// The message type.
    pub fn msg_type(&self) -> Result<MsgType, OutboxError> {
        MsgType::try_from(self.msg_type).map_err(|_| OutboxError::Row("it has no known message type"))
    }

    /// Whether it goes to a topic, where nobody acknowledges.
    pub fn is_gossip(&self) -> bool {
        self.msg_type().is_ok_and(|msg_type| channel_of(msg_type) != Channel::Direct)
    }

    /// Whether nothing can happen to it any more.
    pub fn is_over(&self) -> bool {
        match self.state {
            State::Queued => false,
            State::Sent | State::Unanswered => self.settled,
            State::Acknowledged | State::Expired | State::Refused => true,
        }
    }

    /// Whether those behind it in its conversation have to wait.
    pub(super) fn blocks(&self) -> bool {
        !self.is_over()
    }

    /// Moves on; refuses what the table does not have, and whatever would have a signature made twice.
    pub(super) fn input(&mut self, input: Input) -> Result<(), OutboxError> {
        let not_now = OutboxError::NotNow { id: self.id, state: self.state };
        let signed = self.message32.is_some();
        if signed && matches!(input, Input::Begin | Input::NotSigned | Input::Refuse) {
            return Err(not_now);
        }
        // Nobody can have acknowledged, nor be left without an answer, what goes to everybody.
        if self.is_gossip() && matches!(input, Input::Acknowledge) {
            return Err(not_now);
        }
        self.state = self.state.after(input).ok_or(not_now)?;
        Ok(())
    }

    /// Whether a store's row can be one: version, type, and what goes together.
    pub(super) fn check(&self) -> Result<(), OutboxError> {
        if self.version != ROW_VERSION {
            return Err(OutboxError::Row("it has another version"));
        }
        self.msg_type()?;
        let unsigned = matches!(self.state, State::Queued | State::Expired | State::Refused);
        if unsigned && self.message32.is_some() {
            return Err(OutboxError::Row("it is signed, but its state says that it is not"));
        }
        if self.settled && !matches!(self.state, State::Sent | State::Unanswered | State::Acknowledged) {
            return Err(OutboxError::Row("it is settled, but its state needs no settling"));
        }
        if self.settled && self.state == State::Sent && !self.is_gossip() {
            return Err(OutboxError::Row("it was published, but its type goes to one recipient"));
        }
        if self.state == State::Acknowledged && self.message32.is_none() {
            return Err(OutboxError::Row("it is acknowledged, but was not signed"));
        }
        Ok(())
    }
}
