//! `nano-escrow wallet`: ordinary accounts of the seed, journalled.

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use super::escrow::{Place, plan_text, xno};
use super::{Failure, Output};
use nano_escrow::wallet::Wallet;
use nano_escrow::{Address, Raw};

/// Send and receive with the ordinary accounts of a seed
#[derive(Debug, Args)]
pub(crate) struct WalletArgs {
    #[command(flatten)]
    place: Place,

    /// Index of the account
    #[arg(long, value_name = "N", default_value_t = 0, global = true)]
    index: u32,

    #[command(subcommand)]
    command: WalletCommand,
}

#[derive(Debug, Subcommand)]
enum WalletCommand {
    /// Print the address of the account
    Address,
    /// Print the balance and the receivable amount
    Balance,
    /// Receive all confirmed pending sends
    Receive,
    /// Send a payment; a payment with the same id is made only once
    Send {
        /// Address of the recipient
        #[arg(value_name = "ADDRESS")]
        to: Address,
        /// Amount in XNO
        #[arg(value_name = "XNO", value_parser = xno)]
        amount: Raw,
        /// Unique id of the payment
        #[arg(long, value_name = "ID")]
        id: String,
        /// Timeout for the confirmation in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        limit: u64,
    },
    /// List the blocks of the account, newest first
    History,
    /// Adopt blocks found on the ledger and complete decided payments, after a crash or a restore
    Recover,
}

pub(crate) async fn run(args: WalletArgs, out: &Output) -> Result<(), Failure> {
    let WalletArgs { place, index, command } = args;
    let wallet = Wallet::new(place.parts(out).await?);
    match command {
        WalletCommand::Address => {
            let address = wallet.account(index).await?;
            out.print(&json!({ "index": index, "address": address }), || address.to_string())
        }
        WalletCommand::Balance => {
            let balance = wallet.balance(index).await?;
            out.print(&balance, || {
                let waits = balance.receivable.xno();
                format!("{} XNO, {waits} XNO receivable ({})", balance.balance.xno(), balance.address)
            })
        }
        WalletCommand::Receive => {
            let mut step = wallet.receive_all(index).await?;
            let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
            let mut confirmed = step.confirmed;
            while step.pending > 0 && tokio::time::Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(200)).await;
                step = wallet.drive(index).await?;
                confirmed += step.confirmed;
            }
            let value = json!({ "confirmed": confirmed, "pending": step.pending });
            out.print(&value, || format!("{confirmed} received, {} pending", step.pending))
        }
        WalletCommand::Send { to, amount, id, limit } => {
            wallet.send(index, &id, to, amount).await?;
            let plan = wallet.wait(&id, Duration::from_secs(limit)).await?;
            out.print(&plan, || plan_text(&plan))
        }
        WalletCommand::History => {
            let history = wallet.history(index).await?;
            out.print(&history, || {
                let line = |e: &nano_escrow::wallet::HistoryEntry| {
                    let other = e.counterparty.map(|a| a.to_string()).unwrap_or_default();
                    format!("{:>5} {} {} XNO {other} {}", e.height, e.kind, e.amount.xno(), e.state)
                };
                history.iter().map(line).collect::<Vec<_>>().join("\n")
            })
        }
        WalletCommand::Recover => {
            let found = wallet.recover().await?;
            out.print(&found, || format!("{} adopted, {} pending", found.adopted, found.pending))
        }
    }
}
