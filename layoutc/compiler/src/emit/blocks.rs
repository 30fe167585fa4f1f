//! Which functions that move blocks the moves of a unit call.

use std::collections::BTreeSet;

use super::casts;
use super::model::{Blocks, Unit};
use crate::plan::tree::Stmt;

/// What the source of `unit` has to define.
pub(super) fn of(unit: &Unit) -> Blocks {
    let mut blocks = Blocks::default();
    let mut transposes = BTreeSet::new();
    let tensors = unit.tensors.iter().flat_map(|tensor| tensor.pack.iter().chain(&tensor.unpack));
    let views = unit.views.iter().flat_map(|view| view.pack.iter().chain(&view.unpack));
    let converts = unit.converts.iter().map(|convert| &convert.function);
    for function in tensors.chain(views).chain(converts) {
        for stmt in &function.body {
            stmt.walk(&mut |stmt| match stmt {
                Stmt::Transpose { element_bytes, .. } => {
                    transposes.insert(*element_bytes);
                }
                Stmt::CopyRuns { .. } => blocks.runs = true,
                Stmt::ZeroRuns { .. } => blocks.zeros = true,
                _ => {}
            });
        }
    }
    blocks.casts = casts::runs(unit);
    let turned = blocks.casts.iter().flat_map(|cast| &cast.transposes);
    transposes.extend(turned.map(|row| row.bytes));
    blocks.transposes = transposes.into_iter().collect();
    blocks
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
