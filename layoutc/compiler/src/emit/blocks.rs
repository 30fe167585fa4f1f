//! Which functions that move blocks the moves of a unit call.

use std::collections::{BTreeMap, BTreeSet};

use super::casts;
use super::model::{Blocks, TransposeUnit, Unit};
use crate::plan::tree::{Expr, Function, Stmt};

/// Numbers of rows or columns for which there are functions of their own.
const FEW: [u32; 4] = [2, 3, 4, 8];

/// Bytes of the smallest vector.
const VECTOR: u32 = 16;

/// What the source of `unit` has to define.
pub(super) fn of(unit: &Unit) -> Blocks {
    let mut blocks = Blocks::default();
    let mut transposes = Transposes::default();
    let tensors = unit.tensors.iter().flat_map(|tensor| tensor.pack.iter().chain(&tensor.unpack));
    let views = unit.views.iter().flat_map(|view| view.pack.iter().chain(&view.unpack));
    let converts = unit.converts.iter().map(|convert| &convert.function);
    for function in tensors.chain(views).chain(converts) {
        let names = names(function);
        for stmt in &function.body {
            stmt.walk(&mut |stmt| match stmt {
                Stmt::Transpose { element_bytes, to, from, rows, columns, .. } => {
                    let extents = [rows, columns].map(|e| extent(e, &names));
                    transposes.add(*element_bytes, extents, [to, from].map(|side| &side.stride));
                }
                Stmt::CopyRuns { .. } => blocks.runs = true,
                Stmt::ZeroRuns { .. } => blocks.zeros = true,
                _ => {}
            });
        }
    }
    blocks.casts = casts::runs(unit);
    // Their blocks are cut out of a buffer: any size.
    for cast in blocks.casts.iter().flat_map(|cast| &cast.transposes) {
        transposes.add(cast.bytes, [None; 2], [&Expr::int(0); 2]);
    }
    blocks.transposes = transposes.units();
    blocks
}

/// The values that a function names before its moves.
fn names(function: &Function) -> BTreeMap<&str, &Expr> {
    let mut names = BTreeMap::new();
    collect(&function.body, &mut names);
    names
}

fn collect<'a>(body: &'a [Stmt], names: &mut BTreeMap<&'a str, &'a Expr>) {
    for stmt in body {
        match stmt {
            Stmt::Let { name, value } => {
                names.insert(name.as_str(), value);
            }
            Stmt::For { body, .. } => collect(body, names),
            _ => {}
        }
    }
}

/// How many rows or columns most blocks have, where that is known: all but the last of `min(left, 1024)` have 1024.
fn extent(count: &Expr, names: &BTreeMap<&str, &Expr>) -> Option<u32> {
    match count {
        Expr::Int { value } => u32::try_from(*value).ok(),
        Expr::Min { a, b } => extent(b, &BTreeMap::new()).or_else(|| extent(a, &BTreeMap::new())),
        Expr::Name { name } => match names.get(name.as_str())? {
            Expr::Name { .. } => None,
            value => extent(value, names),
        },
        _ => None,
    }
}

/// Rows share few sets of a first-level cache where they are a multiple of so many elements apart.
const APART: u32 = 512;

/// Bytes of the longest vectors.
const LONGEST: u32 = 64;

/// The transpositions that are called, by the bytes of an element.
#[derive(Default)]
struct Transposes(BTreeMap<u32, TransposeUnit>);

impl Transposes {
    /// One of blocks of so many rows and columns, where that is known, and the strides of destination and source.
    fn add(&mut self, bytes: u32, [rows, columns]: [Option<u32>; 2], strides: [&Expr; 2]) {
        let none =
            TransposeUnit { bytes, few: Vec::new(), few_rows: false, apart: false, tiles: 0 };
        let unit = self.0.entry(bytes).or_insert(none);
        let elements = VECTOR.checked_div(bytes).unwrap_or(1);
        let is_few = |extent: Option<u32>, few: u32| extent.is_none_or(|extent| extent == few);
        let few = FEW.into_iter().filter(|few| *few <= elements);
        let few = few.filter(|few| is_few(rows, *few) || is_few(columns, *few));
        unit.few.extend(few);
        unit.few.sort_unstable();
        unit.few.dedup();
        unit.few_rows |= elements > 2 && rows.is_none_or(|rows| (2..elements).contains(&rows));
        let is_apart = |stride: &Expr| match stride {
            Expr::Int { value } => value % i64::from(APART * bytes) == 0,
            _ => true,
        };
        unit.apart |= bytes == 1 || (bytes == 2 && is_apart(strides[1]));
        let tiles = |(extent, stride): (Option<u32>, &Expr)| {
            let next = |few: &u32| *stride == Expr::int(i64::from(few.saturating_mul(bytes)));
            match extent.filter(next) {
                Some(2 | 4) if extent <= Some(elements) => 0,
                Some(3) if [2, 4].contains(&bytes) => LONGEST / 2,
                Some(_) | None => LONGEST,
            }
        };
        let tiles = [rows, columns].into_iter().zip(strides).map(tiles).min();
        unit.tiles = unit.tiles.max(tiles.unwrap_or(LONGEST));
    }

    fn units(self) -> Vec<TransposeUnit> {
        self.0.into_values().collect()
    }
}

/// The headers of the standard library with those that the functions need.
pub(super) fn includes(headers: Vec<String>) -> Vec<String> {
    let own = ["stddef.h", "string.h"].map(str::to_owned);
    headers.into_iter().chain(own).collect::<BTreeSet<_>>().into_iter().collect()
}

impl Blocks {
    /// Whether there is nothing to define.
    pub(super) fn is_empty(&self) -> bool {
        !self.runs && !self.zeros && self.transposes.is_empty() && self.casts.is_empty()
    }
}
