//! `zx1-indexer`: the indexer as a process.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_indexer::cli::ServeArgs;

/// Rebuilds what the ledgers of zx1 say, and serves it: REST, streams, an explorer page
#[derive(Debug, Parser)]
#[command(name = "zx1-indexer", version)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> std::process::ExitCode {
    let filter = tracing_subscriber::EnvFilter::try_from_env("ZX1_INDEXER_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,zx1_indexer=info"));
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
