//! `zx1 challenge list`.

use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::words;
use serde::Serialize;
use zx1_operator::challenge::{Listed, State};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show only unsettled challenges
    #[arg(long)]
    open: bool,
}

#[derive(Serialize)]
struct Shown {
    slot: u64,
    agent: Option<String>,
    wallet: Option<String>,
    challenges: Vec<Listed>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        let mut table =
            Table::new(["challenge", "", "epoch", "ground", "rank", "state", "time left"]).ids(&[0]);
        for one in &self.challenges {
            let left = if one.slots_left == 0 { "none".to_owned() } else { words::slots(one.slots_left) };
            let rank = format!("{} in era {}", one.rank, one.era);
            table.row([&one.challenge, &one.side, &one.epoch, &one.ground, &rank, &one.state.name(), &left]);
        }
        page.table(table, "No challenges by your wallet or against your agent.");
        if self.challenges.is_empty() {
            page.next("zx1 challenge find EVIDENCE, if a batch may hide a message that you hold");
        }
        let to_answer = |one: &&Listed| one.side == "against us" && one.state == State::Open;
        if let Some(one) = self.challenges.iter().find(to_answer) {
            page.next(format!("zx1 challenge answer {} (or zx1 challenge watch)", one.challenge));
        } else if let Some(one) = self.challenges.iter().find(|one| one.state.is_to_be_resolved()) {
            page.next(format!("zx1 challenge resolve {}", one.challenge));
        } else if let Some(one) = self.challenges.iter().find(|one| one.side == "ours" && one.passed) {
            page.next(format!("zx1 challenge close {}", one.challenge));
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    // Either is enough: a challenger may have no agent, and an agent can be examined without its key.
    let (agent, wallet) = match (context.agent(), context.key()) {
        (Err(_), Err(failure)) => return Err(failure),
        (agent, key) => (agent.ok().map(|agent| agent.mint), key.ok().map(|key| key.address())),
    };
    let (slot, mut challenges) =
        context.wait(async { Ok(context.operator().await?.challenges(wallet, agent).await?) })?;
    challenges.retain(|one| !args.open || !one.state.is_settled());
    context.print(&Shown {
        slot: slot.0,
        agent: agent.map(|agent| agent.to_string()),
        wallet: wallet.map(|wallet| wallet.to_string()),
        challenges,
    })
}
