//! The registry's side: every member, also those of whom no transaction is in the node's history, and who
//! owns them now. A sale emits no event of ours, so owners are asked again from time to time.

use crate::error::Result;
use crate::index::{Index, identify, now_s};
use crate::merge::new_agent;
use crate::store::{AgentRow, Commit, Find, fixed, signed, unsigned};
use futures_util::{StreamExt, stream};
use solana_address::Address;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::registry::{AgentRecord, Delegate};

/// Agents that are asked for in one go.
const AT_ONCE: usize = 8;

/// The job.
#[derive(Debug, Clone)]
pub struct Registry {
    index: Arc<Index>,
}

type Found = (AgentRow, Option<AgentRecord>, Vec<Delegate>);

impl Registry {
    /// Of this index.
    pub fn new(index: Arc<Index>) -> Self {
        Self { index }
    }

    /// Looks until cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let pause = Duration::from_secs(self.index.config.chain.registry_secs.max(1));
        loop {
            if let Err(error) = self.look().await {
                tracing::warn!(code = error.code(), %error, "the registry could not be read");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// New members, agents that nothing is known of, and those that were asked for longest ago.
    ///
    /// # Errors
    ///
    /// The chain's and the store's.
    pub async fn look(&self) -> Result<()> {
        let index = &self.index;
        let newest = index.store.agents(Find::all().newest(&["number", "mint"]).limit(1)).await?;
        // Numbers are given without holes; one that is known out of order only means asking again.
        let known = match newest.first() {
            Some(row) if row.number > 0 => self.numbers_without_hole(row.number).await?,
            _ => 0,
        };
        let members = index.ledger.members(known).await?;
        let mut new = Vec::new();
        for (number, mint, member_index) in members {
            let mint = mint.to_bytes();
            if index.agent_row(&mint).await?.is_none_or(|row| row.number == 0) {
                new.push((number, mint, member_index));
            }
        }
        if !new.is_empty() {
            let _writer = index.writer().await;
            let mut agents = Vec::new();
            for (number, mint, member_index) in new {
                let mut row = index.agent_row(&mint).await?.unwrap_or_else(|| new_agent(mint));
                row.number = signed(number);
                row.member_index = Some(member_index.to_bytes().to_vec());
                agents.push(row);
            }
            index.write_rows(Commit { agents, ..Commit::default() }).await?;
        }
        // Page after page, so that one that cannot be asked for does not hold up the others.
        let mut find = Find::by("identified", 0).order(&["mint"]).limit(256);
        loop {
            let unknown = index.store.agents(find.clone()).await?;
            let Some(last) = unknown.last() else { break };
            find.after = vec![last.mint.clone().into()];
            self.ask(unknown).await?;
        }
        let before = now_s().saturating_sub(signed(index.config.chain.owners_secs));
        let stale = Find::all().and("identified", ">", 0).and("identified", "<", before);
        let stale = index.store.agents(stale.order(&["identified", "mint"]).limit(64)).await?;
        self.ask(stale).await
    }

    async fn numbers_without_hole(&self, newest: i64) -> Result<u64> {
        let count = self.index.store.agents(Find::all().and("number", ">", 0)).await?.len();
        let complete = i64::try_from(count).is_ok_and(|count| count == newest);
        Ok(if complete { unsigned(newest) } else { 0 })
    }

    async fn ask(&self, rows: Vec<AgentRow>) -> Result<()> {
        let index = &self.index;
        let ask = |row: AgentRow| async move {
            let mint = Address::new_from_array(fixed(&row.mint));
            let record = index.ledger.agent(mint).await?;
            let delegates = if record.is_some() { index.ledger.delegates(mint).await? } else { Vec::new() };
            Ok::<Found, crate::error::Error>((row, record, delegates))
        };
        let found: Vec<Result<Found>> = stream::iter(rows).map(ask).buffer_unordered(AT_ONCE).collect().await;
        let _writer = index.writer().await;
        let (mut agents, now) = (Vec::new(), now_s());
        for found in found {
            let (row, record, delegates) = match found {
                Ok(found) => found,
                Err(error) => {
                    tracing::debug!(%error, "an agent could not be asked for");
                    continue;
                }
            };
            // The row may have changed meanwhile.
            let mint = fixed(&row.mint);
            let Some(mut row) = index.agent_row(&mint).await? else { continue };
            match record {
                Some(record) => identify(&mut row, &record, &delegates, now),
                // Not of the registry: an account with a stake under an address that is no agent any more.
                None => row.identified = now,
            }
            agents.push(row);
        }
        if agents.is_empty() {
            return Ok(());
        }
        index.write_rows(Commit { agents, ..Commit::default() }).await
    }
}
