//! `zx1 status`: the facts of one party on one screen.

use crate::amount;
use crate::context::{Chosen, Context};
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::tx;
use crate::words::{self, count};
use serde::Serialize;
use solana_address::Address;
use zx1_operator::facts::{AgentStatus, agent_status};

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
struct Status {
    cluster: String,
    url: String,
    genesis: String,
    slot: u64,
    unix: i64,
    epoch: u64,
    wallet: Option<String>,
    lamports: Option<u64>,
    usdc_micro_usdc: Option<u64>,
    agent: Option<AgentStatus>,
    agents: Vec<Known>,
    unfinished: Vec<String>,
}

impl Report for Status {
    fn draw(&self, page: &mut Page) {
        page.field("cluster", &self.url);
        page.field("genesis", &self.genesis);
        page.field("time", format!("epoch {}, slot {}", words::epoch(self.epoch), self.slot));
        page.field("wallet", self.wallet.as_deref().unwrap_or("none; run zx1 init"));
        page.maybe("SOL", self.lamports.map(amount::sol));
        page.maybe("USDC", self.usdc_micro_usdc.map(amount::usdc));
        match &self.agent {
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
        if !self.unfinished.is_empty() {
            page.heading("Sent, outcome unknown");
            for title in &self.unfinished {
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
        format!("{}{unlock}", amount::usdc(stake.stake_micro_usdc))
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
    let key = context.key_if_any()?;
    let chain = context.connect().await?;
    let client = &chain.client;
    let time = client.time().await?;
    let config = client.config().await?;
    let wallet = key.as_ref().map(|key| key.address());
    let (lamports, usdc) = match wallet {
        Some(wallet) => {
            let mint = Address::new_from_array(config.usdc_mint);
            let (sol, usdc) = tokio::try_join!(client.lamports(wallet), client.usdc_balance(wallet, mint))?;
            (Some(sol), Some(usdc))
        }
        None => (None, None),
    };
    let agent = match context.chosen()? {
        Chosen::One(agent) => Some(agent_status(client, &agent).await?),
        // The list below shows them.
        Chosen::None | Chosen::Several(_) => None,
    };
    let genesis = &chain.identity.genesis;
    let agents = context.config()?.agents.into_iter().map(|(name, entry)| Known {
        name,
        here: entry.genesis.as_ref().is_none_or(|known| known == genesis),
        mint: entry.mint,
    });
    context.print(&Status {
        cluster: chain.identity.to_string(),
        url: context.settings()?.url.value.clone(),
        genesis: genesis.clone(),
        slot: time.slot,
        unix: time.unix,
        epoch: time.epoch,
        wallet: wallet.map(|wallet| wallet.to_string()),
        lamports,
        usdc_micro_usdc: usdc,
        agent,
        agents: agents.collect(),
        unfinished: tx::outbox(context)?.records()?.into_iter().map(|record| record.title).collect(),
    })
}
