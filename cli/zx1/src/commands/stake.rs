//! `zx1 stake`: the stake that answers for an agent (protocol.md, 10.5; decision B6).

use crate::amount;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::Page;
use crate::tx::Shown as _;
use crate::words::{self, count, slots};
use clap::Subcommand;
use zx1_operator::facts::StakeReport;
use zx1_operator::stake::{Change, Changed};
use zx1_protocol::units::MicroUsdc;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 stake lock 10               lock 10 USDC, the minimum; or top up
  zx1 stake show
  zx1 stake unlock                queue the unlock; the lease must have run out
  zx1 stake cancel                cancel the unlock; the lease must be paid again
  zx1 stake claim                 withdraw, 432 000 slots (2 days) later

A stake stays locked while the agent's lease is active, for two days after the
unlock, while a challenge is open, and until the last batch can no longer be
challenged. It is paid to the wallet that owns the agent's NFT at that time.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Lock USDC as the agent's stake, or top it up
    Lock {
        /// Amount in USDC, for example 10 or 12.50; the total stake must be at least 10
        #[arg(value_name = "USDC")]
        amount: String,
    },
    /// Queue the unlock of the stake; the lease must be deactivated or never started
    Unlock,
    /// Cancel a queued unlock; the lease must be active again
    Cancel,
    /// Withdraw the stake after the unlock delay
    Claim,
    /// Show the stake
    Show,
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
        Action::Unlock => Change::Unlock,
        Action::Cancel => Change::Cancel,
        Action::Claim => Change::Claim,
    };
    context.wait(change(context, wanted))
}

fn draw_changed(changed: &Changed, page: &mut Page) {
    changed.sent.draw(page);
    match &changed.stake {
        Some(stake) => draw(stake, page),
        None => {
            page.field("stake", "none");
        }
    }
}

async fn change(context: &Context, change: Change) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let operator = context.spender_of(&agent).await?;
    let changed = operator.change_stake(&agent, &key, change).await?;
    context.finish(changed, |it| &it.sent, draw_changed).await
}

fn draw_shown(stake: &StakeReport, page: &mut Page) {
    page.field("agent", stake.agent);
    draw(stake, page);
}

async fn show(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let stake = context.operator_of(&agent).await?.stake(&agent).await?;
    context.show(&stake, draw_shown)
}

fn draw(stake: &StakeReport, page: &mut Page) {
    let minimum = stake.minimum_micro_usdc;
    let enough = if stake.is_enough { String::new() } else { format!(", below the minimum of {minimum}") };
    page.field("stake", format!("{}{enough}", stake.stake_micro_usdc));
    page.field("open challenges", stake.open_challenges);
    page.field("unlock", unlock_line(stake));
    if stake.claimable {
        page.next("zx1 stake claim");
    }
}

fn unlock_line(stake: &StakeReport) -> String {
    match (stake.unlock_available_slot, stake.slots_until_available) {
        (Some(slot), Some(left)) if left > 0 => {
            format!("queued until slot {slot}, {} left ({})", count(left, "slot", "slots"), slots(left))
        }
        (Some(_), _) => match &stake.not_claimable_because {
            Some(why) => format!("queued, delay over, but {}", words::clause(why)),
            None => "queued, delay over".to_owned(),
        },
        _ => "not queued".to_owned(),
    }
}
