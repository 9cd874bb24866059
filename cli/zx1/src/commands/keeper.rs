//! `zx1 keeper`: what an agent must do every day, by itself.

mod run;
mod text;
mod unit;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 keeper plan                      show what is due and what is coming, without acting
  zx1 keeper run --once --cap 2        act once, spending at most 2 USDC today
  zx1 keeper run --cap 2               act every minute until Ctrl+C
  zx1 keeper run --yes                 without asking, as a service does
  zx1 keeper unit > ~/.config/systemd/user/zx1-keeper.service
  systemctl --user enable --now zx1-keeper

The keeper runs with one key of the scopes pay and batch: the setting batch_key, or
the keypair. That key pays the lease and the fees from its own wallet; it builds,
signs, submits and uploads the batch of every epoch; answers challenges from the
saved batches and asks from the log; settles your own challenges and asks; and
closes what can be closed, to recover rent. It never spends more USDC
per day than --cap or more SOL than --fee-cap, and it warns before every
deadline. It asks once, at its start. What fails is tried again, and a crash repeats nothing.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Run continuously, or once
    Run(run::Args),
    /// Show what is due, without acting
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
