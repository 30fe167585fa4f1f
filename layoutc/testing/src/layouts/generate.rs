//! Random layouts for tests, valid by construction or damaged by one edit.

mod random_edit;
mod random_map;

use super::{Case, Facts, Op, Step, Tree, extents_after};
use crate::Random;

pub use random_edit::{damage, edit, nodes};
pub use random_map::{curve_of, one_map, tree};
use random_map::{map, wild_map};

/// Maximum number of elements of a generated tensor.
const MOST_ELEMENTS: i64 = 1200;
const MOST_SLOTS: i64 = 20_000;

/// Features that a generated layout may have, and the size of its elements in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one switch for each kind")]
pub struct Kinds {
    /// True if indices may contain the bit operators `&` and `^`.
    pub bits: bool,
    /// True if indices may contain expressions such as `(a + b) % 8` and `a * 5 % 8`, whose injectivity does not
    /// follow from digits.
    pub skews: bool,
    /// True if axes may have extent 0.
    pub empty: bool,
    /// True if the extent of the first axis is the symbol `batch`. The layout then has at least one axis.
    pub symbol: bool,
    pub element_bits: i64,
}

/// Random layout with the features that `kinds` permits, without intended faults. It may still be invalid by chance,
/// which [`super::truth()`] decides.
pub fn valid(random: &mut Random, kinds: Kinds) -> Case {
    loop {
        if let Some(case) = attempt(random, kinds) {
            return case;
        }
    }
}

/// Random layout of the axes `axes`, pairs of name and extent, with the features that `kinds` permits, without intended
/// faults. `symbol` has the declared facts of the symbolic extent of the first axis, whose extent in `axes` is one
/// value of the symbol; `None` if all extents are constants.
pub fn valid_of(
    random: &mut Random,
    kinds: Kinds,
    axes: &[(String, i64)],
    symbol: Option<Facts>,
) -> Case {
    loop {
        let element_bits = kinds.element_bits;
        let case = Case { axes: axes.to_vec(), symbol, element_bits, steps: Vec::new() };
        if let Some(case) = with_steps(random, kinds, case) {
            return case;
        }
    }
}

fn attempt(random: &mut Random, kinds: Kinds) -> Option<Case> {
    let rank = random.below(5) + usize::from(!random.one_in(20));
    let rank = if kinds.symbol { rank.max(1) } else { rank };
    let mut axes = Vec::new();
    let mut elements = 1;
    for k in 0..rank {
        let least = i64::from(!(kinds.empty && random.one_in(12)));
        let most = if random.one_in(12) { 300 } else { 13 };
        let extent = random.between(least, most);
        elements *= extent.max(1);
        axes.push((["a", "b", "c", "d", "e"][k].to_owned(), extent));
    }
    let symbol = kinds.symbol.then(|| {
        let multiple = *random.pick(&[1, 1, 1, 2, 4, 6, 8]);
        Facts { min: random.between(0, 1), max: 4096, multiple }
    });
    if let Some(facts) = symbol {
        // A value of `batch` of medium size; tests also check other values of the symbol.
        axes[0].1 = facts.multiple * random.between(1, 3);
    }
    if elements > MOST_ELEMENTS {
        return None;
    }
    let case = Case { axes, symbol, element_bits: kinds.element_bits, steps: Vec::new() };
    with_steps(random, kinds, case)
}

/// True if all steps are maps that only split axes: each index is an axis `c`, or quotients and remainders of one by
/// constants, as in `c // 8 % 2`.
pub fn is_pure_split(case: &Case) -> bool {
    fn cuts(tree: &Tree) -> bool {
        match tree {
            Tree::Axis(_) => true,
            Tree::Bin(Op::Div | Op::Mod, a, b) => cuts(a) && !b.has_axes(),
            Tree::Int(_) | Tree::Symbol(_) | Tree::Neg(_) | Tree::Bin(..) => false,
        }
    }
    case.steps.iter().all(|step| match step {
        Step::Map { items, .. } => items.iter().all(|item| cuts(&item.index)),
        _ => false,
    })
}

fn with_steps(random: &mut Random, kinds: Kinds, mut case: Case) -> Option<Case> {
    let count = random.below(4);
    for number in 0..count {
        let (names, extents) = current(&case)?;
        let slots: i64 = extents.iter().map(|e| (*e).max(1)).product();
        if slots > MOST_SLOTS || extents.len() > 14 {
            return None;
        }
        let step = step(random, &names, &extents, number, kinds)?;
        case.steps.push(step);
    }
    let (names, extents) = current(&case)?;
    if extents.iter().map(|e| (*e).max(1)).product::<i64>() > MOST_SLOTS {
        return None;
    }
    last_steps(random, &mut case, &names, &extents);
    Some(case)
}

