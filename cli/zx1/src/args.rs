//! What can be typed. Every command's arguments stand with the command; here are the tree and what all
//! share.

use crate::commands;
use crate::errors::{Error, Exit, Failure};
use crate::output::{self, Format};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, Parser};
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
    #[arg(long, global = true, value_name = "HASH", help_heading = TRANSACTIONS, hide_short_help = true)]
    pub blockhash: Option<String>,
    /// Priority fee in micro-lamports for each compute unit [env: ZX1_COMPUTE_UNIT_PRICE]
    #[arg(long = "with-compute-unit-price", global = true, value_name = "MICRO_LAMPORTS",
          help_heading = TRANSACTIONS, hide_short_help = true)]
    pub compute_unit_price: Option<u64>,
}

/// Says what is wrong with the command line, or prints the help that was asked for.
pub fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render().ansi().to_string();
            match output::write_out(text.as_bytes()) {
                Err(failure) if !failure.is_closed_pipe() => failure.exit,
                _ => Exit::Success,
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            output::write_err(&error.render().ansi().to_string());
            Exit::Usage
        }
        _ => {
            let format = asked_format(arguments);
            if format.is_json() {
                let text = error.render().to_string();
                let first = text.split("\n\n").next().unwrap_or_default();
                let message = first.trim_start_matches("error: ").replace('\n', " ");
                let usage = Error::Usage { message: crate::errors::sentence(&message) };
                output::error(&Failure::from(usage), format);
            } else {
                let text = error.render().ansi().to_string();
                output::write_err(&text.replacen("error:", "error 7400:", 1));
            }
            Exit::Usage
        }
    }
}

/// The output format in a command line that does not parse.
fn asked_format(arguments: &[OsString]) -> Format {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let joined = texts.iter().find_map(|text| text.strip_prefix("--output="));
    let after = texts.windows(2).find_map(|pair| match pair {
        ["--output", format] => Some(*format),
        _ => None,
    });
    let environment = std::env::var("ZX1_OUTPUT").ok();
    let asked = joined.or(after).or(environment.as_deref());
    asked.and_then(|text| text.parse().ok()).unwrap_or(Format::Display)
}
