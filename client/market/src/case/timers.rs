//! Time: what happens by itself, and what the server chains because of it (decision E12).

use super::phase::{CourtStep, Phase, Proceedings, Timer};
use super::{Case, Effect};
use crate::Millis;
use crate::chain::{CloseReason, Data, Side};
use crate::money::Court;

impl Case {
    /// Let time pass for what no entry records: a reservation that lapses, an answer that does not come, a
    /// halt that goes to the judge. Everything else is an entry.
    pub(super) fn advance(&mut self, now: Millis) -> Vec<Effect> {
        let mut effects = Vec::new();
        effects.extend(self.lapse(now));
        // In a replay the window is held open a little longer: whom the server admitted was in time.
        self.hand_to_judge(now.minus(self.skew), &mut effects);
        effects
    }

    /// From an answer or a halt to the judge, when the window ended before `now`.
    pub(super) fn hand_to_judge(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        if let Phase::Halted { until, .. } = self.phase
            && !self.is_free()
            && now >= until
        {
            self.halt_to_court(until, effects);
        }
        if let Phase::Court(proceedings) = &mut self.phase
            && let CourtStep::Responding { until, .. } = proceedings.step
            && now >= until
        {
            proceedings.step = CourtStep::Judging { since: until, reexecuted_at: None };
            effects.push(Effect::CourtOpens { court: proceedings.court, at: until });
        }
    }

    /// A halt that was not taken back goes to the court. Whose fix was read answers first (decision E20).
    pub(super) fn halt_to_court(&mut self, since: Millis, effects: &mut Vec<Effect>) {
        let step = if self.work.fix_seen {
            CourtStep::Responding { until: since.plus(self.response_window()), by: Side::Agent }
        } else {
            effects.push(Effect::CourtOpens { court: Court::District, at: since });
            CourtStep::Judging { since, reexecuted_at: None }
        };
        self.phase = Phase::Court(Proceedings::filed(Side::Principal, step));
    }

    /// The entry that the server must chain now, if any. After it was chained there may be another one.
    /// [`Case::run`] does it all; this is for whoever signs elsewhere. What no entry records has its effect
    /// at the same moment.
    pub fn tick(&self, now: Millis) -> Option<Data> {
        let (at, timer) = self.next_timer()?;
        if now < at {
            return None;
        }
        let closed = |reason| Some(Data::Closed { reason });
        match (timer, &self.phase) {
            (Timer::Unfunded, _) => closed(CloseReason::Unfunded),
            (Timer::Open, _) => closed(CloseReason::NoAgent),
            (Timer::Investigation, _) => {
                Some(Data::AutoDecline { reason: "the investigation took too long".to_owned() })
            }
            (Timer::Attempt, _) => {
                Some(Data::AttemptTimeout { attempt: self.work.attempts.saturating_add(1) })
            }
            (Timer::Silence, _) => Some(Data::AutoFulfill { reason: "the principal was silent".to_owned() }),
            (Timer::Objection, Phase::Closing { reason, .. }) => closed(*reason),
            (Timer::Halt, Phase::Halted { .. }) if self.is_free() => closed(CloseReason::Halted),
            (Timer::Judge, Phase::Court(proceedings)) if proceedings.last.is_some() => {
                closed(CloseReason::CourtFailed)
            }
            (Timer::Judge, Phase::Court(_)) if self.has_passed() => Some(Data::AutoFulfill {
                reason: "the judge did not rule, and its machine found that the fix works".to_owned(),
            }),
            (Timer::Judge, Phase::Court(_)) => {
                Some(Data::Voided { reason: "the judge did not rule".to_owned() })
            }
            (Timer::Appeal, _) => closed(CloseReason::NoAppeal),
            (Timer::Now, Phase::Left { by: Side::Agent, grace, .. }) => {
                Some(Data::Reopened { round: self.round.saturating_add(1), grace: *grace })
            }
            (Timer::Now, Phase::Left { grace: true, .. }) => closed(CloseReason::BackedOutInGrace),
            (Timer::Now, Phase::Left { .. }) => closed(CloseReason::BackedOutLate),
            // No entry: `advance` does it.
            _ => None,
        }
    }

    /// When something happens by itself, and what. `None` after the end, and between a bond and its
    /// confirmation, which are one step.
    pub fn next_timer(&self) -> Option<(Millis, Timer)> {
        if self.awaits_bonded() {
            return None;
        }
        Some(match &self.phase {
            Phase::Unfunded { until, .. } => (*until, Timer::Unfunded),
            Phase::Open { reservation: Some(r), .. } => (r.until, Timer::Reservation),
            Phase::Open { until, .. } => (*until, Timer::Open),
            Phase::Investigating { until } => (*until, Timer::Investigation),
            Phase::Working { until } => (*until, Timer::Attempt),
            Phase::Verifying { until, .. } => (*until, Timer::Silence),
            Phase::Closing { until, .. } => (*until, Timer::Objection),
            Phase::Reviewing { until } => (*until, Timer::Silence),
            Phase::Halted { until, .. } => (*until, Timer::Halt),
            Phase::Court(proceedings) => match proceedings.step {
                CourtStep::Responding { until, .. } => (until, Timer::Response),
                CourtStep::Judging { since, reexecuted_at } => {
                    let seated = || self.judge_deadline(since, reexecuted_at);
                    (self.seat_deadline().unwrap_or_else(seated), Timer::Judge)
                }
                CourtStep::Appealable { until } => (until, Timer::Appeal),
            },
            Phase::Left { .. } => (self.updated_at, Timer::Now),
            Phase::Ended => return None,
        })
    }

    /// When [`Case::run`] must be called next.
    pub fn next_deadline(&self) -> Option<Millis> {
        self.next_timer().map(|(at, _)| at)
    }
}
