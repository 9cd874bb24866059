//! What somebody claims of an agent's accounts, compared with the accounts themselves.

use super::error::Result;
use super::{Client, Stored};
use crate::pda;
use serde::{Deserialize, Serialize};
use solana_address::Address;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use zx1_interface::accounts::{
    AskAccount, BatchAccount, ChallengeAccount, FeedbackLogAccount, HeadAccount, KeyAccount, LeaseAccount,
    StakeLockAccount, TenureAccount,
};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::MicroUsdc;

/// Differences that are listed at most.
const MOST: usize = 1_000;

/// Something that the index says and the chain does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Difference {
    /// `tenure`, `key`, `stake`, `lease`, `head`, `batch`, `challenge`, `ask`, `feedback log`, `events`.
    pub what: String,
    /// The account, base58.
    pub account: String,
    /// The agent, base58.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub agent: Option<AgentId>,
    /// The value in the index.
    pub index: String,
    /// The value on chain.
    pub chain: String,
    /// The difference as a sentence.
    pub sentence: String,
}

/// Result of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Audit {
    /// When the audit ran, in Unix seconds.
    pub at: i64,
    /// The index's slot.
    pub slot: u64,
    /// Accounts that were compared.
    pub accounts: usize,
    /// Events that those accounts count.
    pub events: u64,
    /// Accounts and counts in which the index and the chain differ; empty when they agree.
    pub differences: Vec<Difference>,
}

/// What is claimed.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    /// Agents by mint.
    pub agents: BTreeMap<AgentId, AgentClaim>,
    /// Stakes by agent and era.
    pub stakes: BTreeMap<(AgentId, u32), StakeClaim>,
    /// Keys by agent and key, ended ones too; none where they are not claimed.
    pub keys: Option<BTreeMap<(AgentId, Address), KeyClaim>>,
    /// Batches by agent and epoch.
    pub batches: BTreeMap<(AgentId, u64), BatchClaim>,
    /// Challenges by address and slot of submission.
    pub challenges: BTreeMap<(Address, u64), ChallengeClaim>,
    /// States of asks by address and slot of creation; none where they are not claimed.
    pub asks: Option<BTreeMap<(Address, u64), u8>>,
    /// Events of each account by its address and the slot of its creation; none where that is not claimed.
    pub events: Option<BTreeMap<(Address, u64), u64>>,
    /// The feedback log's head.
    pub log_head: Option<[u8; 32]>,
}

impl Claims {
    /// The agent of an account, and what is claimed of it.
    fn of_agent(&self, mint: [u8; 32]) -> (Option<AgentId>, AgentClaim) {
        let agent = AgentId(mint);
        (Some(agent), self.agents.get(&agent).copied().unwrap_or_default())
    }
}

/// What is claimed of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentClaim {
    /// Its tenure, if it has one.
    pub tenure: Option<TenureClaim>,
    /// The last epoch that is paid for.
    pub paid_through: Option<u64>,
    /// Batches that were submitted.
    pub batches: u64,
    /// The digest over them.
    pub head_digest: [u8; 32],
}

/// What is claimed of a tenure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TenureClaim {
    /// Its number, from 1.
    pub number: u32,
    /// The present era.
    pub era: u32,
    /// Wallet whose turn it is.
    pub owner: Address,
}

impl Display for TenureClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.number, self.era, self.owner)
    }
}

/// What is claimed of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyClaim {
    /// Sum of 1 pay, 2 batch, 4 deal, 8 peer.
    pub scopes: u8,
    /// First epoch in which it acts and counts.
    pub from_epoch: u64,
    /// Last epoch in which it counts; 2^64-1 while it is open.
    pub until_epoch: u64,
}

impl Display for KeyClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.scopes, self.from_epoch, self.until_epoch)
    }
}

/// What is claimed of an era's stake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StakeClaim {
    /// What is locked.
    pub stake: MicroUsdc,
    /// The slot from which a queued unlock is over.
    pub unlock_slot: Option<u64>,
    /// Whether the era has ended: taken over, followed by another one, or slashed.
    pub ended: bool,
    /// Challenges that are not settled.
    pub open_challenges: u64,
}

/// What is claimed of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the batch account's fields")]
pub struct BatchClaim {
    pub batch_hash: [u8; 32],
    pub log_merkle_root: [u8; 32],
    pub arrays_root: [u8; 32],
    /// Whether a leaf that was asked for was not shown.
    pub withheld: bool,
}

impl Display for BatchClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [batch, log, arrays] = [self.batch_hash, self.log_merkle_root, self.arrays_root].map(hex::encode);
        write!(f, "{batch}/{log}/{arrays}/{}", if self.withheld { "withheld" } else { "served" })
    }
}

