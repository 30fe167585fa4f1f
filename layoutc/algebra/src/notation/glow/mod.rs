//! Glow's layout strings: `N[a=32]HWC`, `*`, `C[ns:anything]`.
//!
//! A letter for each axis, major to minor; `[a=32]` makes every step along the axis a multiple of 32 bytes;
//! `[name:value]` is somebody else's and kept as it is. Glow aborts on a bad text, or takes it; here each has its place.
//! `*` is any axis: the one at its place. Strings are edited ([`GlowLayout`]), asked of a tensor ([`check_satisfied`]), and
//! compared for the permutation from one to the other ([`AxisPermutation`]). Which operator asks for what is said elsewhere.
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
