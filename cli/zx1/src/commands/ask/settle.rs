//! `zx1 ask settle`: anyone may, and the chain decides who is paid.

use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use zx1_operator::ask::{Done, Settled};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the ask
    #[arg(value_name = "ASK")]
    ask: String,
}

fn draw(settled: &Settled, page: &mut Page) {
    settled.sent.draw(page);
    page.field("ask", &settled.ask);
    match settled.done {
        Done::Marked => page
            .line("The leaf was not shown. The batch is marked as withheld and counts for nothing; the fine waits until no challenge against the era is open.")
            .next(format!("zx1 ask settle {}", settled.ask)),
        Done::Settled => {
            page.line("The asker was paid.").next(format!("zx1 ask settle {}", settled.ask))
        }
        Done::Closed => page.line("The ask is closed, and its rent went back to the asker."),
    };
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.ask, "The ask")?;
    let key = context.key()?;
    context.wait(async {
        let settled = context.spender().await?.settle_ask(address, &key).await?;
        context.finish(settled, |it| &it.sent, draw).await
    })
}
