//! `fix`: a failing command, an agent, a sandbox, a payment.
//!
//! * [`args`]: the command tree and its help texts
//! * [`flags`]: options that all commands share
//! * [`commands`]: one module a command
//! * [`fixing`]: options become a session of [`zx1_principal`]; [`terminal`]: what it reports,
//!   [`ask`]: what it asks, in words
//! * [`context`]: settings, keys and places, each read when it is first needed and not before
//! * [`settings`]: what can be set; [`config`]: the settings in config.toml
//! * [`errors`]: numbered errors; [`next`]: the next step after a library's error
//! * [`screen`]: progress, for people or, with --json, for programs
//! * [`interrupt`]: what Ctrl+C does
//! * [`mesh`]: what the agent's node heard announced
//!
//! `fix --help` builds the command tree and nothing else: no file is read and no runtime is started.

pub mod args;
pub mod ask;
pub mod commands;
pub mod config;
pub mod context;
pub mod errors;
pub mod fixing;
pub mod flags;
pub mod interrupt;
pub mod mesh;
pub mod next;
pub mod real;
pub mod screen;
pub mod settings;
pub mod terminal;

use errors::Failure;
use std::ffi::OsString;
use std::process::ExitCode;
use zx1_cli_common::output::Format;

/// Runs the command line and returns the exit code: the command's own, or [`zx1_cli_common::Exit`]'s.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match args::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let json = arguments.iter().any(|argument| argument == "--json");
            let format = if json { Format::JsonCompact } else { Format::Display };
            return Failure::refuse(&error, &args::command(), &arguments, format).into();
        }
    };
    let context = context::Context::new(cli.global.clone());
    match commands::run(cli.command, cli.fixing, &context, args::command) {
        Ok(code) => code,
        // Whoever reads us has seen enough (`fix … | head`).
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => report(&failure.with_help_of(&args::command(), &arguments), &context),
    }
}

fn report(failure: &Failure, context: &context::Context) -> ExitCode {
    failure.show(context.format());
    failure.exit.into()
}
