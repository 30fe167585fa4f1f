//! Glow's layout strings, such as `N[a=32]HWC`, `*` and `C[ns:anything]`.
//!
//! A string has one letter per axis, major to minor. `[a=32]` aligns the stride of the axis to 32 bytes, and
//! `[name:value]` is an attribute, which is stored but not interpreted. `*` is any axis, bound by position.
//! Glow aborts on some invalid texts and accepts others; here each of them is a fault with a byte range. A string
//! can be edited ([`GlowLayout`]), checked against a tensor ([`check_satisfied`]), and compared with another
//! one ([`AxisPermutation`]). The layouts that Glow's operators require are not part of this module.
//!
//! Source: Glow, `TensorLayout`.

mod apply;
mod edit;
mod layout;
mod parse;
mod permutation;
mod satisfaction;

pub(super) use apply::apply;
pub use edit::GlowEditError;
pub use layout::{GlowAxis, GlowExtension, GlowLayout};
pub(super) use parse::MAX_DIMS;
pub use parse::parse;
pub use permutation::{AxisPermutation, PermutationError, TransposeOperand};
pub use satisfaction::{
    GlowTensor, Satisfaction, UnknownAttribute, UnmetRequirement, check_satisfied,
};
