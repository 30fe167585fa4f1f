//! Random edits of layouts with symbolic extents.

use super::{Symbolic, SymbolicStep, int};
use crate::Random;
use crate::layouts::{Op, Tree, bin, generate};

/// Copy of the layout `case`, in which one randomly chosen step is edited if it is a map or the strides; unchanged if
/// it is another step. The edit changes a number, an operator or an axis in an index, drops an item, or changes a
/// stride.
pub fn damage(random: &mut Random, case: &Symbolic) -> Symbolic {
    let mut damaged = case.clone();
    let at = random.below(damaged.steps.len());
    let symbols = case.symbols.len();
    let change = |random: &mut Random, tree: &mut Tree| {
        *tree = match random.below(3) {
            0 => bin(Op::Sub, tree.clone(), int(1)),
            1 => Tree::Symbol(random.below(symbols)),
            _ => bin(Op::Add, tree.clone(), int(random.between(1, 3))),
        };
    };
    let rank = case.axes.len();
    match &mut damaged.steps[at] {
        SymbolicStep::Strides(strides) => {
            let k = random.below(strides.len());
            change(random, &mut strides[k]);
        }
        SymbolicStep::Map(items)
            if items.len() > 1 && at + 1 == case.steps.len() && random.one_in(4) =>
        {
            items.remove(random.below(items.len()));
        }
        SymbolicStep::Map(items) => {
            let k = random.below(items.len());
            let mut left = random.below(generate::nodes(&items[k]));
            generate::edit(random, &mut items[k], &mut left, rank, false);
        }
        _ => {}
    }
    damaged
}
