//! `fix COMMAND` and `fix run`: the command on the real machine, and then, if it failed, the fix.

use crate::context::{self, Context};
use crate::errors::{Error, Result};
use crate::fixing;
use crate::flags::Fixing;
use crate::real;
use std::ffi::OsString;
use std::process::ExitCode;
use zx1_cli_common::words::unstyled;
use zx1_cli_common::{Exit, usage};
use zx1_principal::Failed;
use zx1_principal::command;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix run -- make test
  fix run --local -- gcc m.c -o m
  fix run -- show            a program named show, not fix show
  fix 'cd build && make'     one word with spaces is a line for the shell";

/// Arguments of `fix run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    fixing: Fixing,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Runs `fix run`. Flags after `run` override those before it.
pub fn run(args: Args, before: Fixing, context: &Context) -> Result<ExitCode> {
    fix(args.words, args.fixing.over(before), context)
}

/// Runs the command that begins with a word which is not one of fix's own commands. A slip of the pen in one of those
/// must not become a command that is run and sent to strangers.
///
/// # Errors
/// 9525; as [`fix`].
pub fn other(
    words: Vec<OsString>,
    options: Fixing,
    context: &Context,
    tree: &clap::Command,
) -> Result<ExitCode> {
    if let Some(word) = words.first().and_then(|word| word.to_str())
        && !command::is_found(word)
        && let near @ [_, ..] = usage::near(tree, word).as_slice()
    {
        let meant = usage::meant(near);
        return Err(Error::NoProgram { word: word.chars().take(80).collect(), meant }.into());
    }
    fix(words, options, context)
}

/// Runs the command; fixes it if it fails.
///
/// # Errors
/// 9540 to 9542 before it runs. After that the exit code is the command's own.
pub fn fix(words: Vec<OsString>, options: Fixing, context: &Context) -> Result<ExitCode> {
    let line = command::line_of(&words)?;
    let (words, line) = match words.as_slice() {
        // One word with spaces is a line for the shell, as `sh -c` takes it.
        [one] if one.to_str().is_some_and(|text| text.trim().contains([' ', '\t', '\n'])) => {
            let text = one.to_string_lossy().into_owned();
            (real::for_shell(&text), text)
        }
        // What only a shell has is run by one.
        [first, ..] if first.to_str().is_some_and(command::is_builtin) => (real::for_shell(&line), line),
        _ => (words, line),
    };
    fixing::check(&options, context)?;
    let folder = context::working_folder()?;
    let (runtime, watch) = fixing::start()?;
    let ran = real::for_real(&words, &folder, context, &watch)?;
    if ran.exit == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if ran.interrupted {
        return Ok(Exit::Interrupted.into());
    }
    let failed = Failed { line, folder, output: unstyled(&ran.output), exit: ran.exit };
    let code = fixing::fix(failed, &options, context, &runtime, &watch);
    // A question that nobody answered may still wait for its line.
    runtime.shutdown_background();
    Ok(code)
}
