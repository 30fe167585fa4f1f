//! Random layouts for tests, and an oracle ([`truth`]) for the locations of their elements.
//!
//! The oracle follows the specification of the language and shares no code with the compiler's algebra. It evaluates
//! expressions recursively over `i64`, takes the extent of an index as the end of its interval plus 1, and finds
//! collisions by enumeration of all elements.
#![allow(missing_docs, reason = "the fields of layouts and steps are named as in manifests")]

pub mod generate;
pub mod symbolic;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Operator of index expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Xor,
    /// Position of a cell on the Hilbert curve through a box of `rows` by `columns` cells.
    Hilbert {
        rows: i64,
        columns: i64,
    },
}

impl Op {
    fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "//",
            Self::Mod => "%",
            Self::And => "&",
            Self::Xor => "^",
            Self::Hilbert { .. } => ",",
        }
    }

    /// Precedence of the operator, as in Python: a larger number binds tighter.
    fn level(self) -> u8 {
        match self {
            Self::Xor => 1,
            Self::And => 2,
            Self::Add | Self::Sub => 3,
            Self::Mul | Self::Div | Self::Mod => 4,
            Self::Hilbert { .. } => 7,
        }
    }
}

/// Index expression over the axes of a step, which are identified by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    Int(i64),
    Axis(usize),
    /// Symbol, identified by its position in [`symbolic::NAMES`]; only in [`symbolic`] layouts.
    Symbol(usize),
    Neg(Box<Tree>),
    Bin(Op, Box<Tree>, Box<Tree>),
}

pub fn bin(op: Op, a: Tree, b: Tree) -> Tree {
    Tree::Bin(op, Box::new(a), Box::new(b))
}

impl Tree {
    pub fn has_axes(&self) -> bool {
        match self {
            Self::Int(_) | Self::Symbol(_) => false,
            Self::Axis(_) => true,
            Self::Neg(a) => a.has_axes(),
            Self::Bin(_, a, b) => a.has_axes() || b.has_axes(),
        }
    }

    pub fn has_bits(&self) -> bool {
        match self {
            Self::Int(_) | Self::Axis(_) | Self::Symbol(_) => false,
            Self::Neg(a) => a.has_bits(),
            Self::Bin(op, a, b) => matches!(op, Op::And | Op::Xor) || a.has_bits() || b.has_bits(),
        }
    }

