//! Whether a tensor has what a string asks for.
//!
//! Each requirement is judged by what it is about: the number of axes and the alignments by the tensor's strides, the
//! letters and the attributes by the tensor's own string. What is wrong is collected, with the figures. Glow's check
//! ends where the two strings have the same letters, and never looks at the strides then; it takes the `a=` inside an
//! attribute for an alignment, and never compares attributes.
//!
//! Source: Glow, `TensorLayoutCommon::isSatisfiedBy`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use thiserror::Error;

use super::layout::{GlowAxis, GlowLayout};

/// What is known of a tensor.
#[derive(Debug, Clone, Copy)]
pub struct GlowTensor<'a> {
    /// The distance from one index of an axis to the next, in elements, one entry for each axis of its string.
    pub strides: &'a [i128],
    /// The bits of one element.
    pub element_bits: u32,
    /// Its own string, if it has one.
    pub layout: Option<&'a GlowLayout>,
}

/// Whether a tensor has what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Satisfaction {
    /// It has all of it.
    Satisfied,
    /// All that can be judged; these attributes, at least one, cannot.
    Unknown(Vec<UnknownAttribute>),
    /// It lacks these, at least one, in the order of the axes.
    Unsatisfied(Vec<UnmetRequirement>),
}

/// A required attribute of which the tensor's string says nothing: only its owner knows whether that will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownAttribute {
    /// The axis, from 0.
    pub axis: usize,
    /// The attribute's name.
    pub name: String,
    /// The value that is asked for.
    pub value: String,
}

/// What a tensor lacks. Axes are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnmetRequirement {
    /// Another number of axes.
    #[error("{required} axes are asked for, and the tensor has {strides}")]
    Rank {
        /// How many are asked for.
        required: usize,
        /// How many strides the tensor has.
        strides: usize,
    },
    /// A string of its own with another number of axes.
    #[error("{required} axes are asked for, and the tensor's layout has {layout}")]
    LayoutRank {
        /// How many are asked for.
        required: usize,
        /// How many the tensor's string has.
        layout: usize,
    },
    /// A step that is no multiple of the alignment.
    #[error(
        "axis {axis} steps by {stride} elements of {element_bits} bits, no multiple of {align} bytes"
    )]
    Align {
        /// The axis.
        axis: usize,
        /// The alignment asked for, in bytes.
        align: u64,
        /// The step, in elements.
        stride: i128,
        /// The bits of one element.
        element_bits: u32,
    },
    /// Another letter.
    #[error("axis {axis} is `{found}`, and `{required}` is asked for")]
    Letter {
        /// The axis.
        axis: usize,
        /// The letter asked for.
        required: char,
        /// The letter in the tensor's string.
        found: char,
    },
    /// An attribute with another value.
    #[error("axis {axis} has `[{name}:{found}]`, and `[{name}:{required}]` is asked for")]
    Attribute {
        /// The axis.
        axis: usize,
        /// The attribute's name.
        name: String,
        /// The value asked for.
        required: String,
        /// The value in the tensor's string.
        found: String,
    },
}

/// Whether a tensor has what `required` asks for.
///
/// * The tensor has as many strides as `required` has axes, and its own string as many letters.
/// * An alignment holds if the axis steps by a multiple of it, in bytes: what the tensor's own string says of
///   alignments counts for nothing. A step of 0 is a multiple of everything.
/// * A letter asks for the same letter, case and all; `*` on either side fits any. Each is judged by itself: two `*` need
///   not be the same axis.
/// * An attribute asks for the same value. Where the tensor's string lacks it, the answer is [`Satisfaction::Unknown`].
/// * What the tensor's string says beyond that does no harm.
///
/// A tensor without a string has any letters and any attributes; only its strides are judged.
///
/// Strides of 48, 16, 4 and 1 elements of 4 bytes satisfy `NHW[a=16]C`, as 4 elements are 16 bytes; they do not satisfy
/// `N[a=128]HWC`, as 48 elements are 192.
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

/// Whether so many elements are a multiple of `align` bytes. Remainders are multiplied, so that nothing overflows.
fn is_multiple(stride: i128, element_bits: u32, align: u64) -> bool {
    let align_bits = u128::from(align) * 8;
    let rest = stride.unsigned_abs().checked_rem(align_bits);
    rest.is_some_and(|rest| (rest * u128::from(element_bits)).is_multiple_of(align_bits))
}

/// Letter and attributes of an axis against the tensor's own.
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
