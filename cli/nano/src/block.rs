//! The commands of `nano-escrow block`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::input::{self, SecretSource};
use super::{Failure, Output};
use nano_escrow::{Head, Network, Raw, SignedBlock, StateBlock};

#[derive(Debug, Subcommand)]
pub(crate) enum BlockCommand {
    /// Print the hash of a block
    Hash(FileArg),
    /// Sign a block and print it with its signature
    Sign(SignArgs),
    /// Verify the signature of a block, and its work if present; exit code 1 if invalid
    Verify(VerifyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FileArg {
    /// File with a state block as JSON; - or nothing reads standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    #[command(flatten)]
    file: FileArg,

    /// Private key of the account: - (standard input), file:PATH or env:NAME
    #[arg(long, value_name = "WHERE", default_value = "env:NANO_PRIVATE_KEY")]
    key: SecretSource,

    /// Balance before the block in raw; refuses a block that would burn funds
    #[arg(long, value_name = "RAW")]
    balance_before: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    file: FileArg,

    /// Reject signatures in a form that the network accepts but no current wallet creates
    #[arg(long)]
    strict: bool,

    /// Also verify the work for this network: live, beta, dev or test
    #[arg(long, value_name = "NETWORK")]
    network: Option<Network>,
}

pub(crate) fn run(command: BlockCommand, out: &Output) -> Result<(), Failure> {
    match command {
        BlockCommand::Hash(FileArg { file }) => {
            let block = StateBlock::from_json(&input::text(file.as_deref())?)?;
            let hash = block.hash();
            out.print(&json!({ "hash": hash, "root": block.root() }), || hash.to_string())
        }
        BlockCommand::Sign(args) => sign(args, out),
        BlockCommand::Verify(args) => verify(args, out),
    }
}

fn sign(args: SignArgs, out: &Output) -> Result<(), Failure> {
    let key = args.key.not_an_argument()?;
    let file = args.file.file.as_deref();
    input::only_one_from_stdin(file, &key)?;
    let text = input::text(file)?;
    let block = StateBlock::from_json(&text)?;
    match args.balance_before {
        Some(before) => {
            let head = Head {
                account: block.account,
                frontier: block.previous,
                balance: before.parse::<Raw>()?,
                representative: block.representative,
            };
            head.check(&block)?;
        }
        None if block.link == [0; 32] => {
            out.warn(
                "if the balance before this block is higher, it burns the difference; see --balance-before",
            );
        }
        None => {}
    }
    let mut signed = block.sign(&key.private_key(out)?.keypair())?;
    // Work is not signed over: what was there stays.
    signed.work = serde_json::from_str::<serde_json::Value>(&text)
        .ok()
        .and_then(|v| v.get("work")?.as_str()?.parse().ok());
    let json = serde_json::to_string_pretty(&signed).map_err(Failure::system)?;
    out.print(&signed, || json)
}

fn verify(args: VerifyArgs, out: &Output) -> Result<(), Failure> {
    let block = SignedBlock::from_json(&input::text(args.file.file.as_deref())?)?;
    if args.strict {
        block.verify_strict()?;
    } else {
        block.verify_network()?;
    }
    let canonical = block.verify_strict().is_ok();
    let hash = block.hash();
    let work = match (args.network, block.work) {
        (Some(network), Some(work)) => {
            let (value, thresholds) = (work.value(&block.root()), network.thresholds());
            work.check(&block.root(), thresholds.entry())?;
            Some(json!({
                "value": format!("{value:016x}"),
                "send_or_change": value >= thresholds.send_or_change,
                "receive_or_open": value >= thresholds.receive_or_open,
            }))
        }
        (Some(_), None) => return Err(nano_escrow::Error::NoWork(hash).into()),
        (None, _) => None,
    };
    let value = json!({
        "valid": true,
        "hash": hash,
        "account": block.block.account.address(),
        "canonical": canonical,
        "work": work,
    });
    out.print(&value, || {
        let mut text = format!("valid: {} signed {hash}", block.block.account.address());
        if !canonical {
            text.push_str("\nthe signature is not canonical: no current wallet creates this form");
        }
        if let Some(work) = &work {
            let good = if work["send_or_change"] == true { "every block" } else { "receive and open only" };
            text.push_str(&format!("\nwork: good for {good}"));
        }
        text
    })
}
