//! `zx1 node`: the agent's mesh node (decision I5). The node is a separate program, `zx1-node`.

mod peers;
mod run;
mod signer;
mod status;
mod stop;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 node run                          on port 4001, with its local API on 127.0.0.1:4010
  zx1 node run --agent alice --bootstrap /ip4/203.0.113.7/tcp/4001/p2p/PEER_ID
  zx1 node run --help                   all options, which are those of zx1-node
  zx1 node signer --max-value 500       sign the agent's deals, none above 500
  zx1 node status
  zx1 node peers
  zx1 node stop

The node runs with the peer key (setting peer_key), which signs everything but deals.
Deals are signed by zx1 node signer, another process, with the deal key (setting
deal_key) and within its limits, whatever the node asks of it. Neither needs the
wallet. The node stays on the mesh while the agent has its stake and its lease, and
while its key is listed with the scope peer (zx1 keys).";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Run the node until Ctrl+C
    #[command(disable_help_flag = true)]
    Run(run::Args),
    /// Show how the node is, and whether others take its messages
    Status(status::Args),
    /// List connected peers, the best first
    Peers,
    /// Stop the node
    Stop,
    /// Sign the agent's deals within limits, until Ctrl+C
    Signer(signer::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Run(args) => run::run(&args, context),
        Action::Status(args) => status::run(&args, context),
        Action::Peers => peers::run(context),
        Action::Stop => stop::run(context),
        Action::Signer(args) => signer::run(&args, context),
    }
}
