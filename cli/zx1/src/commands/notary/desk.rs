//! `zx1 notary desk`, and a task as the other commands show it.

use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::node::{self, draw_payload, moment};
use crate::output::{Page, Table};
use zx1_operator::node::wire::Desk;

/// Draws a task.
pub(super) fn draw(desk: &Desk, page: &mut Page) {
    let id = &desk.conversation;
    page.field("conversation", id).field("task", &desk.stage).maybe("until", desk.until_micros.map(moment));
    for party in &desk.parties {
        page.field("party", party);
    }
    for due in &desk.owed {
        page.field("rating owed of", &due.target);
    }
    page.heading("Shown by the parties");
    if desk.exhibits.is_empty() {
        page.line("Nothing yet.");
    }
    for (index, exhibit) in desk.exhibits.iter().enumerate() {
        if index > 0 {
            page.blank();
        }
        page.field("type", &exhibit.r#type)
            .field("from", &exhibit.sender)
            .field("sent", moment(exhibit.timestamp_micros))
            .field("hash", &exhibit.payload_hash);
        if exhibit.payload.is_some() {
            draw_payload(exhibit.payload.as_ref(), 0, page);
        }
    }
    match (desk.can_judge, desk.owed.first()) {
        (true, _) => page.next(format!("zx1 notary judge {id} --outcome positive, neutral or negative")),
        (false, Some(due)) => page.next(format!("zx1 negotiate rate {id} {} --score N", due.target)),
        (false, None) => page.next("zx1 notary desk"),
    };
}

fn list(desks: &Vec<Desk>, page: &mut Page) {
    let mut table = Table::new(["conversation", "task", "until", "shown", "asked by"]).ids(&[0, 4]);
    for desk in desks {
        let until = desk.until_micros.map_or_else(|| "-".to_owned(), moment);
        let asker = desk.parties.first().map_or("-", String::as_str);
        table.row([&desk.conversation, &desk.stage, &until, &desk.exhibits.len(), &asker]);
    }
    page.table(table, "There are no tasks.");
    match desks.iter().find(|desk| desk.can_judge) {
        Some(desk) => page.next(format!("zx1 notary desk {}", desk.conversation)),
        None => page.next("zx1 notary run"),
    };
}

pub(super) fn run(conversation: Option<&str>, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = conversation.map(input::conversation).transpose()?;
    let client = node::client(context, &agent)?;
    match conversation {
        Some(id) => {
            let desk = context.wait(async { Ok(client.desk(&id).await?) })?;
            context.show(&desk, draw)
        }
        None => {
            let desks = context.wait(async { Ok(client.desks().await?) })?;
            context.show(&desks, list)
        }
    }
}