    /// Value of the expression for an index of the axes, one number per axis. Quotients round down, as in Python.
    /// Panics if the expression contains a symbol.
    pub fn value(&self, axes: &[i64]) -> i64 {
        match self {
            Self::Int(n) => *n,
            Self::Axis(k) => axes[*k],
            Self::Symbol(_) => panic!("a symbol has a value first"),
            Self::Neg(a) => -a.value(axes),
            Self::Bin(op, a, b) => {
                let (a, b) = (a.value(axes), b.value(axes));
                match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div => floor_div(a, b),
                    Op::Mod => a - floor_div(a, b) * b,
                    Op::And => a & b,
                    Op::Xor => a ^ b,
                    Op::Hilbert { rows, columns } => place(*rows, *columns, (a, b)),
                }
            }
        }
    }

    /// Interval (least, greatest value) of the expression as written, for axes with these extents, in which `e % k`
    /// spans `0..k`. `None` if the language defines none: for symbols, and for bit operations on values that may be
    /// negative.
    pub fn interval(&self, extents: &[i64]) -> Option<(i64, i64)> {
        match self {
            Self::Int(n) => Some((*n, *n)),
            Self::Axis(k) => Some((0, extents[*k] - 1)),
            Self::Symbol(_) => None,
            Self::Neg(a) => a.interval(extents).map(|(low, high)| (-high, -low)),
            Self::Bin(op, a, b) => {
                let (a, b) = (a.interval(extents)?, b.interval(extents)?);
                Some(match op {
                    Op::Add => (a.0 + b.0, a.1 + b.1),
                    Op::Sub => (a.0 - b.1, a.1 - b.0),
                    Op::Mul => {
                        let (factor, range) = if a.0 == a.1 { (a.0, b) } else { (b.0, a) };
                        let ends = (range.0 * factor, range.1 * factor);
                        if factor < 0 { (ends.1, ends.0) } else { ends }
                    }
                    Op::Div => (floor_div(a.0, b.0), floor_div(a.1, b.0)),
                    Op::Mod => (0, b.0 - 1),
                    Op::And if a.0 >= 0 && b.0 >= 0 && a.1 >= 0 && b.1 >= 0 => (0, a.1.min(b.1)),
                    Op::Xor if a.0 >= 0 && b.0 >= 0 && a.1 >= 0 && b.1 >= 0 => {
                        let bits = 64 - a.1.max(b.1).leading_zeros();
                        (0, (1_i64 << bits) - 1)
                    }
                    Op::And | Op::Xor => return None,
                    Op::Hilbert { rows, columns } => (0, rows * columns - 1),
                })
            }
        }
    }

    fn subtracts(&self) -> bool {
        match self {
            Self::Int(n) => *n < 0,
            // A remainder spans its block, regardless of its operand.
            Self::Axis(_) | Self::Symbol(_) | Self::Bin(Op::Mod, ..) => false,
            Self::Neg(_) | Self::Bin(Op::Sub, ..) => true,
            Self::Bin(_, a, b) => a.subtracts() || b.subtracts(),
        }
    }

    fn axes(&self) -> BTreeSet<usize> {
        match self {
            Self::Int(_) | Self::Symbol(_) => BTreeSet::new(),
            Self::Axis(k) => BTreeSet::from([*k]),
            Self::Neg(a) => a.axes(),
            Self::Bin(_, a, b) => &a.axes() | &b.axes(),
        }
    }

    /// Interval (least, greatest value) of the expression as an index: that of [`Tree::interval`], except that terms of
    /// a sum which share axes with a subtracted term are bounded jointly. `None` if the language defines no interval,
    /// or if the interval depends on the range of a symbolic extent.
    pub fn index_interval(&self, extents: &[i64], open: Open) -> Option<(i64, i64)> {
        let written = self.interval(extents)?;
        if !self.subtracts() {
            return Some(written);
        }
        let of = |tree: &Self| tree.index_interval(extents, open);
        match self {
            Self::Int(_)
            | Self::Axis(_)
            | Self::Symbol(_)
            | Self::Bin(Op::Mod | Op::Hilbert { .. }, ..) => Some(written),
            Self::Neg(a) => of(a).map(|(low, high)| (-high, -low)),
            Self::Bin(Op::Add | Op::Sub, ..) => {
                let mut terms = Vec::new();
                self.put_terms(1, &mut terms);
                let (mut sum, mut left) = ((0, 0), terms);
                while let Some(first) = left.pop() {
                    let (mut group, mut axes) = (vec![first.clone()], first.1.axes());
                    while let Some(at) = left.iter().position(|t| !t.1.axes().is_disjoint(&axes)) {
                        let term = left.remove(at);
                        axes.extend(term.1.axes());
                        group.push(term);
                    }
                    let own = together(&group, &axes, extents, open)?;
                    sum = (sum.0 + own.0, sum.1 + own.1);
                }
                Some(sum)
            }
            Self::Bin(op, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                let sides = |low: i64, high: i64| {
                    let side = |n| Box::new(Self::Int(n));
                    Self::Bin(*op, side(low), side(high)).interval(&[])
                };
                match op {
                    Op::And => Some((0, a.1.min(b.1))),
                    Op::Xor => Some((0, sides(a.1, b.1)?.1)),
                    // One side is a constant.
                    _ => {
                        let ends = [sides(a.0, b.0)?, sides(a.1, b.1)?].map(|(value, _)| value);
                        Some((ends[0].min(ends[1]), ends[0].max(ends[1])))
                    }
                }
            }
        }
    }

    fn put_terms(&self, sign: i64, terms: &mut Vec<(i64, Tree)>) {
        match self {
            Self::Neg(a) => a.put_terms(-sign, terms),
            Self::Bin(Op::Add, a, b) => {
                a.put_terms(sign, terms);
                b.put_terms(sign, terms);
            }
            Self::Bin(Op::Sub, a, b) => {
                a.put_terms(sign, terms);
                b.put_terms(-sign, terms);
            }
            _ => terms.push((sign, self.clone())),
        }
    }

    /// Text of the expression with these names of axes, and with minimal or with all parentheses.
    pub fn text(&self, names: &[String], all_parentheses: bool) -> String {
        let mut text = String::new();
        self.write(&mut text, names, all_parentheses, 0);
        text
    }

    fn write(&self, text: &mut String, names: &[String], all: bool, context: u8) {
        match self {
            Self::Int(n) if *n < 0 && context > 0 => write!(text, "({n})").unwrap(),
            Self::Int(n) => write!(text, "{n}").unwrap(),
            Self::Axis(k) => text.push_str(&names[*k]),
            Self::Symbol(k) => text.push_str(symbolic::NAMES[*k]),
            Self::Neg(a) => {
                let wrap = all || context > 4;
                text.push_str(if wrap { "(-" } else { "-" });
                a.write(text, names, all, 6);
                text.push_str(if wrap { ")" } else { "" });
            }
            Self::Bin(Op::Hilbert { rows, columns }, a, b) => {
                text.push_str("hilbert(");
                a.write(text, names, all, 0);
                text.push_str(", ");
                b.write(text, names, all, 0);
                write!(text, ", {rows}, {columns})").unwrap();
            }
            Self::Bin(op, a, b) => {
                let wrap = all || op.level() < context;
                text.push_str(if wrap { "(" } else { "" });
                a.write(text, names, all, op.level());
                write!(text, " {} ", op.sign()).unwrap();
                b.write(text, names, all, op.level() + 1);
                text.push_str(if wrap { ")" } else { "" });
            }
        }
    }
}

