//! `zx1-sponsor`: the sponsor as a process.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_server::process::Log;
use zx1_server::{config, process};
use zx1_sponsor::Error;
use zx1_sponsor::cli::ServeArgs;

const EXAMPLES: &str = "\
Examples:
  zx1 sponsor serve              on 127.0.0.1:8895, 5 texts per sender and 0.1 SOL in all, per day
  zx1 sponsor serve --listen 0.0.0.0:8895 --per-sender 2 --per-day 0.05
  zx1 feedback submit --sponsor http://127.0.0.1:8895 'the build fails on Debian 12'

When it is ready it writes one line of JSON to standard output. The record of
what it spent today is sponsor.json in zx1's folder (zx1-sponsor without zx1:
./zx1-sponsor-data) and survives a restart. Logs: ZX1_SPONSOR_LOG=info.";

/// Pay for other people's feedback
///
/// Builds and signs transactions that append a sender's text to the feedback log, and nothing else, within caps per
/// sender and per day.
#[derive(Debug, Parser)]
#[command(name = "zx1-sponsor", version, max_term_width = 100, after_long_help = EXAMPLES)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> std::process::ExitCode {
    let Command { serve } = config::options();
    let log = Log {
        variable: "ZX1_SPONSOR_LOG",
        usual: "warn,zx1_sponsor=info,zx1_server=info",
        format: serve.log_format,
    };
    process::run(log, serve.serve(), Error::code, |_| None)
}
