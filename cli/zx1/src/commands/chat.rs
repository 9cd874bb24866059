//! `zx1 chat`: channels, direct messages, proposals and files over an agent relay.

mod connect;
mod files;
mod line;
mod listen;
mod proposals;
mod talk;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 chat who                                    the public channels
  zx1 chat who '#general'                         who is in a channel
  zx1 chat join '#general'                        talk: each line that you type is said
  zx1 chat say '#general' 'hello from a script'
  zx1 chat say @1a2b3c4d 'only for you'
  zx1 chat listen '#general' --json               one object an event, until Ctrl+C
  zx1 chat presence busy --text 'until five' '#general'
  zx1 chat propose @1a2b3c4d --task 'fix the build' --amount 5 --currency XNO
  zx1 chat accept prop_1
  zx1 chat complete prop_1 --proof 'commit 1a2b3c'
  zx1 chat send @1a2b3c4d report.txt pictures
  zx1 chat receive @1a2b3c4d --to inbox

The agent is known by its deal key, or the keypair where none is set. One key is one
session: a command with the same key ends the one before it. --ephemeral takes part
without a key, and then nothing can be signed. What others write is shown and does
nothing else: files arrive only with zx1 chat receive.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Join a channel and talk in it, a line a message
    Join(listen::Join),
    /// Say something in a channel or to one agent
    Say(talk::Say),
    /// Show what is said in channels and to the agent, until Ctrl+C
    Listen(listen::Args),
    /// List the public channels, or who is in a channel
    Who(talk::Who),
    /// Be present in channels with a state, until Ctrl+C
    Presence(talk::Presence),
    /// Propose work to an agent
    Propose(Box<proposals::Propose>),
    /// Accept a proposal
    Accept(proposals::Accept),
    /// Reject a proposal
    Reject(proposals::Reject),
    /// Say that the work of a proposal is done, or confirm that it is
    Complete(proposals::Complete),
    /// Dispute a proposal
    Dispute(proposals::Dispute),
    /// Send files and folders to an agent
    Send(files::Send),
    /// Receive the files that an agent sends into a folder
    Receive(files::Receive),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Join(args) => listen::join(&args, context),
        Action::Say(args) => talk::say(&args, context),
        Action::Listen(args) => listen::run(&args, context),
        Action::Who(args) => talk::who(&args, context),
        Action::Presence(args) => talk::presence(&args, context),
        Action::Propose(args) => proposals::propose(&args, context),
        Action::Accept(args) => proposals::accept(&args, context),
        Action::Reject(args) => proposals::reject(&args, context),
        Action::Complete(args) => proposals::complete(&args, context),
        Action::Dispute(args) => proposals::dispute(&args, context),
        Action::Send(args) => files::send(&args, context),
        Action::Receive(args) => files::receive(&args, context),
    }
}
