//! Programs of the same installation: they are executed, not linked.

use crate::errors::{Fault, reason};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Replaces this process by `program`: the one beside this executable, else the one on PATH. So signals, standard
/// streams and the exit code are the program's own. Its help calls it `shown_as`, as it was typed.
///
/// # Errors
/// Returns only when it fails: [`Fault::CannotExecute`].
pub fn exec(program: &str, shown_as: &str, arguments: impl IntoIterator<Item = OsString>) -> Fault {
    let path = beside(program).unwrap_or_else(|| program.into());
    let why = Command::new(path).arg0(OsStr::new(shown_as)).args(arguments).exec();
    Fault::CannotExecute { program: program.to_owned(), why: reason(&why) }
}

/// Runs `program` to its end, found as by [`exec`], with nothing on its standard input. What it said and how it ended.
///
/// # Errors
/// [`Fault::CannotExecute`].
pub fn run(program: &str, arguments: impl IntoIterator<Item = OsString>) -> Result<Output, Fault> {
    let path = beside(program).unwrap_or_else(|| program.into());
    let output = Command::new(path).args(arguments).stdin(Stdio::null()).output();
    output.map_err(|why| Fault::CannotExecute { program: program.to_owned(), why: reason(&why) })
}

/// The program in this executable's folder, links resolved.
fn beside(program: &str) -> Option<PathBuf> {
    let mine = std::env::current_exe().ok()?;
    let path = mine.canonicalize().unwrap_or(mine).with_file_name(program);
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_nowhere_is_named() {
        let fault = exec("no-such-program-of-zx1", "zx1 nothing", []);
        let why = "no such file or directory".to_owned();
        assert_eq!(fault, Fault::CannotExecute { program: "no-such-program-of-zx1".to_owned(), why });
    }
}
