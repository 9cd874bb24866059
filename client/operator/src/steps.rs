//! What an agent needs next: one rule for all that name a next step, and for setting an agent up.

use crate::error::Result;
use crate::facts::AgentStatus;
use crate::operator::{Agent, Operator};
use serde::Serialize;
use zx1_interface::constants::LEASE_COST_PER_EPOCH;
use zx1_protocol::units::MicroUsdc;

/// Something that an agent needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Answer a challenge: the stake is lost without it.
    Answer {
        /// Address of the challenge account, in base58.
        challenge: String,
    },
    /// Show a leaf that was asked for: its batch counts for nothing without it.
    Show {
        /// Address of the ask account, in base58.
        ask: String,
    },
    /// Register it: the registry of this cluster does not know it.
    Register,
    /// Take it over: another wallet's tenure holds it.
    TakeOver,
    /// List the keys that act for it.
    ListKeys,
    /// Lock a stake, or top it up to the minimum.
    LockStake {
        /// What is missing.
        micro_usdc: MicroUsdc,
    },
    /// Pay the lease, so that it is active.
    PayLease {
        /// The epochs to name in the payment.
        epochs: u64,
        /// What that costs.
        cost_micro_usdc: MicroUsdc,
    },
    /// Open its chain of batches.
    OpenBatches,
    /// Choose the place that serves the data of its batches.
    ChoosePlace,
    /// Claim the stake: its unlock is queued.
    ClaimStake {
        /// Slots until its delay is over.
        slots_left: u64,
    },
    /// Submit the batch of an epoch that is over.
    SubmitBatch {
        /// The last epoch that is over.
        epoch: u64,
    },
}

/// What a wallet without an agent needs.
pub fn every(minimum: MicroUsdc, has_place: bool) -> Vec<Step> {
    let place = (!has_place).then_some(Step::ChoosePlace);
    let lease = Step::PayLease { epochs: 1, cost_micro_usdc: MicroUsdc(LEASE_COST_PER_EPOCH) };
    let stake = Step::LockStake { micro_usdc: minimum };
    let steps = [Step::Register, Step::ListKeys, stake, lease, Step::OpenBatches];
    steps.into_iter().chain(place).collect()
}

/// What keeps an agent's batches from landing and from counting, in the order in which it can be done. Nothing
/// while the unlock of its stake is queued: its owner is leaving.
pub fn missing(agent: &AgentStatus, minimum: MicroUsdc, has_place: bool) -> Vec<Step> {
    if !agent.registered {
        return vec![Step::Register];
    }
    if agent.tenure.as_ref().is_some_and(|tenure| !tenure.is_holders) {
        return vec![Step::TakeOver];
    }
    let stake = agent.stake.as_ref();
    if stake.is_some_and(|stake| stake.unlock_queued) {
        return Vec::new();
    }
    let mut steps = Vec::new();
    if agent.keys.batch == 0 && agent.keys.notice == 0 {
        steps.push(Step::ListKeys);
    }
    match stake.filter(|stake| stake.ended_slot.is_none()) {
        None => steps.push(Step::LockStake { micro_usdc: minimum }),
        Some(stake) if stake.stake_micro_usdc < minimum => {
            steps.push(Step::LockStake { micro_usdc: minimum.saturating_sub(stake.stake_micro_usdc) });
        }
        Some(_) => {}
    }
    let lease = &agent.lease;
    if lease.due_epochs > 0 {
        steps.push(Step::PayLease { epochs: lease.due_epochs, cost_micro_usdc: lease.due_micro_usdc });
    }
    if agent.batches.is_none() {
        steps.push(Step::OpenBatches);
    }
    if !has_place {
        steps.push(Step::ChoosePlace);
    }
    steps
}

/// What is due first; `None` where only the daily duties are left.
pub fn due(agent: &AgentStatus, minimum: MicroUsdc, has_place: bool) -> Option<Step> {
    let challenge = agent.challenges.iter().find(|open| open.answerable && open.slots_left > 0);
    if let Some(open) = challenge {
        return Some(Step::Answer { challenge: open.address.clone() });
    }
    if let Some(open) = agent.asks.iter().find(|open| open.slots_left > 0) {
        return Some(Step::Show { ask: open.address.clone() });
    }
    if let Some(stake) = agent.stake.as_ref().filter(|stake| stake.unlock_queued) {
        return Some(Step::ClaimStake { slots_left: stake.slots_until_available.unwrap_or(0) });
    }
    let missing = missing(agent, minimum, has_place).into_iter().next();
    missing.or_else(|| {
        let over = agent.lease.epoch.saturating_sub(1);
        let behind = agent.batches.is_some_and(|batches| batches.last_epoch < over);
        behind.then_some(Step::SubmitBatch { epoch: over })
    })
}

