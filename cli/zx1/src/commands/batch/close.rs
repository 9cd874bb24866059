//! `zx1 batch close`.

use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use crate::tx::Shown as _;
use zx1_operator::batch::Closed;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Epoch of the batch
    #[arg(long, value_name = "EPOCH")]
    epoch: u64,
}

fn draw(closed: &Closed, page: &mut Page) {
    closed.sent.draw(page);
    page.field("epoch", closed.epoch).maybe("rent returned", closed.rent_lamports.map(crate::amount::sol));
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let closed = operator.close_batch(&agent, &key, args.epoch).await?;
        context.finish(closed, |it| &it.sent, draw).await
    })
}
