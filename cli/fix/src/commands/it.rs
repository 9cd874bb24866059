//! `fix it`: the command that failed last in this shell.

use super::hook;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::fixing::{self, Failed, Session};
use crate::flags::Fixing;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;
use zx1_market::defaults::TIMEOUT;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  gcc m.c -o m         fails
  fix it               looks for a fix
  fix it --local       with the built-in rules only

The hook: eval \"$(fix hook bash)\" in ~/.bashrc, eval \"$(fix hook zsh)\" in ~/.zshrc,
fix hook fish | source in ~/.config/fish/config.fish.";

/// What is typed.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    fixing: Fixing,
}

/// Runs the command again in the sandbox, then fixes it.
pub fn run(args: Args, before: Fixing, context: &Context) -> Result<ExitCode> {
    let options = args.fixing.over(before);
    context.bounty(options.bounty.as_ref())?;
    let last = hook::last(context)?.ok_or(Error::NoHook)?;
    let folder = last.folder.canonicalize();
    let folder = folder.map_err(|error| Error::NoFolder { why: crate::errors::reason(&error) })?;
    let (runtime, interrupts) = fixing::start()?;
    let failed = Failed { line: last.line, folder, output: String::new(), exit: last.exit };
    let screen = context.screen(options.explain);
    let text = format!("Running {} again in the sandbox, to see what it says …", failed.line);
    screen.step("rehearsing", json!({ "command": failed.line }), &text);
    let session = Session::new(failed.clone(), options.clone(), context, &runtime, interrupts.clone())?;
    let ran = session.bench.rehearse(Duration::from_secs(TIMEOUT.into()))?;
    drop(session);
    if ran.exit == Some(0) && ran.stopped.is_none() {
        screen.good(
            "works",
            json!({ "command": ran.line }),
            "It works there now, so there is nothing to fix.",
        );
        return Ok(ExitCode::SUCCESS);
    }
    screen.block(&ran.output, 24);
    let exit = ran.exit.and_then(|exit| u8::try_from(exit).ok()).unwrap_or(failed.exit);
    let output = zx1_cli_common::words::unstyled(&ran.output);
    let code = fixing::fix(Failed { output, exit, ..failed }, options, context, &runtime, interrupts);
    runtime.shutdown_background();
    Ok(code)
}
