use zx1_coded::Coded;
use zx1_protocol::context::ContextError;
use zx1_protocol::ids::ConversationId;
use zx1_protocol::mesh_payload::MeshPayloadError;
use zx1_protocol::validate::Reason;

/// Why something about a notary is not taken. Numbers 7630 to 7649.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Coded)]
pub enum NotaryError {
    /// No search, or no task of this agent as a notary, has this conversation.
    #[code(7630)]
    #[error("No notary is looked for, and nothing is to be judged, in the conversation {0}.")]
    Unknown(ConversationId),
    /// A second search in one conversation, or a second offer for it.
    #[code(7631)]
    #[error("A notary of the conversation {0} is looked for already.")]
    Exists(ConversationId),
    /// The table has no such step now.
    #[code(7632)]
    #[error("This is not possible while the notary's part is `{stage}`.")]
    NotNow {
        /// Where it stands.
        stage: &'static str,
    },
    /// The agent that offers, or was chosen, is a party of the task.
    #[code(7633)]
    #[error("A party of the task cannot be its notary.")]
    PartyAsNotary,
    /// A notary is assigned already, and its time is not over.
    #[code(7634)]
    #[error("Another notary is assigned, and its time is not over.")]
    TwoNotaries,
    /// The chosen agent made no offer.
    #[code(7635)]
    #[error("The chosen agent made no offer for this task.")]
    NoOffer,
    /// A verdict of an agent that is not the assigned notary, or that came too late.
    #[code(7636)]
    #[error("The verdict is not of the notary that is assigned now.")]
    OtherNotary,
    /// A message of an agent that has no part in the task.
    #[code(7637)]
    #[error("The sender is not a party of the task.")]
    NotAParty,
    /// The bounds on searches or tasks.
    #[code(7638, transient)]
    #[error("There are too many tasks with a notary at a time: {limit}.")]
    Full {
        /// The bound that was met.
        limit: usize,
    },
    /// The payload is not what its message needs.
    #[code(7639)]
    #[error("{0}")]
    Payload(#[from] MeshPayloadError),
    /// The payload shows no envelopes, or cannot show them.
    #[code(7640)]
    #[error("{0}")]
    Context(#[from] ContextError),
    /// An envelope that is shown breaks a rule that holds whenever it is read.
    #[code(7641)]
    #[error("An envelope that was shown is not valid: {0}")]
    Envelope(#[from] Reason),
    /// An envelope that is shown is of other agents or of another conversation.
    #[code(7642)]
    #[error("An envelope that was shown is not between the two parties in this conversation.")]
    NotTheirs,
    /// None of the shown envelopes is one by which whoever assigned the notary names the other party.
    #[code(7643)]
    #[error(
        "The other party is not known: no envelope to it by the agent that assigned the notary was shown."
    )]
    OtherPartyUnknown,
    /// More envelopes than are kept.
    #[code(7644)]
    #[error("More than {limit} envelopes of one task were shown.")]
    TooManyShown {
        /// The bound that was met.
        limit: usize,
    },
    /// The verdict names a DELIVER that was not shown.
    #[code(7645)]
    #[error("The verdict must name a DELIVER that was shown, or zeros when none was.")]
    UnknownDelivery,
    /// What shows a choice is not one offer and its assignment.
    #[code(7646)]
    #[error("The choice of a notary is shown by its offer and the assignment, and by nothing else.")]
    NotAChoice,
}
