//! `zx1 ask leaf`.

use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use crate::tx::Shown as _;
use clap::ValueEnum;
use zx1_operator::ask::{Asked, Tree};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of the leaf, counted from 0
    #[arg(value_name = "INDEX")]
    index: u32,
    /// Epoch of the batch
    #[arg(long, value_name = "EPOCH")]
    epoch: u64,
    /// The entries of the log, or the records of the arrays
    #[arg(long, value_enum)]
    tree: TreeArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TreeArg {
    Log,
    Arrays,
}

fn draw(asked: &Asked, page: &mut Page) {
    asked.sent.draw(page);
    page.field("ask", &asked.ask)
        .field("of", asked.agent)
        .field("epoch", asked.epoch)
        .field("leaf", format!("{} of the {}", asked.index, asked.tree))
        .field("price", asked.price_micro_usdc)
        .maybe("showable", asked.showable_through_slot.map(|slot| format!("through slot {slot}")))
        .next(format!("zx1 ask settle {} after that slot", asked.ask));
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    let tree = match args.tree {
        TreeArg::Log => Tree::Log,
        TreeArg::Arrays => Tree::Arrays,
    };
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let asked = operator.ask_leaf(&agent, &key, args.epoch, tree, args.index).await?;
        context.finish(asked, |it| &it.sent, draw).await
    })
}
