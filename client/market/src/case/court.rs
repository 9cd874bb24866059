//! Disputes, answers, rulings, appeals (decisions E5, E6).

use super::phase::{CourtStep, Phase, Proceedings};
use super::{Case, Effect};
use crate::chain::{CloseReason, Entry, ReexecutionData, RulingData, Side};
use crate::contract::Verdict;
use crate::machine::Event;
use crate::money::{Court, Outcome, Settlement};
use crate::{Millis, PartyId, Reason, Refusal, Result, State};

impl Case {
    /// The time to answer: the review window in autonomous mode, where nobody sits and waits (decision E5).
    pub(super) fn response_window(&self) -> Millis {
        self.windows.response
    }

    /// The time to appeal.
    pub(super) fn appeal_window(&self) -> Millis {
        self.windows.appeal
    }

    pub(super) fn dispute(&mut self, actor: PartyId, named: Side, now: Millis) -> Result<()> {
        let side = self.need_named(&actor, named)?;
        if self.is_free() {
            return Err(Reason::NoJudge.into());
        }
        if !self.state.can_dispute() {
            return Err(self.wrong_state());
        }
        let too_early = |what: String| Err(Refusal::with(Reason::TooEarly, what));
        match (side, &self.phase) {
            (_, Phase::Closing { until, .. }) if self.is_late(now, *until) => return Err(self.wrong_state()),
            (Side::Principal, Phase::Closing { until, .. }) => {
                return Err(Refusal::with(Reason::Closing, until));
            }
            (Side::Principal, Phase::Reviewing { until }) if self.is_late(now, *until) => {
                return Err(self.wrong_state());
            }
            (Side::Agent, Phase::Working { .. }) if !self.work.failed => {
                return too_early("no fix was rejected".to_owned());
            }
            (Side::Agent, Phase::Verifying { dispute_at, .. })
                if !self.work.failed && !self.is_due(now, *dispute_at) =>
            {
                return too_early(format!("its verification may take until {dispute_at}"));
            }
            (Side::Agent, Phase::Reviewing { until }) => {
                return too_early(format!("its review may take until {until}"));
            }
            _ => {}
        }
        self.go(Event::Dispute)?;
        let step = CourtStep::Responding { until: now.plus(self.response_window()), by: side.other() };
        self.phase = Phase::Court(Proceedings::filed(side, step));
        Ok(())
    }

    /// Whether the judge's machine found, without any qualification, that the control run failed and the fix works.
    pub(super) fn has_passed(&self) -> bool {
        self.passed
    }

    fn proceedings_mut(&mut self) -> Result<&mut Proceedings> {
        match &mut self.phase {
            Phase::Court(proceedings) => Ok(proceedings),
            _ => Err(Reason::NotBeforeCourt.into()),
        }
    }

    pub(super) fn respond(
        &mut self,
        actor: PartyId,
        named: Side,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        let side = self.need_named(&actor, named)?;
        let (window, skew) = (self.response_window(), self.skew);
        let started = self.updated_at;
        // Without the moments of arrival an answer shows that the halt was over.
        if let Phase::Halted { until, .. } = self.phase
            && self.work.fix_seen
            && now < until.plus(skew)
            && now.plus(skew) >= until
        {
            self.halt_to_court(now, effects);
        }
        let proceedings = self.proceedings_mut()?;
        let court = proceedings.court;
        match proceedings.step {
            CourtStep::Responding { by, .. } if by != side => return Err(Reason::NotYourTurn.into()),
            CourtStep::Responding { until, .. } if now >= until.plus(skew) => {
                return Err(Refusal::with(Reason::ResponseLate, until));
            }
            CourtStep::Responding { .. } => {
                proceedings.responded = true;
                proceedings.step = CourtStep::Judging { since: now, reexecuted_at: None };
            }
            CourtStep::Judging { since, .. }
                if side == proceedings.filer.other() && !proceedings.responded =>
            {
                return Err(Refusal::with(Reason::ResponseLate, since));
            }
            CourtStep::Judging { .. } => return Err(Reason::NotYourTurn.into()),
            CourtStep::Appealable { .. } => {
                return Err(Refusal::with(Reason::ResponseLate, started.plus(window)));
            }
        }
        effects.push(Effect::CourtOpens { court, at: now });
        Ok(())
    }

