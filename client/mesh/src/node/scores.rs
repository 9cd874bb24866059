//! What the node itself adds to a peer's score, beside gossipsub's own parts: pure.

use crate::addresses::Subnet;
use crate::defaults::{FAULT_DECAY, SCORE_FAULT, SCORE_SUBNET, SUBNET_PEERS};
use std::collections::HashMap;

/// The node's own view of a peer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extra {
    /// P5, from the layers above, in hundredths.
    pub(super) standing: i64,
    /// What no honest peer brings, in thousandths: messages under another author or topic than theirs, and on direct
    /// streams invalid frames and rejected messages.
    faults: u64,
}

impl Extra {
    /// The peer brought what no honest peer brings; of this weight, in thousandths.
    pub(super) fn blame(&mut self, weight: u64) {
        self.faults = self.faults.saturating_add(weight);
    }

    /// An upkeep has passed.
    pub(super) fn decay(&mut self) {
        self.faults = self.faults.saturating_mul(FAULT_DECAY) / 1_000;
    }

    /// Nothing is to be remembered.
    pub(super) fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// What is added to the score, in hundredths. `carried` is a penalty from before a restart, `in_subnet` how
    /// many peers are connected from the peer's network.
    pub(super) fn hundredths(&self, carried: i64, in_subnet: usize) -> i64 {
        let count = i64::try_from(self.faults).unwrap_or(i64::MAX);
        // Thousandths squared are millionths; hundredths are ten thousand of them.
        let faults = count.saturating_mul(count).saturating_mul(SCORE_FAULT) / 10_000;
        let excess = i64::try_from(in_subnet.saturating_sub(SUBNET_PEERS)).unwrap_or(i64::MAX);
        let subnet = excess.saturating_mul(excess).saturating_mul(SCORE_SUBNET).saturating_mul(100);
        self.standing.saturating_add(faults).saturating_add(subnet).saturating_add(carried.min(0))
    }
}

/// How many peers are connected from each network.
pub(super) fn count_subnets(of: impl Iterator<Item = Option<Subnet>>) -> HashMap<Subnet, usize> {
    let mut counts = HashMap::new();
    for subnet in of.flatten() {
        *counts.entry(subnet).or_insert(0_usize) += 1;
    }
    counts
}

/// A score of gossipsub's in hundredths.
pub(super) fn in_hundredths(score: f64) -> i64 {
    // A cast stops at the ends of the range, and not a number becomes zero.
    (score * 100.0).round() as i64
}

/// Hundredths as gossipsub takes them.
pub(super) fn from_hundredths(hundredths: i64) -> f64 {
    hundredths as f64 / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defaults::{FAULT, FAULT_CUT_OFF};

    #[test]
    fn faults_cost_as_rejected_messages_do_and_fade() {
        let mut extra = Extra::default();
        let costs: Vec<_> = (0..3)
            .map(|_| {
                extra.blame(FAULT);
                extra.hundredths(0, 0)
            })
            .collect();
        assert_eq!(costs, [-2_000, -8_000, -18_000]);
        (0..60).for_each(|_| extra.decay());
        assert!(extra.is_plain());
    }

    #[test]
    fn streams_that_break_off_cost_little_until_they_are_many() {
        let mut extra = Extra::default();
        let costs: Vec<_> = (0..20)
            .map(|_| {
                extra.blame(FAULT_CUT_OFF);
                extra.hundredths(0, 0)
            })
            .collect();
        assert_eq!([costs[0], costs[9], costs[19]], [-20, -2_000, -8_000]);
    }

    #[test]
    fn only_the_peers_beyond_ten_of_a_network_cost() {
        let extra = Extra { standing: 1_000, ..Extra::default() };
        assert_eq!([1, 10, 11, 13].map(|it| extra.hundredths(0, it)), [1_000, 1_000, 500, -3_500]);
    }

    #[test]
    fn a_carried_penalty_counts_and_a_carried_credit_does_not() {
        let extra = Extra::default();
        assert_eq!((extra.hundredths(-300, 0), extra.hundredths(300, 0)), (-300, 0));
    }

    #[test]
    fn scores_are_whole_hundredths() {
        assert_eq!(
            (in_hundredths(-1.005), in_hundredths(f64::NAN), in_hundredths(1e300)),
            (-100, 0, i64::MAX)
        );
        assert_eq!(from_hundredths(-250), -2.5);
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let extra = Extra { standing: i64::MIN, faults: u64::MAX };
        assert_eq!(extra.hundredths(i64::MIN, usize::MAX), i64::MIN);
    }
}
