//! Drafts of evidence that are left over: their rent comes back, and the deposit of a rank that was used.

use crate::done;
use crate::error::{Refusal, Result};
use crate::operator::{Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::pda;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{DraftFilter, Stored};
use zx1_interface::accounts::EvidenceDraft;
use zx1_protocol::challenge::rank_holds;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Slot;

/// How a draft stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftState {
    /// It holds no rank.
    WithoutRank,
    /// Its rank holds still.
    Holds,
    /// Its rank was not used in time; the deposit is burnt, unless a lower rank was in the way.
    Lapsed,
    /// It became a challenge.
    Used,
    /// It took a claim over from a higher rank, which waits to be passed.
    TookOver,
    /// The order has moved past its rank.
    Passed,
}

impl DraftState {
    /// Of this draft, as of this slot.
    pub fn of(draft: &EvidenceDraft, now: Slot) -> Self {
        match draft.state {
            0 => Self::WithoutRank,
            1 if rank_holds(Slot(draft.begin_slot), now) => Self::Holds,
            1 => Self::Lapsed,
            2 => Self::Used,
            3 => Self::TookOver,
            _ => Self::Passed,
        }
    }

    /// The name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutRank => "without a rank",
            Self::Holds => "its rank holds",
            Self::Lapsed => "its rank lapsed",
            Self::Used => "used",
            Self::TookOver => "used to take a claim over",
            Self::Passed => "passed",
        }
    }
}

/// A draft of evidence.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DraftReport {
    pub draft: String,
    pub state: DraftState,
    /// The agent in whose era it has a rank.
    pub agent: Option<AgentId>,
    pub era: Option<u32>,
    pub rank: Option<u32>,
    /// Rent and deposit.
    pub lamports: u64,
    /// The rank's deposit among them.
    pub deposit_lamports: u64,
    /// Whether the deposit comes back by itself: its rank was used.
    pub deposit_returns: bool,
}

impl DraftReport {
    fn of(draft: &Stored<EvidenceDraft>, now: Slot) -> Self {
        let ranked = draft.state != 0;
        Self {
            draft: draft.address.to_string(),
            state: DraftState::of(draft, now),
            agent: ranked.then_some(AgentId(draft.agent)),
            era: ranked.then_some(draft.era),
            rank: ranked.then_some(draft.rank),
            lamports: draft.lamports,
            deposit_lamports: draft.deposit,
            deposit_returns: draft.used != 0,
        }
    }
}

/// A closed draft.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Cancelled {
    #[serde(flatten)]
    pub sent: Sent,
    /// As it stood before; None when an earlier run closed it.
    #[serde(flatten)]
    pub draft: Option<DraftReport>,
}

impl Operator {
    /// A wallet's drafts of evidence.
    pub async fn evidence_drafts(&self, owner: Address) -> Result<Vec<DraftReport>> {
        let now = self.now().await?.slot;
        let drafts = self.client().drafts(DraftFilter::Owner(owner)).await?;
        Ok(drafts.iter().map(|draft| DraftReport::of(draft, now)).collect())
    }

    /// Closes one of the wallet's own drafts. Where it holds a rank that lapsed, the era's order is moved past it
    /// first.
    ///
    /// # Errors
    /// 7553 when there is none, 7548 while its rank or a lower one holds.
    pub async fn cancel_draft(&self, address: Address, key: &Wallet) -> Result<Attempt<Cancelled>> {
        let owner = key.address();
        // Of an interrupted run that closed it there is nothing left to see.
        let any = intents::cancel_evidence_of_any_nonce(&owner);
        for wish in self.unfinished(&any)? {
            let nonce = wish.as_str().get(any.len()..).and_then(|nonce| nonce.parse().ok());
            if nonce.is_some_and(|nonce| pda::evidence_draft(&owner, nonce) == address)
                && let Some(sent) = self.earlier(&wish).await?
            {
                return Ok(Attempt::Done(Cancelled { sent, draft: None }));
            }
        }
        let now = self.now().await?.slot;
        let drafts = self.client().drafts(DraftFilter::Owner(owner)).await?;
        let found = drafts.into_iter().find(|draft| draft.address == address);
        let found = found.ok_or_else(|| Refusal::NoDraft { address: address.to_string() })?;
        let draft = DraftReport::of(&found, now);
        let agent = AgentId(found.agent);
        let waits = matches!(draft.state, DraftState::Holds | DraftState::Lapsed | DraftState::TookOver);
        if waits {
            let shown = address.to_string();
            let intent = intents::cancel_evidence(&key.address(), found.nonce);
            done!(self.pass_through(agent, found.era, found.rank, &shown, key, &intent).await?);
        }
        let sati = Sati::connect(self.client()).await?;
        let cancel = self.actions(&sati).await?.cancel_evidence(key.address(), found.nonce).await?;
        let sent = done!(self.send(&cancel, key).await?);
        Ok(Attempt::Done(Cancelled { sent, draft: Some(draft) }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rank::tests::draft;
    use super::*;
    use zx1_interface::constants::RANK_SLOTS;

    #[test]
    fn a_rank_lapses_after_its_last_slot() {
        let at = |state, slot| DraftState::of(&draft(0, state, 1_000), Slot(slot));
        assert_eq!(at(1, 1_000 + RANK_SLOTS), DraftState::Holds);
        assert_eq!(at(1, 1_001 + RANK_SLOTS), DraftState::Lapsed);
        let others = [0, 2, 3, 4].map(|state| at(state, 1_000));
        let names = [DraftState::WithoutRank, DraftState::Used, DraftState::TookOver, DraftState::Passed];
        assert_eq!(others, names);
    }
}
