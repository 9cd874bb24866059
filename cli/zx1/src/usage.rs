//! A command line that does not parse.

use crate::args;
use crate::errors::{Error, Exit, Failure, Result};
use crate::output::Format;
use std::ffi::OsString;
use zx1_home::config::environment;

/// Says what is wrong with the command line, or prints the help that was asked for.
pub fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    Failure::refuse(error, &args::command(), arguments, asked_format(arguments))
}

/// The same for a command line that another command has made.
///
/// # Errors
/// 7400 where it is wrong.
pub fn explain(error: &clap::Error, arguments: &[OsString], format: Format) -> Result<()> {
    if zx1_cli_common::usage::help(error, format)?.is_some() {
        return Ok(());
    }
    let failure = Failure::from(Error::Usage { message: zx1_cli_common::usage::in_words(error) });
    Err(failure.with_help_of(&args::command(), arguments))
}

/// The output format in a command line that does not parse.
fn asked_format(arguments: &[OsString]) -> Format {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let joined = texts.iter().find_map(|text| text.strip_prefix("--output="));
    let after = texts.windows(2).find_map(|pair| match pair {
        ["--output", format] => Some(*format),
        _ => None,
    });
    if texts.contains(&"--json") {
        return Format::JsonCompact;
    }
    let environment = environment("ZX1_OUTPUT");
    let asked = joined.or(after).or(environment.as_deref());
    asked.and_then(|text| text.parse().ok()).unwrap_or(Format::Display)
}
