//! `zx1 status`: the facts of one party on one screen.

use crate::amount;
use crate::context::{Chosen, Context};
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::words::{self, count};
use serde::Serialize;
use zx1_operator::facts::{AgentStatus, Status};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 status
  zx1 status --agent alice
  zx1 status --output json | jq .lease.days_left";

#[derive(Serialize)]
struct Known {
    name: String,
    mint: String,
    here: bool,
}

#[derive(Serialize)]
struct Shown {
    url: String,
    #[serde(flatten)]
    status: Status,
    agents: Vec<Known>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        let status = &self.status;
        page.field("cluster", &self.url);
        page.field("genesis", &status.genesis);
        page.field("time", format!("epoch {}, slot {}", words::epoch(status.epoch), status.slot));
        page.field("wallet", status.wallet.as_deref().unwrap_or("none; run zx1 init"));
        page.maybe("SOL", status.lamports.map(amount::sol));
        page.maybe("USDC", status.usdc_micro_usdc);
        match &status.agent {
            Some(agent) => draw_agent(agent, page),
            None => {
                page.blank()
                    .line("No agent is selected.")
                    .next("zx1 register --name NAME, or zx1 config set agent AGENT");
            }
        }
        if self.agents.len() > 1 {
            let mut table = Table::new(["name", "agent", "on this cluster"]).ids(&[1]);
            for known in &self.agents {
                table.row([&known.name, &known.mint, &if known.here { "yes" } else { "no" }]);
            }
            page.heading("Agents").table(table, "");
        }
        if !status.unfinished.is_empty() {
            page.heading("Sent, outcome unknown");
            for title in &status.unfinished {
                page.line(title);
            }
            page.line("Run the same commands again: they check the outcome and never pay twice.");
        }
    }
}

fn draw_agent(agent: &AgentStatus, page: &mut Page) {
    let name = agent.local_name.as_ref().or(agent.name.as_ref());
    page.heading(format!("Agent {}", name.map_or("", String::as_str)).trim_end());
    page.field("mint", &agent.mint);
    if !agent.registered {
        page.field("registry", "not registered on this cluster")
            .next("zx1 register --name NAME, or another cluster with -u");
        return;
    }
    page.maybe("number", agent.member_number);
    page.field("owner", agent.owner.as_deref().unwrap_or("none: the NFT was burned"));
    let stake = agent.stake.as_ref().map(|stake| {
        let unlock = if stake.unlock_queued { ", unlock queued" } else { "" };
        format!("{}{unlock}", stake.stake_micro_usdc)
    });
    page.field("stake", stake.unwrap_or_else(|| "none".to_owned()));
    page.field("lease", words::lease(&agent.lease));
    let batches = agent.batches.as_ref();
    let batches =
        batches.map(|head| format!("{}, the last for epoch {}", head.count, words::epoch(head.last_epoch)));
    page.field("batches", batches.unwrap_or_else(|| "none".to_owned()));
    page.field("delegates", agent.delegates);
    page.field("challenges", format!("{} open", agent.challenges.len()));
    for open in &agent.challenges {
        let state = if open.answered { "answered" } else { "NOT ANSWERED" };
        let left = match open.slots_left {
            0 => "to be resolved".to_owned(),
            left => format!("{} left, {}", count(left, "slot", "slots"), words::slots(left)),
        };
        page.field("", &open.address).field("", format!("  epoch {}, {state}, {left}", open.epoch));
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    context.wait(status(context))
}

async fn status(context: &Context) -> Result<()> {
    let wallet = context.key_if_any()?.map(|key| key.address());
    let operator = context.operator().await?;
    let agent = match context.chosen()? {
        Chosen::One(agent) => Some(agent),
        // The list below shows them.
        Chosen::None | Chosen::Several(_) => None,
    };
    let status = operator.status(wallet, agent.as_deref()).await?;
    let agents = context.config()?.agents.into_iter().map(|(name, entry)| Known {
        name,
        here: entry.genesis.is_none_or(|known| known == status.genesis),
        mint: entry.mint,
    });
    let (url, agents) = (context.settings()?.url.value.clone(), agents.collect());
    context.print(&Shown { url, agents, status })
}
