//! What the server's own entries do. Each is legal only when its time has come: the server cannot cheat
//! either.

use super::phase::Phase;
use super::{Case, Effect, News};
use crate::chain::{Absence, AbsenceCause, CloseReason, Data, DepositData, Entry, Side};
use crate::machine::Event;
use crate::money::{Settlement, inclusive_bond};
use crate::{Millis, Reason, Refusal, Result, State, Terms};

impl Case {
    /// Act on an entry of the server.
    pub(super) fn by_server(
        &mut self,
        data: Data,
        entry: &Entry,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        if self.awaits_bonded() && !matches!(data, Data::Bonded { .. }) {
            return Err(Reason::DepositPending.into());
        }
        let of_a_judge = matches!(
            data,
            Data::Reexecution(_)
                | Data::Ruling(_)
                | Data::Voided { .. }
                | Data::AutoFulfill { .. }
                | Data::Closed { .. }
                | Data::Resumed(Absence { cause: AbsenceCause::Court, .. })
        );
        if of_a_judge {
            // A judge's entry shows that the window before it is over, whatever the estimate says.
            self.hand_to_judge(now.plus(self.skew), effects);
            // An estimate may have moved a window that was over already.
            if self.skew > Millis(0) && self.absent > Millis(0) {
                self.hand_to_judge(Millis(u64::MAX), effects);
            }
        }
        match data {
            Data::Opened { terms, deposit } => self.opened(&terms, deposit, now, effects),
            Data::Bonded { round, deposit } => self.bonded(round, deposit),
            Data::AutoDecline { .. } => match self.phase {
                Phase::Investigating { until } => {
                    self.due(now, until)?;
                    self.give_back(now, effects)
                }
                _ => Err(self.wrong_state()),
            },
            Data::AttemptTimeout { attempt } => self.attempt_timeout(attempt, now, effects),
            Data::AutoFulfill { .. } if matches!(self.phase, Phase::Court(_)) => {
                self.fulfill_for_the_judge(now, effects)
            }
            Data::AutoFulfill { .. } => {
                let (Phase::Reviewing { until } | Phase::Verifying { until, .. }) = self.phase else {
                    return Err(self.wrong_state());
                };
                self.due(now, until)?;
                self.go(Event::AutoFulfill)?;
                self.settle(Settlement::Fulfilled, effects)?;
                self.end(now, effects);
                Ok(())
            }
            // For readers only. Its words bind nobody.
            Data::DisputeMetadata(_) => match self.phase {
                Phase::Court(_) => Ok(()),
                _ => Err(Reason::NotBeforeCourt.into()),
            },
            Data::Reexecution(data) => self.reexecution(&data, entry, now),
            Data::Ruling(data) => self.ruling(&data, entry, now, effects),
            Data::Voided { .. } => self.void(entry.at(), now, effects),
            Data::Resumed(absence) => self.resumed(absence, entry.at()),
            Data::Reopened { round, grace } => self.reopened(round, grace, now, effects),
            Data::Closed { reason } => self.closed(reason, now, effects),
            // Party entries never come here.
            other => Err(Refusal::with(Reason::NotServer, other.kind())),
        }
    }

    fn check_deposit(&self, deposit: DepositData) -> Result<()> {
        let expected = inclusive_bond(&self.terms.fees, self.contract.bounty)?;
        if deposit.amount != expected {
            return Err(Refusal::with(Reason::DepositAmount, expected.xno()));
        }
        Ok(())
    }

    fn opened(
        &mut self,
        terms: &Terms,
        deposit: Option<DepositData>,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        if *terms != self.terms {
            return Err(Refusal::with(Reason::TermsDiffer, self.terms.server));
        }
        match (deposit, self.is_free()) {
            (Some(deposit), false) => self.check_deposit(deposit)?,
            (None, true) => {}
            _ => return Err(Refusal::with(Reason::DepositUnexpected, Side::Principal)),
        }
        self.go(Event::Fund)?;
        self.principal.deposit = deposit;
        self.phase = Phase::Open { until: now.plus(self.windows.open), reservation: None };
        let (bounty, command) = (self.contract.bounty, self.contract.task.command.clone());
        effects.push(self.notice(News::Posted { bounty, command }));
        Ok(())
    }

