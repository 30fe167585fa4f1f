//! Permutation of axes that a transpose from one Glow layout to another performs, deduced from the letters.
//!
//! In `out[i] = in[perm[i]]`, axis `i` of the output is axis `perm[i]` of the input. Glow's permutation tables
//! have the same direction, but Glow derives the layout string of the result of a transpose with the inverse
//! permutation.
//!
//! Source: Glow, `TensorLayout.md`, which lists the deduction as future work.

use alloc::vec;
use alloc::vec::Vec;

use thiserror::Error;

use super::layout::GlowLayout;

/// Permutation of axes: axis `i` of the output is axis `perm[i]` of the input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisPermutation {
    perm: Vec<usize>,
}

/// Operand of a transpose: its input or its output layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransposeOperand {
    /// Input layout of the transpose.
    From,
    /// Output layout of the transpose.
    To,
}

/// Reason why no permutation can be deduced from two layouts, or formed from a list of numbers, or applied to an
/// operand. Axes are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PermutationError {
    /// An axis of a layout is `*`, which matches several axes.
    #[error("axis {axis} of the {side} layout is `*`, which matches any axis")]
    Wildcard {
        /// Layout, input or output, that contains the `*`.
        side: TransposeOperand,
        /// Position of the axis in its layout string, from 0.
        axis: usize,
    },
    /// Two axes of one layout have the same letter.
    #[error("axes {first} and {second} of the {side} layout are both `{letter}`")]
    Repeated {
        /// Layout, input or output, that contains the letter twice.
        side: TransposeOperand,
        /// Letter that both axes have.
        letter: char,
        /// Position of the first axis with the letter in the layout string, from 0.
        first: usize,
        /// Position of the second axis with the letter in the layout string, from 0.
        second: usize,
    },
    /// Two ranks differ: of the two layouts, of the two permutations to compose, or of a shape and the permutation.
    #[error("different ranks: {from} in the input, {to} in the output")]
    Rank {
        /// First rank: of the input layout, of the permutation that is applied first, or of the shape.
        from: usize,
        /// Second rank: of the output layout, of the permutation that is applied second, or of the permutation that is
        /// applied to the shape.
        to: usize,
    },
    /// A letter occurs in only one of the two layouts.
    #[error("axis {axis} of the {side} layout is `{letter}`, which the other layout lacks")]
    Letter {
        /// Layout, input or output, that contains the letter.
        side: TransposeOperand,
        /// Letter of the axis.
        letter: char,
        /// Position of the axis in its layout string, from 0.
        axis: usize,
    },
    /// The numbers given to [`AxisPermutation::new`] do not form a permutation.
    #[error("`{perm:?}` is not a permutation: `{axis}` is repeated or out of range")]
    Permutation {
        /// Numbers in the argument of [`AxisPermutation::new`].
        perm: Vec<usize>,
        /// First number that is repeated or out of range.
        axis: usize,
    },
}

impl core::fmt::Display for TransposeOperand {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::From => "input",
            Self::To => "output",
        })
    }
}

