//! Questions about a case.

use serde::{Deserialize, Serialize};

use super::phase::{CourtStep, Phase, Proceedings};
use super::{Case, Settle};
use crate::chain::{Head, Side};
use crate::money::{Court, inclusive_bond};
use crate::{Contract, ContractId, Millis, PartyId, Raw, State, Terms};

/// A deposit that a case waits for. The escrow's account for it is keyed by contract, party and round
/// (decision F1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepositWanted {
    /// The side that pays.
    pub side: Side,
    /// The key of the party that deposits.
    pub party: PartyId,
    /// 0 for the principal; agents count up.
    pub round: u32,
    /// Bounty and judge fee.
    pub amount: Raw,
    /// Until when it is waited for.
    pub until: Millis,
}

/// What a judge has to do (decision E6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeTask {
    /// The court that the judge acts for.
    pub court: Court,
    /// Whether the re-execution's result is chained; if not, it comes first.
    pub reexecuted: bool,
    /// Until when the ruling must be chained.
    pub deadline: Millis,
}

impl Case {
    /// Id of the contract.
    pub fn id(&self) -> ContractId {
        self.id
    }

    /// The contract as it was posted.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The terms that hold for it.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The contract's present state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Hash and sequence number that the next entry must carry.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The party that posted the contract.
    pub fn principal(&self) -> PartyId {
        self.principal.id
    }

    /// Who holds the contract, or held it when it ended.
    pub fn agent(&self) -> Option<PartyId> {
        self.agent.as_ref().map(|agent| agent.id)
    }

    /// The side of a key; `None` for a key of neither party.
    pub fn side_of(&self, party: &PartyId) -> Option<Side> {
        if *party == self.principal.id {
            Some(Side::Principal)
        } else {
            (self.agent() == Some(*party)).then_some(Side::Agent)
        }
    }

    /// How many agents have had it, without the present one.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Attempts of the present agent.
    pub fn attempts(&self) -> u32 {
        self.work.attempts
    }

    /// Investigations so far, over all agents.
    pub fn investigations(&self) -> u32 {
        self.rounds
    }

    /// When the last investigation was asked for.
    pub fn last_investigation_at(&self) -> Option<Millis> {
        self.last_investigation
    }

    /// Commands whose output the principal has not sent yet, oldest first.
    pub fn pending_investigations(&self) -> &[String] {
        &self.pending
    }

    /// Until when the agent may object; nothing else can happen before (decision E5).
    pub fn closing_at(&self) -> Option<Millis> {
        if let Phase::Closing { until, .. } = self.phase { Some(until) } else { None }
    }

    /// Until when the fix waits for the principal's review.
    pub fn review_expires_at(&self) -> Option<Millis> {
        if let Phase::Reviewing { until } = self.phase { Some(until) } else { None }
    }

    /// Whether a fix waits for its verification.
    pub fn is_verifying(&self) -> bool {
        matches!(self.phase, Phase::Verifying { .. })
    }

    /// Until when leaving is free; `None` when it is not, or nobody works.
    pub fn grace_until(&self) -> Option<Millis> {
        self.work.grace_until.filter(|_| self.state == State::InProgress && !self.work.fix_seen)
    }

    /// Whether the present agent's fix was chained, so that the principal may have read it.
    pub fn fix_was_read(&self) -> bool {
        self.work.fix_seen
    }

    /// For whom the contract is reserved, and until when.
    pub fn reserved_for(&self) -> Option<(PartyId, Millis)> {
        match &self.phase {
            Phase::Open { reservation: Some(r), .. } => Some((r.agent, r.until)),
            _ => None,
        }
    }

    /// Until when a halt can be taken back.
    pub fn resume_until(&self) -> Option<Millis> {
        if let Phase::Halted { until, .. } = self.phase { Some(until) } else { None }
    }

    /// Where it stands before a court. Call [`Case::run`] first, so that a passed window shows.
    pub fn proceedings(&self) -> Option<&Proceedings> {
        if let Phase::Court(proceedings) = &self.phase { Some(proceedings) } else { None }
    }

    /// What a judge has to do now; nothing while the case waits for a seat. Call [`Case::run`] first.
    pub fn judge_task(&self) -> Option<JudgeTask> {
        let proceedings = self.proceedings()?;
        let CourtStep::Judging { since, reexecuted_at } = proceedings.step else { return None };
        if self.waits_for_seat() {
            return None;
        }
        let deadline = self.judge_deadline(since, reexecuted_at);
        Some(JudgeTask { court: proceedings.court, reexecuted: reexecuted_at.is_some(), deadline })
    }

    /// The deposit that it waits for.
    pub fn deposit_wanted(&self) -> Option<DepositWanted> {
        let amount = inclusive_bond(&self.terms.fees, self.contract.bounty).ok()?;
        match &self.phase {
            Phase::Unfunded { until, .. } if !self.is_free() => Some(DepositWanted {
                side: Side::Principal,
                party: self.principal.id,
                round: 0,
                amount,
                until: *until,
            }),
            Phase::Open { reservation: Some(r), .. } => Some(DepositWanted {
                side: Side::Agent,
                party: r.agent,
                round: self.round,
                amount,
                until: r.until,
            }),
            _ => None,
        }
    }

    /// Every payment that was decided, in order. A server issues them again on start: the plan's key makes it
    /// safe.
    pub fn settlements(&self) -> &[Settle] {
        &self.settlements
    }

    /// When it was posted, by the server's clock.
    pub fn created_at(&self) -> Millis {
        self.created_at
    }

    /// When something was chained or reserved last.
    pub fn updated_at(&self) -> Millis {
        self.updated_at
    }

    /// Whether anybody may read the transcript: after the end, unless the contract says private (decision
    /// E14).
    pub fn is_public(&self) -> bool {
        self.state.is_terminal() && !self.contract.private
    }

    /// Whether `who` may read the transcript now: the parties, the judge, and everybody once it is public.
    /// The agent for whom the contract is reserved may read it too.
    pub fn may_read(&self, who: &PartyId) -> bool {
        self.is_public()
            || self.side_of(who).is_some()
            || self.terms.is_judge(who)
            || self.reserved_for().is_some_and(|(agent, _)| agent == *who)
    }
}
