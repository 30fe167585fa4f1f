//! Random layouts with one to three symbols for tests, as users write them or damaged by one edit. For given
//! values of the symbols, each layout is a [`Case`] of the oracle.

use super::{Case, Facts, MapItem, Op, Step, Tree, bin};
use crate::Random;

/// Names of the symbols of a layout, in order.
pub const NAMES: [&str; 3] = ["n", "m", "q"];

/// Maximum number of elements of a layout for the values of its symbols that tests use.
const MOST_ELEMENTS: i64 = 3000;
const MOST_SLOTS: i64 = 40_000;

/// Layout over symbols, in which every number is a [`Tree`] without axes.
#[derive(Debug, Clone)]
pub struct Symbolic {
    pub symbols: Vec<Facts>,
    pub axes: Vec<(String, Tree)>,
    pub steps: Vec<SymbolicStep>,
}

#[derive(Debug, Clone)]
pub enum SymbolicStep {
    Map(Vec<Tree>),
    Order(Vec<String>),
    Split { axis: String, by: Vec<Tree>, into: Vec<String> },
    Fuse { axes: Vec<String>, into: String },
    Tile { entries: Vec<Option<Tree>>, names: Vec<String> },
    PadMultiple { axis: String, multiple: Tree },
    PadAround { axis: String, before: Tree, after: Tree },
    Strides(Vec<Tree>),
}

impl Tree {
    /// Expression with the symbols replaced by these values.
    #[must_use]
    pub fn at(&self, values: &[i64]) -> Tree {
        match self {
            Self::Symbol(k) => Self::Int(values[*k]),
            Self::Int(_) | Self::Axis(_) => self.clone(),
            Self::Neg(a) => Self::Neg(Box::new(a.at(values))),
            Self::Bin(op, a, b) => bin(*op, a.at(values), b.at(values)),
        }
    }

    /// True if every divisor in the expression is free of axes, and positive for these values of the symbols.
    fn divides(&self, values: &[i64]) -> bool {
        match self {
            Self::Int(_) | Self::Axis(_) | Self::Symbol(_) => true,
            Self::Neg(a) => a.divides(values),
            Self::Bin(op, a, b) => {
                let is_division = matches!(op, Op::Div | Op::Mod);
                a.divides(values)
                    && b.divides(values)
                    && !(is_division && (b.has_axes() || b.number(values) < 1))
            }
        }
    }

    pub fn number(&self, values: &[i64]) -> i64 {
        self.at(values).value(&[])
    }
}

impl SymbolicStep {
    fn at(&self, number: usize, values: &[i64]) -> Step {
        let all = |trees: &[Tree]| trees.iter().map(|tree| tree.number(values)).collect();
        match self {
            Self::Map(items) => Step::Map {
                items: items
                    .iter()
                    .enumerate()
                    .map(|(k, index)| MapItem {
                        name: format!("s{number}_{k}"),
                        index: index.at(values),
                        extent: None,
                    })
                    .collect(),
                separators: Vec::new(),
                all_parentheses: false,
            },
            Self::Order(axes) => Step::Order(axes.clone()),
            Self::Split { axis, by, into } => {
                Step::Split { axis: axis.clone(), by: all(by), into: into.clone() }
            }
            Self::Fuse { axes, into } => Step::Fuse { axes: axes.clone(), into: into.clone() },
            Self::Tile { entries, names } => {
                let entry = |tile: &Option<Tree>| tile.as_ref().map(|tile| tile.number(values));
                Step::Tile { entries: entries.iter().map(entry).collect(), names: names.clone() }
            }
            Self::PadMultiple { axis, multiple } => {
                Step::PadMultiple { axis: axis.clone(), multiple: multiple.number(values) }
            }
            Self::PadAround { axis, before, after } => Step::PadAround {
                axis: axis.clone(),
                before: before.number(values),
                after: after.number(values),
            },
            Self::Strides(strides) => Step::Strides(all(strides)),
        }
    }

