//! Decomposition of an interval of a mixed-radix number into boxes of its digits.

use super::Direction;
use super::nest::Loop;

/// Box of elements: the offsets of its first element in the dense buffer and in that of the layout, and loops over its
/// digits, with the strides in both, in units.
#[derive(Debug, Clone, Default)]
pub(super) struct StridedBox {
    pub(super) start: [i64; 2],
    pub(super) loops: Vec<Loop>,
}

impl StridedBox {
    /// Loops of a copy in `direction`, and the offsets of the first element in source and destination, all multiplied
    /// by `unit`.
    pub(super) fn directed(&self, direction: Direction, unit: i64) -> (Vec<Loop>, [i64; 2]) {
        let [dense, slot] = self.start.map(|at| at * unit);
        let level = |level: &Loop| {
            let (from, to) = (level.from * unit, level.to * unit);
            match direction {
                Direction::Pack => Loop { from, to, ..*level },
                Direction::Unpack => Loop { from: to, to: from, ..*level },
            }
        };
        let at = match direction {
            Direction::Pack => [dense, slot],
            Direction::Unpack => [slot, dense],
        };
        (self.loops.iter().map(level).collect(), at)
    }
}

/// Values of one digit: the first one, and their count.
pub(super) type Values = (i64, i64);

/// Boxes that partition the interval `low..high`, each with the values of every digit, most significant first.
/// `weights` are the weights of the digits, in the same order; the last one is 1. With weights 4 and 1, `3..9` gives
/// three boxes: digit values 0 and 3; 1 and 0 to 3; 2 and 0.
pub(super) fn boxes(weights: &[i64], [low, high]: [i64; 2]) -> Vec<Vec<Values>> {
    let mut found = Vec::new();
    add(weights, [low, high], &mut Vec::new(), &mut found);
    found
}

fn add(
    weights: &[i64],
    [low, high]: [i64; 2],
    outer: &mut Vec<Values>,
    found: &mut Vec<Vec<Values>>,
) {
    if low >= high {
        return;
    }
    let Some((weight, lesser)) = weights.split_first() else {
        found.push(outer.clone());
        return;
    };
    let weight = (*weight).max(1);
    let mut inside = |value: Values, range: [i64; 2], found: &mut Vec<Vec<Values>>| {
        outer.push(value);
        add(lesser, range, outer, found);
        outer.pop();
    };
    let (mut first, last) = (low.div_euclid(weight), (high - 1).div_euclid(weight));
    if first == last {
        let before = first * weight;
        return inside((first, 1), [low - before, high - before], found);
    }
    if low > first * weight {
        inside((first, 1), [low - first * weight, weight], found);
        first += 1;
    }
    let rest = high - last * weight;
    let end = if rest < weight { last } else { last + 1 };
    if first < end {
        inside((first, end - first), [0, weight], found);
    }
    if end == last {
        inside((last, 1), [0, rest], found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_partition_an_interval() {
        for weights in [&[12, 4, 1][..], &[1], &[6, 6, 1]] {
            for low in 0..30 {
                for high in low..30 {
                    let mut seen = Vec::new();
                    for values in boxes(weights, [low, high]) {
                        let mut sums = vec![0];
                        for (weight, (first, count)) in weights.iter().zip(&values) {
                            sums = (0..*count)
                                .flat_map(|k| {
                                    sums.iter()
                                        .map(move |sum| sum + (first + k) * weight)
                                        .collect::<Vec<_>>()
                                })
                                .collect();
                        }
                        seen.extend(sums);
                    }
                    seen.sort_unstable();
                    assert_eq!(seen, (low..high).collect::<Vec<i64>>(), "{weights:?}");
                }
            }
        }
    }

    #[test]
    fn an_interval_of_whole_digits_is_one_box() {
        assert_eq!(boxes(&[4, 1], [0, 12]), [[(0, 3), (0, 4)]]);
        assert_eq!(boxes(&[4, 1], [3, 9]), [[(0, 1), (3, 1)], [(1, 1), (0, 4)], [(2, 1), (0, 1)]]);
        assert_eq!(boxes(&[], [0, 1]), [[]]);
    }
}
