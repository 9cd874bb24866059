//! `zx1 envelope`: making signed messages and checking those of others (protocol.md, 5).

mod check;
mod make;

use crate::context::Context;
use crate::errors::Result;
use clap::{Subcommand, ValueEnum};
use zx1_protocol::envelope::MsgType;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 envelope make propose --to AGENT --value 250 --content 'translate 3 pages' --out offer.cbor
  zx1 envelope make accept --to AGENT --conversation ID --value 250 --out deal.cbor
  zx1 envelope make feedback --about AGENT --conversation ID --score 80 --out rating.cbor
  zx1 envelope make beacon --content alice
  zx1 envelope check offer.cbor            check it by a receiver's nine rules

make adds the message to the agent's log before it prints it, so no batch can
miss it. The value of a deal is in the payload's first 16 bytes. An ACCEPT carries
the pre-signature for the counterparty's SATI rating, and so does the first
message after a received ACCEPT (unless --no-presign is given).";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Make, sign and log a message of the agent
    Make(make::Args),
    /// Check a message as a receiver would; exit code 1 if it would be dropped
    Check(check::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Make(args) => make::run(&args, context),
        Action::Check(args) => check::run(&args, context),
    }
}

/// The message types as they are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Broadcast what the agent offers
    Advertise,
    /// Broadcast a search for agents
    Discover,
    /// Propose a deal
    Propose,
    /// Propose a modified deal
    Counter,
    /// Confirm a deal
    Accept,
    /// Reject a deal
    Reject,
    /// Deliver the work
    Deliver,
    /// Offer to notarize a task, or ask for a notary
    NotarizeBid,
    /// Assign a notary
    NotarizeAssign,
    /// Publish the notary's verdict
    Verdict,
    /// Rate another agent
    Feedback,
    /// Dispute a verdict
    Dispute,
    /// Announce that the agent is online
    Beacon,
}

impl Kind {
    fn msg_type(self) -> MsgType {
        match self {
            Self::Advertise => MsgType::Advertise,
            Self::Discover => MsgType::Discover,
            Self::Propose => MsgType::Propose,
            Self::Counter => MsgType::Counter,
            Self::Accept => MsgType::Accept,
            Self::Reject => MsgType::Reject,
            Self::Deliver => MsgType::Deliver,
            Self::NotarizeBid => MsgType::NotarizeBid,
            Self::NotarizeAssign => MsgType::NotarizeAssign,
            Self::Verdict => MsgType::Verdict,
            Self::Feedback => MsgType::Feedback,
            Self::Dispute => MsgType::Dispute,
            Self::Beacon => MsgType::Beacon,
        }
    }

    /// Whether it goes to everybody.
    fn is_broadcast(self) -> bool {
        matches!(self, Self::Advertise | Self::Discover | Self::Beacon | Self::NotarizeBid | Self::Feedback)
    }

    /// Whether it carries a bid value (decision B11).
    fn has_value(self) -> bool {
        matches!(self, Self::Propose | Self::Counter | Self::Accept)
    }

    /// Whether it may begin a conversation.
    fn begins(self) -> bool {
        matches!(self, Self::Advertise | Self::Discover | Self::Propose | Self::Beacon)
    }
}
