//! `zx1 qa propose`: runs R0 to R4 of a patch, and a branch where it passes.

use super::Place;
use super::review::draw;
use crate::context::Context;
use crate::errors::Result;
use crate::files;
use std::path::PathBuf;
use zx1_operator::qa::gate::{Proposal, judge};
use zx1_operator::qa::proposal::{About, publish};
use zx1_operator::qa::repeat::call_of;
use zx1_operator::qa::{QaError, Run};
use zx1_qa::defaults::MAX_PATCH;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of the entry that reports the finding
    #[arg(value_name = "INDEX")]
    entry: u64,
    /// Patch as git diff writes it, with the fix and a new test
    #[arg(long, value_name = "FILE")]
    patch: PathBuf,
    /// Commit that the patch is for
    #[arg(long, value_name = "COMMIT", default_value = "HEAD")]
    base: String,
    /// Read the entry's text from a file instead of the feedback log
    #[arg(long, value_name = "FILE")]
    text: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

/// The entry: its text, sender and time.
fn entry(args: &Args, context: &Context) -> Result<(String, String, i64)> {
    match &args.text {
        Some(path) => {
            let bytes = files::read_needed(path, 1 << 16)?;
            Ok((String::from_utf8_lossy(&bytes).into_owned(), "-".to_owned(), 0))
        }
        None => {
            let entry =
                context.wait(async { Ok(context.operator().await?.feedback_entry(args.entry).await?) })?;
            Ok((entry.text, entry.sender, entry.timestamp))
        }
    }
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let (text, sender, time) = entry(args, context)?;
    let call = call_of(&text)?;
    let limit = u64::try_from(MAX_PATCH).unwrap_or(u64::MAX).saturating_mul(16);
    let patch = files::read_needed(&args.patch, limit)?;
    let state = args.place.state(context)?;
    let commit = state.git().commit(&args.base)?;
    let kept = {
        let _spinner = context.spinner("Running the gate");
        let mut run = Run::begin(&state, &format!("propose {}", args.entry), None)?;
        // Refused before anything is built, not after an hour.
        run.given().and_then(zx1_qa::dial::Given::propose).map_err(QaError::from)?;
        let proposal = Proposal { call: &call, patch: &patch, commit: &commit };
        let judged = match judge(&mut run, &proposal) {
            Ok(judged) => judged,
            Err(error) => {
                run.refused(args.entry, &error)?;
                return Err(error.into());
            }
        };
        let rung = run.given().and_then(zx1_qa::dial::Given::propose).map_err(QaError::from)?;
        let about = About {
            entry: args.entry,
            sender,
            time,
            finding: finding(&text),
            contract: "0".repeat(64),
            transcript: "0".repeat(64),
            author: format!("fix_{}", hex::encode(state.fleet().get(..4).unwrap_or_default())),
        };
        let kept = publish(rung, &mut run, &judged, &patch, &about)?;
        run.end("done")?;
        kept
    };
    context.show(&kept, draw)
}

/// What a finding says, for the subject of the commit.
fn finding(text: &str) -> String {
    match zx1_qa::finding::Text::parse(text) {
        zx1_qa::finding::Text::Finding(finding) => finding.summary,
        _ => text.to_owned(),
    }
}
