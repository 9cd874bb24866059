//! What the chain says about an agent, read at once and judged by the protocol's own rules.

use crate::error::Result;
use crate::operator::{Agent, Operator};
use crate::send::outbox;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::pda;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChainTime, ChallengeFilter, Client};
use zx1_interface::accounts::{HeadAccount, LeaseAccount, StakeLockAccount};
use zx1_interface::constants::{
    CHALLENGE_WINDOW_SLOTS, GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH, MIN_STAKE,
};
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};
use zx1_protocol::unlock::{ClaimFacts, Unlock};

/// The accounts that hang on an agent, and the chain's clock.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Accounts {
    pub time: ChainTime,
    pub stake: Option<StakeLockAccount>,
    pub lease: Option<LeaseAccount>,
    pub head: Option<HeadAccount>,
}

impl Accounts {
    /// Reads the clock and the three accounts of an agent from the cluster, in four concurrent requests.
    pub async fn read(client: &Client, agent: AgentId) -> Result<Self> {
        let (time, stake, lease, head) =
            tokio::try_join!(client.time(), client.stake(agent), client.lease(agent), client.head(agent))?;
        Ok(Self {
            time,
            stake: stake.map(|stored| stored.value),
            lease: lease.map(|stored| stored.value),
            head: head.map(|stored| stored.value),
        })
    }

    /// The lease as it counts now.
    pub fn lease_report(&self, agent: AgentId) -> LeaseReport {
        LeaseReport::new(agent, self.lease.as_ref(), self.time)
    }

    /// The stake as it counts now; `None` when there is none.
    pub fn stake_report(&self, agent: AgentId) -> Option<StakeReport> {
        let stake = self.stake.as_ref()?;
        let unlock = Unlock {
            queued: stake.in_unlock_queue != 0,
            queued_slot: Slot(stake.queued_slot),
            available: Slot(stake.unlock_available_slot),
        };
        let lease = self.lease.as_ref();
        let facts = ClaimFacts {
            now: Slot(self.time.slot),
            lease_deactivated_or_absent: lease.is_none_or(|lease| !is_live(lease, self.time)),
            lease_last_paid: lease.map(|lease| Slot(lease.last_paid_slot)),
            open_challenges: stake.open_challenges,
            last_batch: self.head.as_ref().map(|head| Slot(head.last_slot)),
        };
        let refused = unlock.check_claim(&facts).err().map(|error| error.to_string());
        Some(StakeReport {
            agent,
            owner: Address::new_from_array(stake.owner).to_string(),
            stake_micro_usdc: MicroUsdc(stake.stake_usdc),
            minimum_micro_usdc: MicroUsdc(MIN_STAKE),
            is_enough: stake.stake_usdc >= MIN_STAKE,
            open_challenges: stake.open_challenges,
            unlock_queued: unlock.queued,
            unlock_available_slot: unlock.queued.then_some(stake.unlock_available_slot),
            slots_until_available: unlock
                .queued
                .then(|| stake.unlock_available_slot.saturating_sub(self.time.slot)),
            claimable: refused.is_none(),
            not_claimable_because: refused.filter(|_| unlock.queued),
            slot: self.time.slot,
            account: pda::stake(&agent).to_string(),
            vault: pda::stake_vault(&agent).to_string(),
        })
    }
}

/// A challenge against an agent that is not resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct OpenChallenge {
    pub address: String,
    pub epoch: u64,
    pub answered: bool,
    pub deadline_slot: u64,
    /// 0 when the window is over.
    pub slots_left: u64,
}

impl OpenChallenge {
    /// A challenge that was submitted in one slot, seen in another.
    pub fn new(address: Address, epoch: u64, answered: bool, submitted_slot: u64, slot: u64) -> Self {
        let deadline_slot = submitted_slot.saturating_add(CHALLENGE_WINDOW_SLOTS);
        let slots_left = deadline_slot.saturating_sub(slot);
        Self { address: address.to_string(), epoch, answered, deadline_slot, slots_left }
    }
}

