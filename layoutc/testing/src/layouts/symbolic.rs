//! Random layouts with one to three symbols for tests, as users write them or damaged by one edit. For given
//! values of the symbols, each layout is a [`Case`] of the oracle.

mod generate;
mod random_edit;
mod random_map;
mod symbol_expr;

use super::{Case, Facts, MapItem, Op, Step, Tree, bin};
use crate::Random;

pub use generate::any;
pub use random_edit::damage;

pub use super::tree::NAMES;

/// Maximum number of elements of a layout for the values that [`Symbolic::values`] gives to its symbols. [`MOST_SLOTS`]
/// is that of the elements and padding in its storage axes.
const MOST_ELEMENTS: i64 = 3000;
const MOST_SLOTS: i64 = 40_000;

/// Layout over symbols, in which every extent, stride and factor is a [`Tree`] that contains numbers and symbols, but
/// no axes.
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
    /// Expression in which each symbol `k` is replaced by its value `values[k]`.
    #[must_use]
    pub fn at(&self, values: &[i64]) -> Tree {
        match self {
            Self::Symbol(k) => Self::Int(values[*k]),
            Self::Int(_) | Self::Axis(_) => self.clone(),
            Self::Neg(a) => Self::Neg(Box::new(a.at(values))),
            Self::Bin(op, a, b) => bin(*op, a.at(values), b.at(values)),
        }
    }

    /// True if every divisor in the expression is free of axes, and positive for `values`, the values of the symbols.
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

    /// Text of the step as the argument of `map` in a manifest, without quotes; empty if the step is no map. `number`
    /// is the position of the step in its layout, from which the items are named, and `names` are those of the axes
    /// before the step.
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
    /// those of the axes before the step.
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
    /// Layout in which each symbol `k` is replaced by its value `values[k]`. The field `symbol` of the result has the
    /// facts of the first symbol, so that the extent of the first axis counts as symbolic.
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

    /// Pair `(lists, is_complete)`. Each of `lists` has one legal value per symbol, for which the layout is within the
    /// limits of elements and slots. They are taken from all such lists if there are at most `most`, else from the
    /// extremes ([`Self::ends`]) and a random sample, together about `most`. `is_complete` is true if `lists` has every
    /// list of legal values.
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

    /// All combinations of the least and the greatest legal value of each symbol. Each combination has one value per
    /// symbol.
    pub fn ends(&self) -> Vec<Vec<i64>> {
        let each: Vec<Vec<i64>> = self.symbols.iter().map(|facts| legal(*facts)).collect();
        let end = |own: &[i64], is_last: bool| own[if is_last { own.len() - 1 } else { 0 }];
        (0..1_usize << each.len())
            .map(|ends| (0..).zip(&each).map(|(k, own)| end(own, ends >> k & 1 == 1)).collect())
            .collect()
    }

    /// True if every divisor in the maps is free of axes, and positive for `values`, the values of the symbols.
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

/// Values that the declaration `facts` of a symbol permits, ascending.
fn legal(facts: Facts) -> Vec<i64> {
    (facts.min..=facts.max).filter(|value| value % facts.multiple == 0).collect()
}

fn int(value: i64) -> Tree {
    Tree::Int(value)
}

/// Pair of the names of the axes after all steps of `case`, and their extents as expressions over symbols. After a map,
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
            // The extents after a map follow from its text, and no step after a map needs them.
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
