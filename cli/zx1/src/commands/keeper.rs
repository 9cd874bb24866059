//! `zx1 keeper`: what an agent must do every day, by itself.

mod run;
mod text;
mod unit;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 keeper plan                      what is to be done now, and what is coming; does nothing
  zx1 keeper run --once --cap 2        do it, spend at most 2 USDC today
  zx1 keeper run --cap 2               the same, every minute, until Ctrl+C
  zx1 keeper unit > ~/.config/systemd/user/zx1-keeper.service
  systemctl --user enable --now zx1-keeper

The keeper pays the lease, builds, signs, submits and uploads the batch of every
epoch, answers challenges from the saved batches, resolves them when their
window is over, and closes what can be closed, so that rent comes back. It never
spends more USDC a day than --cap allows, nor more SOL than --fee-cap, and it
warns before every deadline. It stops at nothing else: what fails once is tried
again, and a crash repeats nothing.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Do what has to be done, again and again
    Run(run::Args),
    /// Show what has to be done, and do nothing
    Plan(run::Limits),
    /// Print a systemd unit that runs the keeper
    Unit(unit::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Run(args) => run::run(&args, context),
        Action::Plan(limits) => run::show(&limits, context),
        Action::Unit(args) => unit::run(&args, context),
    }
}
