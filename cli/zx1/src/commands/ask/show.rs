//! `zx1 ask show`.

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use zx1_operator::ask::Shown;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the ask
    #[arg(value_name = "ASK")]
    ask: String,
    /// Place that serves batch data that is not saved here [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
}

fn draw(shown: &Shown, page: &mut Page) {
    shown.sent.draw(page);
    page.field("ask", &shown.ask)
        .field("of", shown.agent)
        .field("epoch", shown.epoch)
        .field("leaf", format!("{} of the {}", shown.index, shown.tree))
        .maybe("bytes", shown.bytes)
        .field("paid to you", shown.reward_micro_usdc);
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.ask, "The ask")?;
    let key = context.key()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    context.wait(async {
        let operator = context.spender().await?;
        let shown = operator.show_leaf(address, &key, store.as_ref()).await?;
        context.finish(shown, |it| &it.sent, draw).await
    })
}
