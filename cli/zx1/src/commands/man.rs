//! `zx1 man`: manual pages, made from the command tree.

use crate::args::Cli;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::files;
use crate::output::{self, Page, Report};
use clap::CommandFactory as _;
use serde::Serialize;
use std::path::{Path, PathBuf};

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
    let mut root = Cli::command().disable_help_flag(true);
    root.build();
    let Some(folder) = args.dir else {
        let wanted = args.command.iter().try_fold(&root, |at, name| at.find_subcommand(name));
        let wanted = wanted.ok_or_else(|| Error::Usage {
            message: format!("There is no command 'zx1 {}'.", args.command.join(" ")),
        })?;
        return output::write_out(&render(wanted));
    };
    let mut pages = Vec::new();
    if folder.is_file() {
        let why = "it is a file, not a folder".to_owned();
        return Err(Error::WriteFailed { path: files::shown(&folder), why }.into());
    }
    std::fs::create_dir_all(&folder).map_err(|error| files::write_failed(&folder, &error))?;
    write_all(&root, &folder, &mut pages)?;
    context.print(&Written { folder: files::shown(&folder), pages })
}

fn name(command: &clap::Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn render(command: &clap::Command) -> Vec<u8> {
    let mut page = Vec::new();
    let named = command.clone().name(name(command));
    // A Vec takes every byte.
    let _ = clap_mangen::Man::new(named).render(&mut page);
    page
}

fn write_all(command: &clap::Command, folder: &Path, pages: &mut Vec<String>) -> Result<()> {
    let file = format!("{}.1", name(command));
    let path = folder.join(&file);
    std::fs::write(&path, render(command)).map_err(|error| files::write_failed(&path, &error))?;
    pages.push(file);
    command
        .get_subcommands()
        .filter(|child| !child.is_hide_set())
        .try_for_each(|child| write_all(child, folder, pages))
}
