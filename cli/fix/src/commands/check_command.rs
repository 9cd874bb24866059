//! `fix check-command`: whether an agent may run a command here (decision E9).

use crate::context::{self, Context};
use crate::errors::Result;
use serde::Serialize;
use zx1_cli_common::output::{Page, Report};
use zx1_principal::command;

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix check-command 'grep -n sqrt m.c'
  fix check-command cat ~/.ssh/id_ed25519     refused: a secret path
  fix check-command 'ls; rm x'                refused: no shell";

/// Arguments of `fix check-command`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Command to check, as one word or several
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

#[derive(Serialize)]
struct Allowed {
    allowed: bool,
    argv: Vec<String>,
    reads: Vec<String>,
}

impl Report for Allowed {
    fn draw(&self, page: &mut Page) {
        page.line("An agent may run this here, read-only and in the sandbox.");
        page.field("runs", command::line_of(&self.argv).unwrap_or_default());
        if !self.reads.is_empty() {
            page.field("reads", self.reads.join(", "));
        }
    }
}

/// Checks the words and the paths; runs nothing.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let line = match args.words.as_slice() {
        [line] => line.clone(),
        words => command::line_of(words)?,
    };
    let folder = context::working_folder()?;
    let checked = zx1_trial::check_investigation(&line, &folder)?;
    let reads = checked.paths.iter().map(|path| path.path.clone()).collect();
    context.print(&Allowed { allowed: true, argv: checked.argv, reads })
}
