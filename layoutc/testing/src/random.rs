//! Pseudorandom numbers for tests.

use std::ops::{Add, Sub};

/// Integer type of the numbers that [`Random`] draws.
pub trait Integer:
    Copy + Add<Output = Self> + Sub<Output = Self> + From<u8> + TryFrom<u64> + TryInto<u64>
{
}

impl<T> Integer for T where
    T: Copy + Add<Output = T> + Sub<Output = T> + From<u8> + TryFrom<u64> + TryInto<u64>
{
}

/// Generator of pseudorandom numbers. A seed gives the same sequence on every platform.
///
/// Sources: the generator is Vigna's xorshift64*. Its initial state is the seed, mixed as in splitmix64, so
/// that neighboring seeds do not give neighboring sequences.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Generator whose sequence is determined by `seed`.
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    /// Random number of 64 bits, each of which is equally likely to be 0 or 1.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Random number in `0..bound`, uniform except for a small bias: for bounds up to `2^32`, the likelihoods of two
    /// numbers differ by a factor of at most `1 + 2^-16`. Bound 0 gives 0. Panics if the bound is negative.
    pub fn below<N: Integer>(&mut self, bound: N) -> N {
        let Ok(bound) = bound.try_into() else { panic!("a bound is positive") };
        let bits = self.bits();
        // The low bits of the generator's output are less random than the high bits.
        let bits = if bound <= 1 << 32 { bits >> 16 } else { bits };
        let Ok(number) = N::try_from(bits % bound.max(1)) else { panic!("less than the bound") };
        number
    }

    /// Random number in `low..=high`, distributed as that of [`Random::below`]. `high` must be at least `low`.
    pub fn between<N: Integer>(&mut self, low: N, high: N) -> N {
        low + self.below(high - low + N::from(1))
    }

    /// Random choice that is true with probability `1 / n`; always true for `n` 0.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Random entry of the list `from`, which must not be empty. All entries are equally likely.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Permutes a list at random. All permutations are equally likely.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for k in (1..list.len()).rev() {
            list.swap(k, self.below(k + 1));
        }
    }

    /// Random list of `count` bytes. Each of the 256 values of a byte is equally likely.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.below(256_u64).to_le_bytes()[0]).take(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_gives_this_sequence() {
        let mut random = Random::new(1);
        let numbers: Vec<usize> = (0..8).map(|_| random.below(100)).collect();
        assert_eq!(numbers, [11, 26, 22, 28, 93, 95, 39, 61]);
    }

    #[test]
    fn numbers_are_uniform_and_reach_both_ends() {
        let mut random = Random::new(7);
        let mut counts = [0; 7];
        for _ in 0..7000 {
            counts[usize::try_from(random.between(-3, 3) + 3).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
        assert!((0..100).all(|_| random.between(i64::MIN / 2, i64::MAX / 4) < i64::MAX / 4));
    }

    #[test]
    fn a_shuffled_list_keeps_its_entries() {
        let mut list: Vec<u32> = (0..50).collect();
        Random::new(3).shuffle(&mut list);
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
