//! Functions by which a thread (work item) transposes words of several elements in registers.

use super::dialect::Dialect;
use super::element;
use super::model::RegisterTransposeUnit;
use crate::base::dtype::Dtype;
use crate::passes::{Requirements, Routine};

/// Name of the function that transposes `rows` words of `columns` elements each; `element` is the element type in
/// manifest notation.
pub(super) fn name(dialect: &Dialect, element: &str, [rows, columns]: [i64; 2]) -> String {
    format!("{}transpose_{element}_{rows}x{columns}", dialect.helper)
}

/// Transpose functions that kernels call, each once, sorted by element type and shape.
pub(super) fn of(needs: &Requirements, dialect: &Dialect) -> Vec<RegisterTransposeUnit> {
    let called = needs.routines.iter().filter_map(|routine| match routine {
        Routine::TransposeWords(dtype, shape) => Some((dtype.to_string(), *shape, *dtype)),
        _ => None,
    });
    let mut called: Vec<_> = called.collect();
    called.sort();
    let unit =
        |(element, [rows, columns], dtype): (String, [i64; 2], Dtype)| RegisterTransposeUnit {
            name: name(dialect, &element, [rows, columns]),
            element: element::type_name(dialect, &element, false),
            from: word(dialect, dtype, columns),
            to: word(dialect, dtype, rows),
            rows,
            columns,
        };
    called.into_iter().map(unit).collect()
}

/// Integer type, or vector of 32-bit integers, as wide as a word of `elements` elements.
fn word(dialect: &Dialect, dtype: Dtype, elements: i64) -> String {
    let bytes = i64::from(dtype.element_bits() / 8).saturating_mul(elements);
    element::type_name(dialect, &Dtype::integers(bytes).to_string(), false)
}
