//! What the printed trees need: helper functions and headers of the standard library.

use std::collections::BTreeSet;

use super::element;
use super::model::Unit;
use super::print::power_of_two;
use crate::plan::tree::{Expr, Stmt};

/// The helpers that the printed trees call, and the headers that the source includes.
pub(super) fn needs(unit: &Unit) -> (Vec<String>, Vec<String>) {
    let mut helpers = BTreeSet::new();
    let mut includes = BTreeSet::new();
    let tensor_functions = unit.tensors.iter().flat_map(|tensor| {
        let counts = tensor.counts.iter().chain(&tensor.indices).chain(&tensor.symbols_ok);
        counts.chain([&tensor.offset, &tensor.logical]).chain(&tensor.pack).chain(&tensor.unpack)
    });
    for function in tensor_functions.chain(unit.converts.iter().map(|c| &c.function)) {
        function.visit(&mut |expr| {
            helpers.extend(helper(expr));
        });
        for stmt in &function.body {
            stmt.walk(&mut |stmt| includes.extend(include(stmt)));
        }
    }
    let mut bounds = Vec::new();
    for test in unit.tensors.iter().map(|tensor| &tensor.test) {
        bounds.extend([&test.elements, &test.slots, &test.logical_bytes, &test.physical_bytes]);
        bounds.extend([&test.dense, &test.slot]);
        bounds.extend(test.axes.iter().chain(&test.physical).map(|axis| &axis.extent));
    }
    for bound in bounds {
        bound.visit(&mut |expr| helpers.extend(helper(expr)));
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    (owned(helpers), owned(includes))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes are operators")]
fn helper(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::FloorDiv { b, .. } if power_of_two(b).is_none() => Some("floor_div"),
        Expr::FloorMod { b, .. } if power_of_two(b).is_none() => Some("floor_mod"),
        Expr::Min { .. } => Some("min"),
        Expr::Max { .. } => Some("max"),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other statements are the language alone")]
fn include(stmt: &Stmt) -> Option<&'static str> {
    match stmt {
        Stmt::Assert { .. } => Some("assert.h"),
        Stmt::Copy { .. } | Stmt::Zero { .. } => Some("string.h"),
        Stmt::LetElement { element, bits, .. } => {
            let literal = element::literal(element, bits);
            (literal.contains("NAN") || literal.contains("INFINITY")).then_some("math.h")
        }
        _ => None,
    }
}
