//! What the chain says about an agent, read at once and judged by the protocol's own rules.

use crate::error::Result;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::pda;
use zx1_chain::rpc::{ChainTime, Client};
use zx1_interface::accounts::{HeadAccount, LeaseAccount, StakeLockAccount};
use zx1_interface::constants::{GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH, MIN_STAKE};
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
