//! What is left goes back to its sources when an operator asks: dust, and what came long after the end.

use std::collections::BTreeMap;

use serde::Serialize;

use super::engine::Engine;
use super::lane::Lane;
use super::{EscrowError, watch};
use crate::journal::{AccountRow, rows};
use crate::{PublicKey, Raw};

/// Maximum number of looks at one account in one sweep; each finds up to 64 sends.
const LOOKS: usize = 16;

/// The result of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sweep {
    /// Number of accounts that were looked at.
    pub accounts: usize,
    /// Number of sends that the journal had not noted.
    pub deposits: usize,
    /// Number of refunds that were decided.
    pub refunds: usize,
    /// What could not be settled now, by account.
    pub held_up: BTreeMap<String, String>,
}

impl Engine {
    pub(crate) async fn sweep(&self, contract: Option<&str>, least: Raw) -> Result<Sweep, EscrowError> {
        self.check_node().await?;
        let accounts: Vec<AccountRow> = {
            let mut conn = self.journal.read().await?;
            match contract {
                Some(contract) => rows::accounts_of(&mut conn, contract).await?,
                None => rows::accounts(&mut conn).await?,
            }
        };
        let mut sweep = Sweep::default();
        for row in accounts.iter().filter(|row| !watch::is_wallet(row)) {
            sweep.accounts += 1;
            match self.sweep_account(&row.account, least.max(Raw(1))).await {
                Ok((deposits, refunds)) => {
                    sweep.deposits += deposits;
                    sweep.refunds += refunds;
                }
                Err(error @ EscrowError::Journal(_)) => return Err(error),
                Err(error) => {
                    sweep.held_up.insert(row.account.address().to_string(), error.to_string());
                }
            }
        }
        Ok(sweep)
    }

    async fn sweep_account(&self, account: &PublicKey, least: Raw) -> Result<(usize, usize), EscrowError> {
        let _lock = self.lock(*account).await;
        let row = self.row(account).await?;
        super::engine::running(&row)?;
        let count = async || -> Result<usize, EscrowError> {
            let mut conn = self.journal.read().await?;
            Ok(rows::deposits(&mut conn, account).await?.len())
        };
        let before = count().await?;
        let mut known = before;
        for _ in 0..LOOKS {
            self.find_deposits(&row, Some(least)).await?;
            let now = count().await?;
            if now == known {
                break;
            }
            known = now;
        }
        self.confirm_deposits(&row).await?;
        let refunds = self.refund_excess(account, Some(least)).await?;
        if refunds > 0 {
            self.wake(&[*account], Lane::Refund);
        }
        Ok((known.saturating_sub(before), refunds))
    }
}
