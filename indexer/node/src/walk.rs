//! The order in which a node looks at the registry's members: each once, none sooner because it wants to be. Pure.

/// Goes through the numbers from 1 to a count in an order that a seed decides, without remembering them.
#[derive(Clone, Debug)]
pub struct Walk {
    seed: u64,
    at: u64,
}

impl Walk {
    /// From the beginning of this seed's order.
    pub fn new(seed: u64) -> Self {
        Self { seed, at: 0 }
    }

    /// The next numbers from 1 to `count`, none twice, at most `most`. After all of them it begins anew. Where the count
    /// has grown since, the order is another one.
    pub fn next(&mut self, count: u64, most: usize) -> Vec<u64> {
        if count == 0 {
            return Vec::new();
        }
        let many = u64::try_from(most).unwrap_or(u64::MAX).min(count);
        // Steps of a length that has no divisor with the count come by every number.
        let (from, first) = (self.seed % count, (self.seed >> 17) % count);
        let step = (0..count).map(|more| first.saturating_add(more) % count);
        let step = step.into_iter().find(|step| divisor(*step, count) == 1).unwrap_or(1);
        let number = |at: u64| {
            let place = u128::from(from).saturating_add(u128::from(at).saturating_mul(u128::from(step)));
            u64::try_from(place % u128::from(count)).unwrap_or_default().saturating_add(1)
        };
        let begin = self.at % count;
        self.at = begin.saturating_add(many);
        (begin..self.at).map(number).collect()
    }
}

/// The greatest common divisor.
fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_member_comes_once_in_an_order_of_the_seed() {
        for count in [1, 2, 3, 65, 66, 67, 100, 9_973, 10_000] {
            for seed in [0, 1, 7, u64::MAX, 0x1234_5678_9abc_def0] {
                let mut walk = Walk::new(seed);
                let mut seen = Vec::new();
                while (seen.len() as u64) < count {
                    let next = walk.next(count, 66);
                    assert!(!next.is_empty() && next.len() <= 66);
                    seen.extend(next);
                }
                let all: BTreeSet<u64> = seen.iter().copied().take(usize::try_from(count).unwrap()).collect();
                assert_eq!(all, (1..=count).collect(), "{count} {seed}");
            }
        }
    }

    #[test]
    fn another_seed_begins_elsewhere_and_a_count_has_no_largest_value() {
        let first = |seed| Walk::new(seed).next(10_000, 5);
        assert_ne!(first(0x1234_5678_9abc), first(0xfedc_ba98_7654));
        assert_eq!(Walk::new(5).next(0, 66), [0u64; 0]);
        let mut walk = Walk::new(u64::MAX);
        assert_eq!(walk.next(u64::MAX, 66).len(), 66);
        assert!(walk.next(3, 66).iter().all(|number| (1..=3).contains(number)), "it may even shrink");
    }
}