    /// Text of a map as in a manifest, without quotes; empty for other steps. `number` is the position of the step in
    /// its layout, from which the items are named, and `names` are the axes before the step.
    pub fn map_text(&self, number: usize, names: &[String]) -> String {
        let Self::Map(items) = self else { return String::new() };
        let items: Vec<String> = items
            .iter()
            .enumerate()
            .map(|(k, index)| format!("s{number}_{k} = {}", index.text(names, false)))
            .collect();
        format!("({}) -> ({})", names.join(", "), items.join(", "))
    }

    /// Text of the step in the syntax of manifests. `number` is the position of the step in its layout, and `names` are
    /// the axes before the step.
    fn text(&self, number: usize, names: &[String]) -> String {
        let plain = |tree: &Tree| tree.text(&[], false);
        let all = |trees: &[Tree]| {
            trees.iter().map(|t| format!("\"{}\"", plain(t))).collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Map(_) => format!("map \"{}\"", self.map_text(number, names)),
            Self::Order(axes) => format!("order {}", axes.join(" ")),
            Self::Split { axis, by, into } => {
                let by: Vec<String> = by.iter().map(|t| plain(t).replace(' ', "")).collect();
                format!("split {axis} into=\"{}\" by=\"{}\"", into.join(" "), by.join(" "))
            }
            Self::Fuse { axes, into } => format!("fuse {} as={into}", axes.join(" ")),
            Self::Tile { entries, names } => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|e| e.as_ref().map_or("\"*\"".to_owned(), |e| format!("\"{}\"", plain(e))))
                    .collect();
                format!("tile {} as=\"{}\"", entries.join(" "), names.join(" "))
            }
            Self::PadMultiple { axis, multiple } => {
                format!("pad {axis} multiple=\"{}\"", plain(multiple))
            }
            Self::PadAround { axis, before, after } => {
                format!("pad {axis} before=\"{}\" after=\"{}\"", plain(before), plain(after))
            }
            Self::Strides(strides) => format!("strides {}", all(strides)),
        }
    }
}

impl Symbolic {
    /// Layout with the symbols replaced by these values, one per symbol. `symbol` of the result has the facts of the
    /// first symbol, so that the layout counts as open.
    pub fn at(&self, values: &[i64]) -> Case {
        let axes = self.axes.iter().map(|(name, extent)| (name.clone(), extent.number(values)));
        let steps = self.steps.iter().enumerate().map(|(k, step)| step.at(k, values));
        let symbol = self.symbols.first().copied();
        Case { axes: axes.collect(), symbol, element_bits: 32, steps: steps.collect() }
    }

    pub fn names(&self) -> Vec<String> {
        self.axes.iter().map(|(name, _)| name.clone()).collect()
    }

    pub fn has_bits(&self) -> bool {
        self.steps.iter().any(|step| match step {
            SymbolicStep::Map(items) => items.iter().any(Tree::has_bits),
            _ => false,
        })
    }

    pub fn describe(&self) -> String {
        let mut text = String::new();
        for (facts, name) in self.symbols.iter().zip(NAMES) {
            let Facts { min, max, multiple } = facts;
            text += &format!("symbol {name} min={min} max={max} multiple={multiple}\n");
        }
        let axes: Vec<String> = self
            .axes
            .iter()
            .map(|(name, e)| format!("{name} \"{}\"", e.text(&[], false)))
            .collect();
        text += &format!("tensor x dtype=f32 {{ shape {{ {} }}\n  layout {{\n", axes.join("; "));
        let mut names = self.names();
        let least: Vec<i64> = self.symbols.iter().map(|facts| facts.multiple).collect();
        for (k, step) in self.steps.iter().enumerate() {
            text += &format!("    {}\n", step.text(k, &names));
            names = step.at(k, &least).names(&names);
        }
        text + "    padding allow\n} }"
    }

