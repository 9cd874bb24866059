//! What the chain says about an agent, read at once and judged by the protocol's own rules.

mod status;

pub use status::{AgentStatus, BatchStatus, KeyCounts, Status};

use crate::challenge;
use crate::error::Result;
use crate::keys::TenureReport;
use serde::Serialize;
use solana_address::Address;
use zx1_chain::pda;
use zx1_chain::rpc::{AskFilter, ChainTime, ChallengeFilter, Client};
use zx1_interface::accounts::{
    AskAccount, ChallengeAccount, HeadAccount, LeaseAccount, StakeLockAccount, TenureAccount,
};
use zx1_interface::constants::{GRACE_PERIOD_EPOCHS, LEASE_COST_PER_EPOCH};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::ids::AgentId;
use zx1_protocol::lease::{Lease, LeaseState};
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};
use zx1_protocol::unlock::{ClaimFacts, Unlock, check_claim_ended};

/// The accounts that hang on an agent, the chain's clock and what a cluster's amounts are.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Accounts {
    pub time: ChainTime,
    pub amounts: Amounts,
    /// Who holds the NFT; none when it was burned.
    pub holder: Option<Address>,
    pub tenure: Option<TenureAccount>,
    /// Of every era that has one, by era.
    pub stakes: Vec<StakeLockAccount>,
    pub lease: Option<LeaseAccount>,
    pub head: Option<HeadAccount>,
}

impl Accounts {
    /// Reads the clock and the accounts of an agent from the cluster, in concurrent requests. `holder` holds the
    /// NFT, as the registry has it.
    pub async fn read(client: &Client, agent: AgentId, holder: Option<Address>) -> Result<Self> {
        let (time, config, tenure, stakes, lease, head) = tokio::try_join!(
            client.time(),
            client.config(),
            client.tenure(agent),
            client.stakes(agent),
            client.lease(agent),
            client.head(agent)
        )?;
        Ok(Self {
            time,
            amounts: Amounts::of(&config),
            holder,
            tenure: tenure.map(|stored| stored.value),
            stakes: stakes.into_iter().map(|stored| stored.value).collect(),
            lease: lease.map(|stored| stored.value),
            head: head.map(|stored| stored.value),
        })
    }

    /// The lease as it counts now.
    pub fn lease_report(&self, agent: AgentId) -> LeaseReport {
        LeaseReport::new(agent, self.lease.as_ref(), self.time)
    }

    /// Whose turn the agent is.
    pub fn tenure_report(&self) -> Option<TenureReport> {
        self.tenure.as_ref().map(|tenure| TenureReport::new(tenure, self.holder))
    }

    /// The stake of the present era; `None` when there is none.
    pub fn present_stake(&self) -> Option<&StakeLockAccount> {
        let era = self.tenure.as_ref()?.era;
        self.stakes.iter().find(|stake| stake.era == era)
    }

    /// The stake of the present era as it counts now; `None` when there is none.
    pub fn stake_report(&self, agent: AgentId) -> Option<StakeReport> {
        self.present_stake().map(|stake| self.report(agent, stake))
    }

    /// The stakes of all eras, the oldest first.
    pub fn stake_reports(&self, agent: AgentId) -> Vec<StakeReport> {
        self.stakes.iter().map(|stake| self.report(agent, stake)).collect()
    }