/// The challenges against an agent that are not resolved, as of this slot.
pub async fn open_challenges(client: &Client, agent: AgentId, slot: u64) -> Result<Vec<OpenChallenge>> {
    let all = client.challenges(ChallengeFilter::Agent(agent)).await?;
    let open = all
        .iter()
        .filter(|challenge| challenge.resolved == 0)
        .map(|it| OpenChallenge::new(it.address, it.epoch_number, it.answered != 0, it.submitted_slot, slot));
    Ok(open.collect())
}

fn is_live(lease: &LeaseAccount, time: ChainTime) -> bool {
    Lease { paid_through: Epoch(lease.paid_through_epoch) }.is_live(Epoch(time.epoch))
}

/// An agent's stake, for people and scripts.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StakeReport {
    pub agent: AgentId,
    /// The owner that the stake recorded last.
    pub owner: String,
    pub stake_micro_usdc: MicroUsdc,
    /// The smallest stake that counts.
    pub minimum_micro_usdc: MicroUsdc,
    pub is_enough: bool,
    /// Challenges that are not resolved.
    pub open_challenges: u32,
    /// Whether an unlock is queued.
    pub unlock_queued: bool,
    /// The slot in which the unlock's delay is over.
    pub unlock_available_slot: Option<u64>,
    /// Slots until then; 0 when the delay is over.
    pub slots_until_available: Option<u64>,
    /// Whether the stake can be claimed now.
    pub claimable: bool,
    /// Why a queued stake cannot be claimed.
    pub not_claimable_because: Option<String>,
    /// The slot of this view.
    pub slot: u64,
    pub account: String,
    pub vault: String,
}

/// An agent's lease, for people and scripts.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LeaseReport {
    pub agent: AgentId,
    /// "none", "active", "grace" or "deactivated".
    pub state: &'static str,
    /// The last epoch that is paid for.
    pub paid_through_epoch: Option<u64>,
    pub epoch: u64,
    /// Epochs paid for beyond this one.
    pub days_left: u64,
    /// Epochs unpaid, this one included.
    pub days_behind: u64,
    /// What makes it active again, or begins it; 0 when it is active.
    pub due_micro_usdc: MicroUsdc,
    /// The epochs to name in `lease pay` for that.
    pub due_epochs: u64,
    /// Seconds until this epoch ends.
    pub seconds_left_in_epoch: u64,
    pub account: String,
}

impl LeaseReport {
    fn new(agent: AgentId, lease: Option<&LeaseAccount>, time: ChainTime) -> Self {
        let now = Epoch(time.epoch);
        let stored = lease.map(|lease| Lease { paid_through: Epoch(lease.paid_through_epoch) });
        let behind = stored.map_or(0, |lease| now.since(lease.paid_through));
        let (state, due_epochs, charged) = match stored.map(|lease| lease.state(now)) {
            None => ("none", 1, 1),
            Some(LeaseState::Active) => ("active", 0, 0),
            Some(LeaseState::Grace) => ("grace", behind, behind),
            Some(LeaseState::Deactivated) => ("deactivated", 1, GRACE_PERIOD_EPOCHS.saturating_add(1)),
        };
        // Far from overflow: an epoch is a day.
        let due = MicroUsdc(LEASE_COST_PER_EPOCH).checked_mul(charged).unwrap_or(MicroUsdc(u64::MAX));
        let day = zx1_interface::constants::EPOCH_SECONDS;
        let into_day = u64::try_from(time.unix).unwrap_or(0).checked_rem(day).unwrap_or(0);
        Self {
            agent,
            state,
            paid_through_epoch: stored.map(|lease| lease.paid_through.0),
            epoch: time.epoch,
            days_left: stored.map_or(0, |lease| lease.paid_through.since(now)),
            days_behind: behind,
            due_micro_usdc: due,
            due_epochs,
            seconds_left_in_epoch: day.saturating_sub(into_day),
            account: pda::lease(&agent).to_string(),
        }
    }
}

