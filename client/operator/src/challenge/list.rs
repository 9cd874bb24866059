//! Challenges by a wallet and against an agent.

use super::{ANSWERED, OPEN, SUCCEEDED, clock, ground_name, is_ripe};
use crate::error::Result;
use crate::facts::slots_left;
use crate::operator::Operator;
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_chain::rpc::{ChallengeFilter, Stored};
use zx1_interface::accounts::ChallengeAccount;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Slot;

/// Status of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the serialized names say it")]
pub enum State {
    #[serde(rename = "open")]
    Open,
    #[serde(rename = "unanswered, to be resolved")]
    Unanswered,
    #[serde(rename = "answered")]
    Answered,
    #[serde(rename = "succeeded")]
    Succeeded,
    #[serde(rename = "nothing was left")]
    Empty,
}

impl State {
    /// Computes the status of a challenge at this slot.
    pub fn of(challenge: &ChallengeAccount, now: Slot) -> Self {
        match challenge.outcome {
            OPEN if is_ripe(challenge, now) => Self::Unanswered,
            OPEN => Self::Open,
            ANSWERED => Self::Answered,
            SUCCEEDED => Self::Succeeded,
            _ => Self::Empty,
        }
    }

    /// Whether its stake was paid out.
    pub fn is_settled(self) -> bool {
        !matches!(self, Self::Open | Self::Unanswered)
    }

    /// Whether nothing answered it and nobody has resolved it.
    pub fn is_to_be_resolved(self) -> bool {
        self == Self::Unanswered
    }

    /// The name under which the status is serialized.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Unanswered => "unanswered, to be resolved",
            Self::Answered => "answered",
            Self::Succeeded => "succeeded",
            Self::Empty => "nothing was left",
        }
    }
}

/// A challenge on chain. Addresses are in base58.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Listed {
    pub challenge: String,
    pub side: &'static str,
    pub agent: AgentId,
    /// The wallet that staked the challenge.
    pub challenger: String,
    pub epoch: u64,
    /// What the batch is said to lack.
    pub ground: &'static str,
    /// The era of the batch, in whose order it has its rank.
    pub era: u32,
    pub rank: u32,
    /// Whether the era's order has moved past it, so that its account can be closed.
    pub passed: bool,
    pub state: State,
    /// The last slot in which it can be answered.
    pub answerable_through_slot: u64,
    /// How many that are, the present one included.
    pub slots_left: u64,
    pub answered_by: Option<String>,
}

fn listed(challenge: &Stored<ChallengeAccount>, side: &'static str, now: Slot) -> Listed {
    let clock = clock(challenge);
    let deadline = clock.deadline().0;
    let nobody = [0; 32];
    Listed {
        challenge: challenge.address.to_string(),
        side,
        agent: AgentId(challenge.agent_id),
        challenger: Address::new_from_array(challenge.challenger).to_string(),
        epoch: challenge.epoch_number,
        ground: ground_name(challenge.ground),
        era: challenge.era,
        rank: challenge.rank,
        passed: challenge.passed != 0,
        state: State::of(challenge, now),
        answerable_through_slot: deadline,
        slots_left: if challenge.outcome == OPEN { slots_left(deadline, now.0) } else { 0 },
        answered_by: (challenge.answerer != nobody)
            .then(|| Address::new_from_array(challenge.answerer).to_string()),
    }
}

impl Operator {
    /// The challenges by a wallet and against an agent, the oldest first, and the slot of this view.
    pub async fn challenges(
        &self,
        wallet: Option<Address>,
        agent: Option<AgentId>,
    ) -> Result<(Slot, Vec<Listed>)> {
        let now = self.now().await?.slot;
        let sides = [
            (wallet.map(ChallengeFilter::Challenger), "ours"),
            // The later one of a challenge against one's own agent stays.
            (agent.map(ChallengeFilter::Agent), "against us"),
        ];
        let mut found: BTreeMap<(u64, Address), Listed> = BTreeMap::new();
        for (filter, side) in sides {
            let Some(filter) = filter else { continue };
            for challenge in self.client().challenges(filter).await? {
                let key = (challenge.submitted_slot, challenge.address);
                found.insert(key, listed(&challenge, side, now));
            }
        }
        Ok((now, found.into_values().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank::tests::challenge;
    use super::*;

    #[test]
    fn what_nothing_answers_is_to_be_resolved_at_once() {
        let at = |outcome, len, slot| State::of(&challenge(0, outcome, len), Slot(slot));
        let deadline = clock(&challenge(0, OPEN, 105)).deadline().0;
        assert_eq!(at(OPEN, 105, deadline), State::Open);
        assert_eq!(at(OPEN, 105, deadline + 1), State::Unanswered);
        assert_eq!(at(OPEN, 0, 1_000), State::Unanswered);
        assert_eq!(at(ANSWERED, 105, 1_000), State::Answered);
        assert_eq!(at(SUCCEEDED, 105, 1_000), State::Succeeded);
        assert!(at(3, 105, 1_000) == State::Empty && State::Empty.is_settled());
    }
}
