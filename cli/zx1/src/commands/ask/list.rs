//! `zx1 ask list`.

use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Report, Table};
use crate::words;
use serde::Serialize;
use zx1_operator::ask::{Listed, State};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show only asks that are not settled
    #[arg(long)]
    open: bool,
}

#[derive(Serialize)]
struct Shown {
    slot: u64,
    agent: Option<String>,
    wallet: Option<String>,
    asks: Vec<Listed>,
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["ask", "", "epoch", "leaf", "state", "time left"]).ids(&[0]);
        for one in &self.asks {
            let left = if one.slots_left == 0 { "none".to_owned() } else { words::slots(one.slots_left) };
            let leaf = format!("{} {}", one.tree, one.index);
            table.row([&one.ask, &one.side, &one.epoch, &leaf, &one.state.name(), &left]);
        }
        page.table(table, "No asks by your wallet or for leaves of your agent.");
        let to_show = |one: &&Listed| one.side == "of us" && one.state == State::Open;
        if let Some(one) = self.asks.iter().find(to_show) {
            page.next(format!("zx1 ask show {}", one.ask));
        } else if let Some(one) = self.asks.iter().find(|one| one.side == "ours" && one.unfinished) {
            page.next(format!("zx1 ask settle {}", one.ask));
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    // Either is enough: an asker may have no agent, and an agent can be examined without its key.
    let (agent, wallet) = match (context.agent(), context.key()) {
        (Err(_), Err(failure)) => return Err(failure),
        (agent, key) => (agent.ok().map(|agent| agent.mint), key.ok().map(|key| key.address())),
    };
    let (slot, mut asks) =
        context.wait(async { Ok(context.operator().await?.asks(wallet, agent).await?) })?;
    asks.retain(|one| !args.open || matches!(one.state, State::Open | State::Over | State::Withheld));
    context.print(&Shown {
        slot: slot.0,
        agent: agent.map(|agent| agent.to_string()),
        wallet: wallet.map(|wallet| wallet.to_string()),
        asks,
    })
}
