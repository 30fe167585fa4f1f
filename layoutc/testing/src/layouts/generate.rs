//! Random layouts for tests, valid by construction or damaged by one edit.

use super::{Case, Facts, MapItem, Op, Step, Tree, bin, extents_after};
use crate::Random;

/// Maximum number of elements of a generated tensor.
const MOST_ELEMENTS: i64 = 1200;
const MOST_SLOTS: i64 = 20_000;

/// Features that a generated layout may have, and the size of its elements in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one switch for each kind")]
pub struct Kinds {
    /// True if indices may contain the operators `&` and `^`.
    pub bits: bool,
    /// True if indices may contain expressions such as `(a + b) % 8` and `a * 5 % 8`, whose injectivity does not
    /// follow from digits.
    pub skews: bool,
    /// True if axes may have extent 0.
    pub empty: bool,
    /// True if the extent of the first axis is the symbol `batch`.
    pub symbol: bool,
    pub element_bits: i64,
}

/// Random layout without intended faults. It may still be invalid by chance, which [`super::truth`] decides.
pub fn valid(random: &mut Random, kinds: Kinds) -> Case {
    loop {
        if let Some(case) = attempt(random, kinds) {
            return case;
        }
    }
}

/// Random layout of the axes `axes` (name, extent) without intended faults. With `symbol`, the first axis has a
/// symbolic extent, and its extent in `axes` is one value of that symbol.
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
        // A medium size; the test tries others.
        axes[0].1 = facts.multiple * random.between(1, 3);
    }
    if elements > MOST_ELEMENTS {
        return None;
    }
    let case = Case { axes, symbol, element_bits: kinds.element_bits, steps: Vec::new() };
    with_steps(random, kinds, case)
}

/// Random layout of one map of one to five axes, with at most 4,096 points and expressions of depth at most
/// six, without intended faults.
pub fn one_map(random: &mut Random) -> Case {
    loop {
        let kinds =
            Kinds { bits: true, skews: true, empty: false, symbol: false, element_bits: 32 };
        let rank = random.below(5) + 1;
        let names = ["a", "b", "c", "d", "e"].map(str::to_owned).into_iter().take(rank);
        let most = *random.pick(&[8, 13, 17, 40, 300]);
        let axes: Vec<(String, i64)> = names
            .map(|name| {
                let extent = random.between(1, most);
                let power = u64::try_from(extent).unwrap().next_power_of_two();
                let power = i64::try_from(power).unwrap();
                (name, if random.one_in(2) { power } else { extent })
            })
            .collect();
        let extents: Vec<i64> = axes.iter().map(|(_, extent)| *extent).collect();
        let points: i64 = extents.iter().product();
        if points > 4096 || (points < 8 && !random.one_in(10)) {
            continue;
        }
        let step = if random.one_in(40) {
            wild_map(random, &extents, 0, kinds)
        } else {
            map(random, &extents, 0, kinds)
        };
        let Step::Map { items, .. } = &step else { continue };
        if items.iter().all(|item| depth(&item.index) <= 6) {
            return Case { axes, symbol: None, element_bits: 32, steps: vec![step] };
        }
    }
}

/// Random items of a map that orders two of at least two axes along a Hilbert curve. The two axes may be tiled, shifted
/// or reversed, and the position on the curve split into two digits.
pub fn curve_of(random: &mut Random, axes: &[(String, i64)]) -> Vec<MapItem> {
    let first = random.below(2);
    let both = [first, first + 1 + random.below(axes.len() - first - 1)];
    let both = if random.one_in(2) { both } else { [both[1], both[0]] };
    let mut items = Vec::new();
    let sides = both.map(|k| {
        let (own, extent) = (Tree::Axis(k), axes[k].1);
        let value = match random.below(5) {
            0 => bin(Op::Sub, Tree::Int(extent - 1), own),
            1 => {
                bin(Op::Mod, bin(Op::Add, own, Tree::Int(random.between(1, 7))), Tree::Int(extent))
            }
            _ => own,
        };
        if random.one_in(2) {
            return (value, extent + random.between(0, 2));
        }
        let tile = random.between(2, 4);
        items.push(bin(Op::Mod, value.clone(), Tree::Int(tile)));
        (bin(Op::Div, value, Tree::Int(tile)), (extent + tile - 1) / tile)
    });
    let [(row, rows), (column, columns)] = sides;
    let place = bin(Op::Hilbert { rows, columns }, row, column);
    if random.one_in(3) {
        let cut = random.between(2, 5);
        items.push(bin(Op::Div, place.clone(), Tree::Int(cut)));
        items.push(bin(Op::Mod, place, Tree::Int(cut)));
    } else {
        items.push(place);
    }
    let others = (0..axes.len()).filter(|k| !both.contains(k));
    items.extend(others.map(Tree::Axis));
    random.shuffle(&mut items);
    let named = items.into_iter().enumerate();
    named.map(|(k, index)| MapItem { name: format!("s{k}"), index, extent: None }).collect()
}

