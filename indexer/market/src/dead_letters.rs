//! `fix-server dead-letters`: decisions that the escrow refuses for good, accounts whose contracts are lost, and what an
//! operator does about them.
//! It works on the server's database, whether the server runs or not.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::store::{self, OrphanRow, OutboxRow, OutboxState};

/// Arguments of `fix-server dead-letters`.
#[derive(Debug, Args)]
pub struct DeadLetters {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write each as one line of JSON, which happens without an action too
    List,
    /// Tell the escrow once more; a running server does so within seconds
    Retry(Letter),
    /// Give one up; nothing is paid for it
    Drop {
        #[command(flatten)]
        letter: Letter,
        /// Why, for whoever looks at the database later
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

#[derive(Debug, Args)]
struct Letter {
    /// The contract's id
    contract: String,
    /// The decision's kind
    kind: String,
    /// The decision's item
    item: String,
}

impl DeadLetters {
    /// Lists, retries or drops. Fails with 9428 when there is no such dead letter.
    pub async fn run(self, config: &Config) -> Result<()> {
        let store = store::open(&config.database()).await?;
        let dead = store.outbox(OutboxState::Dead).await?;
        let (letter, to, reason) = match self.action {
            None | Some(Action::List) => {
                dead.iter().for_each(show);
                store.orphans().await?.iter().for_each(show_orphan);
                store.close().await;
                return Ok(());
            }
            Some(Action::Retry(letter)) => (letter, OutboxState::Open, String::new()),
            Some(Action::Drop { letter, reason }) => (letter, OutboxState::Dropped, reason),
        };
        let is_it = |row: &&OutboxRow| {
            (&row.contract_id, &row.kind, &row.item) == (&letter.contract, &letter.kind, &letter.item)
        };
        let moved = match dead.iter().find(is_it) {
            Some(row) => store.move_outbox(row, OutboxState::Dead, to, &reason).await?,
            None => false,
        };
        store.close().await;
        if moved { Ok(()) } else { Err(Error::NoDeadLetter) }
    }
}

fn show(row: &OutboxRow) {
    let line = json!({
        "contract": row.contract_id,
        "kind": row.kind,
        "item": row.item,
        "created_at": row.created_at,
        "reason": row.reason,
        "decision": serde_json::from_str(&row.body).unwrap_or_else(|_| json!(row.body)),
    });
    println!("{line}");
}

fn show_orphan(row: &OrphanRow) {
    let line = json!({
        "orphan": row.account,
        "contract": row.contract_id,
        "party": row.party,
        "round": row.round,
        "amount": row.amount,
    });
    println!("{line}");
}
