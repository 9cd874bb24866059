//! Manual pages and completions, as commands of a program.

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
    let root = zx1_manual::built(command);
    let Some(folder) = args.dir else {
        let unknown = || format!("There is no command '{} {}'.", root.get_name(), args.command.join(" "));
        return Ok(
            zx1_manual::page(&root, &args.command).map_or_else(|| Made::Unknown(unknown()), Made::Page)
        );
    };
    let pages = write_all(&root, &folder)?;
    Ok(Made::Written(Written { folder: files::shown(&folder), pages }))
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
    let mut names = Vec::new();
    for (name, page) in zx1_manual::pages(root) {
        let path = folder.join(&name);
        std::fs::write(&path, page).map_err(|error| files::write_failed(&path, &error))?;
        names.push(name);
    }
    Ok(names)
}

/// Command-line arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// Shell to generate the script for
    shell: zx1_manual::Shell,
}

impl Completions {
    /// Prints the script with which the shell completes a program's commands and options, and ids by the command
    /// that lists them.
    ///
    /// # Errors
    /// As [`output::write_out`].
    pub fn print(self, command: Command, ids: Option<&str>) -> Result<(), Fault> {
        output::write_out(zx1_manual::script(self.shell, command, ids).as_bytes())
    }
}
