//! Seats before a judge: while all of them are taken, the judge's time does not run (decision E5).

use super::phase::{CourtStep, Phase};
use super::{Case, Step};
use crate::chain::{Absence, AbsenceCause, Data, Side};
use crate::defaults::{MAX_ABSENCE, MIN_ABSENCE};
use crate::money::Court;
use crate::{Millis, PartyId, PartyKey, Reason, Refusal, Result};

/// A case whose turn before a judge has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeatWanted {
    /// The court that has the case.
    pub court: Court,
    /// Who called this court.
    pub filer: PartyId,
    /// The principal and the agent.
    pub parties: [PartyId; 2],
    /// Moment at which the wait began.
    pub since: Millis,
    /// Whether the judge's machine has answered, so that the judge sits already.
    pub reexecuted: bool,
    /// Whether it has been told to wait.
    pub waits: bool,
}

impl Case {
    /// The seat that it needs or has; `None` unless its turn before a judge has come.
    pub fn seat_wanted(&self) -> Option<SeatWanted> {
        let proceedings = self.proceedings()?;
        let CourtStep::Judging { since, reexecuted_at } = proceedings.step else { return None };
        let parties = [self.principal(), self.agent()?];
        let [principal, agent] = parties;
        Some(SeatWanted {
            court: proceedings.court,
            filer: if proceedings.filer == Side::Principal { principal } else { agent },
            parties,
            since,
            reexecuted: reexecuted_at.is_some(),
            waits: self.waits_for_seat(),
        })
    }

    /// Whether it waits for a seat.
    pub fn waits_for_seat(&self) -> bool {
        self.waiting_since().is_some()
    }

    fn waiting_since(&self) -> Option<Millis> {
        let proceedings = self.proceedings().filter(|proceedings| proceedings.waits)?;
        match proceedings.step {
            CourtStep::Judging { since, reexecuted_at: None } => Some(since),
            _ => None,
        }
    }

    /// Until when it waits at most: what a contract outlives of absences.
    pub(super) fn seat_deadline(&self) -> Option<Millis> {
        let left = MAX_ABSENCE.minus(self.absent).plus(Millis(1));
        self.waiting_since().map(|since| since.plus(left))
    }

    /// All seats are taken. Nothing is chained: what it has waited stands in the entry that ends it, see
    /// [`Case::seat`].
    pub fn wait_for_seat(&mut self) {
        if let Phase::Court(proceedings) = &mut self.phase
            && matches!(proceedings.step, CourtStep::Judging { reexecuted_at: None, .. })
        {
            proceedings.waits = true;
        }
    }

    /// It has a seat: the judge's time begins now. Less than 3 s of waiting does not count.
    pub fn seat(&mut self, now: Millis, key: &PartyKey) -> Result<Step> {
        self.attempt(|case, step| {
            let Some(since) = case.waiting_since() else { return Ok(()) };
            let absence = Absence {
                cause: AbsenceCause::Court,
                from: since.max(case.last_at),
                until: case.next_at(now),
            };
            let waited = absence.until.minus(since);
            if waited >= MIN_ABSENCE && case.absent.plus(waited) <= MAX_ABSENCE {
                case.append(&Data::Resumed(absence), now, key, step)?;
            } else if waited < MIN_ABSENCE
                && let Phase::Court(proceedings) = &mut case.phase
            {
                proceedings.waits = false;
            }
            // Who has waited for too long is not seated any more: its end is due.
            case.settle_down(now, key, step)
        })
    }

    /// Act on `resumed` with the cause `court`. What counts is how far the judge's time moves, not the gap: an absence
    /// of the server may lie between.
    pub(super) fn seated(&mut self, absence: Absence) -> Result<()> {
        let wrong = |why: &str| Err(Refusal::with(Reason::AbsenceInvalid, why));
        let (absent, skew) = (self.absent, self.skew);
        let Phase::Court(proceedings) = &mut self.phase else { return wrong("no judge's turn has come") };
        let CourtStep::Judging { since, reexecuted_at: None } = &mut proceedings.step else {
            return wrong("no judge's turn has come");
        };
        if absence.from.plus(skew) < *since {
            return wrong("it begins before the judge's turn");
        }
        let waited = absence.until.minus(*since);
        if waited.plus(skew) < MIN_ABSENCE {
            return wrong("it is too short to count");
        }
        if absent.plus(waited) > MAX_ABSENCE.plus(skew) {
            return wrong("all absences together are longer than a week");
        }
        *since = absence.until;
        proceedings.waits = false;
        self.absent = absent.plus(waited);
        Ok(())
    }
}
