//! `zx1 sponsor`: paying for other people's feedback (decision B13). The server is a separate program, `zx1-sponsor`.

use crate::context::Context;
use crate::errors::Result;
use crate::settings::{SOLANA, Source};
use clap::Subcommand;
use std::ffi::OsString;
use zx1_cli_common::sibling;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 sponsor serve              on 127.0.0.1:8895, 5 texts per sender and 0.1 SOL in all, per day
  zx1 sponsor serve --help       all options, which are those of zx1-sponsor";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Serve until Ctrl+C
    #[command(disable_help_flag = true)]
    Serve {
        /// Options of zx1-sponsor; zx1 sponsor serve --help lists them
        #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<OsString>,
    },
}

/// Runs `zx1 sponsor`. `serve` replaces this process by `zx1-sponsor`, with zx1's cluster, key and folder unless
/// the options name others.
pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    let Action::Serve { options } = action;
    let settings = context.settings()?;
    let mut all: Vec<OsString> = vec!["--default-data".into(), context.home()?.into()];
    let mut pass = |source: &Source, flag, default, value: OsString| {
        all.extend([OsString::from(if matches!(source, Source::Flag(_)) { flag } else { default }), value]);
    };
    pass(&settings.url.source, "--url", "--default-url", settings.url.value.clone().into());
    let keypair = &settings.keypair;
    pass(&keypair.source, "--keypair", "--default-keypair", keypair.value.clone().into());
    // zx1 spends on the main network only when asked to explicitly.
    if settings.url.source.is_file(SOLANA) {
        all.push("--default-url-unasked".into());
    }
    Err(sibling::exec("zx1-sponsor", "zx1 sponsor serve", all.into_iter().chain(options)).into())
}