/// Number of operators on the longest path from the root of an expression to a leaf.
fn depth(tree: &Tree) -> usize {
    match tree {
        Tree::Int(_) | Tree::Axis(_) | Tree::Symbol(_) => 0,
        Tree::Neg(a) => 1 + depth(a),
        Tree::Bin(_, a, b) => 1 + depth(a).max(depth(b)),
    }
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

/// Names and extents of the axes after all steps of a layout; `None` if the language defines no extent for an axis.
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

/// Random map over axes with these extents; item k is named `s{number}_k`, where `number` is the position of the step.
/// Injective by construction except for rare faults: each axis can be recovered from the items, given the axes after
/// it.
fn map(random: &mut Random, extents: &[i64], number: usize, kinds: Kinds) -> Step {
    let mut values = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        let static_extent = !(kinds.symbol && number == 0 && k == 0);
        values.push(value(random, k, extents, *extent, static_extent && !kinds.symbol, kinds));
    }
    // Linearizes adjacent values, sometimes with padding, sometimes (wrongly) too tightly.
    if values.len() > 1 && random.one_in(4) {
        let at = random.below(values.len() - 1);
        if let Some((_, high)) = values[at + 1].interval(extents) {
            let radix = match random.below(8) {
                0 => high + 3,
                1 if !kinds.symbol => high.max(1),
                _ => high + 1,
            };
            let minor = values.remove(at + 1);
            let major = bin(Op::Mul, values[at].clone(), Tree::Int(radix.max(1)));
            values[at] = bin(Op::Add, major, minor);
        }
    }
    let mut items: Vec<Tree> = Vec::new();
    for value in values {
        cut(random, value, &mut items);
    }
    if random.one_in(2) {
        random.shuffle(&mut items);
    }
    // Two digits in one storage axis.
    if items.len() > 1 && random.one_in(4) {
        let minor = items.remove(random.below(items.len()));
        let at = random.below(items.len());
        if let Some((low, high)) = minor.interval(extents) {
            let radix = (high + 1 - low.min(0) + random.between(0, 1)).max(1);
            items[at] = bin(Op::Add, bin(Op::Mul, items[at].clone(), Tree::Int(radix)), minor);
        } else {
            items.push(minor);
        }
    }
    let items = items
        .into_iter()
        .enumerate()
        .map(|(k, index)| {
            let index = disguise(random, index);
            let extent = index
                .interval(extents)
                .filter(|_| !kinds.symbol && random.one_in(10))
                .map(|(_, high)| (high + 1 + random.between(0, 2)).max(0));
            MapItem { name: format!("s{number}_{k}"), index, extent }
        })
        .collect();
    Step::Map { items, separators: Vec::new(), all_parentheses: random.one_in(4) }
}

/// Random expression for the axis at position `k` of `extents`: the axis itself, or shifted, reversed, rotated or mixed
/// with one of the axes after it, as far as `kinds` permits. `whole`: `extent`, that of the axis, is a constant, which
/// most forms need.
fn value(
    random: &mut Random,
    k: usize,
    extents: &[i64],
    extent: i64,
    whole: bool,
    kinds: Kinds,
) -> Tree {
    let own = Tree::Axis(k);
    let other =
        (k + 1 < extents.len()).then(|| Tree::Axis(k + 1 + random.below(extents.len() - k - 1)));
    match (random.below(12), other) {
        (0, _) => bin(Op::Add, own, Tree::Int(random.between(1, 5))),
        (1, _) if whole => bin(Op::Sub, Tree::Int(extent.max(1) - 1), own),
        (2, Some(other)) if kinds.skews && whole && extent > 0 => {
            let sum =
                if random.one_in(3) { bin(Op::Sub, own, other) } else { bin(Op::Add, own, other) };
            bin(Op::Mod, sum, Tree::Int(extent))
        }
        (3, Some(Tree::Axis(j))) if kinds.bits && whole => {
            let rows = extents[j].max(1).count_ones() == 1 && extents[j] <= extent;
            let other =
                if rows { Tree::Axis(j) } else { bin(Op::Mod, Tree::Axis(j), Tree::Int(2)) };
            bin(Op::Xor, own, other)
        }
        (4, _) if kinds.skews && whole => bin(
            Op::Mod,
            bin(Op::Mul, own, Tree::Int(random.between(1, 7))),
            Tree::Int(extent.max(1)),
        ),
        (5, Some(other)) if kinds.skews && whole => bin(Op::Add, own, other),
        _ => own,
    }
}

