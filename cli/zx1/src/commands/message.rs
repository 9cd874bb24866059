//! `zx1 message`: what the agent's node sends and has received.

mod inbox;
mod outbox;
mod send;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 message send propose --to AGENT --value 250 --text 'translate 3 pages'
  zx1 message send deliver --to AGENT --conversation ID --file pages.txt --wait
  zx1 message list                      the outbox: what is to be sent, and its status
  zx1 message show 7
  zx1 message take-back 7               drop a message that is still queued
  zx1 message settle 7                  let those behind an unanswered message go
  zx1 message inbox --ack               read new messages, and acknowledge them
  zx1 message inbox --follow --json     one object a message, until Ctrl+C

A message is signed when its recipient is reachable, and leaves once. When the answer
to it is lost it becomes unanswered: the recipient may have it. It is not sent again,
and later messages of its conversation wait until you settle it. With --name the same
command can be run again and sends nothing twice.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Give a message to the node, which signs and sends it
    Send(send::Args),
    /// List the messages of the outbox, the oldest first
    List,
    /// Show one message of the outbox
    Show(outbox::Args),
    /// Take a message back that has not been sent
    TakeBack(outbox::Args),
    /// Let the messages behind an unanswered one go
    Settle(outbox::Args),
    /// Show received messages that are not acknowledged
    Inbox(inbox::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Send(args) => send::run(&args, context),
        Action::List => outbox::list(context),
        Action::Show(args) => outbox::show(&args, context),
        Action::TakeBack(args) => outbox::take_back(&args, context),
        Action::Settle(args) => outbox::settle(&args, context),
        Action::Inbox(args) => inbox::run(&args, context),
    }
}
