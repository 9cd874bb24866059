//! `zx1 challenge resolve` and `close`: anyone may, and the chain decides who is paid.

use crate::amount;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use zx1_operator::challenge::{Closed, Resolved};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the challenge
    #[arg(value_name = "CHALLENGE")]
    challenge: String,
}

fn draw_resolved(resolved: &Resolved, page: &mut Page) {
    resolved.sent.draw(page);
    page.field("challenge", &resolved.challenge)
        .field("agent", resolved.agent)
        .field("epoch", resolved.epoch);
    if resolved.succeeded {
        let lost = resolved.stake_before_micro_usdc.saturating_sub(resolved.stake_after_micro_usdc);
        page.line(format!(
            "The record was not shown. The agent lost its stake of {}: half, rounded down, went to the \
             challenger, the rest to the treasury. The challenger's own stake was returned.",
            lost
        ));
    } else {
        page.line("The record was shown. The challenger's stake went to the treasury.");
    }
    page.next(format!("zx1 challenge close {}", resolved.challenge));
}

fn draw_closed(closed: &Closed, page: &mut Page) {
    closed.sent.draw(page);
    page.field("challenge", &closed.challenge)
        .maybe("rent to the challenger", closed.rent_lamports.map(amount::sol));
}

pub(super) fn run_resolve(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.challenge, "The challenge")?;
    let key = context.key()?;
    context.wait(async {
        let resolved = context.spender().await?.resolve_challenge(address, &key).await?;
        context.finish(resolved, |it| &it.sent, draw_resolved).await
    })
}

pub(super) fn run_close(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.challenge, "The challenge")?;
    let key = context.key()?;
    context.wait(async {
        let closed = context.spender().await?.close_challenge(address, &key).await?;
        context.finish(closed, |it| &it.sent, draw_closed).await
    })
}
