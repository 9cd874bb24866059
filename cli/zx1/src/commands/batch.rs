//! `zx1 batch`: an agent's daily account of what it did (protocol.md, 8; decisions B7, B9, C6, C7).

mod build;
mod close;
mod data;
mod show;
mod sign;
mod submit;
mod verify;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 batch submit                          build, sign, submit and upload yesterday's batch
  zx1 batch build && zx1 batch sign         the same in steps: look before you sign
  zx1 batch show --all                      every batch, its window and whether its data is served
  zx1 batch fetch --agent AGENT --epoch 20777 --data DIR --out theirs.zx1batch
  zx1 batch verify theirs.zx1batch          recompute every root and hash, offline
  zx1 batch verify theirs.zx1batch --on-chain
  zx1 batch close --epoch 20775             get the rent back when the window is over

A batch covers the epochs since the previous one, up to its own, which must be
over and at most three old. The signed batch and its data are saved before
anything is sent: without the data nobody can answer a challenge. --data and the
setting `upload` name where data is served: a folder or an http(s) address.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Build a batch from the log; signs and sends nothing
    Build(build::Args),
    /// Sign a built batch and save it with its data
    Sign(sign::Args),
    /// Submit a batch, and upload its data
    Submit(submit::Args),
    /// Show batches: on chain, saved here, and whether their data is served
    Show(show::Args),
    /// Get a batch's data, compare it with the chain, and write it to a file
    Fetch(data::Args),
    /// Recompute everything that a batch's file claims; exit code 1 when something is wrong
    Verify(verify::Args),
    /// Close a batch whose window is over, and get its rent back
    Close(close::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Build(args) => build::run(&args, context),
        Action::Sign(args) => sign::run(&args, context),
        Action::Submit(args) => submit::run(&args, context),
        Action::Show(args) => show::run(&args, context),
        Action::Fetch(args) => data::run(&args, context),
        Action::Verify(args) => verify::run(&args, context),
        Action::Close(args) => close::run(&args, context),
    }
}