    /// The loser calls the next court.
    pub(super) fn appeal(&mut self, actor: PartyId, named: Side, now: Millis) -> Result<()> {
        let side = self.need_named(&actor, named)?;
        let (window, skew) = (self.response_window(), self.skew);
        let proceedings = self.proceedings_mut()?;
        let (Some((outcome, court)), CourtStep::Appealable { until }) = (proceedings.last, proceedings.step)
        else {
            return Err(Reason::NotYourTurn.into());
        };
        if !outcome.is_lost_by(side) {
            return Err(Reason::NotLoser.into());
        }
        if proceedings.waived.contains(&side) {
            return Err(Reason::AlreadyWaived.into());
        }
        if now >= until.plus(skew) {
            return Err(Refusal::with(Reason::AppealLate, until));
        }
        proceedings.court = court.next().ok_or(Reason::NotYourTurn)?;
        self.passed = false;
        let proceedings = self.proceedings_mut()?;
        proceedings.filer = side;
        proceedings.responded = false;
        proceedings.waived.clear();
        proceedings.step = CourtStep::Responding { until: now.plus(window), by: side.other() };
        Ok(())
    }

    /// The loser gives up its appeal, or the agent its objection: what was waited for happens at once.
    pub(super) fn waive(
        &mut self,
        actor: PartyId,
        named: Side,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        let side = self.need_named(&actor, named)?;
        if let Phase::Closing { reason, .. } = self.phase {
            self.need_agent(&actor)?;
            return self.close_without_fix(reason, now, effects);
        }
        let proceedings = self.proceedings_mut()?;
        let (Some((outcome, court)), CourtStep::Appealable { .. }) = (proceedings.last, proceedings.step)
        else {
            return Err(Reason::NotYourTurn.into());
        };
        if !outcome.is_lost_by(side) {
            return Err(Reason::NotLoser.into());
        }
        if proceedings.waived.contains(&side) {
            return Err(Reason::AlreadyWaived.into());
        }
        proceedings.waived.push(side);
        let all = [Side::Principal, Side::Agent]
            .into_iter()
            .all(|side| !outcome.is_lost_by(side) || proceedings.waived.contains(&side));
        if all { self.resolve(outcome, court, now, effects) } else { Ok(()) }
    }

    /// A ruling becomes final: it is paid.
    pub(super) fn resolve(
        &mut self,
        outcome: Outcome,
        court: Court,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        let charged = self.proceedings().and_then(|proceedings| proceedings.charged);
        self.go(Event::Resolve)?;
        let ruled = Settlement::Ruling(outcome, court);
        self.settle(charged.map_or(ruled, |filer| ruled.called_by(filer)), effects)?;
        self.end(now, effects);
        Ok(())
    }

    /// Nobody objected, or nobody may: the contract ends without a fix.
    pub(super) fn close_without_fix(
        &mut self,
        reason: CloseReason,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        self.go(Event::Close)?;
        let settlement = match reason {
            CloseReason::BackedOutAfterFix => Settlement::LateAfterFix,
            _ => Settlement::AttemptsExhausted,
        };
        self.settle(settlement, effects)?;
        self.end(now, effects);
        Ok(())
    }

    /// The machine's result comes first, once for each court; the judge's time starts with it.
    pub(super) fn reexecution(&mut self, data: &ReexecutionData, entry: &Entry, now: Millis) -> Result<()> {
        let signer = data.verify(self.id, entry.prev_hash())?;
        self.need_judge(signer)?;
        data.check_trial(self.id, self.work.fix_at)?;
        self.need_judge(data.trial.as_ref().map(|trial| trial.judge))?;
        let proceedings = self.proceedings_mut()?;
        proceedings.waits = false;
        match &mut proceedings.step {
            CourtStep::Judging { reexecuted_at: Some(_), .. } => return Err(Reason::ReexecutionTwice.into()),
            CourtStep::Judging { reexecuted_at, .. } => *reexecuted_at = Some(now),
            _ => return Err(Reason::NotYourTurn.into()),
        }
        // A server that writes one by itself, or signs as its own judge, pays nobody by it.
        let named = |judge: &PartyId| self.terms.judges.contains(judge);
        // Of its words only "passed" counts, and only if the command can have failed without the fix (decision E20).
        let passed = data.trial.as_ref().is_some_and(|trial| {
            let (verdict, control) = (trial.result.verdict, trial.result.control.outcome);
            let unqualified = verdict == Verdict::Passed && control.may_fail(&self.contract.verification);
            unqualified && named(&trial.judge)
        });
        self.passed = passed && signer.as_ref().is_some_and(named);
        Ok(())
    }