    fn bonded(&mut self, round: u32, deposit: DepositData) -> Result<()> {
        if !self.awaits_bonded() || round != self.round {
            return Err(Refusal::with(Reason::DepositUnexpected, Side::Agent));
        }
        self.check_deposit(deposit)?;
        if self.principal.deposit.is_some_and(|principal| principal.account == deposit.account) {
            return Err(Refusal::with(Reason::DepositUnexpected, Side::Agent));
        }
        if let Some(agent) = &mut self.agent {
            agent.deposit = Some(deposit);
        }
        Ok(())
    }

    fn attempt_timeout(&mut self, attempt: u32, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        let Phase::Working { until } = self.phase else { return Err(self.wrong_state()) };
        self.due(now, until)?;
        let next = self.work.attempts.saturating_add(1);
        if attempt != next {
            return Err(Refusal::with(Reason::FieldNotNumber, "attempt_timeout.attempt"));
        }
        self.work.attempts = next;
        self.attempt_failed(now);
        if matches!(self.phase, Phase::Working { .. }) {
            effects.push(self.notice(News::Retried { bounty: self.contract.bounty }));
        }
        Ok(())
    }

    /// Whether a party's leaving was free: the server's word counts only when the moment cannot be told.
    fn was_grace(&self, by: Side, said: bool) -> Result<bool> {
        match self.phase {
            Phase::Left { by: left, grace, unsure } if left == by && (grace == said || unsure) => Ok(said),
            _ => Err(self.wrong_state()),
        }
    }

    fn reopened(&mut self, round: u32, grace: bool, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        let grace = self.was_grace(Side::Agent, grace)?;
        if round != self.round.saturating_add(1) {
            return Err(Refusal::with(Reason::FieldNotNumber, "reopened.round"));
        }
        self.settle_agent_left(grace, effects)?;
        self.fee_due |= !grace;
        self.go(Event::Reopen)?;
        self.reopen(now, effects);
        Ok(())
    }

    fn closed(&mut self, reason: CloseReason, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        match reason {
            CloseReason::Unfunded => {
                let Phase::Unfunded { until, .. } = self.phase else { return Err(self.wrong_state()) };
                self.due(now, until)?;
                self.go(Event::Expire)?;
            }
            CloseReason::NoAgent => {
                let Phase::Open { until, reservation: None } = self.phase else {
                    return Err(self.wrong_state());
                };
                self.due(now, until)?;
                self.go(Event::Expire)?;
                self.settle(self.returned(), effects)?;
            }
            CloseReason::AttemptsExhausted | CloseReason::ReviewRejected | CloseReason::BackedOutAfterFix => {
                let Phase::Closing { until, reason: expected } = self.phase else {
                    return Err(self.wrong_state());
                };
                if reason != expected {
                    return Err(self.wrong_state());
                }
                self.due(now, until)?;
                return self.close_without_fix(reason, now, effects);
            }
            CloseReason::BackedOutInGrace | CloseReason::BackedOutLate => {
                let grace = self.was_grace(Side::Principal, reason == CloseReason::BackedOutInGrace)?;
                self.go(Event::Close)?;
                let settlement = if grace { Settlement::Grace } else { Settlement::LateByPrincipal };
                self.settle(settlement, effects)?;
            }
            CloseReason::Halted => {
                let Phase::Halted { until, .. } = self.phase else { return Err(self.wrong_state()) };
                if !self.is_free() {
                    return Err(self.wrong_state());
                }
                self.due(now, until)?;
                self.go(Event::Close)?;
            }
            CloseReason::NoAppeal | CloseReason::CourtFailed => {
                return self.close_in_court(reason, now, effects);
            }
        }
        self.end(now, effects);
        Ok(())
    }

    /// Whether the state is one in which the principal's deposit is expected.
    pub(super) fn awaits_principal(&self) -> bool {
        self.state == State::Unfunded && !self.is_free()
    }
}
