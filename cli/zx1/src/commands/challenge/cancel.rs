//! `zx1 challenge cancel`: drafts of evidence that are left over.

use crate::amount;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::output::{Page, Table};
use crate::tx::Shown as _;
use serde::Serialize;
use zx1_operator::challenge::{Cancelled, DraftReport};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Address of the draft [default: list your drafts]
    #[arg(value_name = "DRAFT")]
    draft: Option<String>,
}

#[derive(Serialize)]
struct Drafts {
    drafts: Vec<DraftReport>,
}

fn draw_listed(listed: &Drafts, page: &mut Page) {
    let mut table = Table::new(["draft", "state", "rank", "rent and deposit", "deposit"]).ids(&[0]);
    for draft in &listed.drafts {
        let rank = draft.rank.map_or_else(String::new, |rank| rank.to_string());
        let deposit = match (draft.deposit_lamports, draft.deposit_returns) {
            (0, _) => "none",
            (_, true) => "comes back",
            (_, false) => "burnt, unless a lower rank was in the way",
        };
        table.row([&draft.draft, &draft.state.name(), &rank, &amount::sol(draft.lamports), &deposit]);
    }
    page.table(table, "No drafts of evidence.");
    if let Some(draft) = listed.drafts.first() {
        page.next(format!("zx1 challenge cancel {}", draft.draft));
    }
}

fn draw(cancelled: &Cancelled, page: &mut Page) {
    cancelled.sent.draw(page);
    if let Some(draft) = &cancelled.draft {
        page.field("draft", &draft.draft)
            .field("held", amount::sol(draft.lamports))
            .field("state", draft.state.name());
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let address = args.draft.as_deref().map(|text| input::address(text, "The draft")).transpose()?;
    let key = context.key()?;
    context.wait(async {
        let Some(address) = address else {
            let drafts = context.operator().await?.evidence_drafts(key.address()).await?;
            return context.show(&Drafts { drafts }, draw_listed);
        };
        let cancelled = context.spender().await?.cancel_draft(address, &key).await?;
        context.finish(cancelled, |it| &it.sent, draw).await
    })
}
