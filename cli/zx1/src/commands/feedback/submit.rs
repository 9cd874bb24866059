//! `zx1 feedback submit`.

use crate::context::Context;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::output::Page;
use crate::tx::Shown as _;
use std::path::PathBuf;
use zx1_operator::Attempt;
use zx1_operator::feedback::{Sponsor, Submitted, check_text};
use zx1_qa::finding::Finding;
use zx1_qa::repro::Repro;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Text to append; - for standard input
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    text: Option<String>,
    /// Read the text from a file
    #[arg(long, value_name = "PATH", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// Finding: agent that reports it
    #[arg(long, value_name = "NAME", requires_all = ["severity", "surface"])]
    source: Option<String>,
    /// Finding: severity, for example high, medium or low
    #[arg(long, value_name = "WORD", requires = "source")]
    severity: Option<String>,
    /// Finding: affected part of the system
    #[arg(long, value_name = "WORD", requires = "source")]
    surface: Option<String>,
    /// Finding: call that reproduces it, as qa_tool(JSON)
    #[arg(long, value_name = "CALL", requires = "source")]
    repro: Option<String>,
    /// URL of a sponsor that pays (see zx1 sponsor serve)
    #[arg(long, value_name = "URL")]
    sponsor: Option<String>,
}

fn draw(submitted: &Submitted, page: &mut Page) {
    submitted.sent.draw(page);
    page.maybe("entry", submitted.index).field("bytes", submitted.bytes).field("from", &submitted.sender);
    if submitted.payer != submitted.sender {
        page.field("paid by", &submitted.payer);
    }
    if let Some(index) = submitted.index {
        page.next(format!("zx1 feedback show {index}"));
    }
}

/// A finding in the form `qa/v1`.
fn finding(args: &Args, text: &str) -> Result<String> {
    let repro = args.repro.as_deref().map(Repro::parse).transpose();
    let repro = repro.map_err(|error| Failure::of(&error, Some("see zx1 feedback submit --help")))?;
    let finding = Finding {
        source: args.source.clone(),
        sev: args.severity.clone(),
        surface: args.surface.clone(),
        summary: text.trim().to_owned(),
        repro,
        ..Finding::default()
    };
    finding.build().map_err(|error| Failure::of(&error, Some("see zx1 feedback submit --help")))
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
        .map_err(|_| Error::Usage { message: "The text is not valid UTF-8.".to_owned() })?;
    let text = match &args.source {
        Some(_) => finding(args, &text)?,
        None => text.trim_end_matches('\n').to_owned(),
    };
    check_text(&text)?;
    Ok(text)
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let text = text_of(args)?;
    let key = context.key()?;
    let sponsor = args.sponsor.as_deref().map(Sponsor::new).transpose()?;
    context.wait(async {
        let operator = context.spender().await?;
        let submitted = match &sponsor {
            Some(sponsor) => Attempt::Done(operator.submit_sponsored(sponsor, &text, &key).await?),
            None => operator.submit_feedback(&text, &key).await?,
        };
        context.finish(submitted, |it| &it.sent, draw).await
    })
}
