//! `zx1 challenge submit`.

use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Result, json_fault};
use crate::files;
use crate::output::Page;
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
    page.field("challenge", &submitted.challenge)
        .field("against", submitted.agent)
        .field("epoch", submitted.epoch)
        .field("ground", submitted.ground)
        .maybe("answerable", submitted.answerable_through_slot.map(|slot| format!("through slot {slot}")))
        .next(format!("zx1 challenge resolve {} after that slot", submitted.challenge));
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
