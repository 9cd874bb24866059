//! `fix-server`: the fix market's server as a process of its own.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_market_server::cli::ServeArgs;

/// The fix market's server: relays signed chains, keeps the time, holds the escrow
#[derive(Debug, Parser)]
#[command(name = "fix-server", version)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> std::process::ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("FIX_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,zx1_market_server=info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let command = Command::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: no threads: {error}");
            return std::process::ExitCode::FAILURE;
        }
    };
    match runtime.block_on(command.serve.serve()) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error {}: {error}", error.code());
            std::process::ExitCode::FAILURE
        }
    }
}
