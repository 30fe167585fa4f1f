//! Slice of a tensor that a picture draws: selection and errors.

use thiserror::Error;

use crate::base::nearest::nearest;

/// Slice of a tensor that a picture draws: two logical axes, and fixed indices of the remaining axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliceFrame {
    /// Position of the logical axis that runs down the rows; `None` if fewer than two axes are drawn.
    pub rows: Option<usize>,
    /// Position of the logical axis that runs across the columns; `None` for a scalar.
    pub columns: Option<usize>,
    /// Logical index of the slice: fixed indices of the axes that are not drawn, and 0 for the drawn ones.
    pub at: Vec<i128>,
}

/// Reason why a slice cannot be selected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FrameError {
    /// No axis has the given name.
    #[error("there is no axis `{name}`{}", hint(near.as_deref(), axes))]
    Axis {
        /// Name that is given.
        name: String,
        /// Most similar name of an axis; `None` if no name is similar.
        near: Option<String>,
        /// Names of all axes, as a list for the message; empty for a scalar.
        axes: String,
    },
    /// More than two axes are given to be drawn.
    #[error("a picture has two axes, not {given}")]
    Many {
        /// Number of axes that are given.
        given: usize,
    },
    /// An axis is given twice, to be drawn or to be fixed.
    #[error("`{name}` is named twice")]
    Twice {
        /// Name of the axis.
        name: String,
    },
    /// An axis is given both to be drawn and to be fixed.
    #[error("`{name}` is drawn, and cannot be fixed too")]
    DrawnAndFixed {
        /// Name of the axis.
        name: String,
    },
    /// A fixed index is negative or not below the extent of its axis.
    #[error("`{name}` cannot be fixed at {value}: its extent is {extent}")]
    Outside {
        /// Name of the axis.
        name: String,
        /// Fixed index that is given.
        value: i128,
        /// Extent of the axis.
        extent: i128,
    },
}

fn hint(near: Option<&str>, axes: &str) -> String {
    match near {
        Some(near) => format!("; did you mean `{near}`?"),
        None if axes.is_empty() => "; the tensor has rank 0".to_owned(),
        None => format!("; there are {axes}"),
    }
}

/// Name of an axis and its fixed index, parsed from a text such as `h=2`; `None` for any other text.
pub fn fixed_index(text: &str) -> Option<(String, i128)> {
    let (name, index) = text.split_once('=')?;
    Some((name.trim().to_owned(), index.trim().parse().ok()?))
}

impl SliceFrame {
    /// Selects the slice that a picture draws. `axes` names two axes, the one along the rows and the one along the
    /// columns, or only the latter; if it is empty, the last two axes are drawn. `at` holds the indices of axes that
    /// are not drawn, by name, by default 0. `logical` holds names and extents of all logical axes.
    ///
    /// # Errors
    /// [`FrameError::Axis`] for an unknown axis, [`FrameError::Many`] for more than two drawn axes,
    /// [`FrameError::Twice`] and [`FrameError::DrawnAndFixed`] for a repeated axis, [`FrameError::Outside`] for an
    /// index out of bounds.
    pub fn new(
        logical: &[(String, i128)],
        axes: &[String],
        at: &[(String, i128)],
    ) -> Result<Self, FrameError> {
        let named =
            axes.iter().map(|name| position(logical, name)).collect::<Result<Vec<_>, _>>()?;
        let rank = logical.len();
        let (rows, columns) = match named[..] {
            [] => (rank.checked_sub(2), rank.checked_sub(1)),
            [columns] => (None, Some(columns)),
            [rows, columns] if rows == columns => {
                return Err(FrameError::Twice { name: axes.first().cloned().unwrap_or_default() });
            }
            [rows, columns] => (Some(rows), Some(columns)),
            _ => return Err(FrameError::Many { given: named.len() }),
        };
        let mut first = vec![0; rank];
        let mut fixed = Vec::new();
        for (name, value) in at {
            let (axis, name, value) = (position(logical, name)?, name.clone(), *value);
            if fixed.contains(&axis) {
                return Err(FrameError::Twice { name });
            }
            if [rows, columns].contains(&Some(axis)) {
                return Err(FrameError::DrawnAndFixed { name });
            }
            let extent = logical.get(axis).map_or(0, |axis| axis.1);
            if !(0..extent).contains(&value) {
                return Err(FrameError::Outside { name, value, extent });
            }
            first.get_mut(axis).into_iter().for_each(|index| *index = value);
            fixed.push(axis);
        }
        Ok(Self { rows, columns, at: first })
    }

    /// Logical index of the cell with the index `row` along the row axis and `column` along the column axis of the
    /// slice. It may be outside the tensor.
    pub(super) fn index(&self, row: i128, column: i128) -> Vec<i128> {
        let mut index = self.at.clone();
        for (axis, value) in [(self.rows, row), (self.columns, column)] {
            if let Some(slot) = axis.and_then(|axis| index.get_mut(axis)) {
                *slot = value;
            }
        }
        index
    }

    /// Pair (row, column): the indices of `logical` along the row axis and the column axis of the slice, 0 for an axis
    /// that the slice lacks. `None` if `logical` is not in the slice.
    pub(super) fn place(&self, logical: &[i128]) -> Option<(i128, i128)> {
        let drawn = |axis: Option<usize>| match axis {
            Some(axis) => logical.get(axis).copied(),
            None => Some(0),
        };
        let (row, column) = (drawn(self.rows)?, drawn(self.columns)?);
        (self.index(row, column) == logical).then_some((row, column))
    }

    /// Positions of the logical axes that are not drawn, ascending.
    pub(super) fn fixed_axes(&self) -> impl Iterator<Item = usize> {
        (0..self.at.len()).filter(|axis| ![self.rows, self.columns].contains(&Some(*axis)))
    }
}

fn position(logical: &[(String, i128)], name: &str) -> Result<usize, FrameError> {
    let found = logical.iter().position(|axis| axis.0 == name);
    found.ok_or_else(|| {
        let names = || logical.iter().map(|axis| axis.0.as_str());
        let axes: Vec<String> = names().map(|name| format!("`{name}`")).collect();
        let near = nearest(name, names()).map(ToString::to_string);
        FrameError::Axis { name: name.to_owned(), near, axes: axes.join(", ") }
    })
}
