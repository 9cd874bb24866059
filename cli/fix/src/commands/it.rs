//! `fix it`: the command that failed last in this shell.

use super::hook;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::fixing;
use crate::flags::Fixing;
use serde_json::json;
use std::process::ExitCode;
use zx1_principal::Failed;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  gcc m.c -o m         fails
  fix it               looks for a fix
  fix it --local       with the built-in rules only

The hook: eval \"$(fix hook bash)\" in ~/.bashrc, eval \"$(fix hook zsh)\" in ~/.zshrc,
fix hook fish | source in ~/.config/fish/config.fish.";

/// Arguments of `fix it`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    fixing: Fixing,
}

/// Runs the command again in the sandbox, then fixes it.
pub fn run(args: Args, before: Fixing, context: &Context) -> Result<ExitCode> {
    let options = args.fixing.over(before);
    fixing::check(&options, context)?;
    let last = hook::last(context)?.ok_or(Error::NoHook)?;
    let folder = last.folder.canonicalize();
    let folder = folder.map_err(|error| Error::NoFolder { why: crate::errors::reason(&error) })?;
    let (runtime, watch) = fixing::start()?;
    let failed = Failed { line: last.line, folder, output: String::new(), exit: last.exit };
    let screen = context.screen(options.explain);
    let ran = fixing::session(failed.clone(), &options, context, &runtime, &watch)?.rehearse()?;
    if ran.run.exit == Some(0) && ran.run.limit.is_none() {
        screen.good(
            "works",
            json!({ "command": ran.line }),
            "It works there now, so there is nothing to fix.",
        );
        return Ok(ExitCode::SUCCESS);
    }
    screen.block(&ran.output(), 24);
    let exit = ran.run.status().filter(|_| ran.run.limit.is_none());
    let exit = exit.and_then(|exit| u8::try_from(exit).ok()).unwrap_or(failed.exit);
    let output = zx1_cli_common::words::unstyled(&ran.output());
    let code = fixing::fix(Failed { output, exit, ..failed }, &options, context, &runtime, &watch);
    runtime.shutdown_background();
    Ok(code)
}
