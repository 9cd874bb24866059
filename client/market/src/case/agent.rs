//! What an agent does: take, look, commit itself, propose, give back, leave.

use super::phase::{Interrupted, Phase};
use super::{Case, Effect, News, Party, Work};
use crate::chain::{CloseReason, Side};
use crate::machine::Event;
use crate::money::Settlement;
use crate::{Address, Millis, PartyId, Reason, Refusal, Result, State};

impl Case {
    /// Whether this key may take the contract: not its principal, not its judge, not someone who had it
    /// already.
    pub(super) fn eligible(&self, agent: &PartyId) -> Result<()> {
        if *agent == self.principal.id {
            return Err(Reason::SelfDealing.into());
        }
        if self.terms.is_judge(agent) {
            return Err(Reason::AgentIsJudge.into());
        }
        if self.former.contains(agent) {
            return Err(Reason::FormerAgent.into());
        }
        Ok(())
    }

    /// Chain a bond. In paid mode the next entry must confirm its deposit.
    pub(super) fn bond(
        &mut self,
        actor: PartyId,
        agent: PartyId,
        payout: Option<Address>,
        now: Millis,
    ) -> Result<()> {
        self.check_bond(&actor, &agent, payout)?;
        self.go(Event::Bond)?;
        self.take(agent, payout);
        self.phase = Phase::Investigating { until: now.plus(self.windows.investigation) };
        Ok(())
    }

    /// Everything that must hold for a bond, chained or reserved.
    pub(super) fn check_bond(&self, actor: &PartyId, agent: &PartyId, payout: Option<Address>) -> Result<()> {
        self.need_state(&[State::Open])?;
        if actor != agent {
            return Err(Reason::NotAgent.into());
        }
        self.reserved()?;
        self.eligible(agent)?;
        if payout.is_none() && !self.is_free() {
            return Err(Reason::PayoutNeeded.into());
        }
        payout.map_or(Ok(()), |payout| self.not_own_account(payout))
    }

    fn take(&mut self, agent: PartyId, payout: Option<Address>) {
        self.agent = Some(Party { id: agent, payout, deposit: None });
        self.work = Work::default();
        self.pending.clear();
    }

    /// Whether a paid bond was chained and its confirmation was not.
    pub(super) fn awaits_bonded(&self) -> bool {
        self.state == State::Investigating
            && !self.is_free()
            && self.agent.as_ref().is_some_and(|agent| agent.deposit.is_none())
    }

    pub(super) fn accept(
        &mut self,
        actor: PartyId,
        agent: PartyId,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        match self.state {
            State::Investigating => self.need_agent(&actor)?,
            // Decision E3.
            State::Open if self.is_free() => {
                self.eligible(&actor)?;
                self.take(actor, None);
            }
            State::Open => return Err(Reason::BondNeeded.into()),
            _ => return Err(self.wrong_state()),
        }
        if actor != agent {
            return Err(Reason::NotAgent.into());
        }
        self.go(Event::Accept)?;
        self.begin(now);
        effects.push(self.notice(News::Accepted { agent: actor }));
        Ok(())
    }

    /// The agent is committed: its grace period and its first attempt begin.
    pub(super) fn begin(&mut self, now: Millis) {
        self.work.grace_until = Some(now.plus(self.windows.grace));
        self.phase = Phase::Working { until: now.plus(self.contract.timeout()) };
    }

    pub(super) fn decline(&mut self, actor: PartyId, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        self.need_state(&[State::Investigating])?;
        self.need_agent(&actor)?;
        self.give_back(now, effects)
    }

    /// The agent's bond goes back, and the contract waits for the next one.
    pub(super) fn give_back(&mut self, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        self.settle(Settlement::BondReturned, effects)?;
        self.go(Event::Decline)?;
        self.reopen(now, effects);
        Ok(())
    }

    /// Forget the agent and wait for another one. The state is OPEN already.
    pub(super) fn reopen(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        if let Some(agent) = self.agent.take() {
            self.former.insert(agent.id);
        }
        self.work = Work::default();
        self.pending.clear();
        self.round = self.round.saturating_add(1);
        // A contract that nobody keeps ends some day: then the window is over as soon as it begins.
        let window = if self.round > crate::defaults::MAX_REOPENINGS { Millis(0) } else { self.windows.open };
        self.phase = Phase::Open { until: now.plus(window), reservation: None };
        effects.push(Effect::Reopened { round: self.round });
    }

