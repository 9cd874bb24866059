//! `zx1 batch adopt`.

use crate::confirm;
use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use zx1_operator::batch::Adopted;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

fn draw(adopted: &Adopted, page: &mut Page) {
    page.line("This folder goes on after the agent's last batch, whoever signed it.")
        .field("agent", adopted.agent)
        .field("last epoch", adopted.last_epoch)
        .field("digest", &adopted.digest)
        .next("zx1 batch submit");
}

pub(super) fn run(_: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    if !context.flags().yes {
        confirm::ask(
            "What another log of the agent holds will be missing from the batches that are signed here, and can \
             cost the whole stake. Is no other log in use?",
        )?;
    }
    let adopted = context.wait(async {
        let operator = context.with_second(context.operator_of(&agent).await?).await?;
        Ok(operator.adopt_head(&agent).await?)
    })?;
    context.show(&adopted, draw)
}