/// What is claimed of a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChallengeClaim {
    /// 0 open, 1 answered, 2 the agent was slashed, 3 nothing was left.
    pub outcome: u8,
    /// Who challenges now; the first may have been replaced.
    pub challenger: Address,
}

impl Display for ChallengeClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.outcome, self.challenger)
    }
}

const NOTHING: &str = "nothing";

fn text(value: Option<impl Display>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), |value| value.to_string())
}

/// The accounts that claims are about.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names are those of the account types")]
pub struct Accounts {
    pub tenures: Vec<Stored<TenureAccount>>,
    pub keys: Vec<Stored<KeyAccount>>,
    pub stakes: Vec<Stored<StakeLockAccount>>,
    pub leases: Vec<Stored<LeaseAccount>>,
    pub heads: Vec<Stored<HeadAccount>>,
    pub batches: Vec<Stored<BatchAccount>>,
    pub challenges: Vec<Stored<ChallengeAccount>>,
    pub asks: Vec<Stored<AskAccount>>,
    pub log: Option<FeedbackLogAccount>,
}

impl Accounts {
    /// Reads all of them.
    pub async fn read(client: &Client) -> Result<Self> {
        Ok(Self {
            tenures: client.all(&[]).await?,
            keys: client.all(&[]).await?,
            stakes: client.all(&[]).await?,
            leases: client.all(&[]).await?,
            heads: client.all(&[]).await?,
            batches: client.all(&[]).await?,
            challenges: client.all(&[]).await?,
            asks: client.all(&[]).await?,
            log: client.feedback_log().await?.map(|stored| stored.value),
        })
    }

    /// Number of accounts.
    pub fn count(&self) -> usize {
        let counts = [
            self.tenures.len(),
            self.keys.len(),
            self.stakes.len(),
            self.leases.len(),
            self.heads.len(),
            self.batches.len(),
            self.challenges.len(),
            self.asks.len(),
        ];
        counts.into_iter().fold(usize::from(self.log.is_some()), usize::saturating_add)
    }
}

struct Comparison {
    differences: Vec<Difference>,
    events: u64,
}

impl Comparison {
    fn same(
        &mut self,
        what: &str,
        account: &Address,
        agent: Option<AgentId>,
        index: impl Display,
        chain: impl Display,
    ) {
        let (index, chain) = (index.to_string(), chain.to_string());
        if index == chain || self.differences.len() >= MOST {
            return;
        }
        let of = agent.map(|agent| format!(" of the agent {agent}")).unwrap_or_default();
        self.differences.push(Difference {
            what: what.to_owned(),
            account: account.to_string(),
            sentence: format!(
                "The index says {index} and the chain says {chain} for the {what}{of} ({account})."
            ),
            agent,
            index,
            chain,
        });
    }

    fn keys(&mut self, claims: &Claims, keys: &[Stored<KeyAccount>]) {
        let mut seen: BTreeSet<(AgentId, Address)> = BTreeSet::new();
        for key in keys {
            let at = (AgentId(key.agent), Address::new_from_array(key.key));
            let (scopes, from_epoch, until_epoch) = (key.scopes, key.from_epoch, key.until_epoch);
            seen.insert(at);
            if let Some(claimed) = &claims.keys {
                let on_chain = KeyClaim { scopes, from_epoch, until_epoch };
                self.same("key", &key.address, Some(at.0), text(claimed.get(&at)), on_chain);
            }
            self.events(claims, &key.address, Some(at.0), key.created_slot, key.event_sequence);
        }
        for (at, claimed) in claims.keys.iter().flatten().filter(|(at, _)| !seen.contains(*at)) {
            self.same("key", &pda::key(&at.0, &at.1), Some(at.0), claimed, NOTHING);
        }
    }

    fn events(
        &mut self,
        claims: &Claims,
        account: &Address,
        agent: Option<AgentId>,
        created: u64,
        on_chain: u64,
    ) {
        self.events = self.events.saturating_add(on_chain);
        let Some(events) = &claims.events else { return };
        let here = events.get(&(*account, created)).copied().unwrap_or(0);
        self.same("events", account, agent, here, on_chain);
    }
}

