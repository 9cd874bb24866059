//! `zx1 completions`: scripts for shells, made from the command tree.

use crate::args::Cli;
use crate::context::Context;
use crate::errors::Result;
use crate::output;
use clap::CommandFactory as _;
use clap_complete::Shell;
use zx1_cli_common::manual;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 completions bash > ~/.local/share/bash-completion/completions/zx1
  zx1 completions zsh > ~/.zfunc/_zx1
  zx1 completions fish > ~/.config/fish/completions/zx1.fish
  zx1 completions powershell >> $PROFILE";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Shell to generate the script for
    shell: Shell,
}

pub(crate) fn run(args: Args, _: &Context) -> Result<()> {
    Ok(output::write_out(&manual::completions(args.shell, &mut Cli::command(), "zx1"))?)
}
