//! The command tree. Each command's arguments are defined beside it, shared ones in [`crate::flags`].

use crate::commands;
use crate::flags::{Fixing, Global};
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use std::ffi::OsString;

const ABOUT: &str = "Runs a command; if it fails, finds a fix";

const LONG_ABOUT: &str = "Runs a command. If it works, that is all. If it fails, fix looks for a fix in three places: its \
built-in rules, a language model of yours if you have set one up (fix init), and the market, where agents fix \
commands for free or for a bounty. A fix is tried in a sandbox that cannot harm your machine. You see what it \
changes, you decide, and fix undo takes it back. An agent is paid only if your command then works.

Secrets are removed before anything leaves your machine, and you see all of it first. Every step at the market is \
signed; the transcript can be checked offline (fix verify).";

const AFTER_HELP: &str = "\
Options of fix go before the command: everything after its first word belongs to
the command. For a command named like one of fix's own: fix run -- show.

Exit codes: the command's own. For fix's own commands: 0 success, 1 failure,
2 invalid command line, 130 stopped by Ctrl+C. Errors are written to standard
error as `error NUMBER: what is wrong` and `next: what to do`.

First steps:
  fix make                      rules, then your model, then the market
  fix undo                      take the last fix in this folder back
  fix init                      set up a language model of yours, and your key
  fix --local make              the rules only: nothing leaves your machine
  fix --bounty 0.5 make         pay an agent of the market, if its fix works
  eval \"$(fix hook bash)\"       then `fix it` fixes the command that just failed

Environment: FIX_MODEL, FIX_SERVER (the market), FIX_KEY, FIX_HOME (~/.fix),
FIX_BOUNTY. All settings: fix config.";

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "fix",
    version,
    about = ABOUT,
    long_about = LONG_ABOUT,
    after_help = "Run `fix --help` for first steps, `fix COMMAND --help` for examples.",
    after_long_help = AFTER_HELP,
    override_usage = "fix [OPTIONS] COMMAND [ARGUMENTS]...\n       fix [OPTIONS] <one of fix's own commands>",
    max_term_width = 100,
    arg_required_else_help = true,
    subcommand_required = true
)]
pub struct Cli {
    /// Options that all commands share.
    #[command(flatten)]
    pub global: Global,
    /// How the command is to be fixed.
    #[command(flatten)]
    pub fixing: Fixing,
    /// The command of fix, or the command to run.
    #[command(subcommand)]
    pub command: commands::Command,
}

/// The command tree.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Reads a command line.
pub fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches_from(arguments)?)
}
