//! `zx1 batch show`.

use super::data::fetch;
use crate::agent_files::{self, Now};
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{Page, Report, Table};
use crate::words::{self, count};
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _, SavedBatch};
use zx1_protocol::challenge::Clock;
use zx1_protocol::units::Slot;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this epoch
    #[arg(long, value_name = "EPOCH", conflicts_with = "all")]
    epoch: Option<u64>,
    /// All batches, not only the last five
    #[arg(long)]
    all: bool,
    /// Where data is served: a folder or an http(s) address [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
}

/// Batches shown without --all.
const SHOWN: usize = 5;

#[derive(Serialize)]
struct Shown {
    agent: String,
    slot: u64,
    epoch: u64,
    next_epoch: Option<u64>,
    place: Option<String>,
    batches: Vec<One>,
    hidden: usize,
}

#[derive(Serialize)]
struct One {
    epoch: u64,
    covers_from: Option<u64>,
    on_chain: bool,
    submitted_slot: Option<u64>,
    challengeable_through_slot: Option<u64>,
    challengeable: bool,
    log_len: Option<u32>,
    arrays_len: Option<u32>,
    batch_hash: Option<String>,
    log_merkle_root: Option<String>,
    arrays_root: Option<String>,
    signer: Option<String>,
    saved: bool,
    data: Data,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Data {
    /// Served, and the one that the chain commits to.
    Served,
    /// Not served, or something else is (decision C7).
    Withheld,
    /// Nobody says where data is served.
    NotAsked,
}

impl Data {
    fn shown(self) -> &'static str {
        match self {
            Self::Served => "served",
            Self::Withheld => "withheld",
            Self::NotAsked => "not asked",
        }
    }
}

impl Report for Shown {
    fn draw(&self, page: &mut Page) {
        if let [one] = self.batches.as_slice() {
            self.draw_one(one, page);
        } else {
            let mut table =
                Table::new(["epoch", "messages", "records", "state", "challengeable for", "data", "saved"]);
            for one in &self.batches {
                let state = if one.on_chain { "on chain" } else { "not on chain" };
                let through = match (one.challengeable, one.challengeable_through_slot) {
                    (true, Some(slot)) => words::slots(slot.saturating_sub(self.slot)),
                    (false, Some(_)) => "no more".to_owned(),
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
                    &one.data.shown(),
                    &saved,
                ]);
            }
            page.table(table, "There are no batches, neither on chain nor saved here.");
        }
        if self.hidden > 0 {
            page.line(format!(
                "{} not shown; --all shows all.",
                count(self.hidden, "older batch", "older batches")
            ));
        }
        if let Some(epoch) = self.next_epoch {
            page.line(format!("Epoch {} is over and has no batch yet.", words::epoch(epoch)))
                .next("zx1 batch submit");
        }
    }
}

impl Shown {
    fn draw_one(&self, one: &One, page: &mut Page) {
        page.field("epoch", words::epoch(one.epoch));
        if let Some(from) = one.covers_from.filter(|from| *from != one.epoch) {
            page.field("covers", format!("{from} to {}", one.epoch));
        }
        page.field("state", if one.on_chain { "on chain" } else { "saved here, not on chain" })
            .maybe("submitted in", one.submitted_slot.map(|slot| format!("slot {slot}")));
        if let Some(through) = one.challengeable_through_slot {
            let left = through.saturating_sub(self.slot);
            let open = format!("through slot {through}, {left} more ({})", words::slots(left));
            page.field("challengeable", if one.challengeable { open } else { "no more".to_owned() });
        }
        page.maybe("messages", one.log_len)
            .maybe("records", one.arrays_len)
            .maybe("log root", one.log_merkle_root.as_ref())
            .maybe("arrays root", one.arrays_root.as_ref())
            .maybe("batch hash", one.batch_hash.as_ref())
            .maybe("signed by", one.signer.as_ref());
        let data = match (one.data, &self.place) {
            (Data::NotAsked, _) => "nobody says where it is served (--data)".to_owned(),
            (data, Some(place)) => format!("{} by {place}", data.shown()),
            (data, None) => data.shown().to_owned(),
        };
        page.field("data", data).field("saved here", if one.saved { "yes" } else { "no" });
    }
}

async fn data_of(store: Option<&AnyStore>, account: &BatchAccount) -> Result<Data> {
    let Some(store) = store else { return Ok(Data::NotAsked) };
    match fetch(store, account).await {
        Ok(_) => Ok(Data::Served),
        // A place that does not answer says nothing about the batch.
        Err(failure) if (7262..=7265).contains(&failure.code) => Err(failure),
        Err(_) => Ok(Data::Withheld),
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let store = agent_files::store(context, args.data.as_deref())?;
    let saved = agent_files::reader(context, &agent)?.batches().list()?;
    let saved: BTreeMap<u64, SavedBatch> = saved.into_iter().map(|batch| (batch.epoch().0, batch)).collect();
    let shown = context.wait(async {
        let chain = context.connect().await?;
        let now = Now::ask(&chain).await?;
        let accounts = chain.client.batches(agent.mint).await?;
        let head = chain.client.head(agent.mint).await?;
        let mut epochs: Vec<u64> = accounts.iter().map(|account| account.epoch_number).collect();
        epochs.extend(saved.keys());
        epochs.sort_unstable();
        epochs.dedup();
        epochs.retain(|epoch| args.epoch.is_none_or(|wanted| wanted == *epoch));
        if let (Some(epoch), true) = (args.epoch, epochs.is_empty()) {
            return Err(Error::NoBatchOnChain { agent: agent.mint.to_string(), epoch }.into());
        }
        let hidden = if args.all { 0 } else { epochs.len().saturating_sub(SHOWN) };
        let mut batches = Vec::new();
        for epoch in epochs.into_iter().skip(hidden) {
            let account = accounts.iter().find(|account| account.epoch_number == epoch);
            let saved = saved.get(&epoch);
            let clock = account.map(|account| Clock { submitted: Slot(account.submitted_slot) });
            let data = match account {
                Some(account) => data_of(store.as_ref(), account).await?,
                None => Data::NotAsked,
            };
            batches.push(One {
                epoch,
                covers_from: account
                    .map(|account| account.covers_from_epoch)
                    .or(saved.map(|saved| saved.covered.from.0)),
                on_chain: account.is_some(),
                submitted_slot: account.map(|account| account.submitted_slot),
                challengeable_through_slot: clock.map(|clock| clock.deadline().0),
                challengeable: clock.is_some_and(|clock| clock.is_open(now.slot)),
                log_len: account.map(|account| account.log_len),
                arrays_len: account.map(|account| account.arrays_len),
                batch_hash: account
                    .map(|account| account.batch_hash)
                    .or(saved.map(|saved| saved.batch_hash))
                    .map(hex::encode),
                log_merkle_root: account.map(|account| hex::encode(account.log_merkle_root)),
                arrays_root: account.map(|account| hex::encode(account.arrays_root)),
                signer: account
                    .map(|account| account.signer)
                    .or(saved.map(|saved| saved.signer))
                    .map(|signer| Address::new_from_array(signer).to_string()),
                saved: saved.is_some_and(|saved| saved.has_data),
                data,
            });
        }
        let last_over = now.epoch.0.saturating_sub(1);
        let missing = head.is_none_or(|head| head.last_epoch < last_over);
        Ok(Shown {
            agent: agent.mint.to_string(),
            slot: now.slot.0,
            epoch: now.epoch.0,
            next_epoch: missing.then_some(last_over),
            place: store.as_ref().map(AnyStore::describe),
            batches,
            hidden,
        })
    })?;
    context.print(&shown)
}
