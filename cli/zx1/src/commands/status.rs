//! `zx1 status`: the facts of one party on one screen.

use crate::amount;
use crate::context::{Chosen, Context};
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::tx;
use crate::words::{self, count};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChallengeFilter, Client};
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_operator::facts::{Accounts, LeaseReport, StakeReport};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 status
  zx1 status --agent alice
  zx1 status --output json | jq .lease.days_left";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Known {
    name: String,
    mint: String,
    here: bool,
}

#[derive(Serialize)]
struct Open {
    address: String,
    epoch: u64,
    answered: bool,
    deadline_slot: u64,
    slots_left: u64,
}

#[derive(Serialize)]
struct Batches {
    count: u64,
    last_epoch: u64,
    last_slot: u64,
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
    usdc_micro_usdc: Option<MicroUsdc>,
    agent: Option<OfAgent>,
    agents: Vec<Known>,
    unfinished: Vec<String>,
}

#[derive(Serialize)]
struct OfAgent {
    mint: String,
    local_name: Option<String>,
    registered: bool,
    name: Option<String>,
    member_number: Option<u64>,
    owner: Option<String>,
    soulbound: Option<bool>,
    stake: Option<StakeReport>,
    lease: LeaseReport,
    batches: Option<Batches>,
    challenges: Vec<Open>,
    delegates: usize,
}

impl Report for Status {
    fn draw(&self, page: &mut Page) {
        page.field("cluster", &self.url);
        page.field("genesis", &self.genesis);
        page.field("time", format!("epoch {}, slot {}", words::epoch(self.epoch), self.slot));
        page.field("wallet", self.wallet.as_deref().unwrap_or("no key: zx1 init"));
        page.maybe("SOL", self.lamports.map(amount::sol));
        page.maybe("USDC", self.usdc_micro_usdc);
        match &self.agent {
            Some(agent) => agent.draw(page),
            None => {
                page.blank()
                    .line("No agent is chosen.")
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
            page.heading("Sent, result not seen");
            for title in &self.unfinished {
                page.line(title);
            }
            page.line("Run the same commands again: they find out, and pay nothing twice.");
        }
    }
}

impl OfAgent {
    fn draw(&self, page: &mut Page) {
        let name = self.local_name.as_ref().or(self.name.as_ref());
        page.heading(format!("Agent {}", name.map_or("", String::as_str)).trim_end());
        page.field("mint", &self.mint);
        if !self.registered {
            page.field("registry", "not registered on this cluster")
                .next("zx1 register --name NAME, or another cluster with -u");
            return;
        }
        page.maybe("number", self.member_number);
        page.field("owner", self.owner.as_deref().unwrap_or("nobody: it was burned"));
        let stake = self.stake.as_ref().map(|stake| {
            let unlock = if stake.unlock_queued { ", unlock queued" } else { "" };
            format!("{}{unlock}", stake.stake_micro_usdc)
        });
        page.field("stake", stake.unwrap_or_else(|| "none".to_owned()));
        page.field("lease", words::lease(&self.lease));
        let batches = self.batches.as_ref();
        let batches = batches
            .map(|head| format!("{}, the last for epoch {}", head.count, words::epoch(head.last_epoch)));
        page.field("batches", batches.unwrap_or_else(|| "none".to_owned()));
        page.field("delegates", self.delegates);
        page.field("challenges", format!("{} open", self.challenges.len()));
        for open in &self.challenges {
            let state = if open.answered { "answered" } else { "NOT ANSWERED" };
            let left = match open.slots_left {
                0 => "to be resolved".to_owned(),
                left => format!("{} left, {}", count(left, "slot", "slots"), words::slots(left)),
            };
            page.field("", &open.address).field("", format!("  epoch {}, {state}, {left}", open.epoch));
        }
    }
}

/// Runs `zx1 status`. It works without a key and then shows no wallet.
pub fn run(_args: Args, context: &Context) -> Result<()> {
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
        Chosen::One(agent) => Some(of_agent(client, agent.mint, agent.name.clone()).await?),
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

async fn of_agent(client: &Client, mint: AgentId, local_name: Option<String>) -> Result<OfAgent> {
    let registry = Sati::connect(client).await?;
    let (record, delegates, challenges) = tokio::try_join!(
        registry.look_up(mint),
        registry.delegates(mint),
        client.challenges(ChallengeFilter::Agent(mint)),
    )?;
    let accounts = Accounts::read(client, mint).await?;
    let open = challenges.iter().filter(|challenge| challenge.resolved == 0).map(|challenge| {
        let deadline = challenge.submitted_slot.saturating_add(CHALLENGE_WINDOW_SLOTS);
        Open {
            address: challenge.address.to_string(),
            epoch: challenge.epoch_number,
            answered: challenge.answered != 0,
            deadline_slot: deadline,
            slots_left: deadline.saturating_sub(accounts.time.slot),
        }
    });
    Ok(OfAgent {
        mint: mint.to_string(),
        local_name,
        registered: record.is_some(),
        name: record.as_ref().map(|record| record.metadata.name.clone()),
        member_number: record.as_ref().map(|record| record.member_number),
        owner: record.as_ref().and_then(|record| record.owner).map(|owner| owner.to_string()),
        soulbound: record.as_ref().map(|record| record.soulbound),
        stake: accounts.stake_report(mint),
        lease: accounts.lease_report(mint),
        batches: accounts.head.as_ref().map(|head| Batches {
            count: head.count,
            last_epoch: head.last_epoch,
            last_slot: head.last_slot,
        }),
        challenges: open.collect(),
        delegates: delegates.iter().filter(|delegate| delegate.live).count(),
    })
}
