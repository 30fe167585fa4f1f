//! Where an element lives.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::model::Tensor;

/// An element's places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The logical index.
    pub logical: Vec<i128>,
    /// The storage index.
    pub storage: Vec<i128>,
    /// The physical index.
    pub physical: Vec<i128>,
    /// The offset in elements, row-major over the physical shape.
    pub offset: i128,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LocateError {
    /// A symbol without a value.
    #[error("`{name}` has no value")]
    Symbol {
        /// Its name.
        name: String,
    },
}

/// Where the element at `logical` lives.
pub fn place(
    _tensor: &Tensor,
    _symbols: &BTreeMap<String, i128>,
    logical: &[i128],
) -> Result<Location, LocateError> {
    let logical = logical.to_vec();
    Ok(Location { storage: logical.clone(), physical: logical.clone(), logical, offset: 0 })
}

/// Who lives at `physical`; `None`: padding.
pub fn owner(
    _tensor: &Tensor,
    _symbols: &BTreeMap<String, i128>,
    physical: &[i128],
) -> Result<Option<Vec<i128>>, LocateError> {
    Ok(Some(physical.to_vec()))
}
