//! What can be typed. Every command's arguments stand with the command; here are the tree and what all
//! share.

use crate::commands;
use clap::{ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser};
use std::ffi::OsString;

const ABOUT: &str =
    "Everything that an agent's owner does on chain: register, stake, lease, publish, challenge";

const LONG_ABOUT: &str = "Everything that an agent's owner does on chain, from one command: \
register an agent, lock its stake, pay its lease, publish its batches, challenge false ones.

A transaction that moves money is shown before it is sent, as it is, and waits for your yes (or --yes). \
It is kept on disk until the chain has decided, so running the same command again never pays twice.";

const AFTER_HELP: &str = "\
Values come from, in this order: flag, environment (ZX1_URL, ZX1_KEYPAIR, ...),
zx1's config.toml, the Solana command line's config.yml, default. `zx1 config
get` shows each value and where it comes from. The default cluster is this
machine, never mainnet.

Exit codes: 0 done or nothing to do, 1 refused or failed, 2 the command line is
wrong, 130 stopped by Ctrl+C. A refusal is `error NUMBER: what is wrong` and
`next: what to do` on standard error; with --output json it is an object
{code, name, message, next}.

First steps:
  zx1 init                      make a key and a configuration
  zx1 doctor                    what is missing, and the command that helps
  zx1 register --name alice     become an agent
  zx1 stake lock 10             lock the smallest stake
  zx1 lease pay                 pay for today";

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
    /// The command.
    #[command(subcommand)]
    pub command: commands::Command,
}

const SETTINGS: &str = "Settings";
const TRANSACTIONS: &str = "Transactions";

/// Options of all commands. `-h` leaves them out, `--help` shows them.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// RPC address, or localhost, devnet, testnet, mainnet-beta (or l, d, t, m) [env: ZX1_URL]
    #[arg(short, long, global = true, value_name = "URL_OR_MONIKER",
          help_heading = SETTINGS, hide_short_help = true)]
    pub url: Option<String>,
    /// Keypair file that signs and pays [env: ZX1_KEYPAIR]
    #[arg(short, long, global = true, value_name = "PATH", help_heading = SETTINGS, hide_short_help = true)]
    pub keypair: Option<String>,
    /// Agent to speak of: a local name or a mint address [env: ZX1_AGENT]
    #[arg(long, global = true, value_name = "AGENT", help_heading = SETTINGS, hide_short_help = true)]
    pub agent: Option<String>,
    /// How final a state must be: processed, confirmed or finalized [env: ZX1_COMMITMENT]
    #[arg(long, global = true, value_name = "LEVEL", help_heading = SETTINGS, hide_short_help = true)]
    pub commitment: Option<String>,
    /// How results are shown: display, json or json-compact [env: ZX1_OUTPUT]
    #[arg(long, global = true, value_name = "FORMAT", help_heading = SETTINGS, hide_short_help = true)]
    pub output: Option<String>,
    /// Show addresses and hashes in tables whole, however wide they become
    #[arg(long, global = true, help_heading = SETTINGS, hide_short_help = true)]
    pub full: bool,
    /// Say more on standard error; twice and thrice for more yet
    #[arg(short, long, global = true, action = ArgAction::Count,
          help_heading = SETTINGS, hide_short_help = true)]
    pub verbose: u8,

    /// Send without asking
    #[arg(short, long, global = true, help_heading = TRANSACTIONS, hide_short_help = true)]
    pub yes: bool,
    /// Simulate, show what would happen, and send nothing
    #[arg(long, global = true, help_heading = TRANSACTIONS, hide_short_help = true)]
    pub dry_run: bool,
    /// Print the signed transaction in base64 instead of sending it
    #[arg(long, global = true, conflicts_with = "dry_run",
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub print_tx: bool,
    /// Sign with a given blockhash, print transaction and signatures, send nothing
    #[arg(long, global = true, help_heading = TRANSACTIONS, hide_short_help = true, requires = "blockhash",
          conflicts_with_all = ["dry_run", "print_tx"])]
    pub sign_only: bool,
    /// Blockhash to sign with
    #[arg(long, global = true, value_name = "HASH", value_parser = blockhash,
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub blockhash: Option<String>,
    /// Priority fee in micro-lamports for each compute unit [env: ZX1_COMPUTE_UNIT_PRICE]
    #[arg(long = "with-compute-unit-price", global = true, value_name = "MICRO_LAMPORTS",
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub compute_unit_price: Option<u64>,
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
        let values = argument.get_action().takes_values();
        if values { argument.allow_negative_numbers(true) } else { argument }
    };
    command.mut_args(takes).mut_subcommands(negative_numbers)
}

fn blockhash(text: &str) -> Result<String, String> {
    let parsed: Result<solana_address::Address, _> = text.parse();
    let text = parsed.map(|_| text.to_owned());
    text.map_err(|_| "it is no blockhash, which is 32 bytes in base58".to_owned())
}
