//! `zx1 qa merge`: a person's act. This is the only code of the loop that moves a branch which is not one of its own, and
//! it is not part of what runs unattended.

use super::Place;
use crate::confirm;
use crate::context::Context;
use crate::errors::{Error, Failure, Result};
use crate::output::Page;
use serde::Serialize;
use std::path::Path;
use std::process::Command;
use zx1_operator::qa::QaError;
use zx1_operator::qa::proposal::{Kept, of_entry};
use zx1_qa::gate::{Review, may_merge};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of the entry
    #[arg(value_name = "INDEX")]
    entry: u64,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Serialize)]
struct Merged {
    entry: u64,
    branch: String,
    commit: String,
}

fn draw(merged: &Merged, page: &mut Page) {
    page.field("entry", merged.entry).field("merged", &merged.branch).field("commit", &merged.commit);
    page.next(format!("zx1 feedback resolve {} --commit {}", merged.entry, merged.commit));
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let failed = |why: String| Failure::from(QaError::Git { act: "merge", why });
    let output = Command::new("git").args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| failed(crate::errors::reason(&error)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let said = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&said);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
    Err(failed(line.trim_end_matches('.').to_owned()))
}

/// The number that the person typed.
fn typed(kept: &Kept) -> Result<String> {
    if !confirm::can_ask() {
        return Err(Error::NeedsTerminal { what: "The entry's number".to_owned() }.into());
    }
    let finding = kept.about.finding.lines().next().unwrap_or_default();
    crate::output::write_err(&format!("{}\n{finding}\n", kept.branch));
    Ok(confirm::read_line(&format!("Type the entry's number ({}) to merge: ", kept.about.entry)))
}

pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let state = args.place.state(context)?;
    let kept = of_entry(&state, args.entry)?;
    let typed = typed(&kept)?;
    let review = Review {
        entry: args.entry,
        typed: &typed,
        at_terminal: confirm::can_ask(),
        gate: &kept.gate,
        trailer: kept.trailer.as_deref().unwrap_or_default(),
        tree_agrees: kept.tree_agrees,
        stopped: state.is_stopped(),
    };
    may_merge(&review).map_err(QaError::from)?;
    let commit = kept.commit.clone().unwrap_or_default();
    let folder = state.git().folder();
    let message = format!(
        "Merge {} (entry {})\n\nFeedback: {}\nGate: {}",
        kept.branch, args.entry, args.entry, kept.gate
    );
    // The commit that was reviewed, not whatever the branch is by now.
    git(folder, &["merge", "--no-ff", "--no-edit", "-m", &message, &commit])?;
    let merged = git(folder, &["rev-parse", "HEAD"])?;
    context.show(&Merged { entry: args.entry, branch: kept.branch, commit: merged }, draw)
}
