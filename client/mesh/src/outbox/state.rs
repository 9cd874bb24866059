//! Where a message that is to be sent stands, and what moves it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// An unsigned draft that waits for its recipient.
    Queued,
    /// It may be on the wire: from the moment before it is signed. On a topic it stays so once it was published,
    /// because nobody acknowledges gossip.
    Sent,
    /// The recipient has it on disk. The end.
    Acknowledged,
    /// The recipient may have it. It is never sent again by itself; the caller decides.
    Unanswered,
    /// Its time to live passed before it could be sent. The end.
    Expired,
    /// It was not sent and will not be: the rules, the signer or the caller refused it. The end.
    Refused,
}

/// What moves a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// Its recipient is reachable and its turn has come: it is signed next.
    Begin,
    /// Nothing was signed, and it can be tried again: the signer was away.
    NotSigned,
    /// The recipient answered that it is on disk.
    Acknowledge,
    /// The stream broke or the answer did not come; also: the process ended meanwhile.
    Lose,
    /// The time to live is over.
    Expire,
    /// Nothing was signed, and trying again does not help; or the caller took it back.
    Refuse,
}

impl State {
    /// All states, in the order of their declaration.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Sent, Self::Acknowledged, Self::Unanswered, Self::Expired, Self::Refused];

    /// The table: from, input, to. Nothing leads from a signature back to the queue: `NotSigned` and `Refuse`
    /// are refused once there is one ([`super::Row`] knows it).
    pub const TABLE: &'static [(Self, Input, Self)] = &[
        (Self::Queued, Input::Begin, Self::Sent),
        (Self::Queued, Input::Expire, Self::Expired),
        (Self::Queued, Input::Refuse, Self::Refused),
        (Self::Sent, Input::NotSigned, Self::Queued),
        (Self::Sent, Input::Refuse, Self::Refused),
        (Self::Sent, Input::Acknowledge, Self::Acknowledged),
        (Self::Sent, Input::Lose, Self::Unanswered),
        // The answer came after all, later than it was waited for.
        (Self::Unanswered, Input::Acknowledge, Self::Acknowledged),
    ];

    /// The state after an input; `None` when there is no such step.
    pub fn after(self, input: Input) -> Option<Self> {
        Self::TABLE.iter().find(|(from, what, _)| (*from, *what) == (self, input)).map(|row| row.2)
    }

    /// Whether it waits in the queue.
    pub fn is_queued(self) -> bool {
        self == Self::Queued
    }

    /// Whether it certainly was never on the wire and never will be.
    pub fn was_dropped(self) -> bool {
        matches!(self, Self::Expired | Self::Refused)
    }

    /// The word for it in JSON and in sentences.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Acknowledged => "acknowledged",
            Self::Unanswered => "unanswered",
            Self::Expired => "expired",
            Self::Refused => "refused",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
