//! `zx1 challenge submit`.

use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Result, json_fault};
use crate::files;
use crate::output::{Page, Table};
use crate::tx::Shown as _;
use std::path::{Path, PathBuf};
use zx1_operator::challenge::{ChallengeFile, Prepared, Submitted};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Prepared challenge (zx1 challenge find --out)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

fn draw(submitted: &Submitted, page: &mut Page) {
    submitted.sent.draw(page);
    page.field("against", submitted.agent)
        .field("epoch", submitted.epoch)
        .field("stake of each", submitted.stake_micro_usdc);
    let mut table = Table::new(["challenge", "ground", "rank", "answerable"]).ids(&[0]);
    for one in &submitted.challenges {
        let rank = match (one.rank, one.ours) {
            (Some(rank), Some(false)) => format!("{rank}, of another challenger"),
            (Some(rank), _) => rank.to_string(),
            (None, _) => String::new(),
        };
        let through = one.answerable_through_slot;
        let through = through.map_or_else(|| "by nothing".to_owned(), |slot| format!("through slot {slot}"));
        table.row([&one.challenge, &one.ground, &rank, &through]);
    }
    page.blank().table(table, "No challenges.");
    if let Some(one) = submitted.challenges.first() {
        let when = if one.answerable_through_slot.is_some() { " after that slot" } else { "" };
        page.next(format!("zx1 challenge resolve {}{when}", one.challenge));
    }
    page.line(
        "zx1 challenge cancel returns the rent of the drafts, and the deposits of ranks that were used.",
    );
}

fn read(path: &Path) -> Result<Prepared> {
    let bad = |why: String| Error::ChallengeFile { path: files::shown(path), why };
    let bytes = files::read_needed(path, defaults::MAX_INPUT)?;
    let file: ChallengeFile = serde_json::from_slice(&bytes).map_err(|error| bad(json_fault(&error)))?;
    Ok(file.prepare().map_err(bad)?)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let prepared = read(&args.file)?;
    let key = context.key()?;
    context.wait(async {
        let submitted = context.spender().await?.submit_challenge(prepared, &key).await?;
        context.finish(submitted, |it| &it.sent, draw).await
    })
}
