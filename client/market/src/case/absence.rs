//! Absences: the server did not run, its clock jumped, or its ledger could not be read (decision E21). Nobody loses
//! money to that: windows move by what was missed, in a signed entry that a replay checks.

use super::phase::{CourtStep, Phase};
use super::{Case, Effect, Step};
use crate::chain::{Absence, AbsenceCause, Data};
use crate::defaults::{MAX_ABSENCE, MIN_ABSENCE};
use crate::machine::Event;
use crate::money::Settlement;
use crate::{Millis, PartyKey, Reason, Refusal, Result, State};

impl Case {
    /// Whether its present window waits for the ledger: a deposit that is to come.
    pub fn waits_for_ledger(&self) -> bool {
        matches!(self.phase, Phase::Unfunded { .. } | Phase::Open { reservation: Some(_), .. })
    }

    /// The server or its ledger was away from `from` until `now`. What ended before has ended; every window that ran
    /// moves by the gap. Nothing happens when the gap is shorter than 3 s, and, after an outage of the ledger, to
    /// contracts that do not wait for it. Beyond 604 800 s in all the contract is voided.
    ///
    /// A reservation moves without an entry: its bond hangs on the present head, and no transcript shows it before.
    pub fn resume_after(
        &mut self,
        cause: AbsenceCause,
        from: Millis,
        now: Millis,
        key: &PartyKey,
    ) -> Result<Step> {
        self.attempt(|case, step| {
            if case.state.is_terminal() || (cause == AbsenceCause::Ledger && !case.waits_for_ledger()) {
                return Ok(());
            }
            let from = from.max(case.last_at).max(case.updated_at);
            let absence = Absence { cause, from, until: case.next_at(now) };
            if absence.gap() < MIN_ABSENCE {
                return Ok(());
            }
            step.effects = case.advance(from);
            if let Phase::Open { reservation: Some(reservation), .. } = &mut case.phase {
                later(&mut reservation.until, from, absence.gap());
                case.updated_at = now;
                return Ok(());
            }
            let data = if case.absent.plus(absence.gap()) > MAX_ABSENCE {
                Data::Voided { reason: "the server was away for too long".to_owned() }
            } else {
                Data::Resumed(absence)
            };
            case.append(&data, now, key, step)?;
            case.settle_down(now, key, step)
        })
    }

    /// Act on `resumed`, which was signed `at` this moment.
    pub(super) fn resumed(&mut self, absence: Absence, at: Millis) -> Result<()> {
        let gap = absence.gap();
        let wrong = |why: &str| Err(Refusal::with(Reason::AbsenceInvalid, why));
        if absence.until != at {
            return wrong("it does not end with its entry");
        }
        if absence.from < self.last_at {
            return wrong("it begins before the entry before it");
        }
        if absence.cause == AbsenceCause::Court {
            return self.seated(absence);
        }
        if gap < MIN_ABSENCE {
            return wrong("it is too short to count");
        }
        if self.absent.plus(gap) > MAX_ABSENCE {
            return wrong("all absences together are longer than a week");
        }
        if absence.cause == AbsenceCause::Ledger && !self.waits_for_ledger() {
            return wrong("no window waits for the ledger");
        }
        self.absent = self.absent.plus(gap);
        self.shift(absence.from, gap);
        Ok(())
    }

    fn shift(&mut self, from: Millis, gap: Millis) {
        let (reexecution, judge) = (self.windows.reexecution, self.windows.judge);
        if let Some(until) = &mut self.work.grace_until {
            later(until, from, gap);
        }
        match &mut self.phase {
            Phase::Unfunded { until, .. }
            | Phase::Open { until, .. }
            | Phase::Investigating { until }
            | Phase::Working { until }
            | Phase::Closing { until, .. }
            | Phase::Reviewing { until }
            | Phase::Halted { until, .. } => later(until, from, gap),
            Phase::Verifying { dispute_at, until } => {
                later(dispute_at, from, gap);
                later(until, from, gap);
            }
            Phase::Court(proceedings) => match &mut proceedings.step {
                CourtStep::Responding { until, .. } | CourtStep::Appealable { until } => {
                    later(until, from, gap);
                }
                CourtStep::Judging { reexecuted_at: Some(at), .. } if at.plus(judge) > from => {
                    *at = at.plus(gap);
                }
                CourtStep::Judging { since, reexecuted_at: None }
                    if since.plus(reexecution).plus(judge) > from =>
                {
                    *since = since.plus(gap);
                }
                CourtStep::Judging { .. } => {}
            },
            Phase::Left { .. } | Phase::Ended => {}
        }
    }

    /// Whether more is missing before `at` than a contract outlives.
    pub(super) fn is_away_too_long(&self, at: Millis) -> bool {
        self.absent.plus(at.minus(self.last_at)) > MAX_ABSENCE
    }

    /// Everything goes back to those who paid it in.
    pub(super) fn void_for_absence(&mut self, now: Millis, effects: &mut Vec<Effect>) -> Result<()> {
        let settlement = match self.state {
            State::Unfunded => None,
            State::Open => Some(self.returned()),
            _ => Some(Settlement::Voided),
        };
        self.go(Event::Void)?;
        if let Some(settlement) = settlement {
            self.settle(settlement, effects)?;
        }
        self.end(now, effects);
        Ok(())
    }
}

/// Moves a deadline that was still to come.
fn later(deadline: &mut Millis, from: Millis, gap: Millis) {
    if *deadline > from {
        *deadline = deadline.plus(gap);
    }
}