impl AxisPermutation {
    /// Creates a permutation from the input axis of each output axis.
    ///
    /// # Errors
    /// [`PermutationError::Permutation`] unless `perm` contains each of `0..perm.len()` once.
    pub fn new(perm: Vec<usize>) -> Result<Self, PermutationError> {
        let mut seen = vec![false; perm.len()];
        for axis in &perm {
            match seen.get_mut(*axis) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(PermutationError::Permutation { axis: *axis, perm }),
            }
        }
        Ok(Self { perm })
    }

    /// Permutation that transposes a tensor from layout `from` to layout `to`, by their letters, which are
    /// case-sensitive.
    ///
    /// From `NHWC` to `NCHW` it is `[0, 3, 1, 2]`. Extensions are ignored: from `NHWC` to `N[a=64]HWC` it is the
    /// identity, although strides differ.
    ///
    /// # Errors
    /// [`PermutationError::Rank`], [`PermutationError::Wildcard`], [`PermutationError::Repeated`],
    /// [`PermutationError::Letter`]: the first that applies in this order, and for `from` before `to`.
    pub fn between(from: &GlowLayout, to: &GlowLayout) -> Result<Self, PermutationError> {
        if from.rank() != to.rank() {
            return Err(PermutationError::Rank { from: from.rank(), to: to.rank() });
        }
        let sides = [(TransposeOperand::From, from), (TransposeOperand::To, to)];
        for (side, layout) in sides {
            if let Some(axis) = layout.dims().iter().position(super::GlowAxis::is_any) {
                return Err(PermutationError::Wildcard { side, axis });
            }
        }
        for (side, layout) in sides {
            for (second, dim) in layout.dims().iter().enumerate() {
                let letter = dim.letter();
                if let Some(first) = place(layout, letter).filter(|first| *first != second) {
                    return Err(PermutationError::Repeated { side, letter, first, second });
                }
            }
        }
        let absent = |side, layout: &GlowLayout, other: &GlowLayout| {
            let letters = layout.dims().iter().map(super::GlowAxis::letter).enumerate();
            let mut absent = letters.filter(|(_, letter)| place(other, *letter).is_none());
            absent.next().map(|(axis, letter)| PermutationError::Letter { side, letter, axis })
        };
        if let Some(error) = absent(TransposeOperand::From, from, to) {
            return Err(error);
        }
        let mut perm = Vec::new();
        for (axis, dim) in to.dims().iter().enumerate() {
            let letter = dim.letter();
            let error = PermutationError::Letter { side: TransposeOperand::To, letter, axis };
            perm.push(place(from, letter).ok_or(error)?);
        }
        Self::new(perm)
    }

    /// Position of the input axis of each output axis, in output order: `[0, 3, 1, 2]` for the transpose from `NHWC` to
    /// `NCHW`.
    pub fn perm(&self) -> &[usize] {
        &self.perm
    }

    /// Composition of two permutations, which applies `self` and then `next`: `merged[i] = self[next[i]]`.
    ///
    /// # Errors
    /// [`PermutationError::Rank`] if the ranks differ.
    pub fn then(&self, next: &Self) -> Result<Self, PermutationError> {
        let rank = PermutationError::Rank { from: self.perm.len(), to: next.perm.len() };
        if self.perm.len() != next.perm.len() {
            return Err(rank);
        }
        let perm: Option<Vec<usize>> =
            next.perm.iter().map(|axis| self.perm.get(*axis).copied()).collect();
        perm.map(|perm| Self { perm }).ok_or(rank)
    }

    /// True if every axis keeps its position.
    pub fn is_identity(&self) -> bool {
        self.perm.iter().enumerate().all(|(k, axis)| k == *axis)
    }

    /// True if the transpose moves any element of a packed, row-major tensor. `shape` contains the extents of the
    /// input, outermost first.
    ///
    /// No element moves if the axes longer than 1 keep their order, or the tensor is empty: `[1, 3, 0, 2]` of 1×5×1×15
    /// is a reshape.
    ///
    /// # Errors
    /// [`PermutationError::Rank`] if `shape` has a different rank.
    pub fn moves_data(&self, shape: &[u64]) -> Result<bool, PermutationError> {
        if shape.len() != self.perm.len() {
            return Err(PermutationError::Rank { from: shape.len(), to: self.perm.len() });
        }
        let is_long = |axis: &&usize| shape.get(**axis).is_some_and(|extent| *extent > 1);
        let long = self.perm.iter().filter(is_long);
        Ok(!shape.contains(&0) && !long.is_sorted())
    }
}

/// Position of the first axis with this letter; `None` if no axis has it.
fn place(layout: &GlowLayout, letter: char) -> Option<usize> {
    layout.dims().iter().position(|dim| dim.letter() == letter)
}
