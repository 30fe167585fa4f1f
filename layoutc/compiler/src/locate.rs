//! Where an element of a tensor lives, with symbols by name.

use std::collections::BTreeMap;

use layoutc_algebra::locate;
use thiserror::Error;

use crate::model::Tensor;

/// An element and its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLocation {
    /// The logical index.
    pub logical: Vec<i128>,
    /// The storage index.
    pub storage: Vec<i128>,
    /// The physical index.
    pub physical: Vec<i128>,
    /// Elements from the start of the flat buffer.
    pub offset: i128,
}

fn coordinates(count: usize) -> String {
    if count == 1 { "1 coordinate".to_owned() } else { format!("{count} coordinates") }
}

fn counted_axes(count: usize) -> String {
    if count == 1 { "1 axis".to_owned() } else { format!("{count} axes") }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NamedLocateError {
    /// A symbol without a value.
    #[error("`{name}` has no value: give it one with `--set {name}=…`")]
    Symbol {
        /// Its name.
        name: String,
    },
    /// A value that the symbol's facts exclude.
    #[error("`{name}` cannot be {value}: it is a multiple of {multiple} from {min} to {max}")]
    Facts {
        /// The symbol.
        name: String,
        /// The value given.
        value: i128,
        /// The facts.
        min: i128,
        /// The facts.
        max: i128,
        /// The facts.
        multiple: i128,
    },
    /// Another number of coordinates than axes.
    #[error("{} for {}: {names}", coordinates(*given), counted_axes(*axes))]
    Rank {
        /// How many were given.
        given: usize,
        /// How many axes there are.
        axes: usize,
        /// The axes' names.
        names: String,
    },
    /// A coordinate that is not below its extent, or negative.
    #[error("`{name}` is {value}, and its extent is {extent}")]
    Outside {
        /// The axis.
        name: String,
        /// The coordinate.
        value: i128,
        /// The extent there.
        extent: i128,
    },
    /// An index of the shape that is no element: the domain leaves it out.
    #[error("this index is no element: the tensor's `where` leaves it out")]
    NoElement,
    /// A value that leaves the integers.
    #[error("{0}")]
    Value(String),
}

/// Where the element at `logical` lives.
///
/// # Errors
/// [`NamedLocateError`].
pub fn element_location(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    logical: &[i128],
) -> Result<NamedLocation, NamedLocateError> {
    let names: Vec<String> = tensor.layout.logical.iter().map(|axis| axis.name.clone()).collect();
    let found = tensor
        .layout
        .locate(logical, &values(tensor, symbols)?)
        .map_err(|e| named_error(e, &names))?;
    Ok(NamedLocation {
        logical: logical.to_vec(),
        storage: found.storage,
        physical: found.physical,
        offset: found.offset,
    })
}

/// The element that lives at `physical`; `None`: padding.
///
/// # Errors
/// [`NamedLocateError`].
pub fn owner(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    physical: &[i128],
) -> Result<Option<Vec<i128>>, NamedLocateError> {
    let names: Vec<String> =
        (0..tensor.layout.physical_shape.len()).map(|k| format!("p{k}")).collect();
    tensor
        .layout
        .element_at(physical, &values(tensor, symbols)?)
        .map_err(|e| named_error(e, &names))
}

pub(crate) fn values(
    tensor: &Tensor,
    given: &BTreeMap<String, i128>,
) -> Result<Vec<i128>, NamedLocateError> {
    let mut values = Vec::new();
    for symbol in &tensor.layout.symbols {
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
