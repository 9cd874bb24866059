//! `fix serve`: a market of one's own.

use super::{logs, stopped};
use crate::context::Context;
use crate::errors::{Failure, Result};
use crate::fixing;
use zx1_market_server::cli::ServeArgs;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix serve --auto-fund          a demo: embedded ledger, deposits made by themselves
  fix serve --nano http://127.0.0.1:7076 --platform-address nano_...
  fix serve --import transcripts   rebuild a server from saved transcripts
  fix serve --print-config       all settings, as they would be used

When it is ready it writes one line of JSON to standard output. Its data lie in
~/.fix/market unless --data or FIX_DATA says otherwise. Logs: FIX_LOG=info.";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    serve: ServeArgs,
}

/// Serves until SIGINT or SIGTERM.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let mut serve = args.serve;
    let prints = serve.print_config || serve.print_openapi;
    if serve.data.is_none() && serve.config.is_none() {
        serve.data = Some(context.place("market")?);
    }
    logs("warn,zx1_market_server=info");
    let runtime = fixing::threads()?;
    runtime.block_on(serve.serve()).map_err(|error| Failure::foreign(error.code(), &error, &error))?;
    if !prints {
        stopped(context, "The market has stopped.");
    }
    Ok(())
}
