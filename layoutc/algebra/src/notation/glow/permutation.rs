//! The permutation from one layout to another: a transpose, deduced from the letters.
//!
//! `out[i] = in[perm[i]]`: axis `i` of what comes out is axis `perm[i]` of what goes in. Glow's tables are of the same
//! kind, but it names the result of a transpose by the inverse.
//!
//! Source: Glow, `TensorLayout.md`, where the deduction is left to the future.

use alloc::vec;
use alloc::vec::Vec;

use thiserror::Error;

use super::layout::GlowLayout;

/// A permutation of axes: `out[i] = in[perm[i]]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisPermutation {
    perm: Vec<usize>,
}

/// One of the two layouts of a shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransposeOperand {
    /// The one that goes in.
    From,
    /// The one that comes out.
    To,
}

/// Why there is no shuffle. Axes are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PermutationError {
    /// A `*`: it may be any axis, so that more than one shuffle fits.
    #[error("axis {axis} of the layout that {side} is `*`, which may be any axis")]
    Wildcard {
        /// Whose it is.
        side: TransposeOperand,
        /// The axis.
        axis: usize,
    },
    /// A letter that two axes have.
    #[error("axes {first} and {second} of the layout that {side} are both `{letter}`")]
    Repeated {
        /// Whose they are.
        side: TransposeOperand,
        /// The letter.
        letter: char,
        /// The first axis.
        first: usize,
        /// The second axis.
        second: usize,
    },
    /// Another number of axes on the other side.
    #[error("{from} axes go in, and {to} come out")]
    Rank {
        /// How many go in.
        from: usize,
        /// How many come out.
        to: usize,
    },
    /// A letter that only one of the layouts has.
    #[error("axis {axis} of the layout that {side} is `{letter}`, which the other lacks")]
    Letter {
        /// Who has it.
        side: TransposeOperand,
        /// The letter.
        letter: char,
        /// The axis.
        axis: usize,
    },
    /// Numbers that are no permutation.
    #[error("`{perm:?}` is no permutation: `{axis}` stands twice, or is no axis")]
    Permutation {
        /// As they were given.
        perm: Vec<usize>,
        /// The first number at fault.
        axis: usize,
    },
}

impl core::fmt::Display for TransposeOperand {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::From => "goes in",
            Self::To => "comes out",
        })
    }
}

impl AxisPermutation {
    /// The shuffle of these numbers.
    ///
    /// # Errors
    /// [`PermutationError::Permutation`] if they are not those below their count, each once.
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

    /// The shuffle that takes a tensor laid out as `from` to one laid out as `to`: by letters, case and all.
    ///
    /// From `NHWC` to `NCHW` it is `[0, 3, 1, 2]`. Extensions say nothing of the order of the axes: from `NHWC` to
    /// `N[a=64]HWC` it is the identity, though the elements may move further apart.
    ///
    /// # Errors
    /// [`PermutationError::Rank`], [`PermutationError::Wildcard`], [`PermutationError::Repeated`], [`PermutationError::Letter`], the first
    /// in this order that holds; where both layouts are at fault, `from` is told of.
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

    /// For each axis that comes out, the axis of what goes in.
    pub fn perm(&self) -> &[usize] {
        &self.perm
    }

    /// This shuffle and then `next`, as one: `merged[i] = self[next[i]]`.
    ///
    /// # Errors
    /// [`PermutationError::Rank`].
    pub fn then(&self, next: &Self) -> Result<Self, PermutationError> {
        let rank = PermutationError::Rank { from: self.perm.len(), to: next.perm.len() };
        if self.perm.len() != next.perm.len() {
            return Err(rank);
        }
        let perm: Option<Vec<usize>> =
            next.perm.iter().map(|axis| self.perm.get(*axis).copied()).collect();
        perm.map(|perm| Self { perm }).ok_or(rank)
    }

    /// Whether every axis stays where it is.
    pub fn is_identity(&self) -> bool {
        self.perm.iter().enumerate().all(|(k, axis)| k == *axis)
    }

    /// Whether any element of a packed, row-major tensor moves. `shape` are the extents that go in, outermost first.
    ///
    /// None moves if the axes longer than 1 keep their order, or there is no element: `[1, 3, 0, 2]` moves nothing in
    /// 1 x 5 x 1 x 15, and is a reshape there.
    ///
    /// # Errors
    /// [`PermutationError::Rank`].
    pub fn moves_data(&self, shape: &[u64]) -> Result<bool, PermutationError> {
        if shape.len() != self.perm.len() {
            return Err(PermutationError::Rank { from: shape.len(), to: self.perm.len() });
        }
        let is_long = |axis: &&usize| shape.get(**axis).is_some_and(|extent| *extent > 1);
        let long = self.perm.iter().filter(is_long);
        Ok(!shape.contains(&0) && !long.is_sorted())
    }
}

/// The first axis of a letter.
fn place(layout: &GlowLayout, letter: char) -> Option<usize> {
    layout.dims().iter().position(|dim| dim.letter() == letter)
}
