//! `zx1 inspect`: every field of the protocol's bytes, and what is wrong with them.

mod account;
mod batch;
mod cbor;
mod envelope;
mod fields;
mod log_entry;
mod transaction;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 inspect envelope message.bin
  zx1 inspect envelope 8c01035820... --key WALLET
  xxd -p message.bin | zx1 inspect envelope -
  zx1 inspect log-entry entry.hex
  zx1 inspect batch 20480.zx1batch
  zx1 inspect account ADDRESS           read from the cluster
  zx1 inspect account account.bin --owner PROGRAM
  zx1 inspect tx SIGNATURE              read from the cluster, with its events
  zx1 inspect tx transaction.base64

DATA is hex, base64, a file, or - for standard input; zx1 finds out which. The
commands for bytes work without a network. Exit code 1 when the bytes are none
of the kind.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// A message: header, payload, hashes, whose signature holds, whether it is canonical
    Envelope(envelope::Args),
    /// An entry of a log: header, signature, logged payload, its leaf hash
    LogEntry(log_entry::Args),
    /// A batch (.zx1batch, or the CBOR alone), or the 165 bytes that are signed for it
    Batch(batch::Args),
    /// An account of the five programs, SATI, SAS or the token programs
    Account(account::Args),
    /// A transaction: what it does, what it moved, its events
    Tx(transaction::Args),
}

/// Runs `zx1 inspect`. Each kind of bytes has a module of its own.
pub fn run(args: Args, context: &Context) -> Result<()> {
    match args.action {
        Action::Envelope(args) => envelope::run(args, context),
        Action::LogEntry(args) => log_entry::run(args, context),
        Action::Batch(args) => batch::run(args, context),
        Action::Account(args) => account::run(args, context),
        Action::Tx(args) => transaction::run(args, context),
    }
}
