//! `fix-server`: the fix market's server as a process of its own.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_market_server::Error;
use zx1_market_server::cli::ServeArgs;
use zx1_server::process;

/// The fix market's server: relays signed chains, keeps the time, holds the escrow
#[derive(Debug, Parser)]
#[command(name = "fix-server", version)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> std::process::ExitCode {
    let serve = || Command::parse().serve.serve();
    process::run("FIX_LOG", "warn,zx1_market_server=info,zx1_server=info", serve, Error::code)
}