/// Presence of an open (symbolic) extent in a layout: `Some` if the extent of the first axis is the symbol `batch`. A
/// [`Case`] contains one value of that symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    None,
    Some,
}

/// Joint interval (least, greatest value) of the terms of a sum, each with its sign 1 or -1, over the axes `axes`: the
/// sum of their intervals if no term is subtracted or an axis is empty, else by enumeration of the axes. `None` if
/// enumeration is needed for several terms, but an extent is open.
fn together(
    group: &[(i64, Tree)],
    axes: &BTreeSet<usize>,
    extents: &[i64],
    open: Open,
) -> Option<(i64, i64)> {
    let subtracts = group.iter().any(|(sign, term)| *sign < 0 || term.subtracts());
    let is_empty = axes.iter().any(|axis| extents[*axis] == 0);
    if !subtracts || is_empty || (open == Open::Some && group.len() == 1) {
        return group.iter().try_fold((0, 0), |sum: (i64, i64), (sign, term)| {
            let own = term.index_interval(extents, open)?;
            let own = if *sign < 0 { (-own.1, -own.0) } else { own };
            Some((sum.0 + own.0, sum.1 + own.1))
        });
    }
    if open == Open::Some {
        return None;
    }
    let mut points = vec![vec![0; extents.len()]];
    for axis in axes {
        points = points
            .into_iter()
            .flat_map(|point| {
                (0..extents[*axis]).map(move |i| {
                    let mut point = point.clone();
                    point[*axis] = i;
                    point
                })
            })
            .collect();
    }
    let sum = |point: &Vec<i64>| group.iter().map(|(sign, term)| sign * term.value(point)).sum();
    let values: Vec<i64> = points.iter().map(sum).collect();
    Some((*values.iter().min()?, *values.iter().max()?))
}

