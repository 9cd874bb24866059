//! `zx1 lease`: what an agent pays a day (protocol.md, 10.3; decision B5).

use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use crate::steps;
use crate::tx::Shown as _;
use crate::words::{self, duration};
use clap::Subcommand;
use zx1_operator::facts::LeaseReport;
use zx1_operator::lease::Changed;
use zx1_operator::steps::Step;
use zx1_protocol::units::MicroUsdc;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 lease pay                   pay one more day; the first payment is for today
  zx1 lease pay --epochs 30       pay thirty days
  zx1 lease show                  show state, days left and amount due
  zx1 lease tick --agent MINT     update any agent's lease to the current time

A day costs 1 USDC. One to three unpaid days are a grace period; on the fourth
the agent is deactivated, and reactivation costs today and the three days of
grace. The owner can pay, or a key with the scope pay: give it with -k.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Pay for one or more days
    Pay {
        /// Number of days (epochs) to pay
        #[arg(long, value_name = "N", default_value_t = 1,
              value_parser = clap::value_parser!(u32).range(1..))]
        epochs: u32,
    },
    /// Update the lease's state to the current time; anyone may do this
    Tick,
    /// Show the lease
    #[command(alias = "status")]
    Show,
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Show => context.wait(show(context)),
        Action::Pay { epochs } => context.wait(change(context, Some(epochs))),
        Action::Tick => context.wait(change(context, None)),
    }
}

fn draw_changed(changed: &Changed, page: &mut Page) {
    changed.sent.draw(page);
    draw(&changed.lease, page);
}

fn draw_shown(lease: &LeaseReport, page: &mut Page) {
    page.field("agent", lease.agent);
    draw(lease, page);
    if lease.due_epochs > 0 {
        let (epochs, cost_micro_usdc) = (lease.due_epochs, lease.due_micro_usdc);
        page.next(steps::command(&Step::PayLease { epochs, cost_micro_usdc }));
    }
}

async fn change(context: &Context, epochs: Option<u32>) -> Result<()> {
    let key = context.key()?;
    let agent = context.agent()?;
    let operator = context.spender_of(&agent).await?;
    let changed = operator.change_lease(&agent, &key, epochs).await?;
    context.finish_onward((&operator, &agent), changed, |it| &it.sent, draw_changed).await
}

async fn show(context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let lease = context.operator_of(&agent).await?.lease(&agent).await?;
    context.show(&lease, draw_shown)
}

fn draw(lease: &LeaseReport, page: &mut Page) {
    page.field("lease", words::lease(lease));
    page.maybe(
        "paid through",
        lease.paid_through_epoch.map(|epoch| format!("epoch {}", words::epoch(epoch))),
    );
    let left = duration(lease.seconds_left_in_epoch);
    page.field("now", format!("epoch {}, which ends in {left}", words::epoch(lease.epoch)));
    if lease.due_micro_usdc > MicroUsdc(0) {
        page.field("due", lease.due_micro_usdc);
    }
}
