//! Pseudorandom numbers, reproducible by seed.

use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("48 bits") % end
    }

    /// A random element.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Seed from `LAYOUTC_SEED`, else one per day, so that the days add up.
pub(crate) fn seed() -> u64 {
    let asked = std::env::var("LAYOUTC_SEED").ok().and_then(|text| text.parse().ok());
    let today = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_secs() / 86_400);
    asked.unwrap_or_else(today)
}
