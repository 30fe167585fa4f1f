//! Relayout primitives (copies of runs, transposes, fills) that the functions of a unit call.

use std::collections::{BTreeMap, BTreeSet};

use super::casts;
use super::model::{BlockCall, Blocks, ComputeUnit, TransposeUnit, Unit};
use crate::emit::syntax::{Expr, Stmt};
use crate::machine::CPU;

/// Numbers of rows or columns that have specialized transposes.
const FEW: [u32; 4] = [2, 3, 4, 8];

/// Primitives that the source of `unit` has to define.
pub(super) fn of(unit: &Unit) -> Blocks {
    let mut blocks = Blocks::default();
    let mut transposes = Transposes::default();
    let tensors = unit.tensors.iter().flat_map(|tensor| tensor.pack.iter().chain(&tensor.unpack));
    let views = unit.views.iter().flat_map(|view| view.pack.iter().chain(&view.unpack));
    let converts = unit.converts.iter().map(|convert| &convert.function);
    let computes = unit.computes.iter().filter_map(ComputeUnit::relayout);
    for function in tensors.chain(views).chain(converts).chain(computes) {
        for stmt in &function.body {
            stmt.walk(&mut |stmt| match stmt {
                Stmt::Transpose { element_bytes, to, from, typical, whole_bytes, .. } => {
                    let strides = [to, from].map(|side| &side.stride);
                    transposes.add(*element_bytes, *typical, strides, Some(whole_bytes));
                }
                Stmt::Transposes {
                    element_bytes, to, to_step, from, from_step, typical, ..
                } => {
                    let strides = [to, from].map(|side| &side.stride);
                    transposes.several(*element_bytes, *typical, strides, [to_step, from_step]);
                }
                Stmt::CopyRuns { .. } => blocks.runs = true,
                Stmt::ZeroRuns { .. } => blocks.zeros = true,
                _ => {}
            });
        }
    }
    blocks.casts = casts::runs(unit);
    // Conversions transpose tiles in a buffer: the size of tile and relayout is unknown.
    for cast in &blocks.casts {
        // A widening conversion transposes into the buffer, with cached stores only.
        let cached = Expr::int(0);
        let whole_bytes = (cast.to_bytes > cast.from_bytes).then_some(&cached);
        for transpose in &cast.transposes {
            transposes.add(transpose.bytes, [None; 2], [&Expr::int(0); 2], whole_bytes);
        }
    }
    blocks.transposes = transposes.units();
    blocks
}

/// Transpose primitives called, by element size in bytes.
#[derive(Default)]
struct Transposes(BTreeMap<u32, TransposeUnit>);

impl Transposes {
    /// Adds a call for a single block. `rows` and `columns` are `None` if unknown, `strides` those of destination and
    /// source in bytes; `whole_bytes` is the size of the whole relayout, `None` in a conversion of elements.
    fn add(
        &mut self,
        bytes: u32,
        [rows, columns]: [Option<u32>; 2],
        strides: [&Expr; 2],
        whole_bytes: Option<&Expr>,
    ) {
        let elements = CPU.least_vector_bytes.checked_div(bytes).unwrap_or(1);
        let unit = self.unit(bytes);
        let known = whole_bytes.filter(|bytes| matches!(bytes, Expr::Int { .. }));
        unit.past |= !known.is_some_and(Expr::is_near);
        unit.near |= known.is_none_or(Expr::is_near);
        unit.add_call(BlockCall::One);
        unit.add_few([rows, columns]);
        unit.few_rows |= elements > 2 && rows.is_none_or(|rows| (2..elements).contains(&rows));
        let tiles = |(extent, stride): (Option<u32>, &Expr)| {
            let next = |few: &u32| *stride == Expr::int(i64::from(few.saturating_mul(bytes)));
            match extent.filter(next) {
                Some(2 | 4) if extent <= Some(elements) => 0,
                Some(3) if bytes <= 4 => CPU.least_vector_bytes,
                Some(_) | None => CPU.vector_bytes,
            }
        };
        let tiles = [rows, columns].into_iter().zip(strides).map(tiles).min();
        unit.tiles = unit.tiles.max(tiles.unwrap_or(CPU.vector_bytes));
    }

    /// Adds a call for several blocks; `strides` and `steps` are the row strides and block distances in bytes, of
    /// destination and source.
    fn several(
        &mut self,
        bytes: u32,
        extents: [Option<u32>; 2],
        strides: [&Expr; 2],
        steps: [&Expr; 2],
    ) {
        let unit = self.unit(bytes);
        let is_whole = |extent: Option<u32>, bytes_apart: &Expr| {
            let all = extent.map(|extent| i64::from(extent).saturating_mul(i64::from(bytes)));
            all.is_some_and(|all| *bytes_apart == Expr::int(all))
        };
        let [rows, columns] = extents;
        let [between_columns, between_rows] = strides;
        let few = |extent: Option<u32>| extent.is_some_and(|extent| [2, 4].contains(&extent));
        if few(rows) && is_whole(rows, between_columns)
            || few(columns) && is_whole(columns, between_rows)
        {
            unit.add_few(extents);
            unit.add_call(BlockCall::Alternating);
        }
        let [to_step, from_step] = steps;
        if is_whole(columns, from_step) {
            unit.add_call(BlockCall::Columns);
        }
        if is_whole(rows, to_step) {
            unit.add_call(BlockCall::Rows);
        }
    }

    fn unit(&mut self, bytes: u32) -> &mut TransposeUnit {
        self.0.entry(bytes).or_insert(TransposeUnit {
            bytes,
            few: Vec::new(),
            few_rows: false,
            tiles: 0,
            near: false,
            past: false,
            calls: Vec::new(),
        })
    }

    fn units(self) -> Vec<TransposeUnit> {
        self.0.into_values().collect()
    }
}

impl TransposeUnit {
    /// Adds the numbers of rows or columns with specialized transposes that blocks of these extents may have; `None` is
    /// an unknown extent.
    fn add_few(&mut self, extents: [Option<u32>; 2]) {
        let elements = CPU.least_vector_bytes.checked_div(self.bytes).unwrap_or(1);
        let may_be = |few: &u32| extents.iter().any(|e| e.is_none_or(|extent| extent == *few));
        self.few.extend(FEW.into_iter().filter(|few| *few <= elements).filter(may_be));
        self.few.sort_unstable();
        self.few.dedup();
    }

    fn add_call(&mut self, call: BlockCall) {
        if let Err(place) = self.calls.binary_search(&call) {
            self.calls.insert(place, call);
        }
    }
}

/// Standard headers of a source, sorted, together with those that the primitives need.
pub(super) fn includes(headers: Vec<String>) -> Vec<String> {
    let own = ["stddef.h", "string.h"].map(str::to_owned);
    headers.into_iter().chain(own).collect::<BTreeSet<_>>().into_iter().collect()
}

impl Blocks {
    /// True if there is no primitive to define.
    pub(super) fn is_empty(&self) -> bool {
        !self.runs && !self.zeros && self.transposes.is_empty() && self.casts.is_empty()
    }
}
