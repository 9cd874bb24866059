//! What the mesh's gate must know of agents, of a hundred of them in a few calls: whether they are registered, under
//! which keys, with which stake and lease.
//!
//! Two rounds of getMultipleAccounts: mint, tenure, lease and keys; then what follows from those, the registry's
//! index of the mint's number and the stake of the tenure's era. What is decided from accounts is pure.

use super::client::Client;
use super::error::Result;
use super::read::{RawAccount, Stored};
use super::registry::{indexed_mint, member};
use crate::{pda, sati};
use futures_util::future::try_join_all;
use solana_address::Address;
use solana_rpc_client_api::request::RpcRequest;
use std::mem::offset_of;
use zx1_interface::Layout;
use zx1_interface::accounts::{Config, KeyAccount, LeaseAccount, StakeLockAccount, TenureAccount};
use zx1_interface::constants::MAX_LIVE_KEYS;
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::keys::{AgentKey, OPEN};
use zx1_protocol::lease::Lease;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

/// How many agents' keys are listed at once.
const LISTINGS: usize = 8;

const OPEN_BYTES: [u8; 8] = OPEN.to_le_bytes();

/// An agent to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Mint of the agent.
    pub agent: AgentId,
    /// Keys whose accounts are read. Of no effect with `all_keys`.
    pub keys: Vec<WalletKey>,
    /// Whether all of its live keys are listed, which is one call more.
    pub all_keys: bool,
}

/// The stake of the era in which an agent's batches land now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentStake {
    /// What is locked.
    pub amount: MicroUsdc,
    /// Whether it is queued for unlock.
    pub is_queued: bool,
}

/// A registered agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its live keys among those that were asked for, also those whose first epoch is still to come (decision P1). A
    /// take-over ends all keys of the former tenure; until then they are the agent's.
    pub keys: Vec<AgentKey>,
    /// Whether `keys` are all that there are.
    pub has_all_keys: bool,
    /// Its stake. None before the first tenure, when nothing is locked in the present era, and when that has ended.
    pub stake: Option<PresentStake>,
    /// Its lease; None before the first payment.
    pub lease: Option<Lease>,
}

impl Client {
    /// An agent's keys as whoever verifies a signature needs them, also those that have ended: what they signed in
    /// their epochs still counts. Empty: nobody signs for the agent.
    pub async fn agent_keys(&self, agent: AgentId) -> Result<Vec<AgentKey>> {
        let accounts = self.keys(agent).await?;
        Ok(accounts.iter().filter_map(|account| agent_key(&agent, account)).collect())
    }

    /// The keys whose messages a receiver takes now: those that have not ended.
    pub async fn receiving_keys(&self, agent: AgentId) -> Result<Vec<AgentKey>> {
        let accounts = self.all::<KeyAccount>(&live_keys_of(&agent)).await?;
        Ok(accounts.iter().filter_map(|account| live_key(&agent, account)).collect())
    }

    /// The present slot and the smallest stake that counts. The latter never changes, so that this is one call.
    pub async fn slot_and_min_stake(&self) -> Result<(Slot, MicroUsdc)> {
        let config = self.known_config().await?;
        Ok((self.slot().await?, MicroUsdc(config.min_stake)))
    }

    /// Reads agents, in the order in which they are asked for. None for whoever is not registered: the mint is unknown,
    /// burned, or not one of the registry (decision B3).
    ///
    /// An account that is not of its form counts as absent, so that one agent's accounts never hide another's.
    ///
    /// # Errors
    ///
    /// Those of the node and of the configuration.
    pub async fn standings(&self, wanted: &[Wanted]) -> Result<Vec<(AgentId, Option<Standing>)>> {
        let config = self.known_config().await?;
        let mut first = Vec::with_capacity(wanted.len());
        for page in wanted.chunks(LISTINGS) {
            first.extend(try_join_all(page.iter().map(|wanted| self.first_addresses(wanted))).await?);
        }
        let rows = self.rows(&first).await?;
        let members: Vec<Option<Member>> =
            wanted.iter().zip(&rows).map(|(wanted, row)| Member::read(&config, wanted, row)).collect();
        let second: Vec<Vec<Address>> =
            members.iter().map(|member| member.as_ref().map(Member::addresses).unwrap_or_default()).collect();
        let rows = self.rows(&second).await?;
        let standings = members.into_iter().zip(&rows).map(|(member, row)| member?.standing(row));
        Ok(wanted.iter().map(|wanted| wanted.agent).zip(standings).collect())
    }

