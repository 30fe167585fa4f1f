//! Changing what a string says of an axis. What is set stands behind what the axis has already, as Glow puts it.

use alloc::string::{String, ToString};

use thiserror::Error;

use super::layout::{GlowAxis, GlowExtension, GlowLayout};

/// Why a layout is not changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GlowEditError {
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

impl GlowLayout {
    /// Makes every step along an axis, counted from 0, a multiple of `bytes`; 1 takes the alignment away.
    ///
    /// `N[a=16][answer:42]` becomes `N[answer:42][a=32]` for 32, and `N[answer:42]` for 1.
    ///
    /// # Errors
    /// [`GlowEditError::Align`], [`GlowEditError::Axis`]; the layout is then as it was.
    pub fn set_align(&mut self, axis: usize, bytes: u64) -> Result<(), GlowEditError> {
        if bytes == 0 {
            return Err(GlowEditError::Align);
        }
        let dim = self.dim_mut(axis)?;
        dim.extensions.retain(|extension| !matches!(extension, GlowExtension::Align { .. }));
        if bytes != 1 {
            dim.extensions.push(GlowExtension::Align { bytes });
        }
        Ok(())
    }

    /// Gives an axis, counted from 0, the attribute `[name:value]`, in place of the one of that name if it has it.
    ///
    /// # Errors
    /// [`GlowEditError::Name`], [`GlowEditError::Value`], [`GlowEditError::Axis`]; the layout is then as it was.
    pub fn set_attribute(
        &mut self,
        axis: usize,
        name: &str,
        value: &str,
    ) -> Result<(), GlowEditError> {
        if name.is_empty() || name.contains([':', ']']) {
            return Err(GlowEditError::Name { name: name.to_string() });
        }
        if value.contains(']') {
            return Err(GlowEditError::Value { value: value.to_string() });
        }
        self.remove_attribute(axis, name)?;
        let (name, value) = (name.to_string(), value.to_string());
        self.dim_mut(axis)?.extensions.push(GlowExtension::Attribute { name, value });
        Ok(())
    }

    /// Takes the attribute `name` from an axis, counted from 0; whether it had it.
    ///
    /// # Errors
    /// [`GlowEditError::Axis`].
    pub fn remove_attribute(&mut self, axis: usize, name: &str) -> Result<bool, GlowEditError> {
        let extensions = &mut self.dim_mut(axis)?.extensions;
        let before = extensions.len();
        extensions.retain(
            |extension| !matches!(extension, GlowExtension::Attribute { name: own, .. } if own == name),
        );
        Ok(extensions.len() != before)
    }

    fn dim_mut(&mut self, axis: usize) -> Result<&mut GlowAxis, GlowEditError> {
        let rank = self.rank();
        self.dims.get_mut(axis).ok_or(GlowEditError::Axis { axis, rank })
    }
}
