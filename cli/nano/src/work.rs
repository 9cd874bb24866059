//! The commands of `nano-escrow work`.

use std::num::NonZeroUsize;
use std::time::Instant;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::{Error, Failure, Output};
use nano_escrow::work::{Cancel, Path, Solver, Work};
use nano_escrow::{Address, BlockHash, Network, WorkKind};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// Compute the proof of work of a root on this machine
    ///
    /// A send on the live network takes 2^29 hashes on average, 15 to 70 seconds of one core. A receive takes
    /// 2^23.
    Solve(SolveArgs),
    /// Verify the proof of work of a root; exit code 1 if it is below the threshold
    Validate(ValidateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SolveArgs {
    #[command(flatten)]
    target: Target,

    /// Number of threads [default: all]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Implementation: portable, avx2 or avx512 [default: the fastest available]
    #[arg(long, value_name = "PATH")]
    path: Option<Path>,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Proof of work, 16 hexadecimal digits
    #[arg(value_name = "WORK", index = 2)]
    work: String,

    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Args)]
struct Target {
    /// Hash of the previous block, or address of an account without blocks
    #[arg(value_name = "ROOT", index = 1)]
    root: String,

    #[command(flatten)]
    how_hard: HowHard,

    /// Kind of block that the work is for
    #[arg(long, value_enum, default_value = "send", conflicts_with = "threshold")]
    kind: Kind,
}

// There is no default network: work for the dev network is worthless on the live one.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct HowHard {
    /// Network whose thresholds apply: live, beta, dev or test
    #[arg(long, value_name = "NETWORK")]
    network: Option<Network>,

    /// Threshold, 16 hexadecimal digits
    #[arg(long, value_name = "HEX")]
    threshold: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// Send or change.
    Send,
    /// Receive or open.
    Receive,
    /// Any block of an account of an older epoch.
    Old,
}

impl Target {
    fn root(&self) -> Result<BlockHash, Failure> {
        if self.root.contains('_') {
            return Ok(BlockHash::from(self.root.parse::<Address>()?.public_key()));
        }
        Ok(self.root.parse()?)
    }

    fn threshold(&self) -> Result<u64, Failure> {
        let kind = match self.kind {
            Kind::Send => WorkKind::SendOrChange,
            Kind::Receive => WorkKind::ReceiveOrOpen,
            Kind::Old => WorkKind::OldAccount,
        };
        match (&self.how_hard.threshold, self.how_hard.network) {
            // The same 16 digits as work has.
            (Some(text), _) => match text.parse::<Work>() {
                Ok(threshold) => Ok(threshold.0),
                Err(_) => Err(nano_escrow::HexError::Digits { what: "a threshold", digits: 16 }.into()),
            },
            (None, Some(network)) => Ok(network.thresholds().of(kind)),
            (None, None) => Err(Failure::usage(Error::Missing("a network or a threshold"))),
        }
    }
}

pub(crate) fn run(command: WorkCommand, out: &Output) -> Result<(), Failure> {
    match command {
        WorkCommand::Solve(args) => solve(args, out),
        WorkCommand::Validate(args) => {
            let (root, threshold) = (args.target.root()?, args.target.threshold()?);
            let work: Work = args.work.parse()?;
            work.check(&root, threshold)?;
            let value = format!("{:016x}", work.value(&root));
            out.print(
                &json!({ "valid": true, "value": value, "threshold": format!("{threshold:016x}") }),
                || format!("valid: {value} reaches {threshold:016x}"),
            )
        }
    }
}

fn solve(args: SolveArgs, out: &Output) -> Result<(), Failure> {
    let (root, threshold) = (args.target.root()?, args.target.threshold()?);
    let mut solver = Solver::default();
    if let Some(threads) = args.threads {
        solver = solver.with_threads(threads);
    }
    if let Some(path) = args.path {
        if !path.is_available() {
            return Err(Error::NoPath(path).into());
        }
        solver = solver.with_path(path);
    }
    let start = Instant::now();
    let work = solver.solve(&root, threshold, &Cancel::new())?;
    let value = json!({
        "work": work,
        "value": format!("{:016x}", work.value(&root)),
        "threshold": format!("{threshold:016x}"),
        "root": root,
        "path": solver.path().name(),
        "threads": solver.threads(),
        "milliseconds": u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
    });
    out.print(&value, || work.to_string())
}
