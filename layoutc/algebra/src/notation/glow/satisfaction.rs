//! Check of a tensor against the requirements of a Glow layout string.
//!
//! Rank and alignments are checked against the strides of the tensor, letters and attributes against the
//! layout string of the tensor itself. All violations are collected. Glow's check succeeds early if both
//! strings have the same letters, without checking strides; it reads `a=` within an attribute as an
//! alignment, and never compares attributes.
//!
//! Source: Glow, `TensorLayoutCommon::isSatisfiedBy`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use super::layout::{GlowAxis, GlowLayout};

/// Tensor that is checked against the requirements of a layout string.
#[derive(Debug, Clone, Copy)]
pub struct GlowTensor<'a> {
    /// Stride of each axis of the tensor, in elements.
    pub strides: &'a [i128],
    /// Size of an element in bits.
    pub element_bits: u32,
    /// Layout string of the tensor itself; `None` if it has none.
    pub layout: Option<&'a GlowLayout>,
}

/// Result of [`check_satisfied`], the check of a tensor against a required layout string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Satisfaction {
    /// The tensor meets all requirements.
    Satisfied,
    /// The tensor violates no requirement, but at least one attribute cannot be checked; lists these attributes.
    Unknown(Vec<UnknownAttribute>),
    /// The tensor violates at least one requirement; lists the violated ones in axis order. If ranks differ, only the
    /// differences of ranks are listed.
    Unsatisfied(Vec<UnmetRequirement>),
}

/// Required attribute that the layout string of the tensor lacks. Attributes have no defined meaning, so the
/// requirement is neither met nor violated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAttribute {
    /// Position of the axis with the attribute, from 0.
    pub axis: usize,
    /// Name of the attribute.
    pub name: String,
    /// Value of the attribute in the required layout string.
    pub value: String,
}

/// Requirement that a tensor violates. Axes are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnmetRequirement {
    /// The number of strides of the tensor differs from the required rank.
    #[error("the tensor has rank {strides}, expected {required}")]
    Rank {
        /// Rank of the required layout string.
        required: usize,
        /// Number of strides of the tensor.
        strides: usize,
    },
    /// The layout string of the tensor has a different number of axes than required.
    #[error("the tensor's layout has rank {layout}, expected {required}")]
    LayoutRank {
        /// Rank of the required layout string.
        required: usize,
        /// Number of axes in the layout string of the tensor.
        layout: usize,
    },
    /// The stride of an axis is not a multiple of the required alignment.
    #[error(
        "stride of axis {axis} is {stride} elements of {element_bits} bits, not a multiple of {align} bytes"
    )]
    Align {
        /// Position of the axis in the tensor and in both layout strings, from 0.
        axis: usize,
        /// Required alignment of the stride, in bytes.
        align: u64,
        /// Stride of the axis, in elements.
        stride: i128,
        /// Size of an element in bits.
        element_bits: u32,
    },
    /// The letter of an axis in the layout string of the tensor differs from that in the required layout string.
    #[error("axis {axis} is `{found}`, expected `{required}`")]
    Letter {
        /// Position of the axis in the tensor and in both layout strings, from 0.
        axis: usize,
        /// Letter of the axis in the required layout string.
        required: char,
        /// Letter of the axis in the layout string of the tensor.
        found: char,
    },
    /// The value of an attribute in the layout string of the tensor differs from that in the required layout string.
    #[error("axis {axis} has `[{name}:{found}]`, expected `[{name}:{required}]`")]
    Attribute {
        /// Position of the axis with the attribute, from 0.
        axis: usize,
        /// Name of the attribute.
        name: String,
        /// Value of the attribute in the required layout string.
        required: String,
        /// Value of the attribute in the layout string of the tensor.
        found: String,
    },
}

/// Checks a tensor against the requirements of the layout string `required`.
///
/// * Rank: the number of strides, and the rank of the tensor's own string, equal the rank of `required`.
/// * Alignment: the stride of the axis in bytes is a multiple of the alignment. Alignments in the tensor's own string
///   are ignored.
/// * Letter: equal to that of the tensor's string, case-sensitive; `*` on either side matches any letter. Each axis is
///   checked separately: two `*` may match different axes.
/// * Attribute: equal to that of the tensor's string. If the tensor's string lacks an attribute, and no requirement is
///   violated, the result is [`Satisfaction::Unknown`].
///
/// Attributes of the tensor's string that `required` lacks are ignored. If the tensor has no string, letters and
/// attributes are not checked and count as met.
///
/// Strides of 48, 16, 4 and 1 elements of 4 bytes satisfy `NHW[a=16]C` (4 elements are 16 bytes), but not `N[a=128]HWC`
/// (48 elements are 192 bytes).
pub fn check_satisfied(tensor: &GlowTensor<'_>, required: &GlowLayout) -> Satisfaction {
    let GlowTensor { strides, element_bits, layout } = *tensor;
    let (mut unmet, mut unjudged) = (Vec::new(), Vec::new());
    let rank = required.rank();
    if strides.len() != rank {
        unmet.push(UnmetRequirement::Rank { required: rank, strides: strides.len() });
    }
    if let Some(layout) = layout.filter(|layout| layout.rank() != rank) {
        unmet.push(UnmetRequirement::LayoutRank { required: rank, layout: layout.rank() });
    }
    if !unmet.is_empty() {
        return Satisfaction::Unsatisfied(unmet);
    }
    for (axis, (dim, stride)) in required.dims().iter().zip(strides).enumerate() {
        let align = dim.align();
        if !is_multiple(*stride, element_bits, align) {
            unmet.push(UnmetRequirement::Align { axis, align, stride: *stride, element_bits });
        }
        if let Some(own) = layout.and_then(|layout| layout.dims().get(axis)) {
            compare(axis, dim, own, &mut unmet, &mut unjudged);
        }
    }
    match (unmet.is_empty(), unjudged.is_empty()) {
        (false, _) => Satisfaction::Unsatisfied(unmet),
        (true, false) => Satisfaction::Unknown(unjudged),
        (true, true) => Satisfaction::Satisfied,
    }
}

/// True if a stride of `stride` elements of `element_bits` bits is a multiple of `align` bytes. Multiplies
/// remainders to avoid an overflow.
fn is_multiple(stride: i128, element_bits: u32, align: u64) -> bool {
    let align_bits = u128::from(align) * 8;
    let rest = stride.unsigned_abs().checked_rem(align_bits);
    rest.is_some_and(|rest| (rest * u128::from(element_bits)).is_multiple_of(align_bits))
}

/// Compares the required letter and attributes of the axis at position `axis` with `own`, the axis in the layout
/// string of the tensor. Adds differences to `unmet`, and required attributes that `own` lacks to `unjudged`.
fn compare(
    axis: usize,
    required: &GlowAxis,
    own: &GlowAxis,
    unmet: &mut Vec<UnmetRequirement>,
    unjudged: &mut Vec<UnknownAttribute>,
) {
    if required.letter() != own.letter() && !required.is_any() && !own.is_any() {
        unmet.push(UnmetRequirement::Letter {
            axis,
            required: required.letter(),
            found: own.letter(),
        });
    }
    for (name, value) in required.attributes() {
        let (name, required) = (name.to_string(), value.to_string());
        match own.attribute(&name) {
            None => unjudged.push(UnknownAttribute { axis, name, value: required }),
            Some(found) if found == value => {}
            Some(found) => {
                unmet.push(UnmetRequirement::Attribute {
                    axis,
                    name,
                    required,
                    found: found.to_string(),
                });
            }
        }
    }
}
