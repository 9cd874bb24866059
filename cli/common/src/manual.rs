//! Manual pages and completions, made from a command tree.

use crate::errors::Fault;
use crate::files;
use crate::output::{self, Page, Report};
use clap::Command;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Command-line arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder for all pages; it is made when it is missing
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    dir: Option<PathBuf>,
    /// Command whose page is printed; without one, the program's own
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

/// The manual pages that were written.
#[derive(Debug)]
pub enum Made {
    /// All pages are in a folder.
    Written(Written),
    /// One page, to be printed.
    Page(Vec<u8>),
    /// There is no such command; a sentence.
    Unknown(String),
}

/// Pages in a folder.
#[derive(Debug, Serialize)]
pub struct Written {
    folder: String,
    pages: Vec<String>,
}

impl Report for Written {
    fn draw(&self, page: &mut Page) {
        page.line(format!("{} pages are in {}.", self.pages.len(), self.folder));
    }
}

/// Makes the pages that were asked for, of this command tree.
///
/// # Errors
/// As [`write_all`].
pub fn make(args: Args, command: Command) -> Result<Made, Fault> {
    let root = built(command);
    let Some(folder) = args.dir else {
        let unknown = || format!("There is no command '{} {}'.", root.get_name(), args.command.join(" "));
        return Ok(page(&root, &args.command).map_or_else(|| Made::Unknown(unknown()), Made::Page));
    };
    let pages = write_all(&root, &folder)?;
    Ok(Made::Written(Written { folder: files::shown(&folder), pages }))
}

/// Command-line arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// Shell to generate the script for
    shell: clap_complete::Shell,
}

impl Completions {
    /// Prints the script with which the shell completes a program's commands and options.
    ///
    /// # Errors
    /// As [`output::write_out`].
    pub fn print(self, mut command: Command) -> Result<(), Fault> {
        let (mut script, name) = (Vec::new(), command.get_name().to_owned());
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        output::write_out(&script)
    }
}

/// A command tree as manual pages are made from it.
#[must_use]
pub fn built(command: Command) -> Command {
    let mut root = command.disable_help_flag(true);
    root.build();
    root
}

/// The page of the command that `path` leads to; `None` when there is none.
pub fn page(root: &Command, path: &[String]) -> Option<Vec<u8>> {
    path.iter().try_fold(root, |at, name| at.find_subcommand(name)).map(render)
}

/// Writes the pages of all commands into a folder, which is made when it is missing. Their file names.
///
/// # Errors
/// [`Fault::WriteFailed`].
pub fn write_all(root: &Command, folder: &Path) -> Result<Vec<String>, Fault> {
    if folder.is_file() {
        let why = "it is a file, not a folder".to_owned();
        return Err(Fault::WriteFailed { path: files::shown(folder), why });
    }
    std::fs::create_dir_all(folder).map_err(|error| files::write_failed(folder, &error))?;
    let mut pages = Vec::new();
    write(root, folder, &mut pages)?;
    Ok(pages)
}

fn name(command: &Command) -> String {
    command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-")
}

fn render(command: &Command) -> Vec<u8> {
    let mut page = Vec::new();
    let named = command.clone().name(name(command));
    // A Vec takes every byte.
    let _ = clap_mangen::Man::new(named).render(&mut page);
    page
}

fn write(command: &Command, folder: &Path, pages: &mut Vec<String>) -> Result<(), Fault> {
    let file = format!("{}.1", name(command));
    let path = folder.join(&file);
    std::fs::write(&path, render(command)).map_err(|error| files::write_failed(&path, &error))?;
    pages.push(file);
    command
        .get_subcommands()
        .filter(|child| !child.is_hide_set())
        .try_for_each(|child| write(child, folder, pages))
}
