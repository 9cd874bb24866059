//! `fix wallet`: the journalled wallet whose keys come from the party's one key (decision A2).

use crate::context::{self, Context};
use crate::errors::Result;
use crate::fixing;
use crate::flags::Ledger;
use nano_escrow::wallet::{HistoryEntry, WalletBalance};
use serde::Serialize;
use std::time::{Duration, Instant};
use zx1_cli_common::confirm;
use zx1_cli_common::output::{Page, Report, Table};
use zx1_cli_common::words::moment;
use zx1_principal::{Role, nano_address};

/// Shown by `--help`.
pub const EXAMPLES: &str = "\
Examples:
  fix wallet balance --node http://127.0.0.1:7076 --network dev
  fix wallet receive
  fix wallet send nano_1abc... 0.5 --id rent  the same id never pays twice
  fix wallet history

Node, network and representative can be set in config.toml:
  [wallet]
  node = \"http://127.0.0.1:7076\"
  network = \"live\"
  representative = \"nano_...\"";

/// Timeout for a confirmation.
const WAIT: Duration = Duration::from_secs(120);

/// Arguments of `fix wallet`.
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub struct Args {
    #[command(flatten)]
    ledger: Ledger,
    /// Use the agent's wallet instead of the principal's
    #[arg(long, global = true)]
    agent: bool,
    #[command(subcommand)]
    command: Command,
}

/// Operations of the wallet.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Show the balance and the address
    Balance,
    /// Receive pending payments
    Receive,
    /// Send a payment to an address
    Send {
        /// Address of the recipient
        #[arg(value_name = "ADDRESS")]
        to: String,
        /// Amount in XNO
        #[arg(value_name = "XNO", allow_hyphen_values = true)]
        amount: String,
        /// Name of the payment; the same name never pays twice
        #[arg(long, value_name = "NAME")]
        id: String,
    },
    /// List the blocks, newest first
    History,
}

#[derive(Serialize)]
#[serde(transparent)]
struct Balance(WalletBalance);

impl Report for Balance {
    fn draw(&self, page: &mut Page) {
        page.field("address", self.0.address)
            .field("balance", format!("{} XNO", self.0.balance.xno()))
            .field("waiting", format!("{} XNO", self.0.receivable.xno()));
        if self.0.receivable > nano_escrow::Raw::ZERO {
            page.next("fix wallet receive");
        }
    }
}

#[derive(Serialize)]
struct Paid {
    to: String,
    amount: String,
    id: String,
    confirmed: bool,
}

impl Report for Paid {
    fn draw(&self, page: &mut Page) {
        let state = if self.confirmed { "confirmed" } else { "sent, not confirmed yet" };
        page.line(format!("{} XNO to {}: {state}.", self.amount, self.to));
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct History(Vec<HistoryEntry>);

impl Report for History {
    fn draw(&self, page: &mut Page) {
        let mut table = Table::new(["height", "kind", "XNO", "with", "at", "state"]).ids(&[3]);
        for entry in &self.0 {
            let with = entry.counterparty.map(|address| address.to_string()).unwrap_or_default();
            table.row([
                &entry.height,
                &entry.kind,
                &entry.amount.xno(),
                &with,
                &moment(entry.at / 1_000),
                &entry.state,
            ]);
        }
        page.table(table, "There are no blocks yet.");
    }
}

/// Runs `fix wallet`. Address, amount and name of a payment are checked before the ledger is asked.
pub fn run(args: Args, context: &Context) -> Result<()> {
    let who = if args.agent { Role::Agent } else { Role::Principal };
    // What cannot be right is refused before the ledger is asked.
    let payment = match &args.command {
        Command::Send { to, amount, id } => Some((nano_address(to)?, context::amount(amount)?, id.clone())),
        _ => None,
    };
    context.ledger(&args.ledger)?.check()?;
    let (runtime, _) = fixing::start()?;
    let wallet = runtime.block_on(context.party(who, &args.ledger)?.wallet())?;
    match (args.command, payment) {
        (Command::Send { .. }, Some((to, amount, id))) => {
            if !context.yes() {
                confirm::ask(&format!("Pay {} XNO to {to}?", amount.xno()))?;
            }
            runtime.block_on(async {
                wallet.send(0, &id, to, amount).await?;
                let confirmed = wallet.wait(&id, WAIT).await.is_ok();
                context.print(&Paid { to: to.to_string(), amount: amount.xno(), id, confirmed })
            })
        }
        (Command::Receive, _) => runtime.block_on(async {
            let began = Instant::now();
            let mut step = wallet.receive_all(0).await?;
            while step.pending > 0 && began.elapsed() < WAIT {
                tokio::time::sleep(Duration::from_millis(200)).await;
                step = wallet.drive(0).await?;
            }
            context.print(&Balance(wallet.balance(0).await?))
        }),
        (Command::History, _) => context.print(&History(runtime.block_on(wallet.history(0))?)),
        (Command::Balance, _) | (Command::Send { .. }, None) => {
            context.print(&Balance(runtime.block_on(wallet.balance(0))?))
        }
    }
}
