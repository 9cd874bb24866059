//! The commands of `nano-escrow key`.

use clap::{Args, Subcommand};
use serde_json::json;

use super::input::SecretSource;
use super::{Error, Failure, Output};

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Print the public key and the address of a private key, or of a seed with an index or a nonce
    ///
    /// The private key is never printed. A seed with an index is the standard wallet derivation; a seed with a
    /// nonce is an escrow account. HEX can also be - (standard input), file:PATH or env:NAME, which keeps it out
    /// of the shell's history.
    Derive(DeriveArgs),
}

#[derive(Debug, Args)]
#[group(id = "from", required = true, multiple = false, args = ["private", "seed"])]
pub(crate) struct DeriveArgs {
    /// Private key, 64 hexadecimal digits
    #[arg(long, value_name = "HEX", conflicts_with_all = ["index", "nonce"])]
    private: Option<SecretSource>,

    /// Seed, 64 hexadecimal digits
    #[arg(long, value_name = "HEX", requires = "which")]
    seed: Option<SecretSource>,

    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
#[group(id = "which", multiple = false)]
struct Which {
    /// Index of the account in a wallet
    #[arg(long, value_name = "N")]
    index: Option<u32>,

    /// Nonce of the account, 1 to 64 bytes in hexadecimal digits
    #[arg(long, value_name = "HEX")]
    nonce: Option<String>,
}

pub(crate) fn run(command: KeyCommand, out: &Output) -> Result<(), Failure> {
    let KeyCommand::Derive(args) = command;
    let key = match (&args.private, &args.seed) {
        (Some(private), _) => private.private_key(out)?,
        (None, Some(seed)) => {
            let seed = seed.seed(out)?;
            match (args.which.index, &args.which.nonce) {
                (Some(index), _) => seed.wallet_key(index),
                (None, Some(nonce)) => seed.nonce_key(&read_nonce(nonce)?),
                (None, None) => return Err(Failure::usage(Error::Missing("an index or a nonce"))),
            }
        }
        (None, None) => return Err(Failure::usage(Error::Missing("a private key or a seed"))),
    };
    let public = key.public_key();
    let address = public.address();
    out.print(&json!({ "public_key": public, "address": address }), || {
        format!("public key  {public}\naddress     {address}")
    })
}

fn read_nonce(text: &str) -> Result<Vec<u8>, Failure> {
    match hex::decode(text) {
        Ok(nonce) if (1..=64).contains(&nonce.len()) => Ok(nonce),
        _ => Err(Error::Nonce.into()),
    }
}
