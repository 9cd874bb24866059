//! After a start: every account against the node, in bulk where nothing has happened.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt;
use futures_util::stream;
use serde::Serialize;

use super::EscrowError;
use super::engine::Engine;
use crate::journal::{BlockRow, BlockState, JournalError, rows};
use crate::node::NodeCalls;
use crate::node::rpc::{AccountsFrontiers, BlocksInfo};
use crate::{Address, BlockHash, PublicKey};

/// Accounts or hashes in one question.
const BATCH: usize = 500;

/// The result of a recovery.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Recovery {
    /// Number of accounts that were compared with the node.
    pub accounts: usize,
    /// Decided blocks that were not confirmed in the journal.
    pub open_blocks: usize,
    /// Of these, found confirmed.
    pub confirmed: usize,
    /// Decided blocks that are still open; [`run`](super::Escrow::run) and [`wait`](super::Escrow::wait) go on with
    /// them.
    pub pending: usize,
    /// Accounts with blocks that the journal did not know, which are adopted now.
    pub adopted: usize,
    /// What could not be settled now, by account.
    pub held_up: BTreeMap<String, String>,
}

impl Engine {
    pub(crate) async fn recover(&self) -> Result<Recovery, EscrowError> {
        self.check_node().await?;
        let mut found = Recovery::default();
        let accounts = {
            let mut conn = self.journal.read().await?;
            // What was closed long ago changes only by what comes late, which is compared when it is found.
            rows::accounts_to_compare(&mut conn, self.late_since()).await?
        };
        found.accounts = accounts.len();
        self.confirm_in_bulk(&mut found).await?;

        // Accounts whose frontier is not the journal's head, or that have blocks in flight.
        let mut look: BTreeSet<PublicKey> = {
            let mut conn = self.journal.read().await?;
            rows::busy_accounts(&mut conn).await?.into_iter().collect()
        };
        for batch in accounts.chunks(BATCH) {
            let names = batch.iter().map(|a| Address::from(a.account)).collect();
            let frontiers = self.node.ask(AccountsFrontiers { accounts: names }).await?;
            for row in batch {
                let frontier = frontiers.get(&Address::from(row.account)).copied().unwrap_or(BlockHash::ZERO);
                if frontier != row.head_hash {
                    look.insert(row.account);
                }
            }
        }
        let results = stream::iter(look)
            .map(|account| async move { (account, self.recover_account(&account).await) })
            .buffer_unordered(self.options.parallel.max(1))
            .collect::<Vec<_>>()
            .await;
        for (account, result) in results {
            match result {
                Ok(step) => {
                    found.adopted += usize::from(step.adopted);
                    found.confirmed += step.confirmed;
                    found.pending += step.pending;
                    if let Some(reason) = step.held_up {
                        found.held_up.insert(Address::from(account).to_string(), reason);
                    }
                }
                Err(error) => {
                    found.held_up.insert(Address::from(account).to_string(), error.to_string());
                }
            }
        }
        self.bell.notify_one();
        Ok(found)
    }

    /// One question for many blocks: after a crash most are confirmed long since.
    async fn confirm_in_bulk(&self, found: &mut Recovery) -> Result<(), EscrowError> {
        let open: Vec<BlockRow> = {
            let mut conn = self.journal.read().await?;
            rows::all_pending_blocks(&mut conn).await?
        };
        found.open_blocks = open.len();
        for batch in open.chunks(BATCH) {
            let hashes = batch.iter().map(|b| b.hash).collect();
            let answer = self.node.ask(BlocksInfo { hashes }).await?;
            let now = self.now();
            let mut tx = self.journal.begin().await?;
            for block in batch {
                let Some(info) = answer.blocks.get(&block.hash) else { continue };
                if info.contents.is_some_and(|c| c.block != block.block()) {
                    continue;
                }
                if info.confirmed {
                    self.confirm_in(&mut tx, block, now).await?;
                    found.confirmed += 1;
                } else if block.state == BlockState::Signed {
                    rows::set_block_state(&mut tx, &block.hash, BlockState::Published, now).await?;
                }
            }
            self.journal.commit(tx, "recover").await?;
        }
        Ok(())
    }

    async fn recover_account(&self, account: &PublicKey) -> Result<Step, EscrowError> {
        let _lock = self.lock(*account).await;
        let mut step = Step::default();
        match self.sync(account).await {
            Ok(standing) => step.adopted = matches!(standing, super::adopt::Standing::Adopted(_)),
            Err(error @ EscrowError::Journal(JournalError::Database(_))) => return Err(error),
            Err(error) => step.held_up = Some(format!("{error} ({})", error.code())),
        }
        let progress = self.drive_locked(account).await?;
        step.confirmed = progress.confirmed;
        step.pending = progress.pending;
        step.held_up = progress.held_up.map(|(code, text)| format!("{text} ({code})")).or(step.held_up);
        Ok(step)
    }
}

#[derive(Default)]
struct Step {
    adopted: bool,
    confirmed: usize,
    pending: usize,
    held_up: Option<String>,
}
