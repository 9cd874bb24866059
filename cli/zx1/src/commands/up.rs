//! `zx1 up`: from nothing to an agent whose batches count and that keeps itself, one step after the other. How far
//! it is says the chain, so it goes on wherever it was broken off, and pays nothing twice.

mod faucet;
mod plan;
mod walk;

use crate::amount;
use crate::commands::register;
use crate::confirm;
use crate::context::Context;
use crate::errors::{Error, Result};
use crate::output::{self, Page};
use crate::service::Caps;
use crate::summary::Cost;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 up                                      ask for each step
  zx1 up --dry-run                            show what is missing and what it costs
  zx1 up -u devnet --name alice --data https://indexer.example
  zx1 up --yes --max-usdc 31 --max-sol 0.02   without asking, within these limits
  zx1 up --yes --print-unit > zx1-keeper.service

The steps: a key, money (on a local cluster from zx1-localnet), registration with
SATI, the keys that act (your wallet, or those of the settings), the minimum stake, the lease, the
chain of batches, a place for the batches' data, and the keeper as a service of
systemd. Each says what you pay, what comes back and when, and asks once. Run it
again after Ctrl+C or a crash: it goes on where the chain says, and pays nothing
twice. Nothing is done that is done already.";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Name of the agent, at most 32 bytes [default: agent- and the wallet's first letters]
    #[arg(long)]
    name: Option<String>,
    /// URL at which you will host the registration file, at most 200 bytes
    #[arg(long, default_value = "", hide_default_value = true)]
    uri: String,
    /// Place for the batches' data: a folder or an http(s) URL [default: served in zx1's folder] [setting: upload]
    #[arg(long, value_name = "PLACE")]
    data: Option<String>,
    /// Maximum USDC to spend in this run
    #[arg(long, value_name = "USDC", default_value = "35")]
    max_usdc: String,
    /// Maximum SOL to spend in this run, for rent and fees
    #[arg(long, value_name = "SOL", default_value = "0.05")]
    max_sol: String,
    /// Maximum USDC for the keeper to spend per day
    #[arg(long, value_name = "USDC", default_value = "2")]
    cap: String,
    /// Maximum SOL per day for the keeper's fees and rent
    #[arg(long, value_name = "SOL", default_value = "0.02")]
    fee_cap: String,
    /// Set up no service for the keeper
    #[arg(long)]
    no_keeper: bool,
    /// Print the keeper's unit file to standard output instead of writing it
    #[arg(long, conflicts_with = "no_keeper")]
    print_unit: bool,
}

/// What was asked for, read.
struct Wanted {
    name: Option<String>,
    uri: String,
    data: Option<String>,
    most: Cost,
    caps: Caps,
    keeper: Service,
}

/// What becomes of the keeper's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Install,
    Print,
    Leave,
}

pub(crate) fn run(args: Args, context: &Context) -> Result<()> {
    let flags = context.flags();
    if flags.print_tx || flags.sign_only {
        let message = "zx1 up sends several transactions and cannot print them.".to_owned();
        return Err(Error::Usage { message }.into());
    }
    if let Some(name) = &args.name {
        register::check_name(name, name)?;
    }
    let wanted = Wanted {
        most: Cost { usdc: amount::parse_usdc(&args.max_usdc)?, lamports: amount::parse_sol(&args.max_sol)? },
        caps: Caps::parse(&args.cap, &args.fee_cap)?,
        keeper: match (args.no_keeper, args.print_unit) {
            (true, _) => Service::Leave,
            (_, true) => Service::Print,
            _ => Service::Install,
        },
        name: args.name,
        uri: args.uri,
        data: args.data,
    };
    if !flags.dry_run && !flags.yes && !confirm::can_ask() {
        return Err(Error::NeedsYes.into());
    }
    context.budget().limit(wanted.most);
    walk::up(context, &wanted)
}

/// Asks unless --yes was given; whether the answer is yes.
fn agrees(context: &Context, question: &str) -> Result<bool> {
    if context.flags().yes {
        return Ok(true);
    }
    match confirm::ask(question) {
        Ok(()) => Ok(true),
        Err(zx1_cli_common::Fault::Declined) => Ok(false),
        Err(fault) => Err(fault.into()),
    }
}

/// Says something on the way, for people.
fn tell(context: &Context, text: &str) {
    let mut page = Page::new(output::width());
    page.line(text);
    show(context, page);
}

/// Shows a page on the way, for people.
fn show(context: &Context, page: Page) {
    if !context.error_format().is_json() {
        output::write_err(&page.finish());
    }
}
