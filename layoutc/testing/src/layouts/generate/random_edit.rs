//! Random edits of layouts and of index expressions.

use crate::Random;
use crate::layouts::{Case, Op, Step, Tree};

/// Copy of the layout `case` with one random edit of a map or of the strides. It changes a number, an operator or an
/// axis in an index, reduces a declared extent, drops an item, or changes a stride. A layout without maps and strides
/// is unchanged; any other one may be unchanged by chance.
pub fn damage(random: &mut Random, case: &Case) -> Case {
    let mut damaged = case.clone();
    let maps: Vec<usize> =
        (0..case.steps.len()).filter(|k| matches!(case.steps[*k], Step::Map { .. })).collect();
    let strided = case.steps.iter().position(|step| matches!(step, Step::Strides(_)));
    if let Some(at) = strided.filter(|_| maps.is_empty() || random.one_in(2)) {
        if let Step::Strides(strides) = &mut damaged.steps[at] {
            let k = random.below(strides.len());
            strides[k] = (strides[k] + random.between(-3, 3)).max(0);
        }
        return damaged;
    }
    if maps.is_empty() {
        return damaged;
    }
    let ranks: Vec<usize> = ranks(case);
    let at = *random.pick(&maps);
    let last = at + 1 == case.steps.len();
    let Step::Map { items, separators, .. } = &mut damaged.steps[at] else { return damaged };
    if items.is_empty() {
        return damaged;
    }
    let k = random.below(items.len());
    if last && separators.is_empty() && items.len() > 1 && random.one_in(4) {
        items.remove(k);
        return damaged;
    }
    if let (true, Some(extent)) = (random.one_in(3), items[k].extent.as_mut()) {
        *extent = (*extent - random.between(1, 3)).max(0);
        return damaged;
    }
    let mut left = random.below(nodes(&items[k].index));
    edit(random, &mut items[k].index, &mut left, ranks[at], false);
    damaged
}

/// Number of axes before each step of a layout.
fn ranks(case: &Case) -> Vec<usize> {
    let mut names: Vec<String> = case.axes.iter().map(|(name, _)| name.clone()).collect();
    let mut ranks = Vec::new();
    for step in &case.steps {
        ranks.push(names.len());
        names = step.names(&names);
    }
    ranks
}

pub fn nodes(tree: &Tree) -> usize {
    match tree {
        Tree::Int(_) | Tree::Axis(_) | Tree::Symbol(_) => 1,
        Tree::Neg(a) => 1 + nodes(a),
        Tree::Bin(_, a, b) => 1 + nodes(a) + nodes(b),
    }
}

pub fn edit(random: &mut Random, tree: &mut Tree, left: &mut usize, rank: usize, divisor: bool) {
    if *left > 0 {
        *left -= 1;
        match tree {
            Tree::Int(_) | Tree::Axis(_) | Tree::Symbol(_) => {}
            Tree::Neg(a) => edit(random, a, left, rank, false),
            Tree::Bin(op, a, b) => {
                let own = nodes(a);
                if *left < own {
                    edit(random, a, left, rank, false);
                } else {
                    *left -= own;
                    edit(random, b, left, rank, matches!(op, Op::Div | Op::Mod));
                }
            }
        }
        return;
    }
    match tree {
        Tree::Int(n) => {
            let least = i64::from(divisor);
            *n = (*n + *random.pick(&[-2, -1, 1, 1, 2])).max(least);
        }
        Tree::Axis(k) => *k = random.below(rank),
        Tree::Symbol(_) => *tree = Tree::Int(random.between(1, 9)),
        Tree::Neg(a) => *tree = (**a).clone(),
        Tree::Bin(op, a, b) => {
            let by_constant = matches!(**b, Tree::Int(n) if n > 0) && !b.has_axes();
            let free = !(a.has_axes() && b.has_axes());
            *op = match random.below(4) {
                0 => Op::Add,
                1 => Op::Sub,
                2 if free => Op::Mul,
                3 if by_constant && *op == Op::Div => Op::Mod,
                3 if by_constant => Op::Div,
                _ => Op::Sub,
            };
        }
    }
}
