//! `zx1 challenge resolve`, `settle` and `close`: anyone may, and the chain decides who is paid.

use crate::amount;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use crate::words::count;
use zx1_operator::challenge::{Closed, Resolved, Settled};
use zx1_protocol::units::MicroUsdc;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the challenge
    #[arg(value_name = "CHALLENGE")]
    challenge: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Era {
    /// Number of the era, as zx1 stake show lists it
    #[arg(long, value_name = "ERA")]
    era: u32,
}

fn draw_lower(lower: usize, page: &mut Page) {
    if lower > 0 {
        page.field("before it", format!("{} settled or passed", count(lower, "lower rank", "lower ranks")));
    }
}

fn draw_resolved(resolved: &Resolved, page: &mut Page) {
    resolved.sent.draw(page);
    page.field("challenge", &resolved.challenge)
        .field("agent", resolved.agent)
        .field("epoch", resolved.epoch)
        .field("outcome", resolved.outcome);
    draw_lower(resolved.lower, page);
    match (resolved.succeeded, resolved.reward_micro_usdc) {
        (true, Some(reward)) => {
            let slashed = resolved.slashed_micro_usdc;
            let slashed = match slashed {
                MicroUsdc(0) => "A lower rank had slashed the agent's stake before.".to_owned(),
                slashed => format!("The agent lost its stake of {slashed}."),
            };
            page.line(format!("{slashed} The challenger got {reward}, and its own stake back."));
        }
        (true, None) => {}
        (false, _) if resolved.outcome == "answered" => {
            page.line("The record was shown, which paid the challenger's stake out.");
        }
        (false, _) => {
            page.line("Nothing was left to be paid; the challenger got its own stake back.");
        }
    }
    page.next(format!("zx1 challenge close {}", resolved.challenge));
}

fn draw_settled(settled: &Settled, page: &mut Page) {
    settled.sent.draw(page);
    page.field("agent", settled.agent).field("era", settled.era);
    draw_lower(settled.lower, page);
    page.field("to the treasury", settled.to_treasury_micro_usdc);
}

fn draw_closed(closed: &Closed, page: &mut Page) {
    closed.sent.draw(page);
    page.field("challenge", &closed.challenge)
        .maybe("rent to who opened it", closed.rent_lamports.map(amount::sol));
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

pub(super) fn run_era(args: &Era, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let settled = operator.settle_era(&agent, args.era, &key).await?;
        context.finish(settled, |it| &it.sent, draw_settled).await
    })
}
