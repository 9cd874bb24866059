//! `zx1 agents`: the wallet's agents, and what each needs next.

use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Report};
use crate::steps;
use crate::words;
use serde::Serialize;
use zx1_operator::facts::AgentStatus;
use zx1_operator::steps::{Step, due};
use zx1_protocol::units::MicroUsdc;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 agents
  zx1 agents -k other.json
  zx1 agents --output json | jq -r '.agents[] | [.mint, .next] | @tsv'

Lists the agents that the wallet owns on this cluster. To work on one of several:
zx1 config set agent NAME_OR_MINT, or --agent.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    agent: AgentStatus,
    due: Option<Step>,
    next: String,
}

#[derive(Serialize)]
struct Agents {
    wallet: String,
    agents: Vec<Shown>,
}

impl Report for Agents {
    fn draw(&self, page: &mut Page) {
        for (index, shown) in self.agents.iter().enumerate() {
            let agent = &shown.agent;
            let name = agent.local_name.as_ref().or(agent.name.as_ref());
            if index > 0 {
                page.blank();
            }
            let staked = agent.stake.as_ref().map(|stake| match stake.unlock_queued {
                true => format!("{}, unlock queued", stake.stake_micro_usdc),
                false => stake.stake_micro_usdc.to_string(),
            });
            page.field("agent", name.map_or("", String::as_str))
                .field("", &agent.mint)
                .field("stake", staked.unwrap_or_else(|| "none".to_owned()))
                .field("lease", words::lease(&agent.lease))
                .next(&shown.next);
        }
        if self.agents.is_empty() {
            page.line(format!("The wallet {} owns no agent on this cluster.", self.wallet))
                .next(steps::command(&Step::Register));
        }
    }
}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    let key = context.key()?;
    let has_place = context.settings()?.upload.value.is_some();
    context.wait(async {
        let operator = context.operator().await?;
        let known = context.known_here(&operator.chain)?;
        let minimum = MicroUsdc(operator.chain.client.config().await?.min_stake);
        let owned = operator.agents_of(key.address()).await?.into_iter().map(|mut agent| {
            let here = known.iter().find(|known| known.mint.to_string() == agent.mint);
            agent.local_name = here.and_then(|known| known.name.clone());
            let due = due(&agent, minimum, has_place);
            Shown { next: steps::next(due.as_ref()), agent, due }
        });
        context.print(&Agents { wallet: key.address().to_string(), agents: owned.collect() })
    })
}
