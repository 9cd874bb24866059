//! `zx1-indexer`: the indexer as a process.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_indexer::Error;
use zx1_indexer::cli::ServeArgs;
use zx1_server::process::Log;
use zx1_server::{config, process};

/// Rebuilds what the ledgers of zx1 say, and serves it: REST, streams, an explorer page
#[derive(Debug, Parser)]
#[command(name = "zx1-indexer", version)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> std::process::ExitCode {
    let Command { serve } = config::options();
    let log = Log {
        variable: "ZX1_INDEXER_LOG",
        usual: "warn,zx1_indexer=info,zx1_server=info",
        format: serve.log_format,
    };
    process::run(log, serve.serve(), Error::code, |_| None)
}
