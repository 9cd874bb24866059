//! What an operator orders of a running server, through its database: `fix-server sweep`, `resume`, `release`. The
//! server holds the journal, so nobody else can do it.

use std::time::Duration;

use clap::Args;
use nano_escrow::escrow::Sweep;
use nano_escrow::{Address, Raw};
use serde::{Deserialize, Serialize};
use zx1_market::wire::Xno;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::store;

/// What the running server is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Gives back what no contract is owed.
    Sweep {
        /// Only what its accounts hold.
        contract: Option<String>,
        /// Least amount of a deposit, in raw.
        least: Raw,
    },
    /// Lets a stopped account of the escrow go on, and clears its alarms.
    Resume {
        /// Nano address of the account that is stopped.
        account: Address,
    },
    /// Lets a contract go on that contradicts the escrow's journal.
    Release {
        /// The contract's id.
        contract: String,
    },
}

/// The answer to an order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outcome {
    /// Whether it was carried out.
    pub done: bool,
    /// Number of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u32>,
    /// Text of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The next step after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Number of accounts that were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts: Option<usize>,
    /// Number of deposits that were not known before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deposits: Option<usize>,
    /// Number of refunds that were decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refunds: Option<usize>,
    /// What could not be settled now, by account.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub held_up: std::collections::BTreeMap<String, String>,
}

impl Outcome {
    pub(crate) fn done() -> Outcome {
        Outcome { done: true, ..Outcome::default() }
    }

    pub(crate) fn failed(code: u32, error: &str) -> Outcome {
        let next = crate::next::after(code).map(str::to_owned);
        Outcome { code: Some(code), error: Some(error.to_owned()), next, ..Outcome::default() }
    }

    pub(crate) fn swept(sweep: &Sweep) -> Outcome {
        Outcome {
            accounts: Some(sweep.accounts),
            deposits: Some(sweep.deposits),
            refunds: Some(sweep.refunds),
            held_up: sweep.held_up.clone(),
            ..Outcome::done()
        }
    }
}

/// Arguments of `fix-server sweep`.
#[derive(Debug, Args)]
pub struct SweepArgs {
    /// Only the accounts of this contract
    #[arg(long, value_name = "ID")]
    contract: Option<String>,
    /// Least amount of a deposit, in XNO; each refund costs a send's work
    #[arg(long, value_name = "XNO", default_value = "0.0001")]
    least: String,
}

impl SweepArgs {
    /// Orders it and waits for the answer.
    pub async fn run(self, config: &Config) -> Result<()> {
        let least: Xno = serde_json::from_value(serde_json::Value::String(self.least))
            .map_err(|e| Error::Config(format!("The amount is not XNO: {e}.")))?;
        give(config, Order::Sweep { contract: self.contract, least: least.0 }).await
    }
}

/// Gives an order to the server that runs on the configured database, and prints its answer. Fails with 9442 when no
/// server answers.
pub async fn give(config: &Config, order: Order) -> Result<()> {
    let store = store::open(&config.database()).await?;
    let body = serde_json::to_string(&order).map_err(|e| Error::Config(e.to_string()))?;
    let id = store.order(&body).await?;
    for _ in 0..PATIENCE {
        if let Some(answer) = store.answer(id).await? {
            store.close().await;
            println!("{answer}");
            return match serde_json::from_str::<Outcome>(&answer) {
                Ok(outcome) if outcome.done => Ok(()),
                _ => Err(Error::OrderRefused),
            };
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // It is not carried out later, when nobody expects it.
    store.answer_order(id, "{}").await?;
    store.close().await;
    Err(Error::NoServer)
}

/// In tenths of a second.
const PATIENCE: usize = 600;