/// Position of a cell on the Hilbert curve through a box of `rows` by `columns` cells, by a walk along the
/// whole curve.
fn place(rows: i64, columns: i64, cell: (i64, i64)) -> i64 {
    let mut path = Vec::new();
    if columns >= rows {
        walk(&mut path, (0, 0), (0, 1, columns), (1, 0, rows));
    } else {
        walk(&mut path, (0, 0), (1, 0, rows), (0, 1, columns));
    }
    i64::try_from(path.iter().position(|visited| *visited == cell).unwrap()).unwrap()
}

/// Appends the cells of a box, whose first corner is `at`, to `path` in the order of the curve. `way` and `aside` are
/// the directions along and across the box: row step, column step, and length in cells.
fn walk(path: &mut Vec<(i64, i64)>, at: (i64, i64), way: (i64, i64, i64), aside: (i64, i64, i64)) {
    let go = |from: (i64, i64), to: (i64, i64, i64), n: i64| (from.0 + to.0 * n, from.1 + to.1 * n);
    let turned = |to: (i64, i64, i64), n: i64| (-to.0, -to.1, n);
    let long = |to: (i64, i64, i64), n: i64| (to.0, to.1, n);
    if aside.2 == 1 {
        path.extend((0..way.2).map(|n| go(at, way, n)));
    } else if way.2 == 1 {
        path.extend((0..aside.2).map(|n| go(at, aside, n)));
    } else if way.2 * 2 > aside.2 * 3 {
        let first = way.2 / 2 + way.2 / 2 % 2;
        walk(path, at, long(way, first), aside);
        walk(path, go(at, way, first), long(way, way.2 - first), aside);
    } else {
        let first = way.2 / 2;
        let there = if aside.2 == 2 { 1 } else { aside.2 / 2 + aside.2 / 2 % 2 };
        walk(path, at, long(aside, there), long(way, first));
        walk(path, go(at, aside, there), way, long(aside, aside.2 - there));
        let corner = go(go(at, way, way.2 - 1), aside, there - 1);
        walk(path, corner, turned(aside, there), turned(way, way.2 - first));
    }
}

pub fn floor_div(a: i64, b: i64) -> i64 {
    let q = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

fn ceil_div(a: i64, b: i64) -> i64 {
    -floor_div(-a, b)
}

/// Item of a map: name, index expression and declared extent of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapItem {
    pub name: String,
    pub index: Tree,
    pub extent: Option<i64>,
}

/// Step of a layout, as in manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Map with its items, the positions of the items that a separator follows, and true if its text has all
    /// parentheses.
    Map {
        items: Vec<MapItem>,
        separators: Vec<usize>,
        all_parentheses: bool,
    },
    Order(Vec<String>),
    Split {
        axis: String,
        by: Vec<i64>,
        into: Vec<String>,
    },
    Fuse {
        axes: Vec<String>,
        into: String,
    },
    /// Tiles of the last axes; an entry `None` is written `*` and merges its axis with the next.
    Tile {
        entries: Vec<Option<i64>>,
        names: Vec<String>,
    },
    PadMultiple {
        axis: String,
        multiple: i64,
    },
    PadAround {
        axis: String,
        before: i64,
        after: i64,
    },
    Strides(Vec<i64>),
    Align {
        axis: String,
        bytes: i64,
    },
    Separators(Vec<String>),
}

/// Layout to be tested, for one value of each extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub axes: Vec<(String, i64)>,
    /// Declared facts of the symbol `batch` if it is the extent of the first axis, whose extent in `axes` is then
    /// one of its values.
    pub symbol: Option<Facts>,
    pub element_bits: i64,
    pub steps: Vec<Step>,
}

/// Declared facts about the values of a symbol: inclusive range, and a divisor of every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub min: i64,
    pub max: i64,
    pub multiple: i64,
}

