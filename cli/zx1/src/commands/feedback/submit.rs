//! `zx1 feedback submit`.

use super::{qa, sponsored};
use crate::agent_files::refused;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::files;
use crate::output::{Page, Report};
use crate::tx::{self, Sent};
use serde::Serialize;
use solana_address::Address;
use std::path::PathBuf;
use zx1_chain::rpc::Client;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_interface::constants::MAX_FEEDBACK_BYTES;
use zx1_protocol::feedback_log::check_text;

/// How far back the new entry is looked for.
const NEWEST: usize = 50;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The text; - is standard input
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    text: Option<String>,
    /// The text from a file
    #[arg(long, value_name = "PATH", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// A finding: which agent found it
    #[arg(long, value_name = "NAME", requires_all = ["severity", "surface"])]
    source: Option<String>,
    /// A finding: how bad it is, for example high, medium or low
    #[arg(long, value_name = "WORD", requires = "source")]
    severity: Option<String>,
    /// A finding: which part of the system
    #[arg(long, value_name = "WORD", requires = "source")]
    surface: Option<String>,
    /// A finding: how to see it again
    #[arg(long, value_name = "COMMAND", requires = "source")]
    repro: Option<String>,
    /// Let this sponsor pay: the address of somebody's zx1 sponsor serve
    #[arg(long, value_name = "URL")]
    sponsor: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Submitted {
    #[serde(flatten)]
    pub(super) sent: Sent,
    pub(super) index: Option<u64>,
    pub(super) sender: String,
    pub(super) payer: String,
    pub(super) bytes: usize,
}

impl Report for Submitted {
    fn draw(&self, page: &mut Page) {
        self.sent.draw(page);
        page.maybe("entry", self.index).field("bytes", self.bytes).field("from", &self.sender);
        if self.payer != self.sender {
            page.field("paid by", &self.payer);
        }
        if let Some(index) = self.index {
            page.next(format!("zx1 feedback show {index}"));
        }
    }
}

/// A word of the first line: it must not look like two.
fn word<'a>(name: &str, value: Option<&'a String>) -> Result<&'a str> {
    let value = value.map(String::as_str).unwrap_or_default();
    if value.is_empty() || value.contains(|c: char| c.is_whitespace() || c == '=') {
        let message = format!("--{name} is one word without '=': '{value}' is not.");
        return Err(Error::Usage { message }.into());
    }
    Ok(value)
}

fn text_of(args: &Args) -> Result<String> {
    let limit = 1 << 16;
    let bytes = match (&args.text, &args.file) {
        (Some(text), _) if text != "-" => text.as_bytes().to_vec(),
        (Some(_), _) => files::read_all(std::io::stdin().lock(), "Standard input", limit)?.to_vec(),
        (None, Some(path)) => files::read_needed(path, limit)?.to_vec(),
        (None, None) => Vec::new(),
    };
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Usage { message: "The text is not UTF-8.".to_owned() })?;
    let text = match &args.source {
        Some(_) => {
            let source = word("source", args.source.as_ref())?;
            let severity = word("severity", args.severity.as_ref())?;
            let surface = word("surface", args.surface.as_ref())?;
            qa::write(source, severity, surface, &text, args.repro.as_deref())
        }
        None => text.trim_end_matches('\n').to_owned(),
    };
    if text.is_empty() || text.len() > MAX_FEEDBACK_BYTES {
        return Err(Error::FeedbackLength { found: text.len(), limit: MAX_FEEDBACK_BYTES }.into());
    }
    check_text(text.as_bytes()).map_err(|error| refused(7570, &error, "give a text of 1 to 2048 bytes"))?;
    Ok(text)
}

/// The entry that holds this text of this sender: the newest one.
pub(super) async fn index_of(client: &Client, sender: Address, text: &str) -> Result<Option<u64>> {
    let newest = client.feedback(None, NEWEST).await?;
    let found = newest.iter().find(|item| item.entry.sender == *sender.as_array() && item.text == text);
    Ok(found.map(|item| item.entry.index))
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let text = text_of(args)?;
    let key = context.key()?;
    if let Some(url) = &args.sponsor {
        return sponsored::run(context, url, &text, &key);
    }
    context.wait(async {
        let chain = context.connect().await?;
        let sati = Sati::connect(&chain.client).await?;
        let actions = Actions::new(&chain.client, &sati).await?;
        let flow = actions.feedback(key.address(), key.address(), &text)?;
        let Some(sent) = tx::run(context, &chain, flow.as_ref(), &key).await? else { return Ok(()) };
        let index = index_of(&chain.client, key.address(), &text).await?;
        let sender = key.address().to_string();
        let report = Submitted { sent, index, payer: sender.clone(), sender, bytes: text.len() };
        report.sent.finish(context, &report).await
    })
}