impl Operator {
    /// What the agent needs next, as the chain shows it now; `None` where only the daily duties are left.
    pub async fn next_step(&self, agent: &Agent, has_place: bool) -> Result<Option<Step>> {
        let (status, config) = tokio::join!(self.agent_status(agent), self.client().config());
        Ok(due(&status?, MicroUsdc(config?.min_stake), has_place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::{AGENT, OWNER, accounts, stake};
    use crate::facts::{Accounts, BatchStatus, KeyCounts, OpenAsk, OpenChallenge};

    const MINIMUM: MicroUsdc = MicroUsdc(30_000_000);

    /// An agent that has registered and nothing else.
    fn fresh() -> AgentStatus {
        let accounts = Accounts { tenure: None, ..accounts(1, Some(OWNER), Vec::new()) };
        AgentStatus::of(&accounts, AGENT)
    }

    fn staked(amount: u64) -> AgentStatus {
        let mut stake = stake(0, 0);
        stake.stake_usdc = amount;
        AgentStatus::of(&accounts(1, Some(OWNER), vec![stake]), AGENT)
    }

    #[test]
    fn a_new_agent_needs_everything_in_the_order_in_which_it_can_be_done() {
        let lease = Step::PayLease { epochs: 1, cost_micro_usdc: MicroUsdc(1_000_000) };
        let all = [
            Step::ListKeys,
            Step::LockStake { micro_usdc: MINIMUM },
            lease,
            Step::OpenBatches,
            Step::ChoosePlace,
        ];
        assert_eq!(missing(&fresh(), MINIMUM, false), all);
        assert_eq!(every(MINIMUM, false), [&[Step::Register], all.as_slice()].concat());
        let unknown = AgentStatus { registered: false, ..fresh() };
        assert_eq!(missing(&unknown, MINIMUM, false), [Step::Register]);
    }

    #[test]
    fn a_stake_is_topped_up_to_the_minimum_and_not_beyond() {
        let found = |amount| missing(&staked(amount), MINIMUM, true).into_iter().nth(1);
        assert_eq!(found(29_999_999), Some(Step::LockStake { micro_usdc: MicroUsdc(1) }));
        assert!(!matches!(found(30_000_000), Some(Step::LockStake { .. })));
    }

    #[test]
    fn who_leaves_needs_nothing_and_who_has_bought_takes_over_first() {
        let mut leaving = staked(30_000_000);
        leaving.stake.as_mut().unwrap().unlock_queued = true;
        let claim = Step::ClaimStake { slots_left: 0 };
        assert_eq!((missing(&leaving, MINIMUM, false), due(&leaving, MINIMUM, false)), (vec![], Some(claim)));
        let mut bought = staked(30_000_000);
        bought.tenure.as_mut().unwrap().is_holders = false;
        assert_eq!(missing(&bought, MINIMUM, false), [Step::TakeOver]);
    }

    #[test]
    fn challenges_and_asks_come_first_and_batches_last() {
        let mut agent = staked(30_000_000);
        agent.keys = KeyCounts { batch: 1, ..KeyCounts::default() };
        agent.lease.due_epochs = 0;
        agent.batches = Some(BatchStatus { count: 0, last_epoch: agent.lease.epoch - 1, last_slot: 0 });
        assert_eq!(due(&agent, MINIMUM, true), None);
        agent.batches = Some(BatchStatus { count: 0, last_epoch: agent.lease.epoch - 2, last_slot: 0 });
        assert_eq!(due(&agent, MINIMUM, true), Some(Step::SubmitBatch { epoch: agent.lease.epoch - 1 }));
        let ask = OpenAsk {
            address: "ask".to_owned(),
            epoch: 1,
            tree: "log",
            index: 0,
            deadline_slot: 5,
            slots_left: 4,
        };
        agent.asks = vec![OpenAsk { slots_left: 0, ..ask.clone() }, ask];
        assert_eq!(due(&agent, MINIMUM, false), Some(Step::Show { ask: "ask".to_owned() }));
        let open = OpenChallenge {
            address: "open".to_owned(),
            epoch: 1,
            answerable: true,
            deadline_slot: 5,
            slots_left: 4,
        };
        agent.challenges = vec![OpenChallenge { answerable: false, ..open.clone() }, open];
        assert_eq!(due(&agent, MINIMUM, false), Some(Step::Answer { challenge: "open".to_owned() }));
    }
}