impl Case {
    /// `Open::Some` if the extent of the first axis is a symbol.
    pub fn open(&self) -> Open {
        if self.symbol.is_some() { Open::Some } else { Open::None }
    }

    /// Lines of the steps in the syntax of manifests.
    pub fn lines(&self) -> Vec<String> {
        let mut names: Vec<String> = self.axes.iter().map(|(name, _)| name.clone()).collect();
        let mut lines = Vec::new();
        for step in &self.steps {
            lines.push(step.text(&names));
            names = step.names(&names);
        }
        lines
    }

    /// Text of the layout on one line, for messages.
    pub fn describe(&self) -> String {
        let axes: Vec<String> =
            self.axes.iter().map(|(name, extent)| format!("{name} {extent}")).collect();
        format!(
            "{{ {} }} ({} bits, {:?}): {}",
            axes.join("; "),
            self.element_bits,
            self.symbol,
            self.lines().join("; ")
        )
    }

    /// Copy of the layout in which the extent of the first axis is `batch`, another value of the symbol.
    #[must_use]
    pub fn at(&self, batch: i64) -> Self {
        let mut case = self.clone();
        case.axes[0].1 = batch;
        case
    }
}

impl Step {
    pub fn text(&self, names: &[String]) -> String {
        match self {
            Self::Map { .. } => format!("map \"{}\"", self.map_text(names)),
            Self::Order(axes) => format!("order {}", axes.join(" ")),
            Self::Split { axis, by, into } => {
                format!("split {axis} into=\"{}\" by=\"{}\"", into.join(" "), spaced(by))
            }
            Self::Fuse { axes, into } => format!("fuse {} as={into}", axes.join(" ")),
            Self::Tile { entries, names } => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|e| e.map_or_else(|| "*".to_owned(), |extent| extent.to_string()))
                    .collect();
                format!("tile {} as=\"{}\"", entries.join(" "), names.join(" "))
            }
            Self::PadMultiple { axis, multiple } => format!("pad {axis} multiple={multiple}"),
            Self::PadAround { axis, before, after } => {
                format!("pad {axis} before={before} after={after}")
            }
            Self::Strides(strides) => format!("strides {}", spaced(strides)),
            Self::Align { axis, bytes } => format!("align {axis} {bytes}"),
            Self::Separators(names) => format!("axis-separators {}", names.join(" ")),
        }
    }

    /// Text of a map as in a manifest, without quotes; empty for other steps. `names` are the axes before the step.
    pub fn map_text(&self, names: &[String]) -> String {
        let Self::Map { items, separators, all_parentheses } = self else { return String::new() };
        let mut text = format!("({}) -> (", names.join(", "));
        for (k, item) in items.iter().enumerate() {
            if k > 0 {
                text.push_str(if separators.contains(&(k - 1)) { " | " } else { ", " });
            }
            write!(text, "{} = {}", item.name, item.index.text(names, *all_parentheses)).unwrap();
            if let Some(extent) = item.extent {
                write!(text, " : {extent}").unwrap();
            }
        }
        text.push(')');
        text
    }

    /// Names of the axes after the step, from the names before it.
    pub fn names(&self, names: &[String]) -> Vec<String> {
        match self {
            Self::Map { items, .. } => items.iter().map(|item| item.name.clone()).collect(),
            Self::Order(axes) => axes.clone(),
            Self::Split { axis, into, .. } => {
                let at = position(names, axis);
                [&names[..at], into, &names[at + 1..]].concat()
            }
            Self::Fuse { axes, into } => {
                let at = position(names, &axes[0]);
                [&names[..at], std::slice::from_ref(into), &names[at + axes.len()..]].concat()
            }
            Self::Tile { entries, names: own } => {
                [&names[..names.len().saturating_sub(entries.len())], own].concat()
            }
            _ => names.to_vec(),
        }
    }
}

