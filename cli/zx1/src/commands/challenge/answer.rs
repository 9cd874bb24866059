//! `zx1 challenge answer`.

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::Page;
use crate::tx::Shown as _;
use zx1_operator::challenge::Answered;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the challenge
    #[arg(value_name = "CHALLENGE")]
    challenge: String,
    /// Place that serves batch data that is not saved here [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
}

fn draw(answered: &Answered, page: &mut Page) {
    answered.sent.draw(page);
    page.field("challenge", &answered.challenge)
        .field("agent", answered.agent)
        .field("epoch", answered.epoch)
        .maybe("record", answered.record);
    if let Some(paid) = answered.paid {
        page.field("into the stake", paid.to_stake_micro_usdc)
            .field("paid to you", paid.to_answerer_micro_usdc)
            .field("to the treasury", paid.to_treasury_micro_usdc);
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let address = input::address(&args.challenge, "The challenge")?;
    let key = context.key()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    context.wait(async {
        let operator = context.spender().await?;
        let answered = operator.answer_challenge(address, &key, store.as_ref()).await?;
        context.finish(answered, |it| &it.sent, draw).await
    })
}
