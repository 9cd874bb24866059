//! `zx1 batch fetch`.

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::files;
use crate::output::{Page, Report};
use serde::Serialize;
use std::path::PathBuf;
use zx1_log::BatchStore as _;
use zx1_operator::batch::fetch;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Epoch of the batch
    #[arg(long, value_name = "EPOCH")]
    epoch: u64,
    /// Place that serves batch data: a folder or an http(s) URL [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// Output file
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Fetched {
    agent: String,
    epoch: u64,
    bytes: usize,
    log_len: u32,
    arrays_len: u32,
    place: String,
    file: String,
}

impl Report for Fetched {
    fn draw(&self, page: &mut Page) {
        page.line("The data matches the batch on chain.")
            .field("epoch", self.epoch)
            .field("messages", self.log_len)
            .field("records", self.arrays_len)
            .field("from", &self.place)
            .field("written to", &self.file);
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let store = agent_files::need_store(context, args.data.as_deref())?;
    files::check_writable(&args.out)?;
    context.wait(async {
        let account = context.operator().await?.batch_on_chain(&agent, args.epoch).await?;
        let bytes = fetch(&store, &account).await?;
        files::create_private(&args.out, &bytes)?;
        context.print(&Fetched {
            agent: agent.mint.to_string(),
            epoch: args.epoch,
            bytes: bytes.len(),
            log_len: account.log_len,
            arrays_len: account.arrays_len,
            place: store.describe(),
            file: files::shown(&args.out),
        })
    })
}
