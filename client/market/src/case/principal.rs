//! What a principal does: take back, answer, verify, review, stop.

use super::phase::{Interrupted, Phase};
use super::{Case, Effect, News};
use crate::chain::CloseReason;
use crate::contract::{Failure, FailureClass};
use crate::defaults::MAX_RESUMES;
use crate::machine::Event;
use crate::money::Settlement;
use crate::{Millis, PartyId, Reason, Refusal, Result, State};

impl Case {
    /// Take back a contract that nobody has taken. All of it goes back, but for the posting fee after an
    /// agent left late.
    pub(super) fn cancel(&mut self, actor: PartyId, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        self.need_principal(&actor)?;
        if !self.state.can_cancel() {
            return Err(self.wrong_state());
        }
        self.reserved()?;
        let funded = self.state == State::Open;
        self.go(Event::Cancel)?;
        if funded {
            self.settle(self.returned(), effects)?;
        }
        self.end(now, effects);
        Ok(())
    }

    /// What the principal's account pays when no agent holds the contract.
    pub(super) fn returned(&self) -> Settlement {
        if self.fee_due { Settlement::ReturnedAfterLate } else { Settlement::Returned }
    }

    pub(super) fn result(&mut self, actor: PartyId, command: &str) -> Result<()> {
        self.need_state(&[State::Investigating, State::InProgress])?;
        self.need_principal(&actor)?;
        let Some(at) = self.pending.iter().position(|pending| pending == command) else {
            return Err(Reason::NoSuchInvestigation.into());
        };
        self.pending.remove(at);
        Ok(())
    }

    pub(super) fn verify(
        &mut self,
        actor: PartyId,
        success: bool,
        failure: Option<&Failure>,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        self.need_state(&[State::InProgress])?;
        self.need_principal(&actor)?;
        self.not_closing()?;
        if !matches!(self.phase, Phase::Verifying { .. }) {
            return Err(Reason::NoFixPending.into());
        }
        if success {
            self.go(Event::Succeed)?;
            self.settle(Settlement::Fulfilled, effects)?;
            self.end(now, effects);
            return Ok(());
        }
        if let Some(failure) = failure {
            self.told(failure, now)?;
        }
        self.work.failed = true;
        self.attempt_failed(now);
        if matches!(self.phase, Phase::Working { .. }) {
            effects.push(self.notice(News::Retried { bounty: self.contract.bounty }));
        }
        Ok(())
    }

    /// What a failed attempt costs besides the attempt: output that a second run gave is a round of investigation.
    /// A fix that only lacks consents was no attempt, unless the contract grants what it is said to lack.
    fn told(&mut self, failure: &Failure, now: Millis) -> Result<()> {
        if failure.class == FailureClass::NeedsConsent {
            if !failure.needs.is_disjoint(&self.contract.consents) {
                return Err(Refusal::with(Reason::FieldWord, "verify.failure.needs"));
            }
            self.work.attempts = self.work.attempts.saturating_sub(1);
        }
        if failure.rerun {
            let most = self.contract.execution.investigation_rounds;
            if self.rounds >= most {
                return Err(Refusal::with(Reason::TooManyRounds, most));
            }
            self.rounds += 1;
            self.last_investigation = Some(now);
        }
        Ok(())
    }

    fn reviewing(&self, actor: &PartyId, now: Millis) -> Result<()> {
        self.need_principal(actor)?;
        if !self.contract.is_autonomous() {
            return Err(Reason::NotAutonomous.into());
        }
        self.need_state(&[State::Review])?;
        self.not_closing()?;
        match self.phase {
            Phase::Reviewing { until } if self.is_late(now, until) => Err(self.wrong_state()),
            _ => Ok(()),
        }
    }

    pub(super) fn review_accept(
        &mut self,
        actor: PartyId,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        self.reviewing(&actor, now)?;
        self.go(Event::Succeed)?;
        self.settle(Settlement::Fulfilled, effects)?;
        self.end(now, effects);
        Ok(())
    }

    /// The contract ends after the objection window unless the agent disputes (decision E5).
    pub(super) fn review_reject(
        &mut self,
        actor: PartyId,
        failure: Option<&Failure>,
        now: Millis,
    ) -> Result<()> {
        self.reviewing(&actor, now)?;
        if let Some(failure) = failure {
            self.told(failure, now)?;
        }
        self.work.failed = true;
        self.phase = self.closing(CloseReason::ReviewRejected, now);
        Ok(())
    }

    pub(super) fn halt(&mut self, actor: PartyId, now: Millis) -> Result<()> {
        self.need_principal(&actor)?;
        if !self.state.can_halt() {
            return Err(self.wrong_state());
        }
        let interrupted = self.interrupted(now)?;
        self.go(Event::Halt)?;
        self.phase = Phase::Halted { until: now.plus(self.windows.halt), interrupted };
        Ok(())
    }

    /// Take a halt back. What was interrupted goes on: an investigation as accepted work with its own grace
    /// period (the table knows no way back to INVESTIGATING), a review as work whose fix is submitted again.
    pub(super) fn resume(&mut self, actor: PartyId, now: Millis) -> Result<()> {
        self.need_principal(&actor)?;
        self.need_state(&[State::Halted])?;
        let Phase::Halted { until, interrupted } = self.phase else {
            return Err(Refusal::with(Reason::ResumeLate, self.updated_at));
        };
        if self.is_late(now, until) {
            return Err(Refusal::with(Reason::ResumeLate, until));
        }
        // Halting and resuming for ever would keep the agent's deposit for ever.
        if self.work.resumes >= MAX_RESUMES {
            return Err(Refusal::with(Reason::ResumesUsed, MAX_RESUMES));
        }
        self.go(Event::Resume)?;
        self.work.resumes += 1;
        match interrupted {
            Interrupted::Investigation => self.begin(now),
            Interrupted::Work { left } => self.phase = Phase::Working { until: now.plus(left) },
            Interrupted::Verification => self.verifying(now),
            Interrupted::Review => {
                // The withdrawn fix was no failed attempt.
                self.work.attempts = self.work.attempts.saturating_sub(1);
                self.phase = Phase::Working { until: now.plus(self.contract.timeout()) };
            }
        }
        Ok(())
    }
}
