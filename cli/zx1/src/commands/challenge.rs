//! `zx1 challenge`: answer or lose (protocol.md, 8.6; decisions B10 to B12 and P4).

mod answer;
mod cancel;
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
  zx1 challenge submit challenge.json --yes             take ranks, and open all its claims
  zx1 challenge list                                    your challenges and those against your agent
  zx1 challenge watch                                   answer those against your agent
  zx1 challenge answer CHALLENGE                        answer one, for any agent
  zx1 challenge resolve CHALLENGE                       settle it after its window
  zx1 challenge settle --agent AGENT --era 0            pay what is left to the treasury
  zx1 challenge close CHALLENGE                         recover the rent
  zx1 challenge cancel                                  list your drafts of evidence

Evidence is a message that the agent signed (an envelope) or an entry of its log.
find checks the batch's served data first, because a challenge that is answered
costs you its stake: a part goes into the agent's stake, a part to who answered. If
nobody answers within 432 000 slots, the agent loses its whole stake. Finders are
paid in the order of their ranks, each half of what is left of the finders' part. A
rank is taken before anything is shown, holds 300 slots (about 2 minutes), and its
deposit is burnt when it lapses: submit with --yes. The amounts are those of the
cluster; zx1 shows them before anything is sent.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Check what a batch hides, and prepare a challenge
    Find(find::Args),
    /// Submit a prepared challenge; locks the challenge stake for each of its claims
    Submit(submit::Args),
    /// Answer a challenge with the record from the batch; that settles it and pays out
    Answer(answer::Args),
    /// Settle a challenge that nothing answered, after those of lower ranks
    Resolve(settle::Args),
    /// Pay the rest of an era's finders' part to the treasury; anyone may do this
    Settle(settle::Era),
    /// Close a settled challenge; the rent goes back to who opened it
    Close(settle::Args),
    /// List your drafts of evidence, or close one
    Cancel(cancel::Args),
    /// List your challenges and those against the agent
    List(list::Args),
    /// Answer challenges against the agent automatically
    Watch(watch::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Find(args) => find::run(&args, context),
        Action::Submit(args) => submit::run(&args, context),
        Action::Answer(args) => answer::run(&args, context),
        Action::Resolve(args) => settle::run_resolve(&args, context),
        Action::Settle(args) => settle::run_era(&args, context),
        Action::Cancel(args) => cancel::run(&args, context),
        Action::Close(args) => settle::run_close(&args, context),
        Action::List(args) => list::run(&args, context),
        Action::Watch(args) => watch::run(&args, context),
    }
}
