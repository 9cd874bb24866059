//! `zx1 stake`: the stake that answers for an agent (protocol.md, 10.5; decisions B6 and P1).

use super::keys;
use crate::amount;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::Page;
use crate::tx::Shown as _;
use crate::words::{self, count, slots};
use clap::Subcommand;
use zx1_operator::facts::StakeReport;
use zx1_operator::stake::{Change, Changed, Stakes};
use zx1_protocol::units::MicroUsdc;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 stake lock 30               lock 30 USDC, the usual minimum; or top up
  zx1 stake show                  the stakes of all eras, and the cluster's minimum
  zx1 stake unlock                queue the unlock; the lease must have run out
  zx1 stake cancel                cancel the unlock; the lease must be paid again
  zx1 stake claim                 withdraw, 432 000 slots (2 days) later
  zx1 stake claim --era 0         withdraw the stake of an era that has ended

A stake belongs to the wallet that locked it and to an era: batches of the era are
what it answers for. A take-over ends the era, a slash does, and so does a stake
that you lock while a challenge is open, which then is of the next one. A stake
stays locked while the agent's lease is active, for two days after the unlock or
the era's end, while a challenge or an ask is open, and until the last batch can no
longer be challenged.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Lock USDC as the agent's stake, or top it up
    Lock {
        /// Amount in USDC, for example 30 or 32.50; the total must reach the cluster's minimum
        #[arg(value_name = "USDC")]
        amount: String,
    },
    /// Queue the unlock of the stake; the lease must be deactivated or never started
    Unlock(Era),
    /// Cancel a queued unlock; the lease must be active again
    Cancel(Era),
    /// Withdraw a stake after the unlock delay, or after its era ended
    Claim(Era),
    /// Show the stakes
    Show,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Era {
    /// Era of the stake [default: the one that you locked]
    #[arg(long, value_name = "ERA")]
    era: Option<u32>,
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    let wanted = match action {
        Action::Show => return context.wait(show(context)),
        Action::Lock { amount: text } => match amount::parse_usdc(&text)? {
            MicroUsdc(0) => {
                let why = "must be more than zero".to_owned();
                return Err(Error::BadAmount { text, unit: "USDC", why }.into());
            }
            amount => Change::Lock(amount),
        },
        Action::Unlock(Era { era }) => Change::Unlock(era),
        Action::Cancel(Era { era }) => Change::Cancel(era),
        Action::Claim(Era { era }) => Change::Claim(era),
    };
    context.wait(change(context, wanted))
}

fn draw_changed(changed: &Changed, page: &mut Page) {
    changed.sent.draw(page);
    draw(&changed.stakes, page);
}

async fn change(context: &Context, change: Change) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let operator = context.spender_of(&agent).await?;
    let changed = operator.change_stake(&agent, &key, change).await?;
    if matches!(change, Change::Claim(_)) {
        // Who takes the stake out needs nothing more.
        return context.finish(changed, |it| &it.sent, draw_changed).await;
    }
    context.finish_onward((&operator, &agent), changed, |it| &it.sent, draw_changed).await
}

fn draw_shown(stakes: &Stakes, page: &mut Page) {
    page.field("agent", stakes.agent);
    keys::draw_tenure(stakes.tenure.as_ref(), page);
    draw(stakes, page);
}

async fn show(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let stakes = context.operator_of(&agent).await?.stakes(&agent).await?;
    context.show(&stakes, draw_shown)
}

fn draw(stakes: &Stakes, page: &mut Page) {
    if stakes.eras.is_empty() {
        page.field("stake", "none");
    }
    for stake in &stakes.eras {
        let present = if stake.is_present { ", the present one" } else { "" };
        page.heading(format!("Era {}{present}", stake.era));
        draw_one(stake, page);
    }
    if let Some(stake) = stakes.eras.iter().find(|stake| stake.claimable) {
        page.next(format!("zx1 stake claim --era {}", stake.era));
    }
}

fn draw_one(stake: &StakeReport, page: &mut Page) {
    let minimum = stake.minimum_micro_usdc;
    let low = stake.is_present && stake.ended_slot.is_none() && stake.stake_micro_usdc < minimum;
    let low = if low { format!(", below the minimum of {minimum}") } else { String::new() };
    page.field("stake", format!("{}{low}", stake.stake_micro_usdc)).field("of", &stake.owner);
    if stake.slashed {
        page.field("slashed", format!("{} left for finders", stake.finders_micro_usdc));
    }
    page.field("open challenges", stake.open_challenges).field("open asks", stake.open_asks);
    page.field(if stake.ended_slot.is_some() { "ended" } else { "unlock" }, unlock_line(stake));
}

fn unlock_line(stake: &StakeReport) -> String {
    let begun = match stake.ended_slot {
        Some(slot) => format!("in slot {slot}"),
        None => "queued".to_owned(),
    };
    match (stake.unlock_available_slot, stake.slots_until_available) {
        (Some(slot), Some(left)) if left > 0 => {
            let left = format!("{} left ({})", count(left, "slot", "slots"), slots(left));
            format!("{begun}, claimable from slot {slot}, {left}")
        }
        (Some(_), _) => match &stake.not_claimable_because {
            Some(why) => format!("{begun}, delay over, but {}", words::clause(why)),
            None => format!("{begun}, delay over"),
        },
        _ => "not queued".to_owned(),
    }
}
