//! `zx1 man`: manual pages, made from the command tree.

use crate::args::Cli;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output;
use clap::CommandFactory as _;
use zx1_cli_common::manual::{self, Made};

pub(crate) use zx1_cli_common::manual::Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 man --dir ~/.local/share/man/man1     write all pages; then: man zx1-stake-lock
  zx1 man stake lock | man -l -             show one page without installing it";

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    match manual::make(args, Cli::command())? {
        Made::Written(written) => context.print(&written),
        Made::Page(page) => Ok(output::write_out(&page)?),
        Made::Unknown(message) => Err(Error::Usage { message }.into()),
    }
}
