//! `zx1 lease`: what an agent pays a day (protocol.md, 10.3; decision B5).

use crate::amount;
use crate::chain::Chain;
use crate::context::{Agent, Context};
use crate::errors::Result;
use crate::facts::{Accounts, LeaseReport};
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use crate::words::{self, duration};
use clap::Subcommand;
use serde::Serialize;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 lease pay                   one more day; the first payment is for today
  zx1 lease pay --epochs 30       thirty days
  zx1 lease show                  state, what is left, what is due
  zx1 lease tick --agent MINT     move anyone's lease to what the clock says

A day costs 1 USDC. One to three unpaid days are grace; after the fourth the
agent is deactivated, and coming back costs today and the three days of grace.
The owner pays, or a live delegate.";

/// What is typed.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Pay for days
    Pay {
        /// Days (epochs) to pay
        #[arg(long, value_name = "N", default_value_t = 1,
              value_parser = clap::value_parser!(u32).range(1..))]
        epochs: u32,
    },
    /// Move the lease to the state that the clock says; anyone may
    Tick,
    /// Show the lease
    #[command(alias = "status")]
    Show,
}

/// Does it.
pub fn run(args: Args, context: &Context) -> Result<()> {
    match args.action {
        Action::Show => context.wait(show(context)),
        Action::Pay { epochs } => context.wait(change(context, Some(epochs))),
        Action::Tick => context.wait(change(context, None)),
    }
}

#[derive(Serialize)]
struct Changed<'a> {
    #[serde(flatten)]
    sent: &'a Sent,
    lease: LeaseReport,
}

impl Report for Changed<'_> {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        draw(&self.lease, page);
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Shown(LeaseReport);

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        page.field("agent", &self.0.agent);
        draw(&self.0, page);
    }
}

async fn change(context: &Context, epochs: Option<u32>) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    let registry = Sati::connect(&chain.client).await?;
    let actions = Actions::new(&chain.client, &registry).await?;
    let draft = match epochs {
        Some(epochs) => actions.pay_lease(agent.mint, key.address(), epochs).await?,
        None => actions.tick_lease(agent.mint, key.address()).await?,
    };
    let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
    let lease = read(&chain, &agent).await?;
    sent.finish(context, &Changed { sent: &sent, lease }).await
}

async fn read(chain: &Chain, agent: &Agent) -> Result<LeaseReport> {
    Ok(Accounts::read(&chain.client, agent.mint).await?.lease_report(agent.mint))
}

async fn show(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let chain = context.connect().await?;
    context.check_agent(&chain, &agent)?;
    context.print(&Shown(read(&chain, &agent).await?))
}

fn draw(lease: &LeaseReport, page: &mut Page) {
    page.field("lease", lease.line());
    page.maybe(
        "paid through",
        lease.paid_through_epoch.map(|epoch| format!("epoch {}", words::epoch(epoch))),
    );
    let left = duration(lease.seconds_left_in_epoch);
    page.field("now", format!("epoch {}, which ends in {left}", words::epoch(lease.epoch)));
    if lease.due_micro_usdc > 0 {
        page.field("due", amount::usdc(lease.due_micro_usdc));
        page.next(format!("zx1 lease pay --epochs {}", lease.due_epochs));
    }
}
