//! `zx1 help`: the help of a command, as `--help` prints it.

use crate::args;
use crate::context::Context;
use crate::errors::Result;
use crate::usage;
use std::ffi::OsString;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 help                                  all commands
  zx1 help stake lock                       one command, as zx1 stake lock --help";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Command to explain [default: zx1 itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let words = ["zx1".to_owned()].into_iter().chain(args.command).chain(["--help".to_owned()]);
    let line: Vec<OsString> = words.map(OsString::from).collect();
    match args::parse(&line) {
        // A program behind a command, whose help is its own.
        Ok(cli) => super::run(cli.command, context),
        Err(error) => usage::explain(&error, &line, context.error_format()),
    }
}
