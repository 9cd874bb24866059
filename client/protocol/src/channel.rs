//! Where a message travels (protocol.md, 3.2 and 5.3). Nonces count per sender and channel (decision C4).

use crate::envelope::MsgType;

/// A topic of the mesh, or the direct stream between two agents.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// ADVERTISE, DISCOVER and BEACON, to everyone.
    Broadcast = 0,
    /// NOTARIZE_BID, the public auction of notaries.
    Notary = 1,
    /// FEEDBACK, to everyone.
    Reputation = 2,
    /// Everything else, from sender to recipient.
    Direct = 3,
}

impl Channel {
    /// All channels, by number.
    pub const ALL: [Self; 4] = [Self::Broadcast, Self::Notary, Self::Reputation, Self::Direct];

    /// The topic's name; `None` for the direct stream, which has none.
    pub fn topic(self) -> Option<&'static str> {
        match self {
            Self::Broadcast => Some("/0x01/v1/broadcast"),
            Self::Notary => Some("/0x01/v1/notary"),
            Self::Reputation => Some("/0x01/v1/reputation"),
            Self::Direct => None,
        }
    }

    /// A number for files; it never changes its meaning.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The channel with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// The one channel of a message type.
pub fn channel_of(msg_type: MsgType) -> Channel {
    match msg_type {
        MsgType::Advertise | MsgType::Discover | MsgType::Beacon => Channel::Broadcast,
        MsgType::NotarizeBid => Channel::Notary,
        MsgType::Feedback => Channel::Reputation,
        MsgType::Propose
        | MsgType::Counter
        | MsgType::Accept
        | MsgType::Reject
        | MsgType::Deliver
        | MsgType::NotarizeAssign
        | MsgType::Verdict
        | MsgType::Dispute => Channel::Direct,
    }
}
