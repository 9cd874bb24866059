//! `zx1 envelope`: making signed messages and checking those of others (protocol.md, 5).

mod check;
mod make;

use crate::context::Context;
use crate::errors::{Error, Result};
use clap::Subcommand;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use zx1_operator::message::type_name;
use zx1_protocol::envelope::MsgType;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 envelope make propose --to AGENT --value 250 --content 'translate 3 pages' --out offer.cbor
  zx1 envelope make accept --to AGENT --conversation ID --value 250 --out deal.cbor
  zx1 envelope make feedback --about AGENT --conversation ID --score 80 --out rating.cbor
  zx1 envelope make beacon --content alice
  zx1 envelope check offer.cbor            check it by a receiver's nine rules

make adds the message to the agent's log before it prints it, so no batch can
miss it. PROPOSE, COUNTER, ACCEPT and NOTARIZE_ASSIGN are signed with the setting
deal_key, all other messages with peer_key; both are the keypair unless they are
set, and count when they are listed (zx1 keys). The value of a deal is in the
payload's first 16 bytes. An ACCEPT carries the pre-signature for the
counterparty's SATI rating, and so does the first message after a received ACCEPT,
when the keypair is the owner's wallet (unless --no-presign is given).";

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

/// The message types, as they are typed and explained.
const TYPES: [(MsgType, &str); 13] = [
    (MsgType::Advertise, "Broadcast what the agent offers"),
    (MsgType::Discover, "Broadcast a search for agents"),
    (MsgType::Propose, "Propose a deal"),
    (MsgType::Counter, "Propose a modified deal"),
    (MsgType::Accept, "Confirm a deal"),
    (MsgType::Reject, "Reject a deal"),
    (MsgType::Deliver, "Deliver the work"),
    (MsgType::NotarizeBid, "Offer to notarize a task, or ask for a notary"),
    (MsgType::NotarizeAssign, "Assign a notary"),
    (MsgType::Verdict, "Publish the notary's verdict"),
    (MsgType::Feedback, "Rate another agent"),
    (MsgType::Dispute, "Dispute a verdict"),
    (MsgType::Beacon, "Announce that the agent is online"),
];

pub(crate) fn types() -> impl TypedValueParser<Value = MsgType> {
    let values = TYPES.map(|(msg_type, help)| PossibleValue::new(type_name(msg_type)).help(help));
    let typed =
        |name: String| TYPES.iter().find(|(known, _)| type_name(*known) == name).map(|(known, _)| *known);
    PossibleValuesParser::new(values).try_map(move |name| typed(name).ok_or("unknown type"))
}

/// Refuses a recipient or a value where messages of this type have none, and their absence where they need one.
pub(crate) fn check_form(kind: MsgType, has_recipient: bool, has_value: bool) -> Result<()> {
    let message = match (kind.is_broadcast() == has_recipient, kind.has_bid_value() != has_value) {
        (true, _) if has_recipient => "Messages of this type are broadcast: omit --to.",
        (true, _) => "Messages of this type need a recipient: give --to.",
        (_, true) if has_value => "Only propose, counter and accept take --value.",
        (_, true) => "Messages of this type need --value, in the units that you agreed on.",
        (false, false) => return Ok(()),
    };
    Err(Error::Usage { message: message.to_owned() }.into())
}
