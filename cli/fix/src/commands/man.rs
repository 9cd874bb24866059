//! `fix man`: manual pages, made from the command tree.

use crate::args;
use crate::context::Context;
use crate::errors::{Error, Result};
use serde::Serialize;
use std::path::PathBuf;
use zx1_cli_common::output::{self, Page, Report};
use zx1_cli_common::{files, manual};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix man --dir ~/.local/share/man/man1     all pages; then: man fix-verify
  fix man verify | man -l -                 one page, without installing it";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder for all pages; it is made when it is missing
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    dir: Option<PathBuf>,
    /// Command whose page is printed; fix itself without one
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Serialize)]
struct Pages {
    folder: String,
    pages: Vec<String>,
}

impl Report for Pages {
    fn draw(&self, page: &mut Page) {
        page.line(format!("{} pages are in {}.", self.pages.len(), self.folder));
    }
}

/// Prints or writes pages.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let root = manual::built(args::command());
    match args.dir {
        Some(folder) => {
            let pages = manual::write_all(&root, &folder)?;
            context.print(&Pages { folder: files::shown(&folder), pages })
        }
        None => {
            let none = format!("There is no command 'fix {}'.", args.command.join(" "));
            let page = manual::page(&root, &args.command).ok_or(Error::Usage { message: none })?;
            Ok(output::write_out(&page)?)
        }
    }
}
