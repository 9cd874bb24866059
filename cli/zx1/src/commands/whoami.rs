//! `zx1 whoami`: the wallet, its key file, the cluster, the agents that it owns.

use crate::context::Context;
use crate::errors::Result;
use crate::files;
use crate::output::{Page, Report};
use crate::steps;
use serde::Serialize;
use zx1_operator::steps::Step;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 whoami
  zx1 whoami --output json | jq -r .wallet";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Owned {
    name: String,
    agent: String,
}

#[derive(Serialize)]
struct Shown {
    wallet: String,
    keypair: String,
    keypair_source: String,
    cluster: String,
    genesis: String,
    agents: Vec<Owned>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("wallet", &self.wallet)
            .field("key", format!("{} ({})", self.keypair, self.keypair_source))
            .field("cluster", &self.cluster);
        for owned in &self.agents {
            page.field("agent", format!("{} {}", owned.name, owned.agent));
        }
        if self.agents.is_empty() {
            page.field("agent", "none").next(steps::command(&Step::Register));
        }
    }
}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    let key = context.key()?;
    context.wait(async {
        let operator = context.operator().await?;
        let owned = operator.owned(key.address()).await?;
        let agents = owned.into_iter().map(|(mint, name)| Owned { name, agent: mint.to_string() });
        context.print(&Shown {
            wallet: key.address().to_string(),
            keypair: files::shown(key.path()),
            keypair_source: context.settings()?.keypair.source.to_string(),
            cluster: context.cluster_line(),
            genesis: operator.chain.identity.genesis.clone(),
            agents: agents.collect(),
        })
    })
}
