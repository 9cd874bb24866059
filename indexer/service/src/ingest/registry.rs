//! The registry's side: every member, also those of whom no transaction is in the node's history, and who
//! owns them now. A sale emits no event of ours: it moves the NFT out of its token account. So those accounts
//! are looked at every few seconds, a hundred a question, and everything else about an agent from time to time.

use crate::error::Result;
use crate::index::{Index, identify, now_s};
use crate::merge::new_agent;
use crate::store::{AgentRow, Commit, Find, fixed, signed, unsigned};
use futures_util::{StreamExt, stream};
use solana_address::Address;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::RawAccount;
use zx1_chain::rpc::registry::{AgentRecord, Delegate};
use zx1_chain::token;
use zx1_interface::external;
use zx1_protocol::ids::AgentId;

/// Agents that are asked for in one go.
const AT_ONCE: usize = 8;

/// The job that follows the registry.
#[derive(Debug, Clone)]
pub struct Registry {
    index: Arc<Index>,
    /// The mint after which the next look at token accounts begins.
    checked: Arc<Mutex<Option<AgentId>>>,
}

type Found = (AgentRow, Option<AgentRecord>, Vec<Delegate>);

impl Registry {
    /// Creates the job for an index.
    pub fn new(index: Arc<Index>) -> Self {
        Self { index, checked: Arc::default() }
    }

    /// Asks the registry for new and changed agents until cancelled.
    pub async fn run(self, cancel: CancellationToken) {
        let chain = &self.index.config.chain;
        let pause = Duration::from_secs(chain.registry_secs.max(1));
        let members = async {
            loop {
                if let Err(error) = self.look().await {
                    tracing::warn!(code = error.code(), %error, "the registry could not be read");
                }
                tokio::time::sleep(pause).await;
            }
        };
        let owners = async {
            if chain.owner_check_secs == 0 {
                return std::future::pending().await;
            }
            loop {
                tokio::time::sleep(Duration::from_secs(chain.owner_check_secs)).await;
                if let Err(error) = self.check().await {
                    tracing::warn!(code = error.code(), %error, "owners could not be looked at");
                }
            }
        };
        tokio::select! {
            () = cancel.cancelled() => {}
            () = members => {}
            () = owners => {}
        }
    }

    /// Looks whether agents' NFTs lie where they lay; whoever's does not is asked for at the registry.
    ///
    /// # Errors
    ///
    /// The chain's and the store's.
    pub async fn check(&self) -> Result<()> {
        let index = &self.index;
        index.identify().await?;
        let most = index.config.chain.owner_checks.max(1);
        let after = *self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut find = Find::all().sure("token IS NOT NULL AND soulbound = 0");
        find = find.order(&["mint"]).limit(most.into());
        find.after = after.into_iter().map(Into::into).collect();
        let rows = index.store.agents(find).await?;
        let is_full = u32::try_from(rows.len()).is_ok_and(|count| count == most);
        let last = rows.last().filter(|_| is_full).map(|row| row.mint);
        *self.checked.lock().unwrap_or_else(PoisonError::into_inner) = last;
        let token = |row: &AgentRow| Address::new_from_array(fixed(row.token.as_deref().unwrap_or_default()));
        let addresses: Vec<Address> = rows.iter().map(token).collect();
        if addresses.is_empty() {
            return Ok(());
        }
        let accounts = index.ledger.accounts(&addresses).await?;
        let moved = rows.into_iter().zip(accounts).filter(|(row, account)| !holds(row, account.as_ref()));
        let moved: Vec<AgentRow> = moved.map(|(row, _)| row).collect();
        if moved.is_empty() { Ok(()) } else { self.ask(moved).await }
    }

    /// New members, agents that nothing is known of, and those that were asked for longest ago.
    ///
    /// # Errors
    ///
    /// The chain's and the store's.
    pub async fn look(&self) -> Result<()> {
        let index = &self.index;
        index.identify().await?;
        let newest = index.store.agents(Find::all().newest(&["number", "mint"]).limit(1)).await?;
        // Numbers are given without holes; one that is known out of order only means asking again.
        let known = match newest.first() {
            Some(row) if row.number > 0 => self.numbers_without_hole(row.number).await?,
            _ => 0,
        };
        let members = index.ledger.members(known).await?;
        let mut new = Vec::new();
        for (number, mint, member_index) in members {
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
            find.after = vec![last.mint.into()];
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
            let record = index.ledger.agent(row.mint).await?;
            let delegates =
                if record.is_some() { index.ledger.delegates(row.mint).await? } else { Vec::new() };
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
            let Some(mut row) = index.agent_row(&row.mint).await? else { continue };
            match record {
                Some(record) => identify(&mut row, &record, &delegates, now),
                // Not of the registry: an account with a stake under an address that is not an agent any more.
                None => (row.identified, row.token) = (now, None),
            }
            agents.push(row);
        }
        if agents.is_empty() {
            return Ok(());
        }
        index.write_rows(Commit { agents, ..Commit::default() }).await
    }
}

/// Whether this token account still holds the agent's NFT for the owner that is known.
fn holds(row: &AgentRow, account: Option<&RawAccount>) -> bool {
    let account = account.filter(|account| account.owner == token::TOKEN_2022_PROGRAM);
    account.and_then(|account| external::token_account(&account.data)).is_some_and(|token| {
        token.amount == 1 && token.mint == row.mint.0 && row.owner.as_deref() == Some(token.owner.as_slice())
    })
}
