//! Challenges by a wallet and against an agent.

use super::{clock, ground_name};
use crate::error::Result;
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
    #[serde(rename = "answered")]
    Answered,
    #[serde(rename = "answered, to be resolved")]
    AnsweredOver,
    #[serde(rename = "unanswered, to be resolved")]
    UnansweredOver,
    #[serde(rename = "succeeded")]
    Succeeded,
    #[serde(rename = "failed")]
    Failed,
}

impl State {
    /// Computes the status of a challenge at this slot.
    pub fn of(challenge: &ChallengeAccount, now: Slot) -> Self {
        match (challenge.resolved != 0, challenge.answered != 0, clock(challenge).is_open(now)) {
            (true, ..) if challenge.succeeded != 0 => Self::Succeeded,
            (true, ..) => Self::Failed,
            (_, true, true) => Self::Answered,
            (_, true, false) => Self::AnsweredOver,
            (_, false, true) => Self::Open,
            (_, false, false) => Self::UnansweredOver,
        }
    }

    /// Whether its stake was paid out.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }

    /// Whether its window is over and nobody has resolved it.
    pub fn is_to_be_resolved(self) -> bool {
        matches!(self, Self::AnsweredOver | Self::UnansweredOver)
    }

    /// The name under which the status is serialized.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::AnsweredOver => "answered, to be resolved",
            Self::UnansweredOver => "unanswered, to be resolved",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
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
        state: State::of(challenge, now),
        answerable_through_slot: deadline,
        slots_left: if clock.is_open(now) { deadline.saturating_sub(now.0).saturating_add(1) } else { 0 },
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
