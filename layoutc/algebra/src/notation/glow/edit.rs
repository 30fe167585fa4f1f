//! Edits of a Glow layout string: setting the alignment of an axis, setting an attribute of an axis, removing an
//! attribute. A new or changed extension becomes the last one of its axis, as in Glow.

use alloc::string::{String, ToString};

use thiserror::Error;

use super::layout::{GlowAxis, GlowExtension, GlowLayout};

/// Reason why an edit of a layout string is refused; the string is then unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GlowEditError {
    /// The position of the axis is not below the rank of the layout.
    #[error("axis {axis} is out of range for a layout of rank {rank}")]
    Axis {
        /// Requested position of the axis, from 0.
        axis: usize,
        /// Number of axes of the layout.
        rank: usize,
    },
    /// The alignment is 0.
    #[error("alignment is 0, expected at least 1")]
    Align,
    /// The name of the attribute is empty, or contains `:` or `]`, so that the result would not parse to this
    /// attribute.
    #[error("`{name}` is not an attribute name: it is empty, or contains `:` or `]`")]
    Name {
        /// Requested name of the attribute.
        name: String,
    },
    /// The value of the attribute contains `]`, so that the result would not parse to this attribute.
    #[error("`{value}` is not an attribute value: it contains `]`")]
    Value {
        /// Requested value of the attribute.
        value: String,
    },
}

impl GlowLayout {
    /// Sets the alignment of the stride of the axis at position `axis`, in bytes; 1 removes the alignment.
    ///
    /// `N[a=16][answer:42]` becomes `N[answer:42][a=32]` for 32, and `N[answer:42]` for 1.
    ///
    /// # Errors
    /// [`GlowEditError::Align`] if `bytes` is 0, [`GlowEditError::Axis`] if there is no such axis.
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

    /// Sets the attribute `[name:value]` of the axis at position `axis`, replacing an attribute of the same name.
    ///
    /// # Errors
    /// [`GlowEditError::Name`] if `name` is empty or contains `:` or `]`, [`GlowEditError::Value`] if `value` contains
    /// `]`, [`GlowEditError::Axis`] if there is no such axis.
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

    /// Removes the attribute `name` of the axis at position `axis`. Returns true if the axis had the attribute.
    ///
    /// # Errors
    /// [`GlowEditError::Axis`] if there is no such axis.
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
