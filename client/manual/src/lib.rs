//! Manual pages and completions of a command line, made from its command tree: for programs that have commands for
//! them, and, with [`answer`], for those that have not.

mod page;
mod script;

pub use clap_complete::Shell;
pub use page::{built, page, pages};
pub use script::script;

use clap::{Arg, Command, ValueEnum as _};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const MAN: &str = "--print-man";
const COMPLETIONS: &str = "--print-completions";

/// What a program without commands for it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The manual pages, into this folder.
    Man(PathBuf),
    /// The completions of this shell.
    Completions(Shell),
}

/// The tree with both options in its help.
#[must_use]
pub fn with_options(command: Command) -> Command {
    command
        .arg(
            Arg::new("print-man")
                .long("print-man")
                .value_name("FOLDER")
                .value_parser(clap::value_parser!(PathBuf))
                .hide_short_help(true)
                .help("Write the man pages into a folder, and exit; must be the first option"),
        )
        .arg(
            Arg::new("print-completions")
                .long("print-completions")
                .value_name("SHELL")
                .value_parser(clap::value_parser!(Shell))
                .hide_short_help(true)
                .help("Print the completions of a shell, and exit; must be the first option"),
        )
}

/// What the first option of a command line asks for; `None` where it is something else, or has no value that fits.
#[must_use]
pub fn asked(arguments: &[OsString]) -> Option<Asked> {
    let first = arguments.get(1)?.to_str()?;
    let (option, value) = match first.split_once('=') {
        Some((option, value)) => (option, OsString::from(value)),
        None => (first, arguments.get(2)?.clone()),
    };
    match option {
        MAN => Some(Asked::Man(value.into())),
        COMPLETIONS => Some(Asked::Completions(Shell::from_str(value.to_str()?, true).ok()?)),
        _ => None,
    }
}

/// Writes what was asked for: pages into their folder, a script to standard output.
///
/// # Errors
/// The system's.
pub fn answer(asked: &Asked, command: Command) -> std::io::Result<()> {
    use std::io::Write as _;
    match asked {
        Asked::Man(folder) => write_pages(command, folder),
        Asked::Completions(shell) => {
            let script = script(*shell, command, None);
            std::io::stdout().lock().write_all(script.as_bytes())
        }
    }
}

fn write_pages(command: Command, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    pages(&built(command)).into_iter().try_for_each(|(name, page)| std::fs::write(folder.join(name), page))
}

/// Carries out what the first option of this process's command line asks for, and ends the process; returns where it
/// asks for something else.
pub fn answer_first(command: impl FnOnce() -> Command) {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let Some(asked) = asked(&arguments) else { return };
    let code = match answer(&asked, command()) {
        Ok(()) => 0,
        // Whoever reads us has seen enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            eprintln!("error: the pages or completions cannot be written: {error}");
            1
        }
    };
    std::process::exit(code);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn only_the_first_option_with_a_value_that_fits_asks() {
        assert_eq!(asked(&words("x --print-man pages")), Some(Asked::Man("pages".into())));
        assert_eq!(asked(&words("x --print-completions=zsh")), Some(Asked::Completions(Shell::Zsh)));
        for line in
            ["x", "x --print-man", "x --print-completions tcl", "x -v --print-man pages", "x man pages"]
        {
            assert_eq!(asked(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn a_page_has_the_texts_that_the_short_help_hides_and_every_usage() {
        let option = Arg::new("url").long("url").help("Address of the node").hide_short_help(true);
        let command = Command::new("x").version("1").override_usage("x COMMAND\n       x [OPTIONS] own");
        let root = built(command.arg(option).subcommand(Command::new("own").about("A command")));
        let text = String::from_utf8(page(&root, &[]).unwrap()).unwrap();
        assert!(
            text.contains("Address of the node") && text.contains("x COMMAND\n.br\nx [OPTIONS] own\n"),
            "{text}"
        );
        let names: Vec<String> = pages(&root).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["x.1", "x-own.1", "x-help.1"]);
    }
}
