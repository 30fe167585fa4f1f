//! Random symbols, and random extents and divisors over them.

use super::int;
use crate::Random;
use crate::layouts::{Facts, Op, Tree, bin};

pub(super) fn symbol(random: &mut Random) -> Facts {
    let multiple = *random.pick(&[1, 1, 1, 2, 3, 4, 8, 16]);
    let min = *random.pick(&[0, 1, 1, 1, 2, multiple, 2 * multiple]);
    let first = (min + multiple - 1) / multiple * multiple;
    let span = *random.pick(&[0, 1, 2, 3, 5, 9, 40, 300]);
    let max = first + span * multiple + random.between(0, multiple - 1);
    Facts { min, max: max.max(1), multiple }
}

/// Random extent of an axis: a number, a symbol, or an expression such as `2 * n`, `n // 2 + 1` or `n + 3`. `symbols`
/// is the number of symbols of the layout, at least 1.
pub(super) fn extent(random: &mut Random, symbols: usize) -> Tree {
    let own = Tree::Symbol(random.below(symbols));
    match random.below(12) {
        0..=2 => int(random.between(1, 9)),
        3 => bin(Op::Add, own, int(random.between(1, 4))),
        4 => bin(Op::Mul, own, int(random.between(2, 4))),
        5 => bin(Op::Add, bin(Op::Div, own, int(2)), int(1)),
        6 => bin(Op::Mul, int(random.between(2, 5)), own),
        _ => own,
    }
}

/// Random positive divisor: a number, or sometimes one of `symbols` whose least value is at least 1, or a multiple of
/// it. `symbols` are the declared facts of the symbols of the layout, at least one.
pub(super) fn divisor(random: &mut Random, symbols: &[Facts]) -> Tree {
    let k = random.below(symbols.len());
    let least =
        (symbols[k].min + symbols[k].multiple - 1) / symbols[k].multiple * symbols[k].multiple;
    match random.below(5) {
        0 if least > 0 => Tree::Symbol(k),
        1 if least > 0 => bin(Op::Mul, int(*random.pick(&[2, 4, 8])), Tree::Symbol(k)),
        _ => int(*random.pick(&[2, 2, 3, 4, 4, 5, 8, 16])),
    }
}
