//! Asks by a wallet and against an agent.

use super::settle::{Next, next};
use super::{OPEN, SHOWN, WITHHELD, deadline, tree_name};
use crate::error::Result;
use crate::facts::slots_left;
use crate::operator::Operator;
use serde::Serialize;
use solana_address::Address;
use std::collections::BTreeMap;
use zx1_chain::rpc::{AskFilter, Stored};
use zx1_interface::accounts::AskAccount;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{MicroUsdc, Slot};

/// Status of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the serialized names say it")]
pub enum State {
    #[serde(rename = "open")]
    Open,
    #[serde(rename = "not shown, to be settled")]
    Over,
    #[serde(rename = "shown")]
    Shown,
    #[serde(rename = "withheld, to be settled")]
    Withheld,
    #[serde(rename = "settled")]
    Settled,
}

impl State {
    /// Computes the status of an ask at this slot.
    pub fn of(ask: &AskAccount, now: Slot) -> Self {
        match ask.state {
            OPEN if now <= deadline(ask) => Self::Open,
            OPEN => Self::Over,
            SHOWN => Self::Shown,
            WITHHELD => Self::Withheld,
            _ => Self::Settled,
        }
    }

    /// The name under which the status is serialized.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Over => "not shown, to be settled",
            Self::Shown => "shown",
            Self::Withheld => "withheld, to be settled",
            Self::Settled => "settled",
        }
    }
}

/// An ask on chain. Addresses are in base58.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Listed {
    pub ask: String,
    pub side: &'static str,
    pub agent: AgentId,
    pub asker: String,
    pub epoch: u64,
    pub tree: &'static str,
    pub index: u32,
    pub price_micro_usdc: MicroUsdc,
    pub state: State,
    /// The last slot in which the leaf can be shown.
    pub showable_through_slot: u64,
    /// How many that are, the present one included; 0 when it is not open.
    pub slots_left: u64,
    /// Whether something is left to be done about it: settling or closing.
    pub unfinished: bool,
}

fn listed(ask: &Stored<AskAccount>, side: &'static str, now: Slot) -> Listed {
    let (state, through) = (State::of(ask, now), deadline(ask).0);
    Listed {
        ask: ask.address.to_string(),
        side,
        agent: AgentId(ask.agent_id),
        asker: Address::new_from_array(ask.asker).to_string(),
        epoch: ask.epoch_number,
        tree: tree_name(ask.tree),
        index: ask.index,
        price_micro_usdc: MicroUsdc(ask.price_usdc),
        state,
        showable_through_slot: through,
        slots_left: if state == State::Open { slots_left(through, now.0) } else { 0 },
        unfinished: !matches!(next(ask, now), Next::Wait(_)),
    }
}

impl Operator {
    /// The asks by a wallet and against an agent, the oldest first, and the slot of this view.
    pub async fn asks(&self, wallet: Option<Address>, agent: Option<AgentId>) -> Result<(Slot, Vec<Listed>)> {
        let now = self.now().await?.slot;
        // The later one of an ask for a leaf of the asker's own agent stays.
        let sides = [(wallet.map(AskFilter::Asker), "ours"), (agent.map(AskFilter::Agent), "of us")];
        let mut found: BTreeMap<(u64, Address), Listed> = BTreeMap::new();
        for (filter, side) in sides {
            let Some(filter) = filter else { continue };
            for ask in self.client().asks(filter).await? {
                found.insert((ask.created_slot, ask.address), listed(&ask, side, now));
            }
        }
        Ok((now, found.into_values().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_interface::constants::SHOW_SLOTS;

    fn ask(state: u8) -> AskAccount {
        AskAccount {
            created_slot: 1_000,
            event_sequence: 1,
            epoch_number: 7,
            price_usdc: 500_000,
            rank: 0,
            era: 0,
            index: 3,
            tree: 0,
            state,
            version: 2,
            bump: 255,
            agent_id: [9; 32],
            batch: [8; 32],
            asker: [1; 32],
        }
    }

    #[test]
    fn the_last_slot_is_for_showing_and_the_next_for_settling() {
        let last = Slot(1_000 + SHOW_SLOTS);
        let after = last.saturating_add(1);
        assert_eq!((State::of(&ask(OPEN), last), next(&ask(OPEN), last)), (State::Open, Next::Wait(last)));
        assert_eq!((State::of(&ask(OPEN), after), next(&ask(OPEN), after)), (State::Over, Next::Settle));
        assert_eq!(next(&ask(SHOWN), last), Next::Close);
        assert_eq!(next(&ask(WITHHELD), last), Next::Settle);
        assert_eq!((State::of(&ask(3), last), next(&ask(3), last)), (State::Settled, Next::Close));
    }

    #[test]
    fn doctor_and_list_count_the_last_slot_as_one_that_is_left() {
        let (ask, last) = (ask(OPEN), 1_000 + SHOW_SLOTS);
        let of = |slot| crate::facts::OpenAsk::new(Address::default(), &ask, slot).slots_left;
        assert_eq!([last - 1, last, last + 1].map(of), [2, 1, 0]);
        let stored = Stored { address: Address::default(), lamports: 1, value: ask, tail: Vec::new() };
        let listed = |slot| listed(&stored, "ours", Slot(slot)).slots_left;
        assert_eq!([last - 1, last, last + 1].map(listed), [2, 1, 0]);
    }
}
