//! `zx1`: everything that an agent's owner does on chain, from one command line.
//!
//! * [`args`], [`flags`]: the command tree with its help texts, and the options that all commands share
//! * `commands`: one module a command; each takes its arguments and the [`context::Context`]
//! * [`context`]: settings, key and cluster, each read when it is first needed and not before
//! * [`settings`], [`config_file`]: where a value comes from (flag, environment, files, default)
//! * [`output`]: a command's result as a page for people or as JSON
//! * [`errors`]: numbered refusals; exit codes; [`next`]: the next command after a library's error
//! * [`chain`], [`tx`]: the cluster, and transactions from summary to confirmation; [`summary`]: what one costs and does
//! * [`budget`]: what a run may spend
//! * [`screen`], [`confirm`], [`progress`]: what is asked and shown while an operation runs
//! * [`findings`]: what doctor found, in words
//! * [`keys`], [`amount`], [`input`]: reading keys, money and bytes from outside
//! * [`node`]: the agent's mesh node, and what commands about its messages share
//! * [`service`]: the keeper as a unit of systemd
//! * [`steps`]: the next step of an agent, as a command
//! * [`usage`]: what is wrong with a command line, in one sentence; [`words`]: plurals, dates, short names
//!
//! `zx1 --help` builds the command tree and nothing else: no file is read and no runtime is started.

pub mod agent_files;
pub mod amount;
pub mod args;
pub mod budget;
pub mod chain;
mod commands;
pub mod config_file;
pub mod context;
pub mod declined;
pub mod defaults;
pub mod errors;
pub mod files;
pub mod findings;
pub mod flags;
pub mod input;
pub mod keys;
pub mod next;
pub mod node;
pub mod operations;
pub mod passphrase;
pub mod screen;
pub mod service;
pub mod settings;
pub mod steps;
pub mod summary;
pub mod tx;
pub mod usage;
pub mod words;

pub use zx1_cli_common::{confirm, output, progress};

use errors::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command line and returns the exit code (see [`errors::Exit`]).
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match args::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::refuse(&error, &arguments).into(),
    };
    let context = context::Context::new(cli.global);
    match commands::run(cli.command, &context) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads us has seen enough (`zx1 … | head`).
        Err(failure) if failure.is_closed_pipe() => ExitCode::SUCCESS,
        Err(failure) => report(&failure.with_help_of(&args::command(), &arguments), &context),
    }
}

fn report(failure: &Failure, context: &context::Context) -> ExitCode {
    failure.end(context.error_format()).into()
}
