//! Every refusal of this crate, with the word that goes over the wire.

use zx1_coded::Coded;

use crate::code::Code;

/// What this crate's functions return.
pub type Result<T, E = RelayError> = std::result::Result<T, E>;

/// Why the relay, or a client's half of a transfer, refuses something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Coded)]
#[non_exhaustive]
#[allow(missing_docs)] // The sentences say it.
pub enum RelayError {
    /// Closed with 1009 by the server.
    #[code(7700)]
    #[error("The frame has {bytes} bytes; at most {most} are taken.")]
    FrameTooLarge { bytes: usize, most: usize },
    #[code(7701)]
    #[error("The frame is not JSON that can be read.")]
    NotJson,
    #[code(7702)]
    #[error("The frame is not an object with a type.")]
    NotAFrame,
    #[code(7703)]
    #[error("The type of the frame is not known.")]
    UnknownType,
    #[code(7704)]
    #[error("The field `{field}` is missing or has a value that it may not have.")]
    Field { field: &'static str },
    #[code(7705)]
    #[error("The content has {units} UTF-16 units; at most {most} are taken.")]
    ContentTooLong { units: usize, most: usize },
    #[code(7706)]
    #[error("A name has 1 to 32 letters, digits, dashes and underscores.")]
    Name,
    #[code(7707)]
    #[error("A channel's name is # and 1 to 31 letters, digits, dashes and underscores.")]
    ChannelName,
    #[code(7708)]
    #[error("A nick has 1 to 24 letters, digits, dashes and underscores and is not reserved.")]
    Nick,
    #[code(7709)]
    #[error("The public key is not an Ed25519 key in PEM.")]
    PublicKey,
    #[code(7710)]
    #[error("Identify first.")]
    NotIdentified,
    #[code(7711)]
    #[error("This connection has identified already.")]
    IdentifiedAlready,
    #[code(7712)]
    #[error("Another key has the same short id.")]
    IdTaken,
    #[code(7713)]
    #[error("The channel {channel} does not exist.")]
    NoChannel { channel: String },
    #[code(7714)]
    #[error("The channel {channel} exists already.")]
    ChannelExists { channel: String },
    #[code(7715)]
    #[error("You are not a member of {channel}.")]
    NotAMember { channel: String },
    #[code(7716)]
    #[error("The channel {channel} takes only who is invited.")]
    InviteOnly { channel: String },
    #[code(7717)]
    #[error("No agent {agent} is here.")]
    NoAgent { agent: String },
    #[code(7718)]
    #[error("There are {most} channels already.")]
    TooManyChannels { most: usize },
    #[code(7719)]
    #[error("An agent can be in {most} channels.")]
    TooManyJoined { most: usize },
    #[code(7720, transient)]
    #[error("Too many messages; try again in {wait_ms} ms.")]
    TooFast { wait_ms: u64 },
    #[code(7721)]
    #[error("This challenge is not the connection's.")]
    WrongChallenge,
    #[code(7722)]
    #[error("The challenge or request has expired.")]
    VerificationExpired,
    #[code(7723)]
    #[error("The signature does not hold.")]
    Signature,
    #[code(7724)]
    #[error("A signature by a verified identity is needed.")]
    SignatureNeeded,
    #[code(7725)]
    #[error("The agent {agent} has no public key.")]
    NoPublicKey { agent: String },
    #[code(7726)]
    #[error("This key is not on the allowlist.")]
    NotAllowed,
    #[code(7727)]
    #[error("This agent is banned.")]
    Banned,
    #[code(7728)]
    #[error("The admin key is wrong.")]
    AdminKey,
    #[code(7729)]
    #[error("The proposal is not known.")]
    NoProposal,
    #[code(7730)]
    #[error("The proposal is not pending.")]
    NotPending,
    #[code(7731)]
    #[error("Only the recipient can accept or reject a proposal.")]
    NotRecipient,
    #[code(7732)]
    #[error("The proposal has expired.")]
    ProposalExpired,
    #[code(7733)]
    #[error("The proposal is not accepted, or has ended.")]
    NotAccepted,
    #[code(7734)]
    #[error("Only the proposal's parties can do this.")]
    NotParty,
    #[code(7735, transient)]
    #[error("The proposal is too young; try again in {wait_ms} ms.")]
    TooYoung { wait_ms: u64 },
    #[code(7736)]
    #[error("The rating of {rating} cannot carry a stake of {stake}.")]
    StakeTooHigh { rating: u32, stake: u32 },
    #[code(7737)]
    #[error("There are {most} open proposals already.")]
    TooManyProposals { most: usize },
    #[code(7738)]
    #[error("A proposal is for somebody else.")]
    SelfProposal,
    #[code(7739, transient)]
    #[error("The relay cannot keep this now; try again.")]
    StoreAway,
    #[code(7740)]
    #[error("The message looks as if it held a secret, and it is signed, so it cannot be redacted.")]
    Secret,
    #[code(7741, transient)]
    #[error("The relay has too much to do; try again.")]
    Busy,
    #[code(7750)]
    #[error("The path of a file in the archive may not be used: {why}.")]
    Path { why: &'static str },
    #[code(7751)]
    #[error("The archive has two files of one name.")]
    SameName,
    #[code(7752)]
    #[error("The archive is not complete, or its blocks do not fit together.")]
    Archive,
    #[code(7753)]
    #[error("The archive has {bytes} bytes; at most {most} are taken.")]
    ArchiveTooLarge { bytes: u64, most: u64 },
    #[code(7754)]
    #[error("A file's text holds its own end line and cannot be packed.")]
    EndLine,
    #[code(7755)]
    #[error("The transfer would take {ms} ms; at most {most} are left to it.")]
    TooSlow { ms: u64, most: u64 },
    #[code(7756)]
    #[error("The offer has expired.")]
    OfferExpired,
    #[code(7757)]
    #[error("The transfer took longer than it may.")]
    TransferExpired,
    #[code(7758)]
    #[error("The chunk does not belong here.")]
    Chunk,
    #[code(7759)]
    #[error("The archive is not the one that was offered.")]
    Hash,
    #[code(7760)]
    #[error("This cannot be done in the present state of the transfer.")]
    TransferState,
    #[code(7761)]
    #[error("The content is not a message about a file transfer.")]
    NotATransfer,
}

impl RelayError {
    /// The word of the ERROR frame.
    pub const fn wire(&self) -> Code {
        match self {
            Self::Name | Self::ChannelName | Self::Nick => Code::InvalidName,
            Self::NotIdentified => Code::AuthRequired,
            Self::IdTaken | Self::NotAllowed | Self::AdminKey => Code::NotAllowed,
            Self::NoChannel { .. } => Code::ChannelNotFound,
            Self::ChannelExists { .. } => Code::ChannelExists,
            Self::NotAMember { .. } | Self::InviteOnly { .. } => Code::NotInvited,
            Self::NoAgent { .. } => Code::AgentNotFound,
            Self::TooFast { .. }
            | Self::TooYoung { .. }
            | Self::TooManyChannels { .. }
            | Self::TooManyJoined { .. }
            | Self::TooManyProposals { .. }
            | Self::Busy => Code::RateLimited,
            Self::VerificationExpired => Code::VerificationExpired,
            Self::Signature => Code::VerificationFailed,
            Self::SignatureNeeded => Code::SignatureRequired,
            Self::NoPublicKey { .. } => Code::NoPubkey,
            Self::Banned => Code::Banned,
            Self::NoProposal
            | Self::NotPending
            | Self::NotRecipient
            | Self::ProposalExpired
            | Self::NotAccepted
            | Self::NotParty
            | Self::SelfProposal
            | Self::StoreAway => Code::InvalidProposal,
            Self::StakeTooHigh { .. } => Code::InsufficientReputation,
            _ => Code::InvalidMsg,
        }
    }

    /// The text of the ERROR frame. Failures of the proposals' store are words, which existing clients compare.
    pub fn wire_message(&self) -> String {
        match self {
            Self::NoProposal => "PROPOSAL_NOT_FOUND".into(),
            Self::NotPending => "PROPOSAL_NOT_PENDING".into(),
            Self::NotRecipient => "NOT_PROPOSAL_RECIPIENT".into(),
            Self::ProposalExpired => "PROPOSAL_EXPIRED".into(),
            Self::NotAccepted => "PROPOSAL_NOT_ACCEPTED".into(),
            Self::NotParty => "NOT_PROPOSAL_PARTY".into(),
            other => other.to_string(),
        }
    }
}
