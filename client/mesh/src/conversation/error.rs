use super::{Act, Phase};
use zx1_coded::Coded;
use zx1_protocol::ids::ConversationId;

/// Why a message is not sent, or a notary not taken. Numbers 7620 to 7629.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum ConversationError {
    /// No messages of this conversation are known.
    #[code(7620)]
    #[error("There is no conversation {0}.")]
    Unknown(ConversationId),
    /// A PROPOSE in a conversation that exists.
    #[code(7621)]
    #[error("The conversation {0} exists already; a new deal takes a new id.")]
    Exists(ConversationId),
    /// The table has no such move of this agent now.
    #[code(7622)]
    #[error("{act} is not this agent's next move: the conversation is `{phase}`.")]
    OutOfOrder {
        /// What was to be sent.
        act: Act,
        /// Where the conversation stands.
        phase: Phase,
    },
    /// The recipient has no part in the conversation, or is the sender.
    #[code(7623)]
    #[error("The recipient is not the other party of the conversation.")]
    WrongRecipient,
    /// The table is full of deals that are not over.
    #[code(7624, transient)]
    #[error("There are too many open conversations: {limit} with all agents or with this one.")]
    Full {
        /// The bound that was met.
        limit: usize,
    },
    /// The agent rated this one already, or that one had no such role.
    #[code(7625)]
    #[error("The rating was given before, or is not about somebody who had that role in the conversation.")]
    NotToRate,
    /// A party cannot be the notary of its own task.
    #[code(7626)]
    #[error("A party of the conversation cannot be its notary.")]
    PartyAsNotary,
    /// A notary judges between the deal and the verdict only.
    #[code(7627)]
    #[error("The conversation takes no notary and no verdict while it is `{phase}`.")]
    NoNotaryNow {
        /// Where the conversation stands.
        phase: Phase,
    },
    /// An ACCEPT begins with the value of the bid that it accepts.
    #[code(7628)]
    #[error("An ACCEPT has the value of the last bid, {bid}.")]
    OtherValue {
        /// Value of the last bid.
        bid: i128,
    },
}
