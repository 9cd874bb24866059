//! `zx1 feedback`: the log that nobody can edit (decision B13), and the findings that QA agents file in it.

mod list;
mod resolve;
mod submit;

use crate::context::Context;
use crate::errors::Result;
use clap::Subcommand;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 feedback submit 'the README says nothing about ports'
  zx1 feedback submit --file report.txt
  zx1 feedback submit --source qa-fuzz --severity high --surface cli \\
      --repro 'qa_cli({\"program\":\"zx1\",\"arguments\":[\"inspect\",\"tx\",\"00\"]})' 'it panics'
  zx1 feedback submit --sponsor http://127.0.0.1:8895 'paid by the sponsor'
  zx1 feedback list                            newest first
  zx1 feedback list --surface cli --unresolved --output json
  zx1 feedback show 12
  zx1 feedback resolve 12 --commit 7e141df0c1... --contract HASH     maintainer only

A text has 1 to 2 048 bytes of UTF-8 and is permanent. A short one takes one
transaction, a longer one several; an interrupted submission continues where it
stopped. Findings begin with a line `qa/v1 source=... sev=... surface=...`, which
--source, --severity and --surface write, and have at most 768 bytes. What
reproduces one is a call of a tool with JSON, never a shell line: qa_decode,
qa_cli, qa_http, qa_fetch, qa_chain, qa_register, qa_story, qa_call, qa_attack.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Append a text to the log
    Submit(submit::Args),
    /// List entries, newest first
    List(list::ListArgs),
    /// Show one entry in full
    Show(list::ShowArgs),
    /// Record the commit that resolves an entry (maintainer only)
    Resolve(resolve::Args),
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Submit(args) => submit::run(&args, context),
        Action::List(args) => list::run(&args, context),
        Action::Show(args) => list::show(&args, context),
        Action::Resolve(args) => resolve::run(&args, context),
    }
}