fn spaced(numbers: &[i64]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

pub fn position(names: &[String], name: &str) -> usize {
    names.iter().position(|n| n == name).unwrap()
}

/// Fault of a layout that the oracle finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Index of a map that is negative for some element, at step `.0`, item `.1`.
    Negative(usize, usize),
    /// Declared extent of a map that is too small for some element, at step `.0`, item `.1`.
    TooSmall(usize, usize),
    /// Logical indices of two elements that have the same offset in memory.
    Collision(Vec<i64>, Vec<i64>),
    /// Index without a defined extent, as for bit operations on values that may be negative.
    Open,
}

/// Result of the oracle for a valid layout: its storage axes (`names`, extents `storage`, strides in elements),
/// physical shape and strides, element counts, and the location of each element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    pub names: Vec<String>,
    pub storage: Vec<i64>,
    pub physical_shape: Vec<i64>,
    pub physical_strides: Vec<i64>,
    pub strides: Vec<i64>,
    pub physical_elements: i64,
    pub logical_elements: i64,
    /// Location of each element in row-major order: its logical, storage and physical index, and its offset.
    pub elements: Vec<Element>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    pub logical: Vec<i64>,
    pub storage: Vec<i64>,
    pub physical: Vec<i64>,
    pub offset: i64,
}

/// Extents of the axes after a step, from the names and extents before it; `open` says whether an extent is symbolic.
/// The extent of a map's index is the end of its interval plus 1, unless declared; `None` if it has no interval.
pub fn extents_after(
    step: &Step,
    names: &[String],
    extents: &[i64],
    open: Open,
) -> Option<Vec<i64>> {
    Some(match step {
        Step::Map { items, .. } => {
            let mut after = Vec::new();
            for item in items {
                let own = item.index.index_interval(extents, open)?.1 + 1;
                after.push(item.extent.unwrap_or(own.max(0)));
            }
            after
        }
        Step::Order(order) => order.iter().map(|name| extents[position(names, name)]).collect(),
        Step::Split { axis, by, .. } => {
            let at = position(names, axis);
            let mut after = extents[..at].to_vec();
            after.push(ceil_div(extents[at], by.iter().product()));
            after.extend(by);
            after.extend(&extents[at + 1..]);
            after
        }
        Step::Fuse { axes, .. } => {
            let at = position(names, &axes[0]);
            let end = at + axes.len();
            let mut after = extents[..at].to_vec();
            after.push(extents[at..end].iter().product());
            after.extend(&extents[end..]);
            after
        }
        Step::Tile { entries, .. } => {
            let units = entries.len().saturating_sub(extents.len());
            let prefix = extents.len().saturating_sub(entries.len());
            let mut body = vec![1; units];
            body.extend(&extents[prefix..]);
            let (mut grid, mut inner, mut merged) = (Vec::new(), Vec::new(), 1);
            for (extent, entry) in body.iter().zip(entries) {
                merged *= extent;
                if let Some(tile) = entry {
                    grid.push(ceil_div(merged, *tile));
                    inner.push(*tile);
                    merged = 1;
                }
            }
            [&extents[..prefix], &grid, &inner].concat()
        }
        Step::PadMultiple { axis, multiple } => {
            let mut after = extents.to_vec();
            let at = position(names, axis);
            after[at] = ceil_div(after[at], *multiple) * multiple;
            after
        }
        Step::PadAround { axis, before, after: behind } => {
            let mut after = extents.to_vec();
            after[position(names, axis)] += before + behind;
            after
        }
        Step::Strides(_) | Step::Align { .. } | Step::Separators(_) => extents.to_vec(),
    })
}

