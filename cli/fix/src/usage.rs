//! What is wrong with a command line, in one sentence, with the help that explains it as the next step.

use crate::args;
use crate::errors::{Error, Failure};
use clap::error::ErrorKind;
use std::ffi::OsString;
use zx1_cli_common::output::{self, Format};
use zx1_cli_common::usage::{in_words, path_of};
use zx1_cli_common::{Exit, Fault};

/// Says what is wrong with the command line, or prints the help that was asked for.
pub(crate) fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let asked_json = arguments.iter().any(|argument| argument == "--json");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            match output::write_out(error.render().ansi().to_string().as_bytes()) {
                Err(fault) if fault != Fault::ClosedPipe => Exit::Failure,
                _ => Exit::Success,
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if !asked_json => {
            output::write_err(&error.render().ansi().to_string());
            Exit::Usage
        }
        _ => {
            let failure = Failure::from(Error::Usage { message: in_words(error) });
            let format = if asked_json { Format::JsonCompact } else { Format::Display };
            with_help_of(failure, arguments).show(format);
            Exit::Usage
        }
    }
}

/// Lets a usage error point to the help of the command that was typed.
pub(crate) fn with_help_of(failure: Failure, arguments: &[OsString]) -> Failure {
    if failure.code != (Error::Usage { message: String::new() }).code() {
        return failure;
    }
    failure.next(format!("{} --help", path_of(&args::command(), arguments)))
}