/// Compares. `slot` is that of the claims, `at` the time of the audit in Unix seconds.
pub fn compare(claims: &Claims, accounts: &Accounts, slot: u64, at: i64) -> Audit {
    let mut found = Comparison { differences: Vec::new(), events: 0 };
    let mut seen: BTreeSet<AgentId> = BTreeSet::new();
    for tenure in &accounts.tenures {
        let (mint, agent) = claims.of_agent(tenure.agent);
        seen.extend(mint);
        let (number, era, owner) = (tenure.number, tenure.era, Address::new_from_array(tenure.owner));
        found.same("tenure", &tenure.address, mint, text(agent.tenure), TenureClaim { number, era, owner });
        found.events(claims, &tenure.address, mint, tenure.created_slot, tenure.event_sequence);
    }
    for (mint, agent) in claims.agents.iter().filter(|(mint, _)| !seen.contains(*mint)) {
        if let Some(tenure) = agent.tenure {
            found.same("tenure", &pda::tenure(mint), Some(*mint), tenure, NOTHING);
        }
    }
    found.keys(claims, &accounts.keys);
    let mut seen: BTreeSet<(AgentId, u32)> = BTreeSet::new();
    for stake in &accounts.stakes {
        let (agent, era) = (AgentId(stake.agent_mint), stake.era);
        seen.insert((agent, era));
        let (mint, claimed) = (Some(agent), claims.stakes.get(&(agent, era)));
        found.same("stake", &stake.address, mint, text(claimed.map(|it| it.stake.0)), stake.stake_usdc);
        let claimed = claimed.copied().unwrap_or_default();
        found.same("open challenges", &stake.address, mint, claimed.open_challenges, stake.open_challenges);
        let unlock = (stake.in_unlock_queue == 1).then_some(stake.unlock_available_slot);
        found.same("unlock", &stake.address, mint, text(claimed.unlock_slot), text(unlock));
        found.same("end of the era", &stake.address, mint, claimed.ended, stake.ended_slot != 0);
        found.events(claims, &stake.address, mint, stake.created_slot, stake.event_sequence);
    }
    for ((mint, era), stake) in claims.stakes.iter().filter(|(key, _)| !seen.contains(*key)) {
        found.same("stake", &pda::stake(mint, *era), Some(*mint), stake.stake.0, NOTHING);
    }
    for lease in &accounts.leases {
        let (mint, agent) = claims.of_agent(lease.agent_id);
        found.same("lease", &lease.address, mint, text(agent.paid_through), lease.paid_through_epoch);
        found.events(claims, &lease.address, mint, lease.created_slot, lease.event_sequence);
    }
    for head in &accounts.heads {
        let (mint, agent) = claims.of_agent(head.agent_id);
        found.same("number of batches", &head.address, mint, agent.batches, head.count);
        found.same("head", &head.address, mint, hex::encode(agent.head_digest), hex::encode(head.digest));
        found.events(claims, &head.address, mint, head.created_slot, head.event_sequence);
    }
    for batch in &accounts.batches {
        let agent = AgentId(batch.agent_id);
        let claimed = claims.batches.get(&(agent, batch.epoch_number));
        let on_chain = BatchClaim {
            batch_hash: batch.batch_hash,
            log_merkle_root: batch.log_merkle_root,
            arrays_root: batch.arrays_root,
            withheld: batch.withheld != 0,
        };
        found.same("batch", &batch.address, Some(agent), text(claimed), on_chain);
    }
    for challenge in &accounts.challenges {
        let mint = Some(AgentId(challenge.agent_id));
        let claimed = claims.challenges.get(&(challenge.address, challenge.submitted_slot));
        let on_chain = ChallengeClaim {
            outcome: challenge.outcome,
            challenger: Address::new_from_array(challenge.challenger),
        };
        found.same("challenge", &challenge.address, mint, text(claimed), on_chain);
        found.events(claims, &challenge.address, mint, challenge.submitted_slot, challenge.event_sequence);
    }
    for ask in &accounts.asks {
        let mint = Some(AgentId(ask.agent_id));
        if let Some(asks) = &claims.asks {
            let claimed = asks.get(&(ask.address, ask.created_slot));
            found.same("ask", &ask.address, mint, text(claimed), ask.state);
        }
        found.events(claims, &ask.address, mint, ask.created_slot, ask.event_sequence);
    }
    if let Some(log) = &accounts.log {
        let address = pda::feedback_log();
        if let Some(head) = claims.log_head {
            found.same("feedback log", &address, None, hex::encode(head), hex::encode(log.head));
        }
        found.events(claims, &address, None, log.created_slot, log.event_sequence);
    }
    Audit { at, slot, accounts: accounts.count(), events: found.events, differences: found.differences }
}

impl Audit {
    /// Keeps the differences that an earlier audit found too.
    pub fn keep_lasting(&mut self, before: &Self) {
        let lasts = |now: &Difference| {
            before.differences.iter().any(|then| then.what == now.what && then.account == now.account)
        };
        self.differences.retain(lasts);
    }
}
