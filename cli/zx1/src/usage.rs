//! What is wrong with a command line, in one sentence, with the help that explains it as the next step.

use crate::args;
use crate::errors::{Error, Exit, Failure};
use crate::output::{self, Format};
use clap::error::ErrorKind;
use std::ffi::OsString;
use zx1_cli_common::usage::{in_words, path_of};

/// Says what is wrong with the command line, or prints the help that was asked for.
pub fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let format = asked_format(arguments);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render().ansi().to_string();
            match output::write_out(text.as_bytes()) {
                Err(fault) if fault != zx1_cli_common::Fault::ClosedPipe => Failure::from(fault).exit,
                _ => Exit::Success,
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !format.is_json() => {
            output::write_err(&error.render().ansi().to_string());
            Exit::Usage
        }
        _ => {
            let failure = Failure::from(Error::Usage { message: in_words(error) });
            with_help_of(failure, arguments).show(format);
            Exit::Usage
        }
    }
}

/// Lets a usage error point to the help of the command that was typed.
pub fn with_help_of(failure: Failure, arguments: &[OsString]) -> Failure {
    if failure.code != (Error::Usage { message: String::new() }).code() {
        return failure;
    }
    failure.next(format!("{} --help", path_of(&args::command(), arguments)))
}

/// The output format in a command line that does not parse.
fn asked_format(arguments: &[OsString]) -> Format {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let joined = texts.iter().find_map(|text| text.strip_prefix("--output="));
    let after = texts.windows(2).find_map(|pair| match pair {
        ["--output", format] => Some(*format),
        _ => None,
    });
    let environment = std::env::var("ZX1_OUTPUT").ok();
    let asked = joined.or(after).or(environment.as_deref());
    asked.and_then(|text| text.parse().ok()).unwrap_or(Format::Display)
}
