//! `fix completions`: scripts for shells, made from the command tree.

use crate::errors::Result;
use clap_complete::Shell;
use zx1_cli_common::{manual, output};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix completions bash > ~/.local/share/bash-completion/completions/fix
  fix completions zsh > ~/.zfunc/_fix
  fix completions fish > ~/.config/fish/completions/fix.fish";

/// Arguments of `fix completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Shell to print the script for
    shell: Shell,
}

/// Prints the script.
pub fn run(args: Args, mut tree: clap::Command) -> Result<()> {
    Ok(output::write_out(&manual::completions(args.shell, &mut tree, "fix"))?)
}
