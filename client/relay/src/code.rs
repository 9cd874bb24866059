//! The words of ERROR frames, and the ways in which a connection is closed.

macro_rules! codes {
    ($($name:ident $word:literal)*) => {
        /// A word of an ERROR frame, exactly as existing clients compare it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = concat!("`", $word, "` on the wire.")] $name,)* }

        impl Code {
            /// All words, those of disputes before arbiters included, which this relay never sends.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $word,)* }
            }
        }
    };
}

codes! {
    AuthRequired "AUTH_REQUIRED"
    ChannelNotFound "CHANNEL_NOT_FOUND"
    NotInvited "NOT_INVITED"
    InvalidMsg "INVALID_MSG"
    RateLimited "RATE_LIMITED"
    AgentNotFound "AGENT_NOT_FOUND"
    ChannelExists "CHANNEL_EXISTS"
    InvalidName "INVALID_NAME"
    ProposalNotFound "PROPOSAL_NOT_FOUND"
    ProposalExpired "PROPOSAL_EXPIRED"
    InvalidProposal "INVALID_PROPOSAL"
    SignatureRequired "SIGNATURE_REQUIRED"
    NotProposalParty "NOT_PROPOSAL_PARTY"
    InsufficientReputation "INSUFFICIENT_REPUTATION"
    InvalidStake "INVALID_STAKE"
    VerificationFailed "VERIFICATION_FAILED"
    VerificationExpired "VERIFICATION_EXPIRED"
    NoPubkey "NO_PUBKEY"
    NotAllowed "NOT_ALLOWED"
    DisputeNotFound "DISPUTE_NOT_FOUND"
    DisputeInvalidPhase "DISPUTE_INVALID_PHASE"
    DisputeCommitmentMismatch "DISPUTE_COMMITMENT_MISMATCH"
    DisputeNotParty "DISPUTE_NOT_PARTY"
    DisputeNotArbiter "DISPUTE_NOT_ARBITER"
    DisputeDeadlinePassed "DISPUTE_DEADLINE_PASSED"
    DisputeAlreadyExists "DISPUTE_ALREADY_EXISTS"
    InsufficientArbiters "INSUFFICIENT_ARBITERS"
    Banned "BANNED"
}

macro_rules! closes {
    ($($(#[$doc:meta])* $name:ident $code:literal $reason:literal;)*) => {
        /// How a connection is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Close { $($(#[$doc])* $name,)* }

        impl Close {
            /// All closes, in this order.
            pub const ALL: &'static [Close] = &[$(Close::$name),*];

            /// The websocket's close code.
            pub const fn code(self) -> u16 {
                match self { $(Close::$name => $code,)* }
            }

            /// The reason beside the code.
            pub const fn reason(self) -> &'static str {
                match self { $(Close::$name => $reason,)* }
            }
        }
    };
}

closes! {
    /// The address has as many connections as it may have.
    TooManyFromAddress 1008 "Too many connections from this IP";
    /// The eleventh message in ten seconds before identification.
    RateLimit 1008 "Rate limit exceeded";
    /// Unsent bytes passed their bound.
    TooSlow 1008 "too slow";
    /// Behind an ERROR frame with `VERIFICATION_EXPIRED`.
    ChallengeExpired 1000 "Challenge expired";
    /// Follows the frame SESSION_DISPLACED.
    Displaced 1000 "Identity claimed by verified connection";
    /// Follows the frame KICKED.
    Kicked 1000 "Kicked";
    /// Follows the frame BANNED.
    Banned 1000 "Banned";
    /// A frame above the limit.
    TooLarge 1009 "Message too big";
    /// The relay stops; another one, or this one later, takes the client.
    Restart 1012 "Service restart";
}
