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

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 stake lock 10               lock 10 USDC, the least that counts; or top up
  zx1 stake show
  zx1 stake unlock                start the way out: the lease must have run out
  zx1 stake cancel                stay after all: the lease must be paid again
  zx1 stake claim                 take it back, 432 000 slots (2 days) later

A stake stays locked while the agent's lease lives, for two days after the
unlock, while a challenge is open, and until the last batch can no longer be
challenged. It goes to the wallet that owns the agent's NFT then.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lock USDC as the agent's stake, or top it up
    Lock {
        /// USDC, for example 10 or 12.50; the stake must be at least 10 afterwards
        #[arg(value_name = "USDC")]
        amount: String,
    },
    /// Queue the unlock of the stake; the lease must be deactivated, or never begun
    Unlock,
    /// Take a queued unlock back; the lease must be live again
    Cancel,
    /// Take the stake out once its delay is over
    Claim,
    /// Show the stake
    Show,
}

/// Runs `zx1 stake`. Every action but `show` sends a transaction.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let wanted = match args.action {
        Action::Show => return context.wait(show(context)),
        Action::Lock { amount: text } => match amount::parse_usdc(&text)? {
            MicroUsdc(0) => {
                let why = "it is nothing".to_owned();
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
            page.field("stake", "none any more");
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
    let enough = if stake.is_enough { String::new() } else { format!(", below the least of {minimum}") };
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
            format!("queued, over at slot {slot}, in {} ({})", count(left, "slot", "slots"), slots(left))
        }
        (Some(_), _) => match &stake.not_claimable_because {
            Some(why) => format!("queued, its delay is over, but {}", words::clause(why)),
            None => "queued, its delay is over".to_owned(),
        },
        _ => "not queued".to_owned(),
    }
}
