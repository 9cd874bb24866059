//! `zx1 batch`: an agent's daily account of what it did (protocol.md, 8; decisions B7, B9, C6, C7, P2).

mod adopt;
mod build;
mod close;
mod data;
mod open;
mod show;
mod sign;
mod submit;
mod verify;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 batch open                            once: the epoch of today is the first covered
  zx1 batch submit                          build, sign, submit and upload yesterday's batch
  zx1 batch build && zx1 batch sign         the same in steps, to review before signing
  zx1 batch show --all                      every batch, its window, and whether its data is served
  zx1 batch fetch --agent AGENT --epoch 20777 --data DIR --out theirs.zx1batch
  zx1 batch verify theirs.zx1batch          recompute every root and hash, offline
  zx1 batch verify theirs.zx1batch --on-chain
  zx1 batch close --epoch 20775             recover the rent after the window

A batch covers the epochs since the previous one, at most 30, up to its own, which
must be over and at most three epochs old. It is signed with the setting batch_key,
which has to be listed with the scope batch (zx1 keys). The signed batch and its
data are saved before anything is sent: without the data no challenge can be
answered. Until it has landed, or can never land, no other batch is signed. --data
and the setting `upload` name the place that serves the data: a folder or an http(s) URL.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Open the agent's chain of batches, once; no batch covers earlier messages
    Open(open::Args),
    /// Build a batch from the log, without signing or sending it
    Build(build::Args),
    /// Sign a built batch and save it with its data
    Sign(sign::Args),
    /// Submit a batch and upload its data
    Submit(submit::Args),
    /// Show batches on chain and saved here, and whether their data is served
    Show(show::Args),
    /// Download a batch's data, compare it with the chain, and write it to a file
    Fetch(data::Args),
    /// Verify everything that a batch file claims; exit code 1 if anything is wrong
    Verify(verify::Args),
    /// Continue after a batch that was signed elsewhere, if no other log of the agent is in use
    Adopt(adopt::Args),
    /// Close a batch after its challenge window and recover its rent
    Close(close::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Open(args) => open::run(&args, context),
        Action::Build(args) => build::run(&args, context),
        Action::Sign(args) => sign::run(&args, context),
        Action::Submit(args) => submit::run(&args, context),
        Action::Show(args) => show::run(&args, context),
        Action::Fetch(args) => data::run(&args, context),
        Action::Verify(args) => verify::run(&args, context),
        Action::Adopt(args) => adopt::run(&args, context),
        Action::Close(args) => close::run(&args, context),
    }
}
