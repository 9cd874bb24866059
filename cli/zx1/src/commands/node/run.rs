//! `zx1 node run`.

use crate::context::{Context, find_agent};
use crate::errors::Result;
use crate::settings::{SOLANA, Source};
use std::ffi::{OsStr, OsString};
use zx1_cli_common::sibling;
use zx1_operator::register::usual_file;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Options of zx1-node; zx1 node run --help lists them
    #[arg(value_name = "OPTIONS", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

/// Replaces this process by `zx1-node`, with zx1's agent, cluster, peer key and folder unless the options name
/// others.
pub(super) fn run(args: &Args, context: &Context) -> Result<()> {
    let settings = context.settings()?;
    let mut all: Vec<OsString> = vec!["--default-home".into(), context.home()?.into()];
    let mut pass = |source: &Source, flag, default, value: OsString| {
        all.extend([OsString::from(if matches!(source, Source::Flag(_)) { flag } else { default }), value]);
    };
    pass(&settings.url.source, "--url", "--default-url", settings.url.value.clone().into());
    let key = &settings.peer_key;
    pass(&key.source, "--keypair", "--default-keypair", key.value.clone().into());
    let (options, mut named) = with_mint(&args.options, context)?;
    if named.is_none() && !asks_for_help(&options) && !observes(&options) {
        let mint = context.agent()?.mint.to_string();
        pass(&settings.agent.source, "--agent", "--default-agent", mint.clone().into());
        named = Some(mint);
    }
    // The file that `zx1 register` wrote, where it lies in its usual place.
    if let Some(name) = named.and_then(|mint| local_name(&mint, context)) {
        let file = usual_file(context.home()?, &name);
        all.extend([OsString::from("--default-registration-file"), file.into()]);
    }
    // zx1 spends on the main network only when asked to explicitly.
    if settings.url.source.is_file(SOLANA) {
        all.push("--default-url-unasked".into());
    }
    Err(sibling::exec("zx1-node", "zx1 node run", all.into_iter().chain(options)).into())
}

/// The name by which this machine knows the agent.
fn local_name(mint: &str, context: &Context) -> Option<String> {
    let config = context.config().ok()?;
    config.agents.iter().find(|(_, agent)| agent.mint == mint).map(|(name, _)| name.clone())
}

/// A node that only observes has no agent.
fn observes(options: &[OsString]) -> bool {
    options
        .iter()
        .any(|option| option.to_str().is_some_and(|it| it == "--observe" || it.starts_with("--observe=")))
}

fn asks_for_help(options: &[OsString]) -> bool {
    options.iter().any(|option| ["--help", "-h", "--version", "-V"].iter().any(|word| option == word))
}

/// The options with the agent's mint in place of its local name, which only zx1 knows; and that mint.
fn with_mint(options: &[OsString], context: &Context) -> Result<(Vec<OsString>, Option<String>)> {
    let mint = |named: &OsStr| -> Result<String> {
        Ok(find_agent(&context.config()?, &named.to_string_lossy())?.mint.to_string())
    };
    let (mut all, mut agent) = (Vec::with_capacity(options.len()), None);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let joined = option.to_str().and_then(|option| option.strip_prefix("--agent="));
        if let Some(named) = joined {
            let named = mint(OsStr::new(named))?;
            all.push(format!("--agent={named}").into());
            agent = Some(named);
        } else if option == "--agent" {
            all.push(option.clone());
            if let Some(named) = options.next() {
                let named = mint(named)?;
                all.push(named.clone().into());
                agent = Some(named);
            }
        } else {
            all.push(option.clone());
        }
    }
    Ok((all, agent))
}