/// Appends a value to `items`, whole or as two or three digits such as `v // 4` and `v % 4`. Sometimes the divisor of
/// one digit does not divide that of another, as in `v // 5`, `v % 5 // 3` and `v % 5 % 3`.
fn cut(random: &mut Random, value: Tree, items: &mut Vec<Tree>) {
    let k = *random.pick(&[2, 2, 3, 4, 4, 5, 6, 8]);
    let m = *random.pick(&[2, 3, 4]);
    let int = Tree::Int;
    let v = || value.clone();
    match random.below(9) {
        0 | 1 => {
            items.push(bin(Op::Div, v(), int(k)));
            items.push(bin(Op::Mod, v(), int(k)));
        }
        2 => {
            items.push(bin(Op::Div, v(), int(k * m)));
            items.push(bin(Op::Mod, bin(Op::Div, v(), int(k)), int(m)));
            items.push(bin(Op::Mod, v(), int(k)));
        }
        3 => {
            items.push(bin(Op::Div, bin(Op::Div, v(), int(k)), int(m)));
            items.push(bin(Op::Div, bin(Op::Mod, v(), int(k * m)), int(k)));
            items.push(bin(Op::Mod, bin(Op::Mod, v(), int(k * m)), int(k)));
        }
        4 if random.one_in(2) => {
            items.push(bin(Op::Div, v(), int(k)));
            items.push(bin(Op::Div, bin(Op::Mod, v(), int(k)), int(m)));
            items.push(bin(Op::Mod, bin(Op::Mod, v(), int(k)), int(m)));
        }
        5 if random.one_in(2) => {
            // An offset within the block.
            let c = random.between(1, 9);
            let shifted = || bin(Op::Add, v(), int(c));
            items.push(bin(Op::Div, shifted(), int(k)));
            items.push(bin(Op::Mod, shifted(), int(k)));
        }
        _ => items.push(value),
    }
}

/// Expression with the same value as `index`: mostly `index` itself, sometimes another form such as `index + 3 - 3`.
fn disguise(random: &mut Random, index: Tree) -> Tree {
    let int = Tree::Int;
    let k = random.between(2, 7);
    match random.below(30) {
        0 => bin(Op::Sub, bin(Op::Add, index, int(k)), int(k)),
        1 => bin(Op::Div, bin(Op::Mul, index, int(k)), int(k)),
        2 => bin(Op::Div, bin(Op::Add, bin(Op::Mul, index, int(k)), int(k - 1)), int(k)),
        3 => Tree::Neg(Box::new(Tree::Neg(Box::new(index)))),
        4 => {
            let whole = bin(Op::Mul, bin(Op::Div, index.clone(), int(k)), int(k));
            bin(Op::Add, whole, bin(Op::Mod, index, int(k)))
        }
        5 => {
            let rest = bin(Op::Mod, index.clone(), int(k));
            bin(
                Op::Div,
                bin(Op::Add, bin(Op::Sub, index, rest.clone()), bin(Op::Mul, rest, int(1))),
                int(1),
            )
        }
        _ => index,
    }
}

/// Random map of arbitrary expressions over axes with these extents; item k is named `s{number}_k`, where `number` is
/// the position of the step. Injective only by chance.
fn wild_map(random: &mut Random, extents: &[i64], number: usize, kinds: Kinds) -> Step {
    let count = random.below(extents.len() + 1) + 1;
    let mut items = Vec::new();
    for k in 0..count {
        let index = tree(random, extents.len(), 4, kinds);
        items.push(MapItem { name: format!("s{number}_{k}"), index, extent: None });
    }
    Step::Map { items, separators: Vec::new(), all_parentheses: random.one_in(4) }
}

/// Random expression over the axes at the positions `0..axes`, of depth at most `depth`, with the operators that
/// `kinds` permits.
pub fn tree(random: &mut Random, axes: usize, depth: usize, kinds: Kinds) -> Tree {
    if depth == 0 || random.one_in(8) {
        return if axes == 0 || random.one_in(4) {
            Tree::Int(random.between(0, 12))
        } else {
            Tree::Axis(random.below(axes))
        };
    }
    let sub = |random: &mut Random| tree(random, axes, depth - 1, kinds);
    match random.below(if kinds.bits { 12 } else { 10 }) {
        0..=2 => bin(Op::Add, sub(random), sub(random)),
        3 => bin(Op::Sub, sub(random), sub(random)),
        4 => bin(Op::Mul, sub(random), Tree::Int(random.between(0, 9))),
        5 => bin(Op::Mul, Tree::Int(random.between(1, 9)), sub(random)),
        6 | 7 => bin(Op::Div, sub(random), Tree::Int(random.between(1, 12))),
        8 => bin(Op::Mod, sub(random), Tree::Int(random.between(1, 12))),
        9 => {
            if random.one_in(4) {
                Tree::Neg(Box::new(sub(random)))
            } else {
                bin(Op::Mod, sub(random), Tree::Int(random.between(1, 12)))
            }
        }
        10 => bin(Op::And, sub(random), Tree::Int(*random.pick(&[1, 3, 7, 5, 6, 15]))),
        _ => bin(Op::Xor, sub(random), sub(random)),
    }
}

/// Copy of a layout with one random edit: a changed constant or operator, a dropped item, or a replaced axis. A layout
/// without maps or strides is unchanged.
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