/// What the chain knows of an agent.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct AgentStatus {
    pub mint: String,
    pub local_name: Option<String>,
    pub registered: bool,
    /// The name that it has in the registry.
    pub name: Option<String>,
    pub member_number: Option<u64>,
    pub owner: Option<String>,
    pub soulbound: Option<bool>,
    pub stake: Option<StakeReport>,
    pub lease: LeaseReport,
    pub batches: Option<BatchStatus>,
    /// Those that are not resolved.
    pub challenges: Vec<OpenChallenge>,
    /// Number of live delegates.
    pub delegates: usize,
}

/// What the cluster, the wallet and the outbox hold for one party.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Status {
    pub cluster: String,
    pub genesis: String,
    pub slot: u64,
    pub unix: i64,
    pub epoch: u64,
    pub wallet: Option<String>,
    pub lamports: Option<u64>,
    pub usdc_micro_usdc: Option<MicroUsdc>,
    pub agent: Option<AgentStatus>,
    /// Transactions that were sent and whose outcome is unknown.
    pub unfinished: Vec<String>,
}

impl Operator {
    /// Reads everything about a wallet and an agent.
    ///
    /// # Errors
    /// The cluster's, and 7080 to 7082 for the outbox.
    pub async fn status(&self, wallet: Option<Address>, agent: Option<&Agent>) -> Result<Status> {
        let (client, identity) = (self.client(), &self.chain.identity);
        let (time, config) = tokio::try_join!(client.time(), client.config())?;
        let (lamports, usdc) = match wallet {
            Some(wallet) => {
                let mint = Address::new_from_array(config.usdc_mint);
                let (sol, usdc) =
                    tokio::try_join!(client.lamports(wallet), client.usdc_balance(wallet, mint))?;
                (Some(sol), Some(usdc))
            }
            None => (None, None),
        };
        let agent = match agent {
            Some(agent) => Some(agent_status(client, agent).await?),
            None => None,
        };
        let records = outbox(&self.home)?.records()?;
        Ok(Status {
            cluster: identity.to_string(),
            genesis: identity.genesis.clone(),
            slot: time.slot,
            unix: time.unix,
            epoch: time.epoch,
            wallet: wallet.map(|wallet| wallet.to_string()),
            lamports,
            usdc_micro_usdc: usdc,
            agent,
            unfinished: records.into_iter().map(|record| record.title).collect(),
        })
    }
}

/// An agent's batches so far.
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct BatchStatus {
    pub count: u64,
    pub last_epoch: u64,
    pub last_slot: u64,
}

/// Asks the registry and the programs for everything about an agent.
///
/// # Errors
/// The cluster's.
async fn agent_status(client: &Client, agent: &Agent) -> Result<AgentStatus> {
    let mint = agent.mint;
    let registry = Sati::connect(client).await?;
    let (record, delegates) = tokio::try_join!(registry.look_up(mint), registry.delegates(mint))?;
    let accounts = Accounts::read(client, mint).await?;
    Ok(AgentStatus {
        mint: mint.to_string(),
        local_name: agent.name.clone(),
        registered: record.is_some(),
        name: record.as_ref().map(|record| record.metadata.name.clone()),
        member_number: record.as_ref().map(|record| record.member_number),
        owner: record.as_ref().and_then(|record| record.owner).map(|owner| owner.to_string()),
        soulbound: record.as_ref().map(|record| record.soulbound),
        stake: accounts.stake_report(mint),
        lease: accounts.lease_report(mint),
        batches: accounts.head.as_ref().map(|head| BatchStatus {
            count: head.count,
            last_epoch: head.last_epoch,
            last_slot: head.last_slot,
        }),
        challenges: open_challenges(client, mint, accounts.time.slot).await?,
        delegates: delegates.iter().filter(|delegate| delegate.live).count(),
    })
}
