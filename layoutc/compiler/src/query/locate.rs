//! Location of a tensor's element in memory and its inverse, with symbols and axes by name.

use std::collections::BTreeMap;

use layoutc_algebra::query::locate;
use thiserror::Error;

use crate::model::Tensor;

fn coordinates(count: usize) -> String {
    if count == 1 { "1 coordinate".to_owned() } else { format!("{count} coordinates") }
}

fn counted_axes(count: usize) -> String {
    if count == 1 { "1 axis".to_owned() } else { format!("{count} axes") }
}

/// Reason why an element or a slot cannot be located by its index.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NamedLocateError {
    /// A symbol has no value.
    #[error("`{name}` has no value: give it one with `--set {name}=…`")]
    Symbol {
        /// Name of the symbol.
        name: String,
    },
    /// The value of a symbol violates the constraints that the manifest declares for the symbol.
    #[error("`{name}` cannot be {value}: it is a multiple of {multiple} from {min} to {max}")]
    Facts {
        /// Name of the symbol.
        name: String,
        /// Given value of the symbol.
        value: i128,
        /// Least value that the symbol may have.
        min: i128,
        /// Greatest value that the symbol may have.
        max: i128,
        /// Declared divisor: every value of the symbol is a multiple of the number.
        multiple: i128,
    },
    /// The index has the wrong number of coordinates.
    #[error("{} for {}: {names}", coordinates(*given), counted_axes(*axes))]
    Rank {
        /// Number of coordinates that are given.
        given: usize,
        /// Number of axes that the index needs: logical axes for a logical index, physical axes for a physical index.
        axes: usize,
        /// Names of these axes, separated by commas; physical axes are `p0`, `p1`, ….
        names: String,
    },
    /// A coordinate is negative or not below the extent of its axis.
    #[error("`{name}` = {value} is out of bounds: its extent is {extent}")]
    Outside {
        /// Name of the axis; `p0`, `p1`, … for a physical axis.
        name: String,
        /// Coordinate that is given.
        value: i128,
        /// Extent of the axis.
        extent: i128,
    },
    /// The tensor's domain, declared by `where`, excludes the index.
    #[error("the index is not an element: the tensor's `where` excludes it")]
    NoElement,
    /// A computation failed, for example by an overflow; the member is the message.
    #[error("{0}")]
    Value(String),
}

/// Location in memory of the element at the logical index `logical`, which has one coordinate for each logical axis of
/// the tensor, outermost first. `symbols` holds the values of symbols by name.
///
/// # Errors
/// [`NamedLocateError::Symbol`] if a symbol has no value, [`NamedLocateError::Facts`] if its value violates the
/// constraints of the manifest. [`NamedLocateError::Rank`], [`NamedLocateError::Outside`] or
/// [`NamedLocateError::NoElement`] if the index is not that of an element. [`NamedLocateError::Value`] if a computation
/// fails, for example by an overflow.
pub fn element_location(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    logical: &[i128],
) -> Result<locate::ElementLocation, NamedLocateError> {
    let names: Vec<String> = tensor.layout.logical().iter().map(|axis| axis.name.clone()).collect();
    let found = tensor.layout.locate(logical, &values(tensor, symbols)?);
    found.map_err(|error| named_error(error, &names))
}

/// Logical index of the element that is stored at the physical index `physical`, which has one coordinate for each
/// physical axis, outermost first; `None` for padding. `symbols` holds the values of symbols by name.
///
/// # Errors
/// [`NamedLocateError::Symbol`] if a symbol has no value, [`NamedLocateError::Facts`] if its value violates the
/// constraints of the manifest. [`NamedLocateError::Rank`] or [`NamedLocateError::Outside`] if the physical index is
/// out of bounds. [`NamedLocateError::Value`] if a computation fails, for example by an overflow.
pub fn owner(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    physical: &[i128],
) -> Result<Option<Vec<i128>>, NamedLocateError> {
    let names: Vec<String> =
        (0..tensor.layout.physical_shape().len()).map(|k| format!("p{k}")).collect();
    let found = tensor.layout.element_at(physical, &values(tensor, symbols)?);
    found.map_err(|error| named_error(error, &names))
}

pub(crate) fn values(
    tensor: &Tensor,
    given: &BTreeMap<String, i128>,
) -> Result<Vec<i128>, NamedLocateError> {
    let mut values = Vec::new();
    for symbol in tensor.layout.symbols() {
        let name = symbol.name.clone();
        let Some(&value) = given.get(&name) else { return Err(NamedLocateError::Symbol { name }) };
        let (min, max, multiple) = (symbol.min, symbol.max, symbol.multiple);
        if value < min || value > max || value.rem_euclid(multiple.max(1)) != 0 {
            return Err(NamedLocateError::Facts { name, value, min, max, multiple });
        }
        values.push(value);
    }
    Ok(values)
}

fn named_error(error: locate::ElementLocationError, names: &[String]) -> NamedLocateError {
    match error {
        locate::ElementLocationError::Rank { given, axes } => {
            NamedLocateError::Rank { given, axes, names: names.join(", ") }
        }
        locate::ElementLocationError::OutOfBounds { axis, value, extent } => {
            NamedLocateError::Outside {
                name: names.get(axis).cloned().unwrap_or_default(),
                value,
                extent,
            }
        }
        locate::ElementLocationError::NoElement => NamedLocateError::NoElement,
        locate::ElementLocationError::Expr(inner) => NamedLocateError::Value(inner.to_string()),
    }
}
