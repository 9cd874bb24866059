//! `zx1 message list`, `show`, `take-back` and `settle`.

use crate::context::Context;
use crate::errors::Result;
use crate::node::{self, draw_draft};
use crate::output::{Page, Table};
use crate::words;
use zx1_operator::node::NodeClient;
use zx1_operator::node::wire::Draft;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of the message, as message list shows it
    #[arg(value_name = "ID")]
    id: u64,
}

fn draw(drafts: &Vec<Draft>, page: &mut Page) {
    let mut table =
        Table::new(["message", "type", "to", "conversation", "state", "why"]).ids(&[2, 3]).prose(5);
    for draft in drafts {
        let to = draft.recipient.as_deref().unwrap_or("everybody");
        let why = words::one_line(draft.why.as_deref().unwrap_or_default(), 200);
        table.row([&draft.draft, &draft.r#type, &to, &draft.conversation, &draft.state, &why]);
    }
    page.table(table, "The outbox is empty.");
    let waits = drafts.iter().find(|draft| draft.state == "unanswered" && !draft.is_over);
    match (waits, drafts.is_empty()) {
        (Some(draft), _) => page.next(format!("zx1 message settle {} lets those behind it go", draft.draft)),
        (None, true) => page.next("zx1 message send TYPE --to AGENT"),
        (None, false) => page,
    };
}

fn client(context: &Context) -> Result<NodeClient> {
    node::client(context, &context.agent()?)
}

pub(super) fn list(context: &Context) -> Result<()> {
    let client = client(context)?;
    let drafts = context.wait(async { Ok(client.outbox().await?) })?;
    context.show(&drafts, draw)
}

pub(super) fn show(args: &Args, context: &Context) -> Result<()> {
    let client = client(context)?;
    let draft = context.wait(async { Ok(client.draft(args.id).await?) })?;
    context.show(&draft, draw_draft)
}

pub(super) fn take_back(args: &Args, context: &Context) -> Result<()> {
    let client = client(context)?;
    let draft = context.wait(async { Ok(client.take_back(args.id).await?) })?;
    context.show(&draft, draw_draft)
}

pub(super) fn settle(args: &Args, context: &Context) -> Result<()> {
    let client = client(context)?;
    let draft = context.wait(async { Ok(client.settle(args.id).await?) })?;
    context.show(&draft, draw_draft)
}
