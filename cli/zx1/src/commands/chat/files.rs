//! `zx1 chat send` and `receive`: the only commands of chat that read or write files of the user.

use super::connect::{Relaying, agent};
use crate::confirm;
use crate::context::Context;
use crate::errors::Result;
use crate::files::shown;
use crate::output::{self, Page, Report};
use crate::words::{count, one_line};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use zx1_home::clock::Clock as _;
use zx1_relay_client::{Client, files};
use zx1_relay_rules::AgentId;

/// Name of an archive in its head.
const ARCHIVE: &str = "files";

#[derive(Debug, clap::Args)]
pub(crate) struct Send {
    /// Agent that receives them, and is on the relay
    #[arg(value_name = "AGENT", value_parser = agent)]
    to: AgentId,
    /// Files and folders; links are refused
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    relaying: Relaying,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Receive {
    /// Agent that sends them
    #[arg(value_name = "AGENT", value_parser = agent)]
    from: AgentId,
    /// Folder to write them into; existing files stay, and then nothing is written
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// Seconds to wait for the offer
    #[arg(long, value_name = "SECONDS", default_value_t = 1_800, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: u64,
    #[command(flatten)]
    relaying: Relaying,
}

/// A file that was sent or received.
#[derive(Serialize)]
struct Moved {
    path: String,
    bytes: u64,
}

#[derive(Serialize)]
struct MovedFiles {
    agent: String,
    files: Vec<Moved>,
}

impl Report for MovedFiles {
    fn draw(&self, page: &mut Page) {
        for file in &self.files {
            page.raw(format!("{}  {}", one_line(&file.path, 1_024), count(file.bytes, "byte", "bytes")));
        }
    }
}

pub(super) fn send(args: &Send, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    let gathered = files::gather(&args.paths)?;
    let now = options.clock.unix_ms();
    let created =
        jiff::Timestamp::from_millisecond(now.cast_signed()).map(|at| at.to_string()).unwrap_or_default();
    let mut sending = files::Sending::new(&gathered, ARCHIVE, &created, &options.name, now)?;
    let moved = gathered.iter().map(|file| Moved { path: file.path.clone(), bytes: file.bytes.len() as u64 });
    let report = MovedFiles { agent: args.to.to_string(), files: moved.collect() };
    if !context.flags().yes {
        let mut page = Page::new(output::MAX_WIDTH);
        report.draw(&mut page);
        output::write_err(&page.finish());
        confirm::ask(&format!("Send {} to {}?", count(gathered.len(), "file", "files"), args.to))?;
    }
    context.wait(async {
        let mut client = Client::connect(options).await?;
        let spinner = context.spinner(format!("Waiting until {} accepts", args.to));
        files::send(&mut client, &args.to, &mut sending, |_| ()).await?;
        drop(spinner);
        client.close().await;
        context.print(&report)
    })
}

pub(super) fn receive(args: &Receive, context: &Context) -> Result<()> {
    let options = args.relaying.options(context)?;
    context.wait(async {
        let mut client = Client::connect(options).await?;
        let spinner = context.spinner(format!("Waiting for files from {}", args.from));
        let within = Duration::from_secs(args.wait);
        let moved = files::receive(
            &mut client,
            &args.from,
            within,
            |_| true,
            |received| {
                let sizes: Vec<u64> = received.iter().map(|file| file.bytes.len() as u64).collect();
                let written = files::store(&args.to, received)?;
                let moved = written.iter().zip(sizes).map(|(path, bytes)| Moved { path: shown(path), bytes });
                Ok(moved.collect::<Vec<_>>())
            },
        );
        let moved = moved.await?;
        drop(spinner);
        client.close().await;
        context.print(&MovedFiles { agent: args.from.to_string(), files: moved })
    })
}
