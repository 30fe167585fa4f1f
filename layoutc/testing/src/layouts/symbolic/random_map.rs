//! Random index maps over symbolic extents.

use super::symbol_expr::divisor;
use super::{Symbolic, SymbolicStep, int};
use crate::Random;
use crate::layouts::{Op, Tree, bin};

/// Adds a random map to the layout `case`, which has no steps yet. The map flattens, tiles, reverses, rotates or
/// swizzles the axes.
pub(super) fn with_map(random: &mut Random, case: &mut Symbolic) {
    let extents: Vec<Tree> = case.axes.iter().map(|(_, extent)| extent.clone()).collect();
    let mut values: Vec<(Tree, Tree)> = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        let own = Tree::Axis(k);
        let other = (k + 1 < extents.len()).then(|| Tree::Axis(k + 1));
        let value = match (random.below(12), other) {
            (0, _) => bin(Op::Sub, bin(Op::Sub, extent.clone(), int(1)), own),
            (1, _) => bin(Op::Add, own, int(random.between(1, 5))),
            (2, Some(other)) if matches!(extent, Tree::Int(n) if *n > 0) => {
                bin(Op::Mod, bin(Op::Add, own, other), extent.clone())
            }
            (3, Some(other)) if is_positive(case, extent) => {
                bin(Op::Mod, bin(Op::Add, own, other), extent.clone())
            }
            _ => own,
        };
        let extent = match value {
            Tree::Bin(Op::Add, _, ref by) => bin(Op::Add, extent.clone(), (**by).clone()),
            _ => extent.clone(),
        };
        values.push((value, extent));
    }
    // Linearizes adjacent values.
    while values.len() > 1 && random.one_in(3) {
        let at = random.below(values.len() - 1);
        let (minor, own) = values.remove(at + 1);
        let radix = match random.below(8) {
            0 => bin(Op::Add, own, int(random.between(1, 3))),
            1 => Tree::Symbol(random.below(case.symbols.len())),
            _ => own,
        };
        let (major, outer) = values[at].clone();
        let fused = bin(Op::Add, bin(Op::Mul, major, radix.clone()), minor);
        values[at] = (fused, bin(Op::Mul, outer, radix));
    }
    let mut items = Vec::new();
    for (value, _) in values {
        cut(random, case, value, &mut items);
    }
    if random.one_in(2) {
        random.shuffle(&mut items);
    }
    case.steps.push(SymbolicStep::Map(items));
}

/// True if `extent` is positive for all values of the symbols of `case`: it is a symbol with a declared minimum of at
/// least 1, a positive number, or a product of such extents. False for other forms.
fn is_positive(case: &Symbolic, extent: &Tree) -> bool {
    match extent {
        Tree::Symbol(k) => case.symbols[*k].min > 0,
        Tree::Bin(Op::Mul, a, b) => is_positive(case, a) && is_positive(case, b),
        Tree::Int(n) => *n > 0,
        _ => false,
    }
}

/// Appends the expression `value` to `items`: whole, split into two or three digits such as `v // 4` and `v % 4`, or
/// swizzled with `^`. Divisors are numbers or symbols of `case`.
fn cut(random: &mut Random, case: &Symbolic, value: Tree, items: &mut Vec<Tree>) {
    let k = divisor(random, &case.symbols);
    let m = int(*random.pick(&[2, 3, 4]));
    let v = || value.clone();
    match random.below(9) {
        0..=2 => {
            items.push(bin(Op::Div, v(), k.clone()));
            items.push(bin(Op::Mod, v(), k));
        }
        3 => {
            items.push(bin(Op::Div, v(), bin(Op::Mul, k.clone(), m.clone())));
            items.push(bin(Op::Mod, bin(Op::Div, v(), k.clone()), m));
            items.push(bin(Op::Mod, v(), k));
        }
        4 => {
            items.push(bin(Op::Div, bin(Op::Div, v(), k.clone()), m.clone()));
            items.push(bin(Op::Div, bin(Op::Mod, v(), bin(Op::Mul, k.clone(), m)), k.clone()));
            items.push(bin(Op::Mod, v(), k));
        }
        5 => {
            // XOR swizzle of columns by rows.
            let b = int(*random.pick(&[2, 4, 8]));
            let row = bin(Op::Div, v(), b.clone());
            items.push(row.clone());
            items.push(bin(Op::Xor, bin(Op::Mod, v(), b.clone()), bin(Op::Mod, row, b)));
        }
        6 if case.axes.len() > 1 => {
            let b = int(*random.pick(&[2, 4, 8]));
            let row = bin(Op::Mod, Tree::Axis(random.below(case.axes.len())), b.clone());
            items.push(bin(Op::Div, v(), b.clone()));
            items.push(bin(Op::Xor, bin(Op::Mod, v(), b), row));
        }
        _ => items.push(value),
    }
}