/// Names and extents of the axes after all steps of `case`, outermost first; `None` if the language defines no extent
/// for an axis, because the index of a map has no interval.
pub fn current(case: &Case) -> Option<(Vec<String>, Vec<i64>)> {
    let (mut names, mut extents): (Vec<String>, Vec<i64>) = case.axes.iter().cloned().unzip();
    for step in &case.steps {
        extents = extents_after(step, &names, &extents, case.open())?;
        names = step.names(&names);
    }
    Some((names, extents))
}

/// Adds random final steps to a layout: strides, or separators and alignments. `names` and `extents` are those of the
/// axes after all steps so far.
fn last_steps(random: &mut Random, case: &mut Case, names: &[String], extents: &[i64]) {
    if names.is_empty() {
        return;
    }
    // Strides that depend on a symbolic extent are covered by other tests.
    if random.one_in(5) && case.symbol.is_none() {
        let mut order: Vec<usize> = (0..names.len()).collect();
        if random.one_in(2) {
            random.shuffle(&mut order);
        }
        let (mut strides, mut next) = (vec![0; names.len()], 1);
        for k in order.iter().rev() {
            next += if random.one_in(3) { random.between(0, 5) } else { 0 };
            strides[*k] = next;
            next *= extents[*k].max(1);
            if next > 20 * MOST_SLOTS {
                return;
            }
        }
        case.steps.push(Step::Strides(strides));
        return;
    }
    if random.one_in(3) && names.len() > 1 {
        let mut after: Vec<String> =
            names[..names.len() - 1].iter().filter(|_| random.one_in(2)).cloned().collect();
        if let (true, Some(Step::Map { separators, .. })) =
            (random.one_in(2), case.steps.last_mut())
        {
            *separators = after.iter().map(|name| super::position(names, name)).collect();
            after.clear();
        }
        if !after.is_empty() {
            case.steps.push(Step::Separators(after));
        }
    }
    // With a symbolic pitch, the axis with the least aligned stride depends on the size.
    let groups = case.steps.iter().any(|step| match step {
        Step::Map { separators, .. } => !separators.is_empty(),
        other => matches!(other, Step::Separators(_)),
    });
    if random.one_in(6) && !(groups && case.symbol.is_some()) {
        let mut left = names.to_vec();
        random.shuffle(&mut left);
        for axis in left.into_iter().take(random.below(2) + 1) {
            let bytes = *random.pick(&[4, 8, 16, 64, 128]);
            case.steps.push(Step::Align { axis, bytes });
        }
    }
}

fn step(
    random: &mut Random,
    names: &[String],
    extents: &[i64],
    number: usize,
    kinds: Kinds,
) -> Option<Step> {
    let fresh = |k: usize| format!("s{number}_{k}");
    let any = |random: &mut Random| {
        names.get(random.below(names.len())).cloned().filter(|_| !names.is_empty())
    };
    Some(match random.below(12) {
        0 => {
            let mut order = names.to_vec();
            random.shuffle(&mut order);
            if order.is_empty() {
                return None;
            }
            Step::Order(order)
        }
        1 => {
            let by: Vec<i64> = (0..=random.below(2)).map(|_| random.between(1, 8)).collect();
            let into = (0..=by.len()).map(fresh).collect();
            Step::Split { axis: any(random)?, by, into }
        }
        2 if names.len() > 1 => {
            let at = random.below(names.len() - 1);
            let count = random.below((names.len() - at - 1).min(2)) + 2;
            Step::Fuse { axes: names[at..at + count].to_vec(), into: fresh(0) }
        }
        3 | 4 => {
            let length = random.below(names.len() + 2) + 1;
            let mut entries: Vec<Option<i64>> = (0..length)
                .map(|_| {
                    (!random.one_in(6)).then(|| *random.pick(&[1, 2, 2, 3, 4, 4, 5, 8, 8, 16, 128]))
                })
                .collect();
            if let Some(last @ None) = entries.last_mut() {
                *last = Some(4);
            }
            let count = entries.iter().flatten().count();
            Step::Tile { names: (0..2 * count).map(fresh).collect(), entries }
        }
        5 => Step::PadMultiple { axis: any(random)?, multiple: random.between(1, 9) },
        6 => Step::PadAround {
            axis: any(random)?,
            before: random.between(0, 3),
            after: random.between(0, 3),
        },
        7 if kinds.skews => wild_map(random, extents, number, kinds),
        _ => map(random, extents, number, kinds),
    })
}
