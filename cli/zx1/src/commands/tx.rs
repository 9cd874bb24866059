//! `zx1 tx`: transactions that are made on one machine and signed on another.

use crate::confirm;
use crate::context::Context;
use crate::defaults;
use crate::errors::{Error, Failure, Result};
use crate::files;
use crate::output::{self, Page, Report};
use crate::summary;
use crate::tx::{Sent, Shown as _, Signed};
use clap::Subcommand;
use serde::Serialize;
use std::path::{Path, PathBuf};
use zx1_chain::rpc::PartialTransaction;

pub(crate) const EXAMPLES: &str = "\
Examples:
  zx1 stake lock 10 --sign-only --blockhash HASH -k WALLET_ADDRESS --output json > lock.json
  zx1 tx sign lock.json --file signed.json      on the machine with the key, offline
  zx1 tx send signed.json                       on any machine

With --sign-only the keypair can be an address: then nothing is signed, and the
file goes to the machine that has the key. The summary is read from the file
itself. A blockhash is valid for about a minute.";

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Show a transaction, ask for confirmation, and sign it, offline
    Sign {
        /// File written by --sign-only, or base64 in a file
        transaction: PathBuf,
        /// Output file [default: standard output]
        #[arg(long, value_name = "PATH")]
        file: Option<PathBuf>,
    },
    /// Send a fully signed transaction and wait for confirmation
    Send {
        /// File written by tx sign, or base64 in a file
        transaction: PathBuf,
    },
}

pub(crate) fn run(action: Action, context: &Context) -> Result<()> {
    match action {
        Action::Sign { transaction, file } => sign(context, &transaction, file.as_deref()),
        Action::Send { transaction } => context.wait(send(context, &transaction)),
    }
}

fn read(path: &Path) -> Result<PartialTransaction> {
    let bytes = files::read_needed(path, defaults::MAX_INPUT)?;
    let partial = PartialTransaction::from_text(&String::from_utf8_lossy(&bytes));
    partial.map_err(|error| Failure::from(error).in_input(&files::shown(path)))
}

fn show(partial: &PartialTransaction) {
    let mut page = Page::new(output::width());
    summary::draw_unsimulated(&mut page, &partial.summary());
    output::write_err(&page.finish());
}

#[derive(Serialize)]
struct Written {
    status: &'static str,
    file: String,
    complete: bool,
}

impl Report for Written {
    fn draw(&self, page: &mut Page) {
        page.line(format!("The signed transaction is in {}.", self.file));
        if self.complete {
            page.next(format!("zx1 tx send {}", self.file));
        } else {
            page.line("Other signatures are still missing.");
        }
    }
}

fn sign(context: &Context, path: &Path, file: Option<&Path>) -> Result<()> {
    let mut partial = read(path)?;
    let key = context.key()?;
    files::check_wanted(file)?;
    if !partial.missing().contains(&key.address()) {
        return Err(Error::NotMissing { address: key.address().to_string() }.into());
    }
    show(&partial);
    if !context.flags().yes {
        confirm::ask("Sign it?")?;
    }
    partial.sign(&[key.keypair()])?;
    let Some(file) = file else { return context.print(&Signed { partial, bare: false }) };
    files::create_private(file, (partial.to_json() + "\n").as_bytes())?;
    context.print(&Written { status: "signed", file: files::shown(file), complete: partial.is_complete() })
}

async fn send(context: &Context, path: &Path) -> Result<()> {
    let partial = read(path)?;
    let operator = context.spender().await?;
    show(&partial);
    if !context.flags().yes {
        confirm::ask("Send it?")?;
    }
    let sender = operator.sender()?;
    let outcome = sender.submit(&partial).await?;
    let sent = Sent::new(sender, outcome);
    context.show(&sent, Sent::draw)?;
    Ok(sent.acknowledge().await?)
}