    fn report(&self, agent: AgentId, stake: &StakeLockAccount) -> StakeReport {
        let refused = self.not_claimable(stake);
        let ended = stake.ended_slot != 0;
        // The delay of an era that ended begins by itself.
        let available = match (ended, stake.in_unlock_queue != 0) {
            (true, _) => Some(ended_available(stake)),
            (false, true) => Some(stake.unlock_available_slot),
            (false, false) => None,
        };
        let present = self.tenure.as_ref().is_some_and(|tenure| tenure.era == stake.era);
        StakeReport {
            agent,
            era: stake.era,
            is_present: present,
            owner: Address::new_from_array(stake.owner).to_string(),
            stake_micro_usdc: MicroUsdc(stake.stake_usdc),
            finders_micro_usdc: MicroUsdc(stake.pot_usdc),
            minimum_micro_usdc: MicroUsdc(self.amounts.min_stake),
            is_enough: stake.stake_usdc >= self.amounts.min_stake && !ended,
            open_challenges: stake.open_challenges,
            open_asks: stake.open_asks,
            ended_slot: ended.then_some(stake.ended_slot),
            slashed: stake.slashed_slot != 0,
            ranks_outstanding: stake.next_rank.saturating_sub(stake.settled_rank),
            unlock_queued: stake.in_unlock_queue != 0,
            unlock_available_slot: available,
            slots_until_available: available.map(|slot| slot.saturating_sub(self.time.slot)),
            claimable: refused.is_none(),
            not_claimable_because: refused.filter(|_| available.is_some()),
            slot: self.time.slot,
            account: pda::stake(&agent, stake.era).to_string(),
            vault: pda::vault(pda::shard_of(&agent)).to_string(),
        }
    }

    /// Why the wallet that locked a stake cannot claim it now, as a sentence.
    fn not_claimable(&self, stake: &StakeLockAccount) -> Option<String> {
        let now = Slot(self.time.slot);
        if stake.ended_slot != 0 {
            let (open, asks) = (stake.open_challenges, stake.open_asks);
            let checked = check_claim_ended(now, Slot(stake.ended_slot), open, asks);
            if let Err(error) = checked {
                return Some(error.to_string());
            }
            let settled = stake.pot_usdc == 0 && stake.settled_rank == stake.next_rank;
            let slashed = stake.slashed_slot != 0;
            let why = "The era was slashed, and not all of its ranks are settled.";
            return (slashed && !settled).then(|| why.to_owned());
        }
        let unlock = Unlock {
            queued: stake.in_unlock_queue != 0,
            queued_slot: Slot(stake.queued_slot),
            available: Slot(stake.unlock_available_slot),
        };
        // Who does not hold the NFT any more cannot let the lease die.
        let holds = self.holder.is_some_and(|holder| holder.to_bytes() == stake.owner);
        let lease = self.lease.as_ref().filter(|_| holds);
        let facts = ClaimFacts {
            now,
            lease_deactivated_or_absent: lease.is_none_or(|lease| !is_live(lease, self.time)),
            lease_last_paid: lease.map(|lease| Slot(lease.last_paid_slot)),
            open_challenges: stake.open_challenges,
            open_asks: stake.open_asks,
            last_batch: self.head.as_ref().filter(|head| head.count > 0).map(|head| Slot(head.last_slot)),
        };
        unlock.check_claim(&facts).err().map(|error| error.to_string())
    }
}

/// The first slot in which the stake of an era that ended can be claimed.
fn ended_available(stake: &StakeLockAccount) -> u64 {
    match check_claim_ended(Slot(0), Slot(stake.ended_slot), 0, 0) {
        Err(zx1_protocol::unlock::UnlockError::DelayNotOver { available }) => available.0,
        _ => stake.ended_slot,
    }
}

/// Slots in which something can still be done that may be done through a slot, the present one included.
pub(crate) fn slots_left(through: u64, now: u64) -> u64 {
    through.saturating_add(1).saturating_sub(now)
}

/// A challenge against an agent that is not settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct OpenChallenge {
    pub address: String,
    pub epoch: u64,
    /// Whether a record can answer it: nothing answers two bids that contradict each other.
    pub answerable: bool,
    pub deadline_slot: u64,
    /// 0 when the window is over.
    pub slots_left: u64,
}

impl OpenChallenge {
    /// A challenge, seen in a slot.
    pub fn new(address: Address, challenge: &ChallengeAccount, slot: u64) -> Self {
        let deadline_slot = challenge::clock(challenge).deadline().0;
        Self {
            address: address.to_string(),
            epoch: challenge.epoch_number,
            answerable: challenge.expected_len > 0,
            deadline_slot,
            slots_left: slots_left(deadline_slot, slot),
        }
    }
}

