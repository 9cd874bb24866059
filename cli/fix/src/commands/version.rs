//! `fix version`: the version of this program.

use crate::context::Context;
use crate::errors::Result;
use serde::Serialize;
use zx1_cli_common::output::{Page, Report};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix version
  fix --json version";

/// Arguments of `fix version`.
#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Version {
    version: &'static str,
}

impl Report for Version {
    fn draw(&self, page: &mut Page) {
        page.line(format!("fix {}", self.version));
    }
}

/// Prints the version.
pub fn run(_: Args, context: &Context) -> Result<()> {
    context.print(&Version { version: env!("CARGO_PKG_VERSION") })
}
