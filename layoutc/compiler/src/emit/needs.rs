//! Helper functions and standard headers that the printed functions need.

use std::collections::BTreeSet;

use super::Settings;
use super::dialect::{Assert, Dialect};
use super::element;
use super::model::{ComputeUnit, KernelUnit, Unit};
use super::print::{is_moved, power_of_two};
use super::whole::Whole;
use crate::emit::syntax::{Expr, Function, Number, Returns, Spelling, Stmt};

/// Helpers called by the host's header, for size functions and launch ranges.
pub(super) fn host_helpers(unit: &Unit) -> Vec<String> {
    let mut helpers = BTreeSet::new();
    let counts =
        unit.tensors.iter().flat_map(|tensor| tensor.counts.iter().chain(&tensor.symbols_ok));
    let views = unit.views.iter().flat_map(|view| view.counts.iter().chain(&view.symbols_ok));
    let kernels = kernels(unit).flat_map(|kernel| {
        let plain = kernel.unaligned.iter().flat_map(|plain| &plain.counts);
        kernel.counts.iter().chain(plain)
    });
    for function in counts.chain(views).chain(kernels) {
        function.visit(&mut |expr| helpers.extend(helper(expr)));
    }
    helpers.into_iter().map(str::to_owned).collect()
}

/// Helpers called by functions that return byte counts.
pub(super) fn wide_helpers(unit: &Unit) -> Vec<String> {
    let mut helpers = BTreeSet::new();
    let views = unit.views.iter().flat_map(|view| &view.counts);
    let counts = unit.tensors.iter().flat_map(|tensor| &tensor.counts).chain(views);
    for function in counts.filter(|function| function.returns == Returns::Bytes) {
        function.visit(&mut |expr| helpers.extend(helper(expr)));
    }
    helpers.into_iter().map(str::to_owned).collect()
}

/// Helpers called by the reference implementations in the test program.
pub(super) fn test_helpers(unit: &Unit) -> Vec<String> {
    let mut helpers = BTreeSet::new();
    let tensors = unit.tensors.iter().map(|tensor| &tensor.test.plain);
    let views = unit.views.iter().map(|view| &view.test);
    let views = views.flat_map(|test| [&test.plain].into_iter().chain(&test.plain_lane));
    let computes = unit.computes.iter().filter_map(|compute| compute.test.as_ref());
    let computes = computes.map(|test| &test.plain);
    for function in tensors.chain(views).chain(computes) {
        function.visit(&mut |expr| helpers.extend(helper(expr)));
    }
    helpers.into_iter().map(str::to_owned).collect()
}

pub(super) fn kernels(unit: &Unit) -> impl Iterator<Item = &KernelUnit> {
    let tensors = unit.tensors.iter().flat_map(|tensor| &tensor.moves);
    let converts = unit.converts.iter().filter_map(|convert| convert.moves.as_ref());
    let computes = unit.computes.iter().filter_map(|compute| compute.moves.as_ref());
    tensors.chain(converts).chain(computes).flat_map(|moves| &moves.kernels)
}