    /// Lists of legal values, one per symbol, for which the layout is within the limits of elements and slots: from all
    /// lists if there are at most `most`, else from the extremes and a random sample, together about `most`. The flag
    /// is true if the result contains every list of legal values.
    pub fn values(&self, random: &mut Random, most: usize) -> (Vec<Vec<i64>>, bool) {
        let each: Vec<Vec<i64>> = self.symbols.iter().map(|facts| legal(*facts)).collect();
        let count = each.iter().map(Vec::len).fold(1, usize::saturating_mul);
        let mut all: Vec<Vec<i64>> = Vec::new();
        let is_all = count <= most;
        if is_all {
            all.push(Vec::new());
            for own in &each {
                all = all
                    .iter()
                    .flat_map(|v| own.iter().map(move |n| [v.as_slice(), &[*n]].concat()))
                    .collect();
            }
        } else {
            all = self.ends();
            while all.len() < most {
                let near = *random.pick(&[2, 4, 8, 1 << 20]);
                all.push(each.iter().map(|own| own[random.below(own.len().min(near))]).collect());
            }
        }
        let before = all.len();
        all.retain(|values| self.is_small(values));
        let is_all = is_all && all.len() == before;
        (all, is_all)
    }

    /// All combinations of the least and the greatest legal value of each symbol, each with one value per symbol.
    pub fn ends(&self) -> Vec<Vec<i64>> {
        let each: Vec<Vec<i64>> = self.symbols.iter().map(|facts| legal(*facts)).collect();
        let end = |own: &[i64], is_last: bool| own[if is_last { own.len() - 1 } else { 0 }];
        (0..1_usize << each.len())
            .map(|ends| (0..).zip(&each).map(|(k, own)| end(own, ends >> k & 1 == 1)).collect())
            .collect()
    }

    /// True if every divisor in the maps is free of axes, and positive for these values of the symbols.
    fn divides(&self, values: &[i64]) -> bool {
        self.steps.iter().all(|step| match step {
            SymbolicStep::Map(items) => items.iter().all(|index| index.divides(values)),
            _ => true,
        })
    }

    fn is_small(&self, values: &[i64]) -> bool {
        if !self.divides(values) {
            return false;
        }
        let case = self.at(values);
        let most =
            |extents: &[i64]| extents.iter().fold(1_i64, |n, e| n.saturating_mul((*e).max(1)));
        let extents: Vec<i64> = case.axes.iter().map(|(_, extent)| *extent).collect();
        let Some((_, storage)) = super::generate::current(&case) else { return false };
        most(&extents) <= MOST_ELEMENTS && most(&storage) <= MOST_SLOTS
    }
}

/// Values that the declaration of a symbol permits, ascending.
fn legal(facts: Facts) -> Vec<i64> {
    (facts.min..=facts.max).filter(|value| value % facts.multiple == 0).collect()
}

fn symbol(random: &mut Random) -> Facts {
    let multiple = *random.pick(&[1, 1, 1, 2, 3, 4, 8, 16]);
    let min = *random.pick(&[0, 1, 1, 1, 2, multiple, 2 * multiple]);
    let first = (min + multiple - 1) / multiple * multiple;
    let span = *random.pick(&[0, 1, 2, 3, 5, 9, 40, 300]);
    let max = first + span * multiple + random.between(0, multiple - 1);
    Facts { min, max: max.max(1), multiple }
}

fn int(value: i64) -> Tree {
    Tree::Int(value)
}

