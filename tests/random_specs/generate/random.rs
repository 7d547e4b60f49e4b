//! Chance that repeats: the same seed, the same draws, on every machine.

/// A generator of the SplitMix64 kind.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator of its own for each seed; neighbouring seeds have nothing in common.
    pub fn seeded(seed: u64) -> Random {
        let mut random = Random(seed);
        random.0 = random.next() ^ 0x6770_7565_6e76;
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below a bound, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A number from the first to the last, both included.
    pub fn within(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    /// True in so many of a hundred draws.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// One of a list that is not empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One of a list, the later the likelier.
    pub fn pick_late<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len()).max(self.below(from.len()))]
    }

    /// The place of a weight, each as likely as it is heavy.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (at, weight) in weights.iter().enumerate() {
            if left < *weight {
                return at;
            }
            left -= weight;
        }
        unreachable!("the draw is below the sum of the weights")
    }

    /// A place near another one in a list of so many, at most `reach` away.
    pub fn near(&mut self, at: usize, reach: usize, length: usize) -> usize {
        let first = at.saturating_sub(reach);
        self.within(first, (at + reach).min(length - 1))
    }
}
