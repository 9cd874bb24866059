//! `zx1 notary offers`, and a search as the other commands show it.

use super::outcome;
use crate::context::Context;
use crate::errors::Result;
use crate::input;
use crate::node::{self, moment};
use crate::output::{Page, Table};
use crate::words;
use zx1_operator::node::wire::Search;

/// Bytes of a unit that a table shows.
const MAX_UNIT: usize = 32;

/// Draws a search.
pub(super) fn draw(search: &Search, page: &mut Page) {
    let id = &search.conversation;
    page.field("conversation", id)
        .field("search", &search.stage)
        .maybe("until", search.until_micros.map(moment))
        .maybe("notary", search.notary.as_deref());
    let before = search.notaries.iter().filter(|notary| Some(*notary) != search.notary.as_ref());
    for notary in before {
        page.field("silent notary", notary);
    }
    if let Some(verdict) = &search.verdict {
        page.field("verdict", outcome(verdict.outcome))
            .field("of delivery", &verdict.deliver)
            .field("hash", &verdict.envelope);
    }
    let mut table = Table::new(["notary", "score", "fee", "unit", "seconds"]).ids(&[0]);
    for offer in &search.offers {
        // A stranger's text.
        let unit = words::one_line(&offer.unit, MAX_UNIT);
        table.row([&offer.notary, &score(offer.notary_score), &offer.fee, &unit, &offer.seconds]);
    }
    page.heading("Offers").table(table, "There are none.");
    match (search.stage.as_str(), search.offers.first()) {
        ("collecting", _) => page.next(format!("zx1 notary offers {id}, in 30 s")),
        ("choosing", Some(best)) => page.next(format!("zx1 notary choose {id} {}", best.notary)),
        ("judged" | "unjudged", _) => page.next(format!("zx1 negotiate show {id}")),
        _ => page.next(format!("zx1 notary offers {id}")),
    };
}

/// Points, from thousandths.
fn score(thousandths: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let whole = thousandths.unsigned_abs();
    format!("{sign}{}.{:03}", whole / 1_000, whole % 1_000)
}

fn list(searches: &Vec<Search>, page: &mut Page) {
    let mut table = Table::new(["conversation", "search", "until", "offers", "notary"]).ids(&[0, 4]);
    for search in searches {
        let until = search.until_micros.map_or_else(|| "-".to_owned(), moment);
        let notary = search.notary.as_deref().unwrap_or("-");
        table.row([&search.conversation, &search.stage, &until, &search.offers.len(), &notary]);
    }
    page.table(table, "No notary is looked for.");
    page.next("zx1 notary ask CONVERSATION looks for one");
}

pub(super) fn run(conversation: Option<&str>, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let conversation = conversation.map(input::conversation).transpose()?;
    let client = node::client(context, &agent)?;
    match conversation {
        Some(id) => {
            let search = context.wait(async { Ok(client.search(&id).await?) })?;
            context.show(&search, draw)
        }
        None => {
            let searches = context.wait(async { Ok(client.searches().await?) })?;
            context.show(&searches, list)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_shown_in_points() {
        assert_eq!([0, 7, -7, 80_500].map(score), ["0.000", "0.007", "-0.007", "80.500"]);
    }
}