    /// A ruling without a judge's signature is the server's own.
    fn need_judge(&self, signer: Option<PartyId>) -> Result<()> {
        match signer {
            Some(judge) if !self.terms.is_judge(&judge) => Err(Reason::NotAJudge.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn ruling(
        &mut self,
        data: &RulingData,
        entry: &Entry,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        let signer = data.verify(self.id, entry.prev_hash())?;
        self.need_judge(signer)?;
        let (window, has_passed) = (self.appeal_window(), self.has_passed());
        let proceedings = self.proceedings_mut()?;
        let CourtStep::Judging { reexecuted_at, .. } = proceedings.step else {
            return Err(Reason::NotYourTurn.into());
        };
        if data.court != proceedings.court {
            return Err(Refusal::with(Reason::WrongCourt, proceedings.court));
        }
        if reexecuted_at.is_none() {
            return Err(Reason::ReexecutionFirst.into());
        }
        // A higher court that failed leaves the previous ruling standing, for good; the first one rules what its
        // silence would have come to.
        let standing = proceedings.last.filter(|_| data.is_unparsable());
        let first = if has_passed { Outcome::Fulfilled } else { Outcome::Impossible };
        let expected = standing.map_or(first, |(outcome, _)| outcome);
        if data.is_unparsable() && data.outcome != expected {
            return Err(Refusal::with(Reason::UnparsableRuling, expected));
        }
        let is_final = data.court.next().is_none() || standing.is_some();
        if data.is_final != is_final {
            return Err(Refusal::with(Reason::RulingFinality, is_final));
        }
        if let Some((outcome, court)) = standing {
            return self.resolve(outcome, court, now, effects);
        }
        proceedings.last = Some((data.outcome, data.court));
        // A judge whose answer cannot be read is nobody's fault.
        proceedings.charged = (!data.is_unparsable()).then_some(proceedings.filer);
        proceedings.waived.clear();
        proceedings.step = CourtStep::Appealable { until: now.plus(window) };
        if is_final { self.resolve(data.outcome, data.court, now, effects) } else { Ok(()) }
    }

    /// Until when the judge of the present court must have ruled.
    pub(super) fn judge_deadline(&self, since: Millis, reexecuted_at: Option<Millis>) -> Millis {
        let windows = &self.windows;
        reexecuted_at.unwrap_or(since.plus(windows.reexecution)).plus(windows.judge)
    }

    /// Nobody is punished: the judge of the first court did not rule in time, or the server was away for too long.
    pub(super) fn void(&mut self, at: Millis, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        if self.is_away_too_long(at) {
            return self.void_for_absence(now, effects);
        }
        self.voidable(now)?;
        self.go(Event::Void)?;
        self.settle(Settlement::Voided, effects)?;
        self.end(now, effects);
        Ok(())
    }

    /// The judge did not rule in time, but its machine has found the fix to work (decision E20).
    pub(super) fn fulfill_for_the_judge(&mut self, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        self.judge_is_late(now)?;
        if !self.passed {
            return Err(self.wrong_state());
        }
        self.go(Event::AutoFulfill)?;
        self.settle(Settlement::Fulfilled, effects)?;
        self.end(now, effects);
        Ok(())
    }

    /// Whether the judge's time is over, so that the server voids the contract: what POST /void asks. Only
    /// the clock decides; no party can force it.
    pub fn voidable(&self, now: Millis) -> Result<()> {
        self.judge_is_late(now)?;
        if self.passed { Err(self.wrong_state()) } else { Ok(()) }
    }

    /// Whether the first court's judge is late.
    fn judge_is_late(&self, now: Millis) -> Result<()> {
        self.need_state(&[State::Disputed, State::Halted])?;
        let Phase::Court(proceedings) = &self.phase else { return Err(Reason::NotBeforeCourt.into()) };
        let CourtStep::Judging { since, reexecuted_at } = proceedings.step else {
            return Err(Reason::NotYourTurn.into());
        };
        if proceedings.last.is_some() {
            // A higher court's silence leaves the ruling standing.
            return Err(Reason::NotBeforeCourt.into());
        }
        self.due(now, self.seat_deadline().unwrap_or_else(|| self.judge_deadline(since, reexecuted_at)))
    }

    /// A window before a court has passed: the last ruling stands.
    pub(super) fn close_in_court(
        &mut self,
        reason: CloseReason,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> Result<()> {
        let Phase::Court(proceedings) = &self.phase else { return Err(Reason::NotBeforeCourt.into()) };
        let Some((outcome, court)) = proceedings.last else { return Err(Reason::NotBeforeCourt.into()) };
        match (reason, proceedings.step) {
            (CloseReason::NoAppeal, CourtStep::Appealable { until }) => self.due(now, until)?,
            (CloseReason::CourtFailed, CourtStep::Judging { since, reexecuted_at }) => {
                self.due(now, self.judge_deadline(since, reexecuted_at))?;
            }
            _ => return Err(Reason::NotYourTurn.into()),
        }
        self.resolve(outcome, court, now, effects)
    }
}
