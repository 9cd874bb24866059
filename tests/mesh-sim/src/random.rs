//! Numbers from a seed: the same on every machine, whatever else happens.

/// Spreads the bits of a number over all of its bits.
pub fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    drawn: u64,
}

impl Random {
    /// The stream of this name. Streams of other names do not depend on how much is drawn from it.
    pub fn new(seed: u64, name: &str) -> Self {
        let named = name.bytes().fold(seed, |sum, byte| mix(sum ^ u64::from(byte)));
        Self { seed: mix(named), drawn: 0 }
    }

    /// The next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        mix(self.seed ^ mix(self.drawn))
    }

    /// A number below `end`, or zero if that is zero.
    pub fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.draw()) * u128::from(end);
        (wide >> 64) as u64
    }

    /// A number from `low` up to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// One of the places of a list of this length; `None` of an empty one.
    pub fn place(&mut self, length: usize) -> Option<usize> {
        (length > 0).then(|| self.below(length as u64) as usize)
    }

    /// Puts a list into an order of its own.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            let other = self.below(end as u64 + 1) as usize;
            list.swap(end, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_stream_and_another_name_another_one() {
        let draw = |seed, name| {
            let mut random = Random::new(seed, name);
            [random.draw(), random.draw(), random.below(10)]
        };
        assert_eq!(draw(1, "links"), draw(1, "links"));
        assert_ne!(draw(1, "links"), draw(2, "links"));
        assert_ne!(draw(1, "links"), draw(1, "loss"));
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_both_ends() {
        let mut random = Random::new(7, "bounds");
        let drawn: Vec<_> = (0..1_000).map(|_| random.between(3, 7)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&3), Some(&7)));
        assert_eq!((random.below(0), random.place(0)), (0, None));
        let mut list: Vec<_> = (0..50).collect();
        random.shuffle(&mut list);
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
