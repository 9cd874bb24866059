//! `zx1 stake`: the stake that answers for an agent (protocol.md, 10.5; decision B6).

use crate::amount;
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::{Error, Result};
use crate::facts::{Accounts, StakeReport};
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use crate::words::{self, count, slots};
use clap::Subcommand;
use serde::Serialize;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;

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

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let wish = match args.action {
        Action::Show => return context.wait(show(context)),
        Action::Lock { amount: text } => match amount::parse_usdc(&text)? {
            0 => {
                let why = "it is nothing".to_owned();
                return Err(Error::BadAmount { text, unit: "USDC", why }.into());
            }
            amount => Wish::Lock(amount),
        },
        Action::Unlock => Wish::Unlock,
        Action::Cancel => Wish::Cancel,
        Action::Claim => Wish::Claim,
    };
    context.wait(change(context, wish))
}

enum Wish {
    Lock(u64),
    Unlock,
    Cancel,
    Claim,
}

#[derive(Serialize)]
struct Changed<'a> {
    #[serde(flatten)]
    sent: &'a Sent,
    agent: String,
    /// None once it is claimed.
    stake: Option<StakeReport>,
}

impl Report for Changed<'_> {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        match &self.stake {
            Some(stake) => draw(stake, page),
            None => {
                page.field("stake", "none any more");
            }
        }
    }
}

async fn change(context: &Context, wish: Wish) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    let registry = Sati::connect(&chain.client).await?;
    let actions = Actions::new(&chain.client, &registry).await?;
    let (mint, owner) = (agent.mint, key.address());
    let draft = match wish {
        Wish::Lock(amount) => actions.lock_stake(mint, owner, amount).await?,
        Wish::Unlock => actions.queue_unlock(mint, owner).await?,
        Wish::Cancel => actions.cancel_unlock(mint, owner).await?,
        Wish::Claim => actions.claim_stake(mint, owner).await?,
    };
    let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
    let stake = read(&chain, &agent).await?;
    sent.finish(context, &Changed { sent: &sent, agent: mint.to_string(), stake }).await
}

async fn read(chain: &Chain, agent: &Agent) -> Result<Option<StakeReport>> {
    Ok(Accounts::read(&chain.client, agent.mint).await?.stake_report(agent.mint))
}

struct Shown(StakeReport);

impl Serialize for Shown {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.0.agent);
        draw(&self.0, page);
    }
}

async fn show(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    let missing = Error::NoStake { agent: agent.shown() };
    let stake = read(&chain, &agent).await?.ok_or(missing)?;
    context.print(&Shown(stake))
}

fn draw(stake: &StakeReport, page: &mut Page) {
    let minimum = amount::usdc(stake.minimum_micro_usdc);
    let enough = if stake.is_enough { String::new() } else { format!(", below the least of {minimum}") };
    page.field("stake", format!("{}{enough}", amount::usdc(stake.stake_micro_usdc)));
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