/// A leaf of an agent's batch that somebody asked for, and nobody showed yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct OpenAsk {
    pub address: String,
    pub epoch: u64,
    pub tree: &'static str,
    pub index: u32,
    pub deadline_slot: u64,
    /// 0 when the time is over.
    pub slots_left: u64,
}

impl OpenAsk {
    /// An ask, seen in a slot.
    pub fn new(address: Address, ask: &AskAccount, slot: u64) -> Self {
        let deadline_slot = crate::ask::deadline(ask).0;
        Self {
            address: address.to_string(),
            epoch: ask.epoch_number,
            tree: crate::ask::tree_name(ask.tree),
            index: ask.index,
            deadline_slot,
            slots_left: slots_left(deadline_slot, slot),
        }
    }
}

/// The challenges against an agent that are not settled, as of this slot.
pub async fn open_challenges(client: &Client, agent: AgentId, slot: u64) -> Result<Vec<OpenChallenge>> {
    let all = client.challenges(ChallengeFilter::Agent(agent)).await?;
    let open = all.iter().filter(|challenge| challenge.outcome == challenge::OPEN);
    Ok(open.map(|it| OpenChallenge::new(it.address, it, slot)).collect())
}

/// The leaves of an agent's batches that wait to be shown, as of this slot.
pub async fn open_asks(client: &Client, agent: AgentId, slot: u64) -> Result<Vec<OpenAsk>> {
    let all = client.asks(AskFilter::Agent(agent)).await?;
    let open = all.iter().filter(|ask| ask.state == crate::ask::OPEN);
    Ok(open.map(|it| OpenAsk::new(it.address, it, slot)).collect())
}

fn is_live(lease: &LeaseAccount, time: ChainTime) -> bool {
    Lease { paid_through: Epoch(lease.paid_through_epoch) }.is_live(Epoch(time.epoch))
}

