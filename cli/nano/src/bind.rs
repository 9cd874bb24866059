//! The commands of `nano-escrow bind`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use zx1_home::{Clock as _, SystemClock};

use super::input::{self, SecretSource};
use super::{Error, Failure, Output};
use nano_escrow::binding::{Binding, nano_key};

#[derive(Debug, Subcommand)]
pub(crate) enum BindCommand {
    /// Create the record that binds a Solana key and a Nano key to one party, signed by both
    Make(MakeArgs),
    /// Verify a record offline; exit code 1 if it is invalid
    Verify {
        /// File with the record as JSON; - or nothing reads standard input
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct MakeArgs {
    /// Solana key: - (standard input), file:PATH or env:NAME
    ///
    /// The key can be a Solana keypair file, 32 bytes or 64 hexadecimal digits.
    #[arg(long, value_name = "WHERE")]
    solana: SecretSource,

    /// Nano private key, in the same form [default: derived from the Solana key]
    #[arg(long, value_name = "WHERE", conflicts_with = "index")]
    nano: Option<SecretSource>,

    /// Index of the derived Nano key
    #[arg(long, value_name = "N", default_value_t = 0)]
    index: u32,

    /// Creation time in Unix seconds [default: now]
    #[arg(long, value_name = "SECONDS")]
    created: Option<u64>,
}

pub(crate) fn run(command: BindCommand, out: &Output) -> Result<(), Failure> {
    match command {
        BindCommand::Make(args) => make(args, out),
        BindCommand::Verify { file } => {
            let binding = Binding::from_json(&input::text(file.as_deref())?)?;
            binding.verify()?;
            let value = json!({
                "valid": true, "solana": binding.solana, "nano": binding.nano, "created": binding.created,
            });
            out.print(&value, || {
                format!(
                    "valid: {} and {} belong to one party, since {}",
                    binding.solana, binding.nano, binding.created
                )
            })
        }
    }
}

fn make(args: MakeArgs, out: &Output) -> Result<(), Failure> {
    let solana = args.solana.not_an_argument()?;
    let nano = args.nano.map(SecretSource::not_an_argument).transpose()?;
    if solana.is_stdin() && nano.as_ref().is_some_and(SecretSource::is_stdin) {
        return Err(Failure::usage(Error::TwoFromStdin));
    }
    let seed = solana.seed(out)?;
    let nano = match nano {
        Some(nano) => nano.private_key(out)?,
        None => nano_key(&seed, args.index),
    };
    let created = args.created.unwrap_or_else(|| SystemClock.unix_secs());
    let binding = Binding::make(&seed, &nano.keypair(), created);
    let json = serde_json::to_string_pretty(&binding).map_err(Failure::system)?;
    out.print(&binding, || json)
}