/// Random extent of an axis: a number, a symbol, or an expression such as `2 * n`, `n // 2 + 1` or `n + 3`. `symbols`
/// is the number of symbols of the layout, at least 1.
fn extent(random: &mut Random, symbols: usize) -> Tree {
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

/// Random positive divisor: a number, or sometimes a symbol that is at least 1, or a multiple of such a
/// symbol.
fn divisor(random: &mut Random, symbols: &[Facts]) -> Tree {
    let k = random.below(symbols.len());
    let least =
        (symbols[k].min + symbols[k].multiple - 1) / symbols[k].multiple * symbols[k].multiple;
    match random.below(5) {
        0 if least > 0 => Tree::Symbol(k),
        1 if least > 0 => bin(Op::Mul, int(*random.pick(&[2, 4, 8])), Tree::Symbol(k)),
        _ => int(*random.pick(&[2, 2, 3, 4, 4, 5, 8, 16])),
    }
}

/// Random layout with symbols. It need not be injective, which [`super::truth`] decides for given values of the
/// symbols.
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

/// Names of the axes, and their extents as expressions over symbols, after all steps of a layout so far. After a map,
/// the extents are placeholders of 1.
fn current(case: &Symbolic) -> (Vec<String>, Vec<Tree>) {
    let (mut names, mut extents): (Vec<String>, Vec<Tree>) = case.axes.iter().cloned().unzip();
    for (number, step) in case.steps.iter().enumerate() {
        let at = |name: &String| super::position(&names, name);
        let up = |e: &Tree, by: &Tree| {
            let sum = bin(Op::Add, e.clone(), bin(Op::Sub, by.clone(), int(1)));
            bin(Op::Div, sum, by.clone())
        };
        let product =
            |trees: &[Tree]| trees.iter().cloned().reduce(|a, b| bin(Op::Mul, a, b)).unwrap();
        let after = match step {
            // The extents follow from the text; no later step needs them.
            SymbolicStep::Map(items) => vec![int(1); items.len()],
            SymbolicStep::Order(order) => order.iter().map(|n| extents[at(n)].clone()).collect(),
            SymbolicStep::Split { axis, by, .. } => {
                let k = at(axis);
                let outer = up(&extents[k], &product(by));
                [&extents[..k], &[outer], by, &extents[k + 1..]].concat()
            }
            SymbolicStep::Fuse { axes, .. } => {
                let k = at(&axes[0]);
                let fused = product(&extents[k..k + axes.len()]);
                [&extents[..k], &[fused], &extents[k + axes.len()..]].concat()
            }
            SymbolicStep::Tile { entries, .. } => {
                let prefix = extents.len() - entries.len();
                let (mut grid, mut inner, mut merged) = (Vec::new(), Vec::new(), None);
                for (extent, entry) in extents[prefix..].iter().zip(entries) {
                    let whole = match merged.take() {
                        Some(outer) => bin(Op::Mul, outer, extent.clone()),
                        None => extent.clone(),
                    };
                    match entry {
                        Some(tile) => {
                            grid.push(up(&whole, tile));
                            inner.push(tile.clone());
                        }
                        None => merged = Some(whole),
                    }
                }
                [&extents[..prefix], &grid, &inner].concat()
            }
            SymbolicStep::PadMultiple { axis, multiple } => {
                let mut after = extents.clone();
                after[at(axis)] = bin(Op::Mul, up(&extents[at(axis)], multiple), multiple.clone());
                after
            }
            SymbolicStep::PadAround { axis, before, after: behind } => {
                let mut after = extents.clone();
                let sum = bin(Op::Add, extents[at(axis)].clone(), before.clone());
                after[at(axis)] = bin(Op::Add, sum, behind.clone());
                after
            }
            SymbolicStep::Strides(_) => extents.clone(),
        };
        let least: Vec<i64> = case.symbols.iter().map(|facts| facts.multiple).collect();
        names = step.at(number, &least).names(&names);
        extents = after;
    }
    (names, extents)
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

/// Random strides of the axes, row-major in a random order of the axes. Some are enlarged by padding, rounded up, or
/// replaced by a symbol.
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
                // Rounded up, as a pitch is.
                let k = *random.pick(&[4, 8, 16]);
                let up = bin(Op::Div, bin(Op::Add, next, int(k - 1)), int(k));
                next = bin(Op::Mul, up, int(k));
            }
            _ => {}
        }
    }
    strides
}

/// Adds a random map to a layout, which flattens, tiles, reverses, rotates or swizzles the axes.
fn with_map(random: &mut Random, case: &mut Symbolic) {
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

/// True if an extent is positive: a symbol of at least 1, a positive number, or a product of such.
fn is_positive(case: &Symbolic, extent: &Tree) -> bool {
    match extent {
        Tree::Symbol(k) => case.symbols[*k].min > 0,
        Tree::Bin(Op::Mul, a, b) => is_positive(case, a) && is_positive(case, b),
        Tree::Int(n) => *n > 0,
        _ => false,
    }
}

/// Appends a value to `items`: whole, split into two or three digits such as `v // 4` and `v % 4`, or swizzled with
/// `^`.
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

/// Copy of a layout with one random edit of a map or of the strides; unchanged if the random step is of another kind.
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
            let mut left = random.below(super::generate::nodes(&items[k]));
            super::generate::edit(random, &mut items[k], &mut left, rank, false);
        }
        _ => {}
    }
    damaged
}