/// An agent's stake of an era, for people and scripts.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StakeReport {
    pub agent: AgentId,
    pub era: u32,
    /// Whether stakes are locked and batches land in this era.
    pub is_present: bool,
    /// The wallet that locked it, and alone may claim it.
    pub owner: String,
    pub stake_micro_usdc: MicroUsdc,
    /// What is left of the finders' part after a slash.
    pub finders_micro_usdc: MicroUsdc,
    /// The smallest stake with which a batch lands.
    pub minimum_micro_usdc: MicroUsdc,
    /// Whether batches can land on it.
    pub is_enough: bool,
    /// Challenges that are not settled.
    pub open_challenges: u32,
    /// Asks that are not settled.
    pub open_asks: u32,
    pub ended_slot: Option<u64>,
    pub slashed: bool,
    /// Ranks that are neither settled nor passed.
    pub ranks_outstanding: u32,
    /// Whether an unlock is queued.
    pub unlock_queued: bool,
    /// The slot in which the delay of the unlock, or of the era's end, is over.
    pub unlock_available_slot: Option<u64>,
    /// Slots until then; 0 when the delay is over.
    pub slots_until_available: Option<u64>,
    /// Whether its owner can claim it now.
    pub claimable: bool,
    /// Why a stake whose delay has begun cannot be claimed.
    pub not_claimable_because: Option<String>,
    /// The slot of this view.
    pub slot: u64,
    pub account: String,
    /// The pooled vault that holds it.
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
    pub(crate) fn new(agent: AgentId, lease: Option<&LeaseAccount>, time: ChainTime) -> Self {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use zx1_interface::constants::UNLOCK_DELAY_SLOTS;

    pub(crate) const AGENT: AgentId = AgentId([9; 32]);
    pub(crate) const OWNER: [u8; 32] = [1; 32];

    pub(crate) fn stake(era: u32, ended_slot: u64) -> StakeLockAccount {
        StakeLockAccount {
            stake_usdc: 30_000_000,
            pot_usdc: 0,
            deposits_usdc: 0,
            locked_since_slot: 1,
            unlock_available_slot: 0,
            queued_slot: 0,
            ended_slot,
            slashed_slot: 0,
            created_slot: 1,
            event_sequence: 1,
            era,
            open_challenges: 0,
            next_rank: 0,
            settled_rank: 0,
            open_asks: 0,
            next_ask: 0,
            settled_ask: 0,
            in_unlock_queue: 0,
            version: 2,
            bump: 255,
            reserved: 0,
            agent_mint: AGENT.0,
            owner: OWNER,
        }
    }

    /// The last of the stakes is the present era's.
    pub(crate) fn accounts(slot: u64, holder: Option<[u8; 32]>, stakes: Vec<StakeLockAccount>) -> Accounts {
        let era = stakes.last().map_or(0, |stake| stake.era);
        let tenure = TenureAccount {
            created_slot: 1,
            event_sequence: 1,
            from_epoch: 0,
            number: 1,
            era,
            live_keys: 0,
            version: 2,
            bump: 255,
            has_listed: 0,
            reserved: [0; 4],
            agent: AGENT.0,
            owner: OWNER,
        };
        Accounts {
            time: ChainTime { slot, unix: 0, epoch: 10 },
            amounts: Amounts::DEFAULT,
            holder: holder.map(Address::new_from_array),
            tenure: Some(tenure),
            stakes,
            lease: None,
            head: None,
        }
    }

    #[test]
    fn an_era_that_ended_is_claimed_after_its_delay_without_a_queue() {
        let ended = 1_000;
        let first = ended + UNLOCK_DELAY_SLOTS + 1;
        for (slot, claimable) in [(ended, false), (first - 1, false), (first, true)] {
            let accounts = accounts(slot, Some(OWNER), vec![stake(0, ended), stake(1, 0)]);
            let reports = accounts.stake_reports(AGENT);
            assert_eq!(reports.first().map(|it| it.claimable), Some(claimable), "{slot}");
            assert_eq!(reports.first().and_then(|it| it.unlock_available_slot), Some(first));
            assert_eq!(accounts.stake_report(AGENT).map(|it| (it.era, it.claimable)), Some((1, false)));
        }
    }

    #[test]
    fn a_slashed_era_waits_for_its_ranks() {
        let slashed = StakeLockAccount { slashed_slot: 5, next_rank: 2, settled_rank: 1, ..stake(0, 1) };
        let reports = accounts(10_000_000, Some(OWNER), vec![slashed]).stake_reports(AGENT);
        let report = reports.first().unwrap();
        assert!(!report.claimable && report.not_claimable_because.as_ref().unwrap().contains("ranks"));
        let settled = StakeLockAccount { settled_rank: 2, ..slashed };
        let reports = accounts(10_000_000, Some(OWNER), vec![settled]).stake_reports(AGENT);
        assert!(reports.first().unwrap().claimable);
    }

    #[test]
    fn a_wallet_that_sold_the_agent_need_not_wait_for_the_lease() {
        let queued = StakeLockAccount {
            in_unlock_queue: 1,
            queued_slot: 10,
            unlock_available_slot: 10 + UNLOCK_DELAY_SLOTS,
            ..stake(0, 0)
        };
        let lease = LeaseAccount {
            paid_through_epoch: 20,
            last_paid_slot: 100,
            created_slot: 1,
            event_sequence: 1,
            in_grace_period: 0,
            deactivated: 0,
            version: 2,
            bump: 255,
            reserved: [0; 4],
            agent_id: AGENT.0,
        };
        for (holder, claimable) in [(Some(OWNER), false), (Some([2; 32]), true), (None, true)] {
            let accounts = Accounts { lease: Some(lease), ..accounts(10_000_000, holder, vec![queued]) };
            assert_eq!(accounts.stake_report(AGENT).map(|it| it.claimable), Some(claimable), "{holder:?}");
        }
    }
}
