//! `zx1 balance`: what the wallet has, and what comes back to it.

use crate::amount;
use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use crate::words::{self, count, slots};
use zx1_operator::holdings::{Holdings, Staked};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 balance
  zx1 balance -k hot.json                   of another key
  zx1 balance --output json | jq .usdc_micro_usdc

Money at hand, the stakes that the wallet locked, and its open challenges: what
comes back, when, and by which command.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// When a stake comes back, and how.
pub(crate) fn returns(staked: &Staked) -> String {
    let stake = &staked.stake;
    let claim = format!("zx1 stake claim --era {}", stake.era);
    if stake.slashed {
        return "slashed: what is left is paid to the finders".to_owned();
    }
    match (stake.claimable, stake.slots_until_available, &stake.not_claimable_because) {
        (true, ..) => format!("comes back now: {claim}"),
        (_, Some(0), Some(why)) => format!("comes back later: {}", words::clause(why)),
        (_, Some(left), _) => format!("comes back in {}: {claim}", slots(left)),
        (_, None, _) => {
            let delay = slots(zx1_interface::constants::UNLOCK_DELAY_SLOTS);
            match staked.unlock_from_epoch {
                None => format!("comes back {delay} after zx1 stake unlock"),
                Some(epoch) => format!(
                    "comes back {delay} after zx1 stake unlock, which needs an unpaid lease: possible from \
                     epoch {} on",
                    words::epoch(epoch)
                ),
            }
        }
    }
}

fn draw(held: &Holdings, page: &mut Page) {
    page.field("wallet", &held.wallet)
        .field("SOL", amount::sol(held.lamports))
        .field("USDC", held.usdc_micro_usdc)
        .field("staked", held.staked_micro_usdc);
    for staked in &held.stakes {
        let name = staked.name.clone().unwrap_or_else(|| staked.stake.agent.to_string());
        page.heading(format!("Stake of {name}, era {}", staked.stake.era))
            .field("stake", staked.stake.stake_micro_usdc)
            .field("", returns(staked));
    }
    for open in &held.challenges {
        page.heading(format!("Challenge of {}", open.agent))
            .field("stake", open.stake_micro_usdc)
            .field("challenge", &open.challenge)
            .field(
                "",
                match open.slots_left {
                    0 => format!("comes back now: zx1 challenge resolve {}", open.challenge),
                    left => format!(
                        "comes back if nobody shows the record within {} ({})",
                        count(left, "slot", "slots"),
                        slots(left)
                    ),
                },
            );
    }
}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    let key = context.key()?;
    context.wait(async {
        let operator = context.operator().await?;
        let known = context.known_here(&operator.chain)?;
        let held = operator.holdings(key.address(), &known).await?;
        context.show(&held, draw)
    })
}
