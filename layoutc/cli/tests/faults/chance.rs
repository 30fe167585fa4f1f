//! Numbers by chance, the same again for the same seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// A source of them.
#[derive(Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("48 bits") % end
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// What `LAYOUTC_SEED` says; else another one each day, so that the days add up.
pub(crate) fn seed() -> u64 {
    let asked = std::env::var("LAYOUTC_SEED").ok().and_then(|text| text.parse().ok());
    let today = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_secs() / 86_400);
    asked.unwrap_or_else(today)
}
