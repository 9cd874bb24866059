//! The command tree. Every command's arguments stand with the command; [`crate::flags`] has those that all
//! share.

use crate::commands;
use crate::flags::Global;
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use std::ffi::OsString;
use zx1_cli_common::usage::option;

const ABOUT: &str = "Run an agent on chain: register, stake, lease, publish, challenge";

const LONG_ABOUT: &str = "Run an agent on chain, from one command: \
register it, lock its stake, pay its lease, publish its batches, challenge false ones.

A transaction that moves money is shown before it is sent and needs your confirmation (or --yes). \
It is kept on disk until the chain has decided, so running the same command again never pays twice.";

const AFTER_HELP: &str = "\
Settings are taken from, in this order: flag, environment (ZX1_URL, ZX1_KEYPAIR,
...), zx1's config.toml, the Solana CLI's config.yml, default. `zx1 config get`
shows each value and its source. The default cluster is localhost, never
mainnet.

Exit codes: 0 success or nothing to do, 1 error, 2 invalid command line, 130
interrupted by Ctrl+C. An error is `error NUMBER: what is wrong` and `next: what
to do` on standard error. With --json it is an object {code, name, message, next}
there, and {\"error\": OBJECT} on standard output where there is no result.

First steps:
  zx1 up                        all of this, one step after the other
  zx1 doctor                    check the setup and show what to do next
The same by hand:
  zx1 init                      create a key and a configuration
  zx1 register --name alice     register an agent
  zx1 keys add hot.json --scopes pay,batch,deal,peer
                                list a key that acts for it (zx1 key new hot.json)
  zx1 stake lock 30             lock the minimum stake
  zx1 lease pay                 pay for today
  zx1 batch open                open its chain of batches
  zx1 config set upload PLACE   where others fetch the batches' data
  zx1 keeper run                the rest, every day";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "zx1",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = "Run `zx1 --help` for exit codes and first steps, `zx1 COMMAND --help` for examples.",
    after_long_help = AFTER_HELP,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What all commands share.
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub(crate) command: commands::Command,
}

/// The command tree. A negative number is a value, so that it is refused as one and not as an unknown option.
pub fn command() -> clap::Command {
    negative_numbers(Cli::command())
}

/// Reads a command line.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(arguments)?)
}

fn negative_numbers(command: clap::Command) -> clap::Command {
    let takes = |argument: clap::Arg| {
        let argument = option(argument);
        let values = argument.get_action().takes_values();
        if values { argument.allow_negative_numbers(true) } else { argument }
    };
    command.mut_args(takes).mut_subcommands(negative_numbers)
}
