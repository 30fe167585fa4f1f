//! Changing what a string says of an axis. What is set stands behind what the axis has already, as Glow puts it.

use alloc::string::{String, ToString};

use thiserror::Error;

use super::layout::{Dim, Extension, Layout};

/// Why a layout is not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// No such axis.
    #[error("there is no axis {axis}: the layout has {rank}, counted from 0")]
    Axis {
        /// As it was given.
        axis: usize,
        /// How many the layout has.
        rank: usize,
    },
    /// An alignment of 0.
    #[error("nothing is a multiple of 0")]
    Align,
    /// An attribute's name that would not be read again.
    #[error("`{name}` is no name of an attribute: it is empty, or has `:` or `]` in it")]
    Name {
        /// As it was given.
        name: String,
    },
    /// An attribute's value that would not be read again.
    #[error("`{value}` is no value of an attribute: `]` would close it")]
    Value {
        /// As it was given.
        value: String,
    },
}

impl Layout {
    /// Makes every step along an axis, counted from 0, a multiple of `bytes`; 1 takes the alignment away.
    ///
    /// `N[a=16][answer:42]` becomes `N[answer:42][a=32]` for 32, and `N[answer:42]` for 1.
    ///
    /// # Errors
    /// [`EditError::Align`], [`EditError::Axis`]; the layout is then as it was.
    pub fn set_align(&mut self, axis: usize, bytes: u64) -> Result<(), EditError> {
        if bytes == 0 {
            return Err(EditError::Align);
        }
        let dim = self.dim_mut(axis)?;
        dim.extensions.retain(|extension| !matches!(extension, Extension::Align { .. }));
        if bytes != 1 {
            dim.extensions.push(Extension::Align { bytes });
        }
        Ok(())
    }

    /// Gives an axis, counted from 0, the attribute `[name:value]`, in place of the one of that name if it has it.
    ///
    /// # Errors
    /// [`EditError::Name`], [`EditError::Value`], [`EditError::Axis`]; the layout is then as it was.
    pub fn set_attribute(&mut self, axis: usize, name: &str, value: &str) -> Result<(), EditError> {
        if name.is_empty() || name.contains([':', ']']) {
            return Err(EditError::Name { name: name.to_string() });
        }
        if value.contains(']') {
            return Err(EditError::Value { value: value.to_string() });
        }
        self.remove_attribute(axis, name)?;
        let (name, value) = (name.to_string(), value.to_string());
        self.dim_mut(axis)?.extensions.push(Extension::Attribute { name, value });
        Ok(())
    }

    /// Takes the attribute `name` from an axis, counted from 0; whether it had it.
    ///
    /// # Errors
    /// [`EditError::Axis`].
    pub fn remove_attribute(&mut self, axis: usize, name: &str) -> Result<bool, EditError> {
        let extensions = &mut self.dim_mut(axis)?.extensions;
        let before = extensions.len();
        extensions.retain(
            |extension| !matches!(extension, Extension::Attribute { name: own, .. } if own == name),
        );
        Ok(extensions.len() != before)
    }

    fn dim_mut(&mut self, axis: usize) -> Result<&mut Dim, EditError> {
        let rank = self.rank();
        self.dims.get_mut(axis).ok_or(EditError::Axis { axis, rank })
    }
}
