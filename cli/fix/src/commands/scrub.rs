//! `fix scrub`: standard input without its secrets (decision E10).

use crate::context::Context;
use crate::errors::Result;
use serde::Serialize;
use std::io;
use zx1_cli_common::files;
use zx1_cli_common::output::{self, Format};
use zx1_cli_common::words::inert_json;
use zx1_scrub::Scrubber;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  make 2>&1 | fix scrub
  fix scrub < build.log > build.clean.log
  fix --json scrub < build.log               what was found, and where";

/// Largest input in bytes.
const LIMIT: u64 = 1 << 28;

/// Arguments of `fix scrub`.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Scrubbed {
    text: String,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Finding {
    category: &'static str,
    /// Bytes of the input.
    from: usize,
    to: usize,
}

/// Reads all, then writes: a secret may span lines.
pub fn run(_: Args, context: &Context) -> Result<()> {
    let input = files::read_all(io::stdin().lock(), "Standard input", LIMIT)?;
    let scrubbed = Scrubber::new().scrub_bytes(&input);
    if context.format() == Format::Display {
        return Ok(output::write_out(&scrubbed.bytes)?);
    }
    let finding = |found: &zx1_scrub::Finding| Finding {
        category: found.category.name(),
        from: found.range.start,
        to: found.range.end,
    };
    let findings = scrubbed.findings.iter().map(finding).collect();
    let text = String::from_utf8_lossy(&scrubbed.bytes).into_owned();
    let line = inert_json(serde_json::to_string(&Scrubbed { text, findings }).unwrap_or_default());
    Ok(output::write_out(format!("{line}\n").as_bytes())?)
}