/// Index of an element after a step, from `index`, its index before the step. `names` and `extents` are those of the
/// axes before the step.
pub fn index_after(step: &Step, names: &[String], extents: &[i64], index: &[i64]) -> Vec<i64> {
    match step {
        Step::Map { items, .. } => items.iter().map(|item| item.index.value(index)).collect(),
        Step::Order(order) => order.iter().map(|name| index[position(names, name)]).collect(),
        Step::Split { axis, by, .. } => {
            let at = position(names, axis);
            let mut parts = Vec::new();
            let mut rest = index[at];
            for factor in by.iter().rev() {
                parts.insert(0, rest % factor);
                rest /= factor;
            }
            parts.insert(0, rest);
            [&index[..at], &parts, &index[at + 1..]].concat()
        }
        Step::Fuse { axes, .. } => {
            let at = position(names, &axes[0]);
            let end = at + axes.len();
            let fused = index[at..end].iter().zip(&extents[at..end]).fold(0, |n, (i, e)| n * e + i);
            [&index[..at], &[fused], &index[end..]].concat()
        }
        Step::Tile { entries, .. } => {
            let units = entries.len().saturating_sub(extents.len());
            let prefix = extents.len().saturating_sub(entries.len());
            let (mut body, mut sizes) = (vec![0; units], vec![1; units]);
            body.extend(&index[prefix..]);
            sizes.extend(&extents[prefix..]);
            let (mut grid, mut inner, mut merged) = (Vec::new(), Vec::new(), 0);
            for ((value, extent), entry) in body.iter().zip(&sizes).zip(entries) {
                merged = merged * extent + value;
                if let Some(tile) = entry {
                    grid.push(merged / tile);
                    inner.push(merged % tile);
                    merged = 0;
                }
            }
            [&index[..prefix], &grid, &inner].concat()
        }
        Step::PadAround { axis, before, .. } => {
            let mut after = index.to_vec();
            after[position(names, axis)] += before;
            after
        }
        Step::PadMultiple { .. } | Step::Strides(_) | Step::Align { .. } | Step::Separators(_) => {
            index.to_vec()
        }
    }
}

