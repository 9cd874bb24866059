//! `zx1 batch show`.

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::output::{Page, Table};
use crate::words::{self, count};
use zx1_operator::batch::{Availability, Batches, Listed};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show only this epoch
    #[arg(long, value_name = "EPOCH", conflicts_with = "all")]
    epoch: Option<u64>,
    /// Show all batches instead of the last five
    #[arg(long)]
    all: bool,
    /// Place that serves batch data: a folder or an http(s) URL [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
}

/// Batches shown without --all.
const SHOWN: usize = 5;

fn name(data: Availability) -> &'static str {
    match data {
        Availability::Served => "served",
        Availability::Withheld => "withheld",
        Availability::NotAsked => "not checked",
    }
}

fn draw(shown: &Batches, page: &mut Page) {
    if let [one] = shown.batches.as_slice() {
        draw_one(shown, one, page);
    } else {
        let mut table =
            Table::new(["epoch", "messages", "records", "state", "challengeable for", "data", "saved"]);
        for one in &shown.batches {
            let state = match (one.on_chain, one.withheld) {
                (true, true) => "marked as withheld",
                (true, false) => "on chain",
                (false, _) => "not on chain",
            };
            let through = match (one.challengeable, one.challengeable_through_slot) {
                (true, Some(slot)) => words::slots(slot.saturating_sub(shown.slot)),
                (false, Some(_)) => "over".to_owned(),
                (_, None) => String::new(),
            };
            let number = |value: Option<u32>| value.map_or_else(String::new, |value| value.to_string());
            let saved = if one.saved { "yes" } else { "no" };
            table.row([
                &one.epoch,
                &number(one.log_len),
                &number(one.arrays_len),
                &state,
                &through,
                &name(one.data),
                &saved,
            ]);
        }
        page.table(table, "No batches, neither on chain nor saved here.");
    }
    if shown.hidden > 0 {
        page.line(format!(
            "{} not shown; use --all to show them.",
            count(shown.hidden, "older batch", "older batches")
        ));
    }
    if !shown.open {
        page.line("The agent's chain of batches is not open yet.").next("zx1 batch open");
    } else if let Some(epoch) = shown.next_epoch {
        page.line(format!("Epoch {} is over and has no batch yet.", words::epoch(epoch)))
            .next("zx1 batch submit");
    }
}

fn draw_one(shown: &Batches, one: &Listed, page: &mut Page) {
    page.field("epoch", words::epoch(one.epoch));
    if let Some(from) = one.covers_from.filter(|from| *from != one.epoch) {
        page.field("covers", format!("{from} to {}", one.epoch));
    }
    let state = match (one.on_chain, one.withheld) {
        (true, true) => "on chain, marked as withheld: it counts for nothing",
        (true, false) => "on chain",
        (false, _) => "saved here, not on chain",
    };
    page.field("state", state)
        .maybe("era", one.era)
        .maybe("submitted in", one.submitted_slot.map(|slot| format!("slot {slot}")));
    if let Some(through) = one.challengeable_through_slot {
        let left = through.saturating_sub(shown.slot);
        let open = format!("through slot {through}, {left} more ({})", words::slots(left));
        page.field("challengeable", if one.challengeable { open } else { "over".to_owned() });
    }
    page.maybe("messages", one.log_len)
        .maybe("records", one.arrays_len)
        .maybe("log root", one.log_merkle_root.as_ref())
        .maybe("arrays root", one.arrays_root.as_ref())
        .maybe("batch hash", one.batch_hash.as_ref())
        .maybe("signed by", one.signer.as_ref());
    let data = match (one.data, &shown.place) {
        (Availability::NotAsked, _) => "not checked: no place is configured (--data)".to_owned(),
        (data, Some(place)) => format!("{} by {place}", name(data)),
        (data, None) => name(data).to_owned(),
    };
    page.field("data", data).field("saved here", if one.saved { "yes" } else { "no" });
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    let newest = if args.all { usize::MAX } else { SHOWN };
    let shown = context.wait(async {
        let operator = context.operator().await?;
        Ok(operator.batches(&agent, args.epoch, newest, store.as_ref()).await?)
    })?;
    context.show(&shown, draw)
}
