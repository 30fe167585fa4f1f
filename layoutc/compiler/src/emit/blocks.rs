//! Relayout primitives (copies of runs, transposes, fills) that the functions of a unit call.

use std::collections::{BTreeMap, BTreeSet};

use super::casts;
use super::model::{BlockCall, Blocks, TransposeUnit};
use crate::machine::CPU;
use crate::passes::{Requirements, Routine, TransposeCall};

/// Numbers of rows or columns that have specialized transposes.
const FEW: [u32; 4] = [2, 3, 4, 8];

/// Primitives that a source has to define for functions with these requirements.
pub(super) fn of(needs: &Requirements) -> Blocks {
    let mut transposes = Transposes::default();
    for routine in &needs.routines {
        match routine {
            Routine::Transpose(call) => transposes.add(call),
            Routine::CastTranspose(cast, together) => {
                let bytes = [cast.from(), cast.to()].map(|dtype| dtype.element_bits() / 8);
                let [from, to] = bytes;
                // Conversions transpose tiles in a buffer: the size of tile and relayout is unknown. A widening
                // conversion transposes into the buffer, with cached stores only.
                transposes.add(&TransposeCall {
                    element_bytes: from.min(to).saturating_mul(*together),
                    typical: [None; 2],
                    strides: [Some(0); 2],
                    whole_bytes: (to > from).then_some(0),
                    steps: None,
                });
            }
            _ => {}
        }
    }
    Blocks {
        runs: needs.routines.contains(&Routine::CopyRuns),
        zeros: needs.routines.contains(&Routine::ZeroRuns),
        transposes: transposes.0.into_values().collect(),
        casts: casts::runs(needs),
    }
}

/// Transpose primitives that are called, by element size in bytes.
#[derive(Default)]
struct Transposes(BTreeMap<u32, TransposeUnit>);

impl Transposes {
    fn add(&mut self, call: &TransposeCall) {
        match call.steps {
            None => self.one(call),
            Some(steps) => self.several(call, steps),
        }
    }

    /// Adds a call for a single block.
    fn one(&mut self, call: &TransposeCall) {
        let bytes = call.element_bytes;
        let elements = CPU.least_vector_bytes.checked_div(bytes).unwrap_or(1);
        let unit = self.unit(bytes);
        let is_near = call.whole_bytes.map(|bytes| (0..=CPU.l2_bytes).contains(&bytes));
        unit.past |= is_near != Some(true);
        unit.near |= is_near != Some(false);
        unit.add_call(BlockCall::One);
        unit.add_few(call.typical);
        let [rows, _] = call.typical;
        unit.few_rows |= elements > 2 && rows.is_none_or(|rows| (2..elements).contains(&rows));
        let tiles = |(extent, stride): (Option<u32>, Option<i64>)| {
            let next = |few: &u32| stride == Some(i64::from(few.saturating_mul(bytes)));
            match extent.filter(next) {
                Some(2 | 4) if extent <= Some(elements) => 0,
                Some(3) if bytes <= 4 => CPU.least_vector_bytes,
                Some(_) | None => CPU.vector_bytes,
            }
        };
        let tiles = call.typical.into_iter().zip(call.strides).map(tiles).min();
        unit.tiles = unit.tiles.max(tiles.unwrap_or(CPU.vector_bytes));
    }

    /// Adds a call for several blocks. `to_step` and `from_step` are the distances between consecutive blocks in the
    /// destination and in the source, in bytes; `None` if not constant.
    fn several(&mut self, call: &TransposeCall, [to_step, from_step]: [Option<i64>; 2]) {
        let bytes = call.element_bytes;
        let unit = self.unit(bytes);
        let is_whole = |extent: Option<u32>, bytes_apart: Option<i64>| {
            let all = extent.map(|extent| i64::from(extent).saturating_mul(i64::from(bytes)));
            all.is_some() && bytes_apart == all
        };
        let [rows, columns] = call.typical;
        let [between_columns, between_rows] = call.strides;
        let few = |extent: Option<u32>| extent.is_some_and(|extent| [2, 4].contains(&extent));
        if few(rows) && is_whole(rows, between_columns)
            || few(columns) && is_whole(columns, between_rows)
        {
            unit.add_few(call.typical);
            unit.add_call(BlockCall::Alternating);
        }
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

/// `headers` and the standard headers that the relayout primitives need, sorted and without duplicates.
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
