//! `fix man`: manual pages, made from the command tree.

use crate::context::Context;
use crate::errors::{Error, Result};
use zx1_cli_common::manual::{self, Made};
use zx1_cli_common::output;

pub use zx1_cli_common::manual::Args;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix man --dir ~/.local/share/man/man1     all pages; then: man fix-verify
  fix man verify | man -l -                 one page, without installing it";

/// Prints or writes pages.
pub fn run(args: Args, tree: clap::Command, context: &Context) -> Result<()> {
    match manual::make(args, tree)? {
        Made::Written(written) => context.print(&written),
        Made::Page(page) => Ok(output::write_out(&page)?),
        Made::Unknown(message) => Err(Error::Usage { message }.into()),
    }
}
