//! `zx1 batch fetch`.

use crate::agent_files;
use crate::context::Context;
use crate::errors::Result;
use crate::files;
use crate::output::{Page, Report};
use serde::Serialize;
use std::path::PathBuf;
use zx1_operator::batch::Fetched;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Epoch of the batch
    #[arg(long, value_name = "EPOCH")]
    epoch: u64,
    /// Place that serves batch data: a folder or an http(s) URL [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// File to write the data to
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Written {
    #[serde(flatten)]
    data: Fetched,
    file: String,
}

impl Report for Written {
    fn draw(&self, page: &mut Page) {
        page.line("The data matches the batch on chain.")
            .field("epoch", self.data.epoch)
            .field("messages", self.data.log_len)
            .field("records", self.data.arrays_len)
            .field("from", &self.data.place)
            .field("written to", &self.file);
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let agent = context.agent()?;
    let store = agent_files::need_store(context, args.data.as_deref())?;
    files::check_writable(&args.out)?;
    let (bytes, data) = context
        .wait(async { Ok(context.operator().await?.fetch_batch(&agent, args.epoch, &store).await?) })?;
    files::create_private(&args.out, &bytes)?;
    context.print(&Written { data, file: files::shown(&args.out) })
}