/// All indices of a box with these extents, in row-major order.
pub fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for extent in extents {
        let longer = |point: &Vec<i64>| {
            let point = point.clone();
            (0..*extent).map(move |i| [point.as_slice(), &[i]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Locations of all elements of a layout, or the first fault of the layout that is found.
pub fn truth(case: &Case) -> Result<Truth, Fault> {
    let logical: Vec<i64> = case.axes.iter().map(|(_, extent)| *extent).collect();
    let mut names: Vec<String> = case.axes.iter().map(|(name, _)| name.clone()).collect();
    let mut extents = logical.clone();
    let indices = points(&logical);
    let mut current = indices.clone();
    let (mut separators, mut strides) = (Vec::new(), None);
    let mut aligned: BTreeMap<usize, i64> = BTreeMap::new();
    for (number, step) in case.steps.iter().enumerate() {
        let open = case.open();
        let Some(after) = extents_after(step, &names, &extents, open) else {
            return Err(Fault::Open);
        };
        current = current.iter().map(|i| index_after(step, &names, &extents, i)).collect();
        if let Step::Map { items, .. } = step {
            for (k, item) in items.iter().enumerate() {
                if current.iter().any(|index| index[k] < 0) {
                    return Err(Fault::Negative(number, k));
                }
                let stated = item.extent.unwrap_or(i64::MAX);
                if current.iter().any(|index| index[k] >= stated) {
                    return Err(Fault::TooSmall(number, k));
                }
            }
        }
        match step {
            Step::Map { separators: own, .. } => separators.clone_from(own),
            Step::Separators(own) => {
                separators = own.iter().map(|name| position(&names, name)).collect();
            }
            Step::Strides(own) => strides = Some(own.clone()),
            Step::Align { axis, bytes } => {
                aligned.insert(position(&names, axis), *bytes);
            }
            _ => {}
        }
        names = step.names(&names);
        extents = after;
    }
    let memory = memory(case, &extents, &separators, strides.as_deref(), &aligned);
    let mut taken: BTreeMap<i64, &[i64]> = BTreeMap::new();
    let mut elements = Vec::new();
    for (logical, storage) in indices.iter().zip(current) {
        let physical: Vec<i64> = memory
            .groups
            .iter()
            .map(|group| group.clone().map(|k| storage[k] * memory.local_strides[k]).sum())
            .collect();
        let offset = physical.iter().zip(&memory.pitches).map(|(p, pitch)| p * pitch).sum();
        if let Some(first) = taken.insert(offset, logical) {
            return Err(Fault::Collision(first.to_vec(), logical.clone()));
        }
        elements.push(Element { logical: logical.clone(), storage, physical, offset });
    }
    let mut all_strides = vec![0; extents.len()];
    for (group, pitch) in memory.groups.iter().zip(&memory.pitches) {
        for k in group.clone() {
            all_strides[k] = memory.local_strides[k] * pitch;
        }
    }
    let empty = memory.shape.contains(&0);
    Ok(Truth {
        names,
        storage: extents,
        physical_elements: if empty { 0 } else { memory.shape[0] * memory.pitches[0] },
        physical_shape: memory.shape,
        physical_strides: memory.pitches,
        strides: all_strides,
        logical_elements: logical.iter().product(),
        elements,
    })
}

struct Memory {
    groups: Vec<std::ops::Range<usize>>,
    local_strides: Vec<i64>,
    shape: Vec<i64>,
    pitches: Vec<i64>,
}

/// Arrangement of the storage axes in memory. `separators` are the positions of axes that a separator follows. Without
/// `strides`, the axes between two separators are row-major, and so are these groups; `aligned` (bytes by axis)
/// enlarges strides.
fn memory(
    case: &Case,
    extents: &[i64],
    separators: &[usize],
    strides: Option<&[i64]>,
    aligned: &BTreeMap<usize, i64>,
) -> Memory {
    if let Some(strides) = strides {
        let size: i64 = extents.iter().zip(strides).map(|(e, s)| (e - 1) * s).sum();
        let size = if extents.contains(&0) { 0 } else { size + 1 };
        return Memory {
            groups: std::iter::once(0..extents.len()).collect(),
            local_strides: strides.to_vec(),
            shape: vec![size],
            pitches: vec![1],
        };
    }
    let mut groups = Vec::new();
    let mut start = 0;
    for last in separators {
        groups.push(start..last + 1);
        start = last + 1;
    }
    groups.push(start..extents.len());
    let mut local_strides = vec![1; extents.len()];
    let (mut shape, mut pitches) = (vec![1; groups.len()], vec![1; groups.len()]);
    let mut pitch = 1;
    // Least value from `value` on for which `value * unit` elements are a multiple of `bytes`.
    let raise = |mut value: i64, unit: i64, bytes: i64| {
        while value * unit * case.element_bits % (bytes * 8) != 0 {
            value += 1;
        }
        value
    };
    for (g, group) in groups.iter().enumerate().rev() {
        let inner = g + 1 == groups.len();
        if let (false, Some(bytes)) = (inner, aligned.get(&(group.end.max(1) - 1))) {
            pitch = raise(pitch, 1, *bytes);
        }
        let (mut stride, mut extent) = (1, 1);
        for k in group.clone().rev() {
            if let Some(bytes) = aligned.get(&k)
                && (inner || k + 1 != group.end)
            {
                let unit = raise(1, pitch, *bytes);
                stride = (stride + unit - 1) / unit * unit;
            }
            local_strides[k] = stride;
            extent = stride * extents[k];
            stride *= extents[k].max(1);
        }
        let empty = group.clone().any(|k| extents[k] == 0);
        shape[g] = if empty { 0 } else { extent };
        pitches[g] = pitch;
        pitch *= if empty { stride } else { extent };
    }
    Memory { groups, local_strides, shape, pitches }
}
