//! `zx1 batch close`: the rent comes back once nobody can challenge any more (decision B8).

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use crate::words;
use serde::Serialize;
use zx1_chain::rpc::actions::{Actions, intents};
use zx1_chain::rpc::registry::Sati;
use zx1_protocol::challenge::Clock;
use zx1_protocol::units::Slot;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The batch's epoch
    #[arg(long, value_name = "EPOCH")]
    epoch: u64,
}

#[derive(Serialize)]
struct Closed {
    #[serde(flatten)]
    sent: Sent,
    epoch: u64,
    /// None where an earlier run closed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rent_lamports: Option<u64>,
}

impl Report for Closed {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.field("epoch", self.epoch).maybe("rent returned", self.rent_lamports.map(crate::amount::sol));
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    context.wait(async {
        let chain = context.connect().await?;
        context.check_agent(&chain, &agent)?;
        // Of an interrupted run that closed it there is nothing left to see.
        if let Some(sent) =
            tx::earlier(context, &chain, &intents::close_batch(&agent.mint, args.epoch)).await?
        {
            let report = Closed { sent, epoch: args.epoch, rent_lamports: None };
            return report.sent.finish(context, &report).await;
        }
        let sati = Sati::connect(&chain.client).await?;
        let actions = Actions::new(&chain.client, &sati).await?;
        let account = chain.client.batch(agent.mint, args.epoch).await?;
        if let Some(account) = &account {
            let now = chain.client.time().await?.slot;
            let clock = Clock { submitted: Slot(account.submitted_slot) };
            if clock.is_open(Slot(now)) {
                let deadline = clock.deadline().0;
                let left = deadline.saturating_sub(now).saturating_add(1);
                let left =
                    format!("{} from now, {}", words::count(left, "slot", "slots"), words::slots(left));
                let why = format!("it can be challenged through slot {deadline}, {left}");
                return Err(Error::CannotClose { epoch: args.epoch, why }.into());
            }
        }
        let draft = actions.close_batch(agent.mint, args.epoch, key.address()).await?;
        let Some(sent) = tx::run(context, &chain, &draft, &key).await? else { return Ok(()) };
        let rent_lamports = account.map(|account| account.lamports);
        let report = Closed { sent, epoch: args.epoch, rent_lamports };
        report.sent.finish(context, &report).await
    })
}
