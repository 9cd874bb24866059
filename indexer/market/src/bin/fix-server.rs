//! `fix-server`: the fix market's server as a process of its own.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::{Parser, Subcommand};
use zx1_market_server::Error;
use zx1_market_server::cli::ServeArgs;
use zx1_market_server::dead_letters::DeadLetters;
use zx1_market_server::next::after_error;
use zx1_market_server::orders::{Order, SweepArgs, give};
use zx1_server::process::Log;
use zx1_server::{config, process};

const EXAMPLES: &str = "\
Examples:
  fix serve --auto-fund          a demo: embedded ledger, deposits made by themselves
  fix serve --nano http://127.0.0.1:7076 --platform-address nano_...
  fix serve --import transcripts   rebuild a server from saved transcripts
  fix serve --print-config       all settings, as they would be used

When it is ready it writes one line of JSON to standard output. Its data lie in
~/.fix/market (fix-server without fix: ./fix-data) unless --data or FIX_DATA
says otherwise. Logs: FIX_LOG=info.";

/// Serve a market
///
/// Relays signed chains, keeps the time, holds the escrow. With the embedded ledger nothing else is needed.
#[derive(Debug, Parser)]
#[command(name = "fix-server", version, max_term_width = 100, after_long_help = EXAMPLES)]
#[command(disable_help_subcommand = true)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
    #[command(subcommand)]
    command: Option<Operate>,
}

#[derive(Debug, Subcommand)]
enum Operate {
    /// List, retry or drop decisions that the escrow refuses for good
    DeadLetters(DeadLetters),
    /// Give everything back that no contract is owed
    Sweep(SweepArgs),
    /// Let an account of the escrow go on that an error has stopped
    Resume {
        /// Nano address of the account
        account: nano_escrow::Address,
    },
    /// Let a contract go on that contradicts the escrow's journal
    Release {
        /// The contract's id
        contract: String,
    },
}

async fn run(Command { serve, command }: Command) -> Result<(), Error> {
    match command {
        None => serve.serve().await,
        Some(Operate::DeadLetters(args)) => args.run(&serve.configuration()?).await,
        Some(Operate::Sweep(args)) => args.run(&serve.configuration()?).await,
        Some(Operate::Resume { account }) => give(&serve.configuration()?, Order::Resume { account }).await,
        Some(Operate::Release { contract }) => {
            give(&serve.configuration()?, Order::Release { contract }).await
        }
    }
}

fn main() -> std::process::ExitCode {
    let command = config::options::<Command>();
    let log = Log {
        variable: "FIX_LOG",
        usual: "warn,zx1_market_server=info,zx1_server=info",
        format: command.serve.log_format,
    };
    process::run(log, run(command), Error::code, after_error)
}
