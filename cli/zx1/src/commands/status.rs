//! `zx1 status`: the facts of one party on one screen.

use super::keys;
use crate::amount;
use crate::context::{Chosen, Context};
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::steps;
use crate::words::{self, count};
use serde::Serialize;
use zx1_operator::facts::{AgentStatus, KeyCounts, Status};
use zx1_operator::steps::due;

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
    #[serde(skip)]
    has_place: bool,
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
            Some(agent) => draw_agent(agent, self, page),
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

fn draw_agent(agent: &AgentStatus, shown: &Shown, page: &mut Page) {
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
    if agent.tenure.is_some() {
        keys::draw_tenure(agent.tenure.as_ref(), page);
    }
    page.field("keys", key_counts(&agent.keys));
    let stake = agent.stake.as_ref().map(|stake| {
        let unlock = if stake.unlock_queued { ", unlock queued" } else { "" };
        let ended = if stake.ended_slot.is_some() { ", its era has ended" } else { "" };
        format!("{}{unlock}{ended}", stake.stake_micro_usdc)
    });
    page.field("stake", stake.unwrap_or_else(|| "none".to_owned()));
    for stake in &agent.earlier_stakes {
        let claimable = if stake.claimable { ", claimable" } else { "" };
        page.field("", format!("era {}: {}{claimable}", stake.era, stake.stake_micro_usdc));
    }
    page.field("lease", words::lease(&agent.lease));
    let batches = match &agent.batches {
        None => "not open yet".to_owned(),
        Some(head) if head.count == 0 => "none yet".to_owned(),
        Some(head) => format!("{}, the last for epoch {}", head.count, words::epoch(head.last_epoch)),
    };
    page.field("batches", batches);
    page.field("challenges", format!("{} open", agent.challenges.len()));
    for open in &agent.challenges {
        let left = match (open.answerable, open.slots_left) {
            (false, _) => "nothing answers it".to_owned(),
            (true, 0) => "NOT ANSWERED, to be resolved".to_owned(),
            (true, left) => format!("NOT ANSWERED, {}", time_left(left)),
        };
        page.field("", &open.address).field("", format!("  epoch {}, {left}", open.epoch));
    }
    page.field("asks", format!("{} open", agent.asks.len()));
    for open in &agent.asks {
        let left = match open.slots_left {
            0 => "NOT SHOWN, to be settled".to_owned(),
            left => format!("NOT SHOWN, {}", time_left(left)),
        };
        let leaf = format!("  epoch {}, leaf {} of the {}, {left}", open.epoch, open.index, open.tree);
        page.field("", &open.address).field("", leaf);
    }
    let (minimum, has_place) = (shown.status.minimum_stake_micro_usdc, shown.has_place);
    page.next(steps::next(due(agent, minimum, has_place).as_ref()));
}

fn time_left(left: u64) -> String {
    format!("{} left, {}", count(left, "slot", "slots"), words::slots(left))
}

/// How many keys act, for people.
fn key_counts(counts: &KeyCounts) -> String {
    let named = [("pay", counts.pay), ("batch", counts.batch), ("deal", counts.deal), ("peer", counts.peer)];
    let mut parts: Vec<String> = named
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(name, number)| format!("{number} {name}"))
        .collect();
    for (number, what) in [(counts.notice, "to act later"), (counts.former, "of a former holder")] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
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
    let has_place = context.settings()?.upload.value.is_some();
    context.print(&Shown { url, agents, status, has_place })
}
