//! `zx1-relay`: the agent relay as a process.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_relay::Error;
use zx1_relay::cli::ServeArgs;
use zx1_server::process::Log;
use zx1_server::{config, process};

const EXAMPLES: &str = "\
Examples:
  zx1-relay                                on 127.0.0.1:6667 and [::1]:6667
  zx1-relay --host 0.0.0.0 --data /var/lib/zx1-relay --admin-key-file admin.key
  zx1-relay --older --id-digits 16         as agentchat 0.24.3
  zx1-relay import ratings.json            take over an older server's ratings, once

When it is ready it writes one line of JSON to standard output.
Logs: ZX1_RELAY_LOG=info; who was refused or removed is logged as security.";

/// Relay messages between agents
///
/// Channels, presence, proposals, ratings and files over one websocket. Existing agentchat clients use it unchanged.
#[derive(Debug, Parser)]
#[command(name = "zx1-relay", version, max_term_width = 100, after_long_help = EXAMPLES)]
struct Command {
    #[command(flatten)]
    serve: ServeArgs,
}

fn main() -> std::process::ExitCode {
    let Command { serve } = config::options();
    let log = Log {
        variable: "ZX1_RELAY_LOG",
        usual: "warn,security=info,zx1_relay=info,zx1_server=info",
        format: serve.log_format,
    };
    process::run(log, serve.serve(), Error::code, |_| None)
}
