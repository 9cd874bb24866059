//! The command `nano-escrow`. Thin: parse, call the library, print.
//!
//! Exit codes: 0 success, 1 failure or invalid input, 2 invalid usage. With `--json` standard output has exactly one
//! line of JSON, also after an error: `{"error": {"code", "name", "message", "next"}}`; standard error then has the
//! inner object.

mod address;
mod bind;
mod block;
pub mod errors;
mod escrow;
mod input;
mod key;
mod next;
mod output;
mod qr;
mod wallet;
mod work;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use errors::Error;
use output::{Failure, Output};

/// Nano keys, addresses, blocks, proof of work, wallet and escrow
#[derive(Debug, Parser)]
#[command(
    name = "nano-escrow",
    version,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "\
        Exit codes: 0 success, 1 failure or invalid input, 2 invalid usage. Every error has a number.\n\
        Secrets are read from standard input (-), file:PATH or env:NAME, and never printed."
)]
struct Cli {
    /// Print one JSON value, also for errors
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Derive public keys and addresses
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Encode, decode and validate addresses
    #[command(subcommand)]
    Address(address::AddressCommand),
    /// Hash, sign and verify blocks
    #[command(subcommand)]
    Block(block::BlockCommand),
    /// Compute and verify proof of work
    #[command(subcommand)]
    Work(work::WorkCommand),
    /// Hold deposits for contracts and pay each out exactly once
    Escrow(escrow::EscrowArgs),
    /// Send and receive with the ordinary accounts of a seed
    Wallet(wallet::WalletArgs),
    /// Print a payment link and its QR code
    Qr(qr::QrArgs),
    /// Bind a Solana key and a Nano key to one party
    #[command(subcommand)]
    Bind(bind::BindCommand),
}

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    let tree = || zx1_manual::with_options(Cli::command());
    zx1_manual::answer_first(tree);
    let cli = match tree().try_get_matches().and_then(|m| Cli::from_arg_matches(&m)) {
        Ok(cli) => cli,
        Err(error) => {
            let json = std::env::args_os().any(|argument| argument == "--json");
            if json && error.use_stderr() {
                return Output::new(true).fail(&Failure::usage(Error::Usage(first_sentence(&error))));
            }
            // Help and version are not errors and go to standard output; clap knows.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let out = Output::new(cli.json);
    match run(cli.command, &out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => out.fail(&failure),
    }
}

/// The parser's words without its usage and hints.
fn first_sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run(command: Command, out: &Output) -> Result<(), Failure> {
    match command {
        Command::Key(command) => key::run(command, out),
        Command::Address(command) => address::run(command, out),
        Command::Block(command) => block::run(command, out),
        Command::Work(command) => work::run(command, out),
        Command::Escrow(args) => runtime()?.block_on(escrow::run(args, out)),
        Command::Wallet(args) => runtime()?.block_on(wallet::run(args, out)),
        Command::Qr(args) => qr::run(args, out),
        Command::Bind(command) => bind::run(command, out),
    }
}

/// Starts the log and the multi-threaded runtime; called only for commands that talk to a node.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_env("NANO_LOG"))
        .with_writer(std::io::stderr)
        .init();
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
