//! `zx1 bind`: the record that binds a Nano key to a Solana key (decision A2).

use crate::context::Context;
use crate::defaults;
use crate::errors::{Failure, Result};
use crate::files;
use crate::output::{Page, Report};
use crate::words;
use nano_escrow::Seed;
use nano_escrow::binding::{Binding, nano_key};
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_home::{Clock as _, SystemClock};

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 bind                          print the record
  zx1 bind --file binding.json      write it to a file, for others
  zx1 bind --index 1                use another Nano key of the same seed
  zx1 bind --verify binding.json    verify a record, offline

The Nano key is derived from the Solana key, so one backup covers both. If a
Solana key has several records, the latest one counts.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Index of the Nano key, derived from the seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    index: u32,
    /// Write the record to this new file
    #[arg(long, value_name = "PATH", conflicts_with = "verify")]
    file: Option<PathBuf>,
    /// Verify the record in this file instead of making one
    #[arg(long, value_name = "PATH")]
    verify: Option<PathBuf>,
}

#[derive(Serialize)]
struct Bound {
    #[serde(flatten)]
    binding: Binding,
    #[serde(skip)]
    file: Option<String>,
    #[serde(skip)]
    verified: bool,
}

impl Report for Bound {
    fn draw(&self, page: &mut Page) {
        if self.verified {
            page.line("Both signatures are valid: these keys belong to the same party.");
        }
        let seconds = i64::try_from(self.binding.created).unwrap_or(i64::MAX);
        let moment = words::moment(seconds);
        page.field("solana", self.binding.solana).field("nano", self.binding.nano).field("created", moment);
        if !self.verified {
            page.field("solana signature", hex::encode(self.binding.solana_signature.0))
                .field("nano signature", hex::encode(self.binding.nano_signature.0));
        }
        page.maybe("file", self.file.as_ref());
        if !self.verified && self.file.is_none() {
            page.next("zx1 bind --file binding.json, and give others that file");
        }
    }
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    match &args.verify {
        Some(path) => verify(context, path),
        None => make(context, &args),
    }
}

fn make(context: &Context, args: &Args) -> Result<()> {
    let key = context.key()?;
    files::check_wanted(args.file.as_deref())?;
    let created = SystemClock.unix_secs();
    let seed = Seed::from_bytes(*key.keypair().secret_bytes());
    let binding = Binding::make(&seed, &nano_key(&seed, args.index).keypair(), created);
    if let Some(path) = &args.file {
        let text = serde_json::to_string_pretty(&binding).unwrap_or_default() + "\n";
        files::create_private(path, text.as_bytes())?;
    }
    context.print(&Bound { binding, file: args.file.as_deref().map(files::shown), verified: false })
}

fn verify(context: &Context, path: &Path) -> Result<()> {
    let bytes = files::read_needed(path, defaults::MAX_INPUT)?;
    let refused = |error: nano_escrow::binding::BindingError| {
        Failure::of(&error, crate::next::after(error.code())).in_input(&files::shown(path))
    };
    let binding = match std::str::from_utf8(&bytes) {
        Ok(text) if text.trim_start().starts_with('{') => Binding::from_json(text).map_err(refused)?,
        _ => Binding::from_bytes(&bytes).map_err(refused)?,
    };
    binding.verify().map_err(refused)?;
    context.print(&Bound { binding, file: None, verified: true })
}
