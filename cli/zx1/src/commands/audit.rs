//! `zx1 audit`: what an indexer says, compared with the chain's own accounts, from outside.

use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{Mark, Page, Report};
use crate::words::count;
use serde::Serialize;
use zx1_operator::audit::Audit;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 audit --indexer http://127.0.0.1:8910
  zx1 -u devnet audit --indexer https://indexer.example.org
  zx1 audit --indexer URL --output json | jq '.differences[]'

Reads every stake, lease, batch, challenge and the feedback log from the
cluster and compares them with the indexer's answers. A difference is reported
if it remains after the indexer has had time to catch up. Use a node that the
indexer's operator does not run. Exit code 1 if anything differs.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// URL of the indexer
    #[arg(long, value_name = "URL", env = "ZX1_INDEXER", hide_env_values = true)]
    indexer: String,
}

#[derive(Serialize)]
struct Audited {
    indexer: String,
    cluster: String,
    #[serde(flatten)]
    audit: Audit,
}

impl Report for Audited {
    fn draw(&self, page: &mut Page) {
        page.field("indexer", &self.indexer);
        page.field("cluster", &self.cluster);
        page.field("slot", self.audit.slot);
        page.field("compared", format!("{} accounts, {} events", self.audit.accounts, self.audit.events));
        page.blank();
        for difference in &self.audit.differences {
            page.check(Mark::Fail, &difference.what, &difference.sentence, None);
        }
        match self.audit.differences.len() {
            0 => page.line("The indexer agrees with the chain."),
            found => page.line(format!("{}.", count(found, "difference", "differences"))),
        };
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    if !(args.indexer.starts_with("http://") || args.indexer.starts_with("https://")) {
        return Err(Error::NoIndexerUrl { text: args.indexer }.into());
    }
    context.wait(audit(args, context))
}

async fn audit(args: Args, context: &Context) -> Result<()> {
    let client = context.connect().await?.client;
    let cluster = client.cluster().url().to_owned();
    let spinner = context.spinner("Comparing the indexer with the chain");
    let audit = zx1_operator::audit::audit(&client, &args.indexer).await?;
    drop(spinner);
    let audited = Audited { indexer: args.indexer, cluster, audit };
    context.print(&audited)?;
    match audited.audit.differences.len() {
        0 => Ok(()),
        found => Err(Error::IndexerDiffers { found }.into()),
    }
}
