//! Functions by which a thread (work item) transposes words of several elements in registers.

use std::collections::BTreeSet;

use super::dialect::Dialect;
use super::element;
use super::model::{TurnUnit, Unit};
use super::needs::kernels;
use crate::base::dtype::Dtype;
use crate::emit::syntax::Stmt;

/// Name of the function that transposes `rows` words of `columns` elements each.
pub(super) fn name(dialect: &Dialect, element: &str, [rows, columns]: [i64; 2]) -> String {
    format!("{}turn_{element}_{rows}x{columns}", dialect.helper)
}

/// Transpose functions that a unit's kernels call, each once.
pub(super) fn of(unit: &Unit, dialect: &Dialect) -> Vec<TurnUnit> {
    let mut called = BTreeSet::new();
    for kernel in kernels(unit) {
        for stmt in &kernel.function.body {
            stmt.walk(&mut |stmt| {
                if let Stmt::Turn { element, rows, columns, .. } = stmt {
                    called.insert((element.clone(), [*rows, *columns]));
                }
            });
        }
    }
    let unit = |(element, shape): (String, [i64; 2])| TurnUnit {
        name: name(dialect, &element, shape),
        element: element::type_name(dialect, &element, false),
        from: word(dialect, &element, shape[1]),
        to: word(dialect, &element, shape[0]),
        rows: shape[0],
        columns: shape[1],
    };
    called.into_iter().map(unit).collect()
}

/// Integer type as wide as a word of `elements` elements.
fn word(dialect: &Dialect, element: &str, elements: i64) -> String {
    let bits = Dtype::of_plan(element).map_or(8, Dtype::element_bits);
    let bytes = i64::from(bits / 8).saturating_mul(elements);
    element::type_name(dialect, &Dtype::integers(bytes).to_string(), false)
}
