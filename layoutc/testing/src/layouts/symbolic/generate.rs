//! Random layouts with symbolic extents, as users write them.

use super::random_map::with_map;
use super::symbol_expr::{divisor, extent, symbol};
use super::{Symbolic, SymbolicStep, current, int, legal};
use crate::Random;
use crate::layouts::{Facts, Op, Tree, bin};

/// Random layout with one to three symbols and one to three axes, and at least one step. It need not be injective,
/// which [`crate::layouts::truth()`] decides for given values of the symbols.
pub fn any(random: &mut Random) -> Symbolic {
    loop {
        let count = random.below(3) + 1;
        let symbols: Vec<Facts> = (0..count).map(|_| symbol(random)).collect();
        if symbols.iter().any(|facts| legal(*facts).is_empty()) {
            continue;
        }
        let rank = *random.pick(&[1, 2, 2, 3, 3]);
        let axes = ["a", "b", "c"].map(str::to_owned).into_iter().take(rank);
        let axes = axes.map(|name| (name, extent(random, count))).collect();
        let mut case = Symbolic { symbols, axes, steps: Vec::new() };
        if random.one_in(2) {
            with_map(random, &mut case);
            if random.one_in(4) {
                with_steps(random, &mut case);
            }
        } else {
            with_steps(random, &mut case);
        }
        let mut probe = random.clone();
        if !case.values(&mut probe, 8).0.is_empty() && !case.steps.is_empty() {
            return case;
        }
    }
}

fn with_steps(random: &mut Random, case: &mut Symbolic) {
    for _ in 0..=random.below(3) {
        let (names, extents) = current(case);
        let number = case.steps.len();
        let fresh = |k: usize| format!("s{number}_{k}");
        let any = |random: &mut Random| names[random.below(names.len())].clone();
        if names.len() > 7 {
            return;
        }
        let is_mapped = case.steps.iter().any(|step| matches!(step, SymbolicStep::Map(_)));
        let step = match random.below(9) {
            0 | 1 => {
                let mut order = names.clone();
                random.shuffle(&mut order);
                SymbolicStep::Order(order)
            }
            2 | 3 => {
                let by: Vec<Tree> = (0..*random.pick(&[1, 1, 1, 2]))
                    .map(|_| divisor(random, &case.symbols))
                    .collect();
                let into = (0..=by.len()).map(fresh).collect();
                SymbolicStep::Split { axis: any(random), by, into }
            }
            4 if names.len() > 1 => {
                let at = random.below(names.len() - 1);
                let count = random.below((names.len() - at - 1).min(2)) + 2;
                SymbolicStep::Fuse { axes: names[at..at + count].to_vec(), into: fresh(0) }
            }
            5 | 6 => {
                let length = random.below(names.len()) + 1;
                let mut entries: Vec<Option<Tree>> = (0..length)
                    .map(|_| (!random.one_in(4)).then(|| divisor(random, &case.symbols)))
                    .collect();
                if let Some(last @ None) = entries.last_mut() {
                    *last = Some(int(4));
                }
                let count = entries.iter().flatten().count();
                SymbolicStep::Tile { names: (0..2 * count).map(fresh).collect(), entries }
            }
            7 => SymbolicStep::PadMultiple {
                axis: any(random),
                multiple: int(*random.pick(&[2, 4, 8, 16])),
            },
            8 => SymbolicStep::PadAround {
                axis: any(random),
                before: int(random.between(0, 3)),
                after: int(random.between(0, 3)),
            },
            _ => continue,
        };
        case.steps.push(step);
        drop(extents);
        if is_mapped && random.one_in(2) {
            return;
        }
    }
    let (names, extents) = current(case);
    let is_mapped = case.steps.iter().any(|step| matches!(step, SymbolicStep::Map(_)));
    if !is_mapped && random.one_in(3) && !names.is_empty() {
        case.steps.push(SymbolicStep::Strides(strides(random, case, &extents)));
    }
}

/// Random strides in elements of axes with the extents `extents`, in the order of the axes. They are row-major for the
/// axes in order or in a random order; some are enlarged by padding, rounded up, or replaced by a symbol.
fn strides(random: &mut Random, case: &Symbolic, extents: &[Tree]) -> Vec<Tree> {
    let mut order: Vec<usize> = (0..extents.len()).collect();
    if random.one_in(2) {
        random.shuffle(&mut order);
    }
    let mut strides = vec![int(1); extents.len()];
    let mut next = int(1);
    for k in order.iter().rev() {
        strides[*k] = next.clone();
        next = match (&next, &extents[*k]) {
            (Tree::Int(1), own) => own.clone(),
            (next, own) => bin(Op::Mul, next.clone(), own.clone()),
        };
        match random.below(8) {
            0 => next = bin(Op::Add, next, int(random.between(1, 7))),
            1 => next = Tree::Symbol(random.below(case.symbols.len())),
            2 => {
                // Stride rounded up to a multiple of `k`, like a row stride with padding.
                let k = *random.pick(&[4, 8, 16]);
                let up = bin(Op::Div, bin(Op::Add, next, int(k - 1)), int(k));
                next = bin(Op::Mul, up, int(k));
            }
            _ => {}
        }
    }
    strides
}
