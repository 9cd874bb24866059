//! `zx1 batch open`.

use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use crate::tx::Shown as _;
use crate::words;
use zx1_operator::batch::Opened;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(super) fn draw(opened: &Opened, page: &mut Page) {
    opened.sent.draw(page);
    page.field("agent", opened.agent);
    if opened.batches == 0 {
        page.line(format!(
            "The first batch covers epoch {} and can be submitted when that is over.",
            words::epoch(opened.first_epoch)
        ));
    } else {
        page.line(format!("The next batch covers epochs from {} on.", words::epoch(opened.first_epoch)));
    }
}

pub(super) fn run(_: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let key = context.key()?;
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let opened = operator.open_head(&agent, &key).await?;
        context.finish_onward((&operator, &agent), opened, |it| &it.sent, draw).await
    })
}
