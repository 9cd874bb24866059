//! `zx1 ask`: asks for leaves of batches (decision P4).

mod leaf;
mod list;
mod settle;
mod show;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 ask leaf --agent AGENT --epoch 20777 --tree log 3     ask for an entry of the log
  zx1 ask list                                              your asks and those of your agent
  zx1 ask show ASK                                          show the leaf, for any agent
  zx1 ask settle ASK                                        settle it after its time

Data that is not served can be asked for, leaf by leaf: for 0.5 USDC in the first
day of a batch's window. Who shows the leaf within half a day is paid for it. If
nobody does, the batch counts for nothing, its agent pays a fine, and the asker
gets the price back and a part of the fine. The amounts are those of the cluster;
zx1 shows them before anything is sent.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Ask for a leaf of a batch
    Leaf(leaf::Args),
    /// Show a leaf that was asked for
    Show(show::Args),
    /// Settle an ask: mark the batch as withheld, pay the asker, or return the rent
    Settle(settle::Args),
    /// List your asks and those for leaves of the agent
    List(list::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Leaf(args) => leaf::run(&args, context),
        Action::Show(args) => show::run(&args, context),
        Action::Settle(args) => settle::run(&args, context),
        Action::List(args) => list::run(&args, context),
    }
}
