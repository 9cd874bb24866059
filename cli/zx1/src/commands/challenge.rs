//! `zx1 challenge`: answer or lose (protocol.md, 8.6; decisions B10 to B12).

mod answer;
mod find;
mod list;
mod settle;
mod submit;
mod watch;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 challenge find deal.cbor --out challenge.json     does the sender's batch hide this message?
  zx1 challenge find --double-bids --against AGENT --epoch 20777 --out challenge.json
  zx1 challenge submit challenge.json                   put up 10 USDC
  zx1 challenge list                                    yours, and those against your agent
  zx1 challenge watch                                   answer those against your agent by itself
  zx1 challenge answer CHALLENGE                        answer one, for any agent
  zx1 challenge resolve CHALLENGE                       after its window: pays whoever is right
  zx1 challenge close CHALLENGE                         the rent comes back

Evidence is a message that the agent signed (an envelope) or an entry of its
log. find looks into the batch's served data first: a challenge that can be
answered costs you 10 USDC. Not answered within 432 000 slots, the agent loses
its whole stake, half of it to you.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Look for what a batch hides, and prepare a challenge
    Find(find::Args),
    /// Submit a prepared challenge: locks 10 USDC
    Submit(submit::Args),
    /// Answer a challenge with the record that the batch holds
    Answer(answer::Args),
    /// Settle a challenge whose window is over
    Resolve(settle::Args),
    /// Close a settled challenge; its rent goes to the challenger
    Close(settle::Args),
    /// List challenges
    List(list::Args),
    /// Answer challenges against the agent as they come
    Watch(watch::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Find(args) => find::run(&args, context),
        Action::Submit(args) => submit::run(&args, context),
        Action::Answer(args) => answer::run(&args, context),
        Action::Resolve(args) => settle::run_resolve(&args, context),
        Action::Close(args) => settle::run_close(&args, context),
        Action::List(args) => list::run(&args, context),
        Action::Watch(args) => watch::run(&args, context),
    }
}
