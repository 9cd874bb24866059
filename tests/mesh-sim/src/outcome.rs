//! What came of a run, in whole numbers, so that the same seed gives the same bytes.

use crate::ruling::Ruling;
use crate::spread::Spread;
use serde::Serialize;
use std::collections::BTreeMap;
use zx1_mesh::counts::Counts;

const LONGEST_MILLIS: usize = 60_000;
const MILLION: u64 = 1_000_000;

/// Times by the millisecond.
#[derive(Clone, Debug)]
pub struct Times {
    by_millis: Vec<u64>,
    number: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self { by_millis: vec![0; LONGEST_MILLIS + 1], number: 0 }
    }
}

impl Times {
    /// Counts a time in microseconds.
    pub fn add(&mut self, micros: u64) {
        let millis = usize::try_from(micros / 1_000).unwrap_or(LONGEST_MILLIS);
        self.by_millis[millis.min(LONGEST_MILLIS)] += 1;
        self.number += 1;
    }

    /// The time, in milliseconds, that this part of all times, in parts of 100, does not exceed; zero of none.
    pub fn percentile(&self, part: u64) -> u64 {
        let wanted = (self.number * part).div_ceil(100);
        let mut sum = 0;
        for (millis, count) in self.by_millis.iter().enumerate() {
            sum += count;
            if sum >= wanted {
                return millis as u64;
            }
        }
        LONGEST_MILLIS as u64
    }
}

/// Deliveries of honest agents' messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deliveries {
    /// Deliveries that should have been.
    pub expected: u64,
    /// Deliveries that were.
    pub delivered: u64,
}

impl Deliveries {
    /// Counts one message.
    pub fn add(&mut self, expected: u32, delivered: u32) {
        self.expected += u64::from(expected);
        self.delivered += u64::from(delivered);
    }

    /// Delivered parts of a million; a million when nothing was expected.
    pub fn ppm(&self) -> u64 {
        (self.delivered * MILLION).checked_div(self.expected).unwrap_or(MILLION)
    }

    /// Whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.delivered == self.expected
    }
}

/// Everything that is counted in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Honest agents' messages.
    pub published: u64,
    /// Their deliveries to ordinary nodes.
    pub deliveries: Deliveries,
    /// Their deliveries to watched nodes.
    pub watched: Deliveries,
    /// Parts of a million that the message with the fewest deliveries reached.
    pub worst_ppm: u64,
    /// Deliveries by part of the run.
    pub phases: Vec<Deliveries>,
    /// Median from publishing to acceptance, in milliseconds.
    pub p50_millis: u64,
    /// 99th percentile of the same.
    pub p99_millis: u64,
    /// Median at watched nodes.
    pub watched_p50_millis: u64,
    /// 99th percentile at watched nodes.
    pub watched_p99_millis: u64,
    /// Copies that nodes sent each other.
    pub copies: u64,
    /// Copies that were not the first.
    pub duplicates: u64,
    /// Copies that were lost on their way.
    pub lost: u64,
    /// Copies that were dropped for a peer that is too slow.
    pub too_slow: u64,
    /// Copies that a node dropped unread, because it graylisted who brought them.
    pub unread: u64,
    /// Messages that nodes asked for after they were named to them.
    pub repaired: u64,
    /// Messages that honest nodes judged.
    pub judged: u64,
    /// Messages that a node's full queue dropped.
    pub queue_full: u64,
    /// Messages that attackers made.
    pub attack_messages: u64,
    /// Times that an honest node accepted an attacker's own message.
    pub attack_accepted: u64,
    /// Times that an honest node accepted a message a second time.
    pub accepted_twice: u64,
    /// Refusals that blame nobody, by reason.
    pub ignored: BTreeMap<&'static str, u64>,
    /// Refusals that cost the bringer, by reason.
    pub rejected: BTreeMap<&'static str, u64>,
    /// Times that an honest node graylisted an attacker's.
    pub attackers_graylisted: u64,
    /// Times that an honest node graylisted an honest one.
    pub honest_graylisted: u64,
    /// Times that an honest node took an attacker's out of its mesh for its score.
    pub attackers_pruned: u64,
    /// Times that an honest node took an honest one out of its mesh for its score.
    pub honest_pruned: u64,
    /// Milliseconds from the first attack to the first time that an honest node graylisted an attacker's.
    pub graylisted_after_millis: Option<u64>,
    /// Calls of the real gate by nodes without an intake of their own.
    pub gate_calls: u64,
    /// Verdicts that were compared with the gate's for that very view.
    pub compared: u64,
    /// Those that differed. Never any, or the simulation is wrong.
    pub differed: u64,
    /// Events of the simulation.
    pub events: u64,
}

impl Outcome {
    /// Refusals for reasons that end with this, such as `Rate`.
    pub fn refusals(&self, ending: &str) -> u64 {
        let all = self.ignored.iter().chain(&self.rejected);
        all.filter(|(name, _)| name.ends_with(ending)).map(|(_, count)| count).sum()
    }
}

/// What is counted while a run goes on.
#[derive(Debug, Default)]
pub struct Tally {
    /// What only grows.
    pub sums: Outcome,
    /// Times to acceptance, at ordinary nodes and at watched ones.
    pub times: [Times; 2],
    ignored: Counts,
    rejected: Counts,
}

impl Tally {
    /// Counts a refusal.
    pub fn refused(&mut self, ruling: Ruling) {
        match ruling {
            Ruling::Accept => {}
            Ruling::Ignore(reason) => self.ignored.refused(&reason),
            Ruling::Reject(reason) => self.rejected.refused(&reason),
        }
    }

    /// Counts a message of an honest agent that is over.
    pub fn ended(&mut self, spread: &Spread) {
        let sums = &mut self.sums;
        let is_first = sums.deliveries.expected == 0;
        sums.published += 1;
        sums.deliveries.add(spread.expected[0], spread.delivered[0]);
        sums.watched.add(spread.expected[1], spread.delivered[1]);
        if sums.phases.len() <= spread.phase {
            sums.phases.resize(spread.phase + 1, Deliveries::default());
        }
        sums.phases[spread.phase].add(spread.expected[0], spread.delivered[0]);
        let mut alone = Deliveries::default();
        alone.add(spread.expected[0], spread.delivered[0]);
        sums.worst_ppm = if is_first { alone.ppm() } else { sums.worst_ppm.min(alone.ppm()) };
    }

    /// The outcome, once everything has ended.
    pub fn close(mut self) -> Outcome {
        let [ordinary, watched] = &self.times;
        let nonzero = |counts: &Counts| counts.refusals().filter(|(_, count)| *count > 0).collect();
        self.sums.p50_millis = ordinary.percentile(50);
        self.sums.p99_millis = ordinary.percentile(99);
        self.sums.watched_p50_millis = watched.percentile(50);
        self.sums.watched_p99_millis = watched.percentile(99);
        self.sums.ignored = nonzero(&self.ignored);
        self.sums.rejected = nonzero(&self.rejected);
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_a_sorted_list() {
        let mut times = Times::default();
        (1..=100).for_each(|millis| times.add(millis * 1_000));
        assert_eq!((times.percentile(50), times.percentile(99), times.percentile(100)), (50, 99, 100));
        assert_eq!(Times::default().percentile(50), 0);
    }

    #[test]
    fn nothing_expected_is_everything_delivered() {
        let mut deliveries = Deliveries::default();
        assert_eq!((deliveries.ppm(), deliveries.is_whole()), (1_000_000, true));
        deliveries.add(3, 2);
        assert_eq!((deliveries.ppm(), deliveries.is_whole()), (666_666, false));
    }
}
