//! Why a message is not accepted, and whether its bringer is to blame.

use zx1_coded::Coded;
use zx1_protocol::units::MicroUsdc;
use zx1_protocol::validate;

/// Why a message is not accepted. It goes to counters and to the local log only: no sender learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum Reason {
    /// A rule of the protocol.
    #[code(inner)]
    #[error(transparent)]
    Rule(#[from] validate::Reason),
    /// Nobody who keeps the rules publishes a message under a key that did not sign it.
    #[code(7600)]
    #[error("The message was not signed by the key of the peer that published it.")]
    Source,
    /// The signature holds, and the chain does not show the key as the sender's.
    #[code(7601)]
    #[error("The key that signed the message is not a live key of its sender.")]
    UnknownKey,
    /// The cluster does not answer and the last facts are too old.
    #[code(7602, transient)]
    #[error("The facts about the sender are more than ten minutes old and cannot be read again.")]
    FactsTooOld,
    /// The agent has locked no stake in its present era.
    #[code(7603)]
    #[error("The sender has no stake.")]
    StakeMissing,
    /// The stake does not reach the configured minimum.
    #[code(7604)]
    #[error("The sender's stake is {stake}, which is less than {minimum}.")]
    StakeTooSmall {
        /// The stake of the present era.
        stake: MicroUsdc,
        /// The minimum of the configuration account.
        minimum: MicroUsdc,
    },
    /// The agent is taking its stake out.
    #[code(7605)]
    #[error("The sender's stake is queued for unlock.")]
    StakeQueued,
    /// No lease was ever paid.
    #[code(7606)]
    #[error("The sender has no lease.")]
    LeaseMissing,
    /// More epochs are unpaid than the grace period has.
    #[code(7607)]
    #[error("The sender's lease is deactivated.")]
    LeaseDeactivated,
    /// A direct message that is for somebody else: it would move the order of its sender's own ones.
    #[code(7608)]
    #[error("The direct message is for another agent.")]
    Recipient,
    /// More messages of this author than are accepted.
    #[code(7609, transient)]
    #[error("The sender sends too many messages.")]
    AuthorRate,
    /// More BEACONs of this author than are accepted.
    #[code(7610, transient)]
    #[error("The sender sends too many BEACONs.")]
    BeaconRate,
    /// More NOTARIZE_BIDs of this author than are accepted.
    #[code(7611, transient)]
    #[error("The sender sends too many NOTARIZE_BIDs.")]
    NotarizeBidRate,
    /// More FEEDBACKs of this author than are accepted.
    #[code(7612, transient)]
    #[error("The sender sends too many FEEDBACKs.")]
    FeedbackRate,
    /// More direct messages than one connection may bring.
    #[code(7613, transient)]
    #[error("The connection brings too many direct messages.")]
    DirectRate,
    /// No room for another message of an unknown sender.
    #[code(7614, transient)]
    #[error("Too many messages wait for facts about their senders.")]
    WaitingFull,
    /// No room for another message of an unknown sender by this peer.
    #[code(7615, transient)]
    #[error("Too many messages of this peer wait for facts about their senders.")]
    WaitingPeerFull,
    /// The facts did not come in time.
    #[code(7616, transient)]
    #[error("The facts about the sender did not arrive in time.")]
    WaitedTooLong,
    /// No room for another author whose facts are to be read.
    #[code(7617, transient)]
    #[error("Too many senders wait to be looked up.")]
    LookupsFull,
    /// No room for another author's nonces.
    #[code(7618, transient)]
    #[error("The nonces of too many senders are remembered.")]
    WindowsFull,
}

impl Reason {
    /// Whether every peer that keeps the rules rejects the message, whatever it knows of chain and time; so whoever
    /// forwards it does not keep them. All else is ignored (decision I4).
    pub fn is_reject(&self) -> bool {
        use validate::Reason as Rule;
        match self {
            Self::Rule(rule) => match rule {
                Rule::TooLarge
                | Rule::Malformed
                | Rule::NotCanonical
                | Rule::WrongChannel
                | Rule::Signature
                | Rule::PayloadHash
                | Rule::PayloadLength
                | Rule::Payload(_)
                | Rule::TooLongForEvidence
                | Rule::TooLongForLog => true,
                // Newer peers may know more versions and types; the rest depends on one's view.
                Rule::Version
                | Rule::MsgType
                | Rule::UnknownSender
                | Rule::Nonce(_)
                | Rule::Timestamp { .. }
                | Rule::Scope
                | Rule::KeyEpoch { .. }
                | Rule::BlockRef { .. } => false,
            },
            Self::Source => true,
            Self::UnknownKey
            | Self::FactsTooOld
            | Self::StakeMissing
            | Self::StakeTooSmall { .. }
            | Self::StakeQueued
            | Self::LeaseMissing
            | Self::LeaseDeactivated
            | Self::Recipient
            | Self::AuthorRate
            | Self::BeaconRate
            | Self::NotarizeBidRate
            | Self::FeedbackRate
            | Self::DirectRate
            | Self::WaitingFull
            | Self::WaitingPeerFull
            | Self::WaitedTooLong
            | Self::LookupsFull
            | Self::WindowsFull => false,
        }
    }

    /// Whether an excess is its author's, who signed it, and not that of the peer that brought it: honest peers bring each
    /// other more than a rate allows when an author with stake sends different messages to each of them.
    pub fn is_excess_of_author(&self) -> bool {
        matches!(self, Self::AuthorRate | Self::BeaconRate | Self::NotarizeBidRate | Self::FeedbackRate)
    }

    /// Whether it is one message more than a rate allows, which costs a point (see [`crate::score`]).
    pub fn is_excess(&self) -> bool {
        matches!(
            self,
            Self::AuthorRate
                | Self::BeaconRate
                | Self::NotarizeBidRate
                | Self::FeedbackRate
                | Self::DirectRate
                | Self::WaitingPeerFull
        )
    }
}
