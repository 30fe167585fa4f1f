//! Location of a tensor's element in memory, with symbols by name.

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

/// Error of a lookup.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NamedLocateError {
    /// Symbol without a value.
    #[error("`{name}` has no value: give it one with `--set {name}=…`")]
    Symbol {
        /// Name of the symbol.
        name: String,
    },
    /// Value that violates the constraints of its symbol.
    #[error("`{name}` cannot be {value}: it is a multiple of {multiple} from {min} to {max}")]
    Facts {
        /// Name of the symbol.
        name: String,
        /// Given value.
        value: i128,
        /// Least value.
        min: i128,
        /// Greatest value.
        max: i128,
        /// Divisor of all values.
        multiple: i128,
    },
    /// Wrong number of coordinates.
    #[error("{} for {}: {names}", coordinates(*given), counted_axes(*axes))]
    Rank {
        /// Number of given coordinates.
        given: usize,
        /// Number of axes.
        axes: usize,
        /// Names of the axes, separated by commas.
        names: String,
    },
    /// Coordinate that is negative or not below its extent.
    #[error("`{name}` = {value} is out of bounds: its extent is {extent}")]
    Outside {
        /// Name of the axis.
        name: String,
        /// Given coordinate.
        value: i128,
        /// Extent of the axis.
        extent: i128,
    },
    /// Index that the tensor's domain excludes.
    #[error("the index is not an element: the tensor's `where` excludes it")]
    NoElement,
    /// Arithmetic error, such as an overflow.
    #[error("{0}")]
    Value(String),
}

/// Location of the element at `logical`.
///
/// # Errors
/// [`NamedLocateError`].
pub fn element_location(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    logical: &[i128],
) -> Result<locate::ElementLocation, NamedLocateError> {
    let names: Vec<String> = tensor.layout.logical().iter().map(|axis| axis.name.clone()).collect();
    let found = tensor.layout.locate(logical, &values(tensor, symbols)?);
    found.map_err(|error| named_error(error, &names))
}

/// Element stored at `physical`; `None` for padding.
///
/// # Errors
/// [`NamedLocateError`].
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
