//! The types of entries, and who may write them.

use std::fmt;
use std::str::FromStr;

use crate::{Reason, Refusal};

/// The party that may write a type of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The principal only.
    Principal,
    /// The agent only.
    Agent,
    /// Principal or agent.
    Either,
    /// The server only (fix.md, "Entry types").
    Server,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $text:literal $author:ident;)*) => {
        /// What an entry is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EntryType { $($(#[$doc])* $name,)* }

        impl EntryType {
            /// Every type of entry.
            pub const ALL: &'static [EntryType] = &[$(EntryType::$name),*];

            /// The name in the entry's `type`.
            pub const fn as_str(self) -> &'static str {
                match self { $(EntryType::$name => $text,)* }
            }

            /// The party that may write an entry of this type.
            pub const fn author(self) -> Author {
                match self { $(EntryType::$name => Author::$author,)* }
            }
        }

        impl FromStr for EntryType {
            type Err = Refusal;

            fn from_str(text: &str) -> Result<EntryType, Refusal> {
                match text {
                    $($text => Ok(EntryType::$name),)*
                    _ => Err(Refusal::with(Reason::EntryType, crate::canonical::clip(text))),
                }
            }
        }
    };
}

kinds! {
    /// Seq 0: the whole contract (decision E2).
    Post "post" Principal;
    /// The principal takes back a contract that nobody has taken.
    Cancel "cancel" Principal;
    /// An agent takes the contract to look at it.
    Bond "bond" Agent;
    /// The agent commits itself.
    Accept "accept" Agent;
    /// The agent gives the contract back before accepting it.
    Decline "decline" Agent;
    /// The agent asks for a read-only command's output.
    Investigate "investigate" Agent;
    /// The principal answers an `investigate`.
    Result "result" Principal;
    /// The agent's proposal.
    Fix "fix" Agent;
    /// Whether the fix worked (supervised mode).
    Verify "verify" Principal;
    /// The principal accepts what it reviewed (autonomous mode).
    ReviewAccept "review_accept" Principal;
    /// The principal rejects what it reviewed (autonomous mode).
    ReviewReject "review_reject" Principal;
    /// A dispute, and the filer's argument.
    DisputeFiled "dispute_filed" Either;
    /// The other side's argument, to a dispute or to an appeal.
    DisputeResponse "dispute_response" Either;
    /// The loser calls the next court.
    Appeal "appeal" Either;
    /// The loser gives up its appeal, or the agent its objection.
    Waive "waive" Either;
    /// A message; older clients use this type.
    Chat "chat" Either;
    /// A question of the agent.
    Ask "ask" Agent;
    /// An answer of the principal.
    Answer "answer" Principal;
    /// A message to the other side.
    Message "message" Either;
    /// The principal stops everything.
    Halt "halt" Principal;
    /// The principal takes a halt back.
    Resume "resume" Principal;
    /// A party leaves in the middle of the work.
    BackOut "back_out" Either;
    /// A party changes its payout address.
    Accounts "accounts" Either;
    /// A party's 0x01 FEEDBACK envelope, once, after the end (decision G1). Changes nothing.
    Feedback "feedback" Either;
    /// The contract is open: the terms that hold for it and the principal's deposit.
    Opened "opened" Server;
    /// The agent's deposit was confirmed.
    Bonded "bonded" Server;
    /// The agent investigated for too long.
    AutoDecline "auto_decline" Server;
    /// No fix came in time: a failed attempt.
    AttemptTimeout "attempt_timeout" Server;
    /// The principal was silent for the review window.
    AutoFulfill "auto_fulfill" Server;
    /// Court, fee and deadline of a dispute. Changes nothing.
    DisputeMetadata "dispute_metadata" Server;
    /// What the machine saw when it ran the verification again (decision E6).
    Reexecution "reexecution" Server;
    /// A judge's ruling.
    Ruling "ruling" Server;
    /// The judge did not rule in time: everything goes back.
    Voided "voided" Server;
    /// The server, its clock or its ledger was away: windows have moved by the gap (decision E21).
    Resumed "resumed" Server;
    /// The contract waits for another agent.
    Reopened "reopened" Server;
    /// A window has passed, and the contract ended by it.
    Closed "closed" Server;
}

impl EntryType {
    /// Whether only the server may write it.
    pub const fn is_server_only(self) -> bool {
        matches!(self.author(), Author::Server)
    }

    /// Whether it is only words: it changes no state.
    pub const fn is_talk(self) -> bool {
        matches!(self, EntryType::Chat | EntryType::Ask | EntryType::Answer | EntryType::Message)
    }
}

impl fmt::Display for EntryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
