//! `zx1 take-over`: a new holder's first act (decision P1).

use super::keys;
use crate::context::Context;
use crate::errors::Result;
use crate::output::Page;
use crate::tx::Shown as _;
use crate::words::count;
use zx1_operator::keys::TakenOver;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 take-over --agent MINT

Until the new holder takes over, the former one's keys sign for the agent, and the
former one's stake answers for it. Taking over ends all of them and the era; it
begins with the next epoch. Your own stake and keys follow:
  zx1 keys add hot.json --scopes pay,batch,deal,peer
  zx1 stake lock 30";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

fn draw(taken: &TakenOver, page: &mut Page) {
    taken.sent.draw(page);
    page.field("agent", taken.keys.agent);
    keys::draw_tenure(taken.keys.tenure.as_ref(), page);
    if !taken.ended.is_empty() {
        page.line(format!("{} ended with it.", count(taken.ended.len(), "key", "keys")));
        for key in &taken.ended {
            page.line(format!("  {key}"));
        }
    } else {
        keys::draw(&taken.keys, page.blank());
    }
}

pub(crate) fn run(_: Args, context: &Context) -> Result<()> {
    let holder = context.key()?;
    let agent = context.agent()?;
    context.wait(async {
        let operator = context.spender_of(&agent).await?;
        let taken = operator.take_over(&agent, &holder).await?;
        context.finish_onward((&operator, &agent), taken, |it| &it.sent, draw).await
    })
}
