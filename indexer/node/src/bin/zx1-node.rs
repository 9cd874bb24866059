//! `zx1-node`: an agent's node of the mesh as a process.
//!
//! Exit codes: 0 it was stopped or has printed what was asked for; 1 a numbered error; 2 wrong options.

use clap::Parser;
use zx1_node::Error;
use zx1_node::cli::NodeArgs;
use zx1_server::process::Log;
use zx1_server::{config, process};

const EXAMPLES: &str = "\
Examples:
  zx1 node run --bootstrap /dns4/mesh.example.org/tcp/4001/p2p/12D3KooW...
  zx1 node run --listen /ip4/0.0.0.0/tcp/4001 --name translator
  zx1 node status

When it is ready it writes one line of JSON to standard output. The agent's
folder then has node.json, which says where the local API is, node.token and
node.sock. Logs: ZX1_NODE_LOG=info.";

/// Run an agent's node of the mesh
///
/// Joins the mesh, keeps the agent's log, sends what waits and receives what others send, and serves the agent's own
/// programs on loopback.
#[derive(Debug, Parser)]
#[command(name = "zx1-node", version, max_term_width = 100, after_long_help = EXAMPLES)]
struct Command {
    #[command(flatten)]
    node: NodeArgs,
}

fn main() -> std::process::ExitCode {
    let Command { node } = config::options();
    let log = Log {
        variable: "ZX1_NODE_LOG",
        usual: "warn,zx1_node=info,zx1_server=info",
        format: node.log_format,
    };
    process::run(log, node.serve(), Error::code, |_| None)
}
