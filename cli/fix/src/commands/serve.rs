//! `fix serve`: a market server. It is a separate program, `fix-server`.

use crate::context::Context;
use crate::errors::Result;
use std::ffi::OsString;
use zx1_cli_common::sibling;

/// Shown in the manual page.
pub const EXAMPLES: &str = "\
Examples:
  fix serve --auto-fund          a demo: embedded ledger, automatic deposits
  fix serve --help               all options, which are those of fix-server";

/// Arguments of `fix serve`.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Options of fix-server; fix serve --help lists them
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

/// Replaces this process by `fix-server`, with its data in fix's folder unless the options name another
/// place.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let home = ["--default-data".into(), context.place("market")?.into()];
    Err(sibling::exec("fix-server", "fix serve", home.into_iter().chain(args.options)).into())
}