/// Helpers called by the generated functions, and headers that the source includes; sorted.
pub(super) fn needs(unit: &Unit, settings: &Settings) -> (Vec<String>, Vec<String>) {
    let dialect = settings.dialect;
    let mut helpers = BTreeSet::new();
    let mut includes = BTreeSet::new();
    let mut functions: Vec<&Whole<Function>> = Vec::new();
    for tensor in &unit.tensors {
        functions.extend(tensor.counts.iter().chain(&tensor.indices).chain(&tensor.symbols_ok));
        functions.extend([&tensor.offset, &tensor.logical]);
        functions.extend(&tensor.in_domain);
        functions.extend(tensor.sharding.iter().flat_map(|sharding| &sharding.functions));
        functions.extend(tensor.ring.iter().map(|ring| &ring.at));
    }
    for view in &unit.views {
        functions.extend(view.counts.iter().chain(&view.indices).chain(&view.symbols_ok));
        functions.push(&view.offset);
    }
    if settings.language.kernels {
        functions.extend(kernels(unit).map(|kernel| &kernel.function));
        let unaligned = kernels(unit).filter_map(|kernel| kernel.unaligned.as_ref());
        functions.extend(unaligned.map(|kernel| &kernel.function));
    } else {
        functions.extend(unit.tensors.iter().flat_map(|t| t.pack.iter().chain(&t.unpack)));
        functions.extend(unit.views.iter().flat_map(|v| v.pack.iter().chain(&v.unpack)));
        functions.extend(unit.converts.iter().map(|convert| &convert.function));
        functions.extend(unit.computes.iter().flat_map(ComputeUnit::on_cores));
    }
    for function in functions {
        function.visit(&mut |expr| {
            helpers.extend(helper(expr));
        });
        for stmt in &function.body {
            stmt.walk(&mut |stmt| {
                includes.extend(include(stmt, dialect));
                includes.extend(is_moved(dialect, &function.params, stmt).then_some("string.h"));
            });
            stmt.numbers(&mut |number| includes.extend(mathematics(number)));
        }
    }
    let mut bounds: Vec<&Whole<Expr>> = Vec::new();
    if settings.language.kernels {
        for kernel in kernels(unit) {
            let plain = kernel.unaligned.iter().flat_map(|plain| &plain.axes);
            bounds.extend(kernel.axes.iter().chain(plain).map(|axis| &axis.items));
        }
    }
    for test in unit.tensors.iter().map(|tensor| &tensor.test) {
        bounds.extend([&test.elements, &test.slots, &test.logical_bytes, &test.physical_bytes]);
        bounds.extend([&test.dense, &test.slot]);
        bounds.extend(test.axes.iter().chain(&test.physical).map(|axis| &axis.extent));
    }
    for test in unit.views.iter().map(|view| &view.test) {
        bounds.extend([&test.elements, &test.slots, &test.dense_bytes, &test.bytes, &test.dense]);
        bounds.extend(test.axes.iter().map(|axis| &axis.extent));
    }
    for bound in bounds {
        bound.visit(&mut |expr| helpers.extend(helper(expr)));
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    (owned(helpers), owned(includes))
}

/// Header needed to compute a value: `math.h`, or `string.h` for bit copies; `None` if none is needed.
fn mathematics(number: &Number) -> Option<&'static str> {
    let is_float = |element: &str| matches!(element, "f32" | "f64");
    if matches!(number, Number::Convert { from, to, .. } if from == "f64" && to == "f32") {
        return Some("string.h");
    }
    let needs = match number {
        Number::Call { function, element, .. } => function != "abs" || is_float(element),
        Number::Constant { element, bits } => {
            let literal = element::literal(&super::dialect::C, element, bits, Spelling::Number);
            literal.contains("NAN") || literal.contains("INFINITY")
        }
        _ => false,
    };
    needs.then_some("math.h")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes are operators")]
fn helper(expr: &Expr) -> Option<&'static str> {
    match expr {
        Expr::FloorDiv { b, .. } if power_of_two(b).is_none() => Some("floor_div"),
        Expr::FloorMod { b, .. } if power_of_two(b).is_none() => Some("floor_mod"),
        Expr::Min { .. } => Some("min"),
        Expr::Max { .. } => Some("max"),
        Expr::Hilbert { .. } => Some("hilbert"),
        Expr::HilbertCell { .. } => Some("hilbert_cell"),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other statements are the language alone")]
fn include(stmt: &Stmt, dialect: &Dialect) -> Option<&'static str> {
    match stmt {
        Stmt::Assert { .. } => match dialect.assert {
            Assert::Abort => Some("assert.h"),
            Assert::Leave | Assert::Asked => None,
        },
        Stmt::Copy { .. } | Stmt::Zero { .. } => Some("string.h"),
        Stmt::LetElement { element, bits, spelling, .. } => {
            let literal = element::literal(dialect, element, bits, *spelling);
            (literal.contains("NAN") || literal.contains("INFINITY")).then_some("math.h")
        }
        _ => None,
    }
}