    pub(super) fn investigate(&mut self, actor: PartyId, command: String, now: Millis) -> Result<()> {
        self.need_state(&[State::Investigating, State::InProgress])?;
        self.need_agent(&actor)?;
        self.not_closing()?;
        let execution = &self.contract.execution;
        if self.rounds >= execution.investigation_rounds {
            return Err(Refusal::with(Reason::TooManyRounds, execution.investigation_rounds));
        }
        if let Some(last) = self.last_investigation {
            let next = last.plus(Millis::secs(execution.investigation_rate.into()));
            if now.plus(self.skew) < next {
                return Err(Refusal::with(Reason::TooFast, next));
            }
        }
        self.rounds += 1;
        self.last_investigation = Some(now);
        self.pending.push(command);
        Ok(())
    }

    pub(super) fn fix(&mut self, actor: PartyId, corrects: bool, now: Millis) -> Result<()> {
        self.need_state(&[State::InProgress, State::Review])?;
        self.need_agent(&actor)?;
        self.not_closing()?;
        let Phase::Working { until } = self.phase else { return Err(Reason::FixPending.into()) };
        if self.is_late(now, until) {
            return Err(Refusal::with(Reason::AttemptOver, until));
        }
        if corrects && !self.contract.takes_corrected_commands() {
            return Err(Reason::CorrectedCommand.into());
        }
        self.work.attempts = self.work.attempts.saturating_add(1);
        // From now on the principal may have read it, so nobody leaves for free (decision E4).
        self.work.fix_seen = true;
        self.work.fix_at = Some(self.head.seq);
        if self.contract.is_autonomous() {
            self.go(Event::Submit)?;
            self.phase = Phase::Reviewing { until: now.plus(self.contract.review_window()) };
        } else {
            self.verifying(now);
        }
        Ok(())
    }

    /// A fix waits for the principal: after the verify window the agent may dispute, after another review
    /// window the principal's silence accepts it.
    pub(super) fn verifying(&mut self, now: Millis) {
        let dispute_at = now.plus(self.windows.verify);
        self.phase = Phase::Verifying { dispute_at, until: dispute_at.plus(self.contract.review_window()) };
    }

    /// An attempt has failed: another one, or the end unless the agent objects (decision E5).
    pub(super) fn attempt_failed(&mut self, now: Millis) {
        self.phase = if self.work.attempts < self.contract.execution.max_attempts {
            Phase::Working { until: now.plus(self.contract.timeout()) }
        } else {
            self.closing(CloseReason::AttemptsExhausted, now)
        };
    }

    /// In free mode nobody can object, so the window is over as soon as it begins.
    pub(super) fn closing(&self, reason: CloseReason, now: Millis) -> Phase {
        let window = if self.is_free() { Millis(0) } else { self.windows.objection };
        Phase::Closing { until: now.plus(window), reason }
    }

    /// A party leaves. The server's next entry, in the same step, reopens or ends the contract. A principal that may
    /// have read the fix waits for the agent's objection (decision E20).
    pub(super) fn back_out(&mut self, actor: PartyId, now: Millis) -> Result<()> {
        let by = self.need_side(&actor)?;
        self.need_state(&[State::InProgress])?;
        self.not_closing()?;
        if by == Side::Principal && self.work.fix_seen && !self.is_free() {
            self.phase = self.closing(CloseReason::BackedOutAfterFix, now);
            return Ok(());
        }
        let grace_until = self.work.grace_until.unwrap_or_default();
        let grace = !self.work.fix_seen && now < grace_until;
        let unsure = !self.work.fix_seen
            && self.skew > Millis(0)
            && now.minus(self.skew) < grace_until
            && grace_until < now.plus(self.skew);
        self.go(Event::BackOut)?;
        self.phase = Phase::Left { by, grace, unsure };
        Ok(())
    }

    /// What a halt interrupts now, if it may.
    pub(super) fn interrupted(&self, now: Millis) -> Result<Interrupted> {
        match self.phase {
            Phase::Investigating { .. } => Ok(Interrupted::Investigation),
            Phase::Working { until } => Ok(Interrupted::Work { left: until.minus(now) }),
            Phase::Verifying { .. } => Ok(Interrupted::Verification),
            Phase::Reviewing { .. } => Ok(Interrupted::Review),
            Phase::Closing { until, .. } => Err(Refusal::with(Reason::Closing, until)),
            _ => Err(self.wrong_state()),
        }
    }

    /// The other side of the one that acts.
    pub(super) fn party_of(&self, side: Side) -> Option<&Party> {
        match side {
            Side::Principal => Some(&self.principal),
            Side::Agent => self.agent.as_ref(),
        }
    }
}