    /// Mint, tenure, lease and keys.
    async fn first_addresses(&self, wanted: &Wanted) -> Result<Vec<Address>> {
        let agent = &wanted.agent;
        let mut addresses = vec![(*agent).into(), pda::tenure(agent), pda::lease(agent)];
        if wanted.all_keys {
            addresses.extend(self.live_key_addresses(agent).await?);
        } else {
            addresses.extend(wanted.keys.iter().map(|key| pda::key(agent, key)));
        }
        Ok(addresses)
    }

    async fn live_key_addresses(&self, agent: &AgentId) -> Result<Vec<Address>> {
        let program = Address::new_from_array(KeyAccount::PROGRAM);
        let [of_agent, open] = live_keys_of(agent);
        let filters = [(0, KeyAccount::DISCRIMINATOR.as_slice()), of_agent, open];
        let addresses = self.program_addresses(program, &filters).await?;
        if addresses.len() > usize::from(MAX_LIVE_KEYS) {
            let detail = format!("{} live keys of one agent", addresses.len());
            return Err(self.malformed(RpcRequest::GetProgramAccounts, detail));
        }
        Ok(addresses)
    }

    /// Accounts in rows, as they are asked for.
    async fn rows(&self, rows: &[Vec<Address>]) -> Result<Vec<Vec<Option<RawAccount>>>> {
        let mut accounts = self.accounts(&rows.concat()).await?.into_iter();
        Ok(rows.iter().map(|row| accounts.by_ref().take(row.len()).collect()).collect())
    }
}

/// What the bytes of an agent's live key accounts are, and where.
fn live_keys_of(agent: &AgentId) -> [(usize, &[u8]); 2] {
    let (of_agent, until) = (offset_of!(KeyAccount, agent), offset_of!(KeyAccount, until_epoch));
    [(8 + of_agent, agent.as_bytes()), (8 + until, &OPEN_BYTES)]
}

/// The key of an account of this agent. None also for one that is not a point of the curve, and cannot sign.
fn agent_key(agent: &AgentId, account: &KeyAccount) -> Option<AgentKey> {
    AgentKey::of(account).ok().filter(|_| account.agent == agent.0)
}

/// The same, unless the key has ended.
fn live_key(agent: &AgentId, account: &KeyAccount) -> Option<AgentKey> {
    agent_key(agent, account).filter(AgentKey::is_open)
}

/// An account of one of the five programs; None for any other.
fn stored<T: Layout>(account: Option<&RawAccount>) -> Option<T> {
    match Stored::decode(account?) {
        Ok(stored) => Some(stored.value),
        Err(error) => {
            tracing::debug!(%error, "counts as absent");
            None
        }
    }
}

/// A member of the registry's group, which is an agent if the index names it.
#[derive(Debug)]
struct Member {
    agent: AgentId,
    number: u64,
    /// None before the first tenure.
    era: Option<u32>,
    /// But for its stake.
    standing: Standing,
}

impl Member {
    /// Reads the accounts of the first round.
    fn read(config: &Config, wanted: &Wanted, row: &[Option<RawAccount>]) -> Option<Self> {
        let [mint, tenure, lease, keys @ ..] = row else { return None };
        let mint = member(config, mint.as_ref()?).filter(|mint| mint.supply != 0)?;
        let agent = wanted.agent;
        let tenure: Option<TenureAccount> = stored(tenure.as_ref());
        let lease: Option<LeaseAccount> = stored(lease.as_ref());
        let keys = keys.iter().filter_map(|key| live_key(&agent, &stored(key.as_ref())?)).collect();
        let lease = lease.map(|lease| Lease { paid_through: Epoch(lease.paid_through_epoch) });
        Some(Self {
            agent,
            number: mint.member_number,
            era: tenure.map(|tenure| tenure.era),
            standing: Standing { keys, has_all_keys: wanted.all_keys, stake: None, lease },
        })
    }

    /// The accounts of the second round.
    fn addresses(&self) -> Vec<Address> {
        let stake = self.era.map(|era| pda::stake(&self.agent, era));
        [sati::agent_index_address(self.number).0].into_iter().chain(stake).collect()
    }

    /// The agent, if that is what they make it.
    fn standing(mut self, row: &[Option<RawAccount>]) -> Option<Standing> {
        let (index, rest) = row.split_first()?;
        if index.as_ref().and_then(indexed_mint) != Some(self.agent) {
            return None;
        }
        let stake: Option<StakeLockAccount> = stored(rest.first().and_then(Option::as_ref));
        self.standing.stake = stake.filter(|stake| stake.ended_slot == 0).map(|stake| PresentStake {
            amount: MicroUsdc(stake.stake_usdc),
            is_queued: stake.in_unlock_queue != 0,
        });
        Some(self.standing)
    }
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
