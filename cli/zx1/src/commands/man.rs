//! `zx1 man`: manual pages, made from the command tree.

use crate::args::Cli;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::files;
use crate::output::{self, Page, Report};
use clap::CommandFactory as _;
use serde::Serialize;
use std::path::PathBuf;
use zx1_cli_common::manual;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  zx1 man --dir ~/.local/share/man/man1     all pages; then: man zx1-stake-lock
  zx1 man stake lock | man -l -             one page, without installing it";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder for all pages; it is made when it is missing
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    dir: Option<PathBuf>,
    /// Command whose page is printed; zx1 itself without one
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Serialize)]
struct Written {
    folder: String,
    pages: Vec<String>,
}

impl Report for Written {
    fn draw(&self, page: &mut Page) {
        page.line(format!("{} pages are in {}.", self.pages.len(), self.folder));
    }
}

/// Prints or writes pages.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let root = manual::built(Cli::command());
    let Some(folder) = args.dir else {
        let page = manual::page(&root, &args.command).ok_or_else(|| Error::Usage {
            message: format!("There is no command 'zx1 {}'.", args.command.join(" ")),
        })?;
        return Ok(output::write_out(&page)?);
    };
    let pages = manual::write_all(&root, &folder)?;
    context.print(&Written { folder: files::shown(&folder), pages })
}
