//! Random index maps, injective by construction or arbitrary.

use super::Kinds;
use crate::Random;
use crate::layouts::{Case, MapItem, Op, Step, Tree, bin};

/// Random layout of a single map over one to five axes, without intended faults. It has at most 4,096 elements, and
/// expressions with at most six nested operators.
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

/// Random items of a map over `axes`, pairs of name and extent, of which there must be at least three. The map orders
/// two of the axes along a Hilbert curve. These two may be tiled, shifted or reversed, and the position on the curve
/// may be split into two digits.
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

/// Random map over axes with the extents `extents`; item k is named `s{number}_k`, where `number` is the position of
/// the step. `kinds` permits operators. Injective by construction except for rare faults: each axis can be recovered
/// from the items, given the axes after it.
pub(super) fn map(random: &mut Random, extents: &[i64], number: usize, kinds: Kinds) -> Step {
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

/// Random expression for the axis at position `k` of `extents`, whose extent is `extent`: the axis itself, or shifted,
/// reversed, rotated or mixed with one of the axes after it, as far as `kinds` permits. `whole` is true if the extent
/// is a constant, which most forms need.
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

/// Appends the expression `value` to `items`, whole or as two or three digits such as `v // 4` and `v % 4`. Sometimes
/// the divisor of one digit does not divide that of another, as in `v // 5`, `v % 5 // 3` and `v % 5 % 3`.
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
            // Digits of the shifted value `v + c`, so that blocks of `k` values do not start at multiples of `k`.
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

/// Random map of arbitrary expressions over axes with the extents `extents`, with the operators that `kinds` permits.
/// Item k is named `s{number}_k`, where `number` is the position of the step. Injective only by chance.
pub(super) fn wild_map(random: &mut Random, extents: &[i64], number: usize, kinds: Kinds) -> Step {
    let count = random.below(extents.len() + 1) + 1;
    let mut items = Vec::new();
    for k in 0..count {
        let index = tree(random, extents.len(), 4, kinds);
        items.push(MapItem { name: format!("s{number}_{k}"), index, extent: None });
    }
    Step::Map { items, separators: Vec::new(), all_parentheses: random.one_in(4) }
}

/// Random expression over the axes at the positions `0..axes`, with at most `depth` nested operators, of those that
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
