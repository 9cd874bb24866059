//! `fix completions`: scripts for shells, made from the command tree.

use crate::errors::Result;

pub use zx1_cli_common::manual::Completions as Args;

/// Lists the ids of contracts that this machine knows, for sh.
const IDS: &str = "ls \"${FIX_HOME:-$HOME/.fix}\"/transcripts/* 2> /dev/null | sed -n \"s/[.]json$//p\"";

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix completions bash > ~/.local/share/bash-completion/completions/fix
  fix completions zsh > ~/.zfunc/_fix
  fix completions fish > ~/.config/fish/completions/fix.fish";

/// Prints the script.
pub fn run(args: Args, tree: clap::Command) -> Result<()> {
    Ok(args.print(tree, Some(IDS))?)
}
