//! `zx1 batch build`.

use crate::context::Context;
use crate::errors::Result;
use crate::files;
use crate::output::{Page, Report};
use crate::words::{self, count};
use serde::Serialize;
use std::path::PathBuf;
use zx1_operator::batch::Contents;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Epoch of the batch [default: the last one that is over]
    #[arg(long, value_name = "EPOCH")]
    epoch: Option<u64>,
    /// File for the unsigned batch [default: in the agent's folder]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Built {
    #[serde(flatten)]
    batch: Contents,
    file: String,
}

impl Report for Built {
    fn draw(&self, page: &mut Page) {
        let batch = &self.batch;
        let epochs = if batch.covers_from == batch.epoch {
            words::epoch(batch.epoch)
        } else {
            format!("{}, covers {} to {}", words::epoch(batch.epoch), batch.covers_from, batch.epoch)
        };
        page.field("epoch", epochs)
            .field("messages", batch.log_len)
            .field(
                "records",
                format!(
                    "{} ({}, {}, {}, {}{})",
                    batch.arrays_len,
                    count(batch.bids, "bid", "bids"),
                    count(batch.selections, "selection", "selections"),
                    count(batch.verifiers, "verifier", "verifiers"),
                    count(batch.feedback, "rating", "ratings"),
                    if batch.overflow { ", of which the batch itself holds the first 1000 each" } else { "" },
                ),
            )
            .field("log root", &batch.log_merkle_root)
            .field("arrays root", &batch.arrays_root)
            .field("batch hash", &batch.batch_hash)
            .field("message to sign", &batch.message)
            .field("unsigned file", &self.file)
            .next(format!("zx1 batch sign --epoch {0} (or zx1 batch submit --epoch {0})", batch.epoch));
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    files::check_wanted(args.out.as_deref())?;
    let built = context
        .wait(async { Ok(context.operator_of(&agent).await?.build_batch(&agent, args.epoch).await?) })?;
    if let Some(out) = &args.out {
        files::create_private(out, &built.bundle)?;
    }
    let file = files::shown(args.out.as_ref().unwrap_or(&built.path));
    context.print(&Built { batch: built.contents, file })
}
