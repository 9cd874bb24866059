//! `zx1 completions`: scripts for shells, made from the command tree.

use crate::args::Cli;
use crate::context::Context;
use crate::errors::Result;
use clap::CommandFactory as _;

pub(crate) use zx1_cli_common::manual::Completions as Args;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 completions bash > ~/.local/share/bash-completion/completions/zx1
  zx1 completions zsh > ~/.zfunc/_zx1
  zx1 completions fish > ~/.config/fish/completions/zx1.fish
  zx1 completions powershell >> $PROFILE";

pub(crate) fn run(args: Args, _: &Context) -> Result<()> {
    Ok(args.print(Cli::command(), None)?)
}
