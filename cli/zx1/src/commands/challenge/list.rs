//! `zx1 challenge list`.

use crate::agent_files::Now;
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::words;
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_chain::rpc::{ChallengeFilter, Stored};
use zx1_interface::accounts::ChallengeAccount;
use zx1_protocol::units::Slot;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only those that are not settled yet
    #[arg(long)]
    open: bool,
}

#[derive(Serialize)]
struct Listed {
    slot: u64,
    agent: Option<String>,
    wallet: Option<String>,
    challenges: Vec<One>,
}

#[derive(Serialize)]
struct One {
    challenge: String,
    side: &'static str,
    agent: String,
    challenger: String,
    epoch: u64,
    ground: &'static str,
    state: &'static str,
    answerable_through_slot: u64,
    slots_left: u64,
    answered_by: Option<String>,
}

impl Report for Listed {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["challenge", "", "epoch", "ground", "state", "time left"]).ids(&[0]);
        for one in &self.challenges {
            let left = if one.slots_left == 0 { "none".to_owned() } else { words::slots(one.slots_left) };
            table.row([&one.challenge, &one.side, &one.epoch, &one.ground, &one.state, &left]);
        }
        page.table(table, "There are no challenges, neither by your wallet nor against your agent.");
        if self.challenges.is_empty() {
            page.next("zx1 challenge find EVIDENCE, when a message that you hold may be missing in a batch");
        }
        let to_answer = |one: &&One| one.side == "against us" && one.state == "open";
        if let Some(one) = self.challenges.iter().find(to_answer) {
            page.next(format!("zx1 challenge answer {} (or zx1 challenge watch)", one.challenge));
        } else if let Some(one) = self.challenges.iter().find(|one| one.state.ends_with("to be resolved")) {
            page.next(format!("zx1 challenge resolve {}", one.challenge));
        }
    }
}

fn one(challenge: &Stored<ChallengeAccount>, side: &'static str, now: Slot) -> One {
    let clock = super::clock(challenge);
    let deadline = clock.deadline().0;
    let nobody = [0; 32];
    One {
        challenge: challenge.address.to_string(),
        side,
        agent: Address::new_from_array(challenge.agent_id).to_string(),
        challenger: Address::new_from_array(challenge.challenger).to_string(),
        epoch: challenge.epoch_number,
        ground: super::ground_name(challenge.ground),
        state: super::state(challenge, now),
        answerable_through_slot: deadline,
        slots_left: if clock.is_open(now) { deadline.saturating_sub(now.0).saturating_add(1) } else { 0 },
        answered_by: (challenge.answerer != nobody)
            .then(|| Address::new_from_array(challenge.answerer).to_string()),
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    // Either is enough: a challenger need not have an agent, and an agent can be looked at without its key.
    let agent = context.agent();
    let key = context.key();
    if let (Err(_), Err(failure)) = (&agent, &key) {
        return Err(failure.clone());
    }
    let listed = context.wait(async {
        let chain = context.connect().await?;
        let now = Now::ask(&chain).await?.slot;
        let mut found: BTreeMap<(u64, Address), One> = BTreeMap::new();
        if let Ok(key) = &key {
            for challenge in chain.client.challenges(ChallengeFilter::Challenger(key.address())).await? {
                found.insert((challenge.submitted_slot, challenge.address), one(&challenge, "ours", now));
            }
        }
        if let Ok(agent) = &agent {
            for challenge in chain.client.challenges(ChallengeFilter::Agent(agent.mint)).await? {
                found.insert(
                    (challenge.submitted_slot, challenge.address),
                    one(&challenge, "against us", now),
                );
            }
        }
        let unsettled = |one: &One| !matches!(one.state, "succeeded" | "failed");
        let challenges = found.into_values().filter(|one| !args.open || unsettled(one)).collect();
        Ok(Listed {
            slot: now.0,
            agent: agent.as_ref().ok().map(|agent| agent.mint.to_string()),
            wallet: key.as_ref().ok().map(|key| key.address().to_string()),
            challenges,
        })
    })?;
    context.print(&listed)
}
