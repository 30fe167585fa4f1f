//! Proven layouts: the index map of a tensor with its inverse, strides, padding and proof.

pub mod affine;
pub mod physical;
pub mod swizzle;
pub(crate) mod symbol_values;

use alloc::vec::Vec;

use crate::digits::Digits;
use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::layout::swizzle::Swizzle;
use crate::symbol::{Axis, Symbol};

/// Result of the proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every slot of the physical shape holds exactly one element: no padding.
    Bijective,
    /// Injective: every element has its own slot, and some slots are padding.
    Padded,
}

impl Verdict {
    /// `bijective` or `padded`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bijective => "bijective",
            Self::Padded => "padded",
        }
    }
}

/// The proof technique behind a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofMethod {
    /// The mixed-radix normal form.
    Digits,
    /// The mixed-radix normal form, plus linear algebra over `GF(2)` for bits combined by XOR.
    Gf2,
    /// Enumeration of all elements of at least one independent component.
    Enumeration,
}

impl ProofMethod {
    /// `digits`, `gf2` or `enumeration`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Gf2 => "gf2",
            Self::Enumeration => "enumeration",
        }
    }

    /// The technique that names a proof composed of two.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Enumeration, _) | (_, Self::Enumeration) => Self::Enumeration,
            (Self::Gf2, _) | (_, Self::Gf2) => Self::Gf2,
            (Self::Digits, Self::Digits) => Self::Digits,
        }
    }
}

/// The targets of a layout's digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigitTargets {
    /// One target per storage axis: its index.
    Storage,
    /// A single target, the offset in the flat buffer: strides are explicit, and only the offset can be injective.
    Offset,
}

/// Alignment of the first element, the one at index 0 along every axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedOrigin {
    /// Offset of the first element in the flat buffer, over symbols; aligned if the base address is.
    pub offset: Expr,
    /// Divisor of the byte offset.
    pub alignment_bytes: u64,
    /// Size of an element in bits.
    pub element_bits: u32,
}

/// A layout with a proven verdict. Lists are outermost first; quantities are in elements.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Symbols of the extents: `Var::Symbol(k)` is `symbols[k]`.
    pub symbols: Vec<Symbol>,
    /// Logical axes: `Var::Axis(k)` is `logical[k]`.
    pub logical: Vec<Axis>,
    /// Storage axes, the result of the steps: `Var::Storage(k)` is `storage[k]`.
    pub storage: Vec<Axis>,
    /// One index per storage axis, over `Var::Axis` and symbols, simplified.
    pub storage_map: Vec<Expr>,
    /// Axis separators: the position of the last storage axis of every group except the last.
    pub separators: Vec<usize>,
    /// Extents of the physical axes, one per group of storage axes.
    pub physical_shape: Vec<Expr>,
    /// Stride of each physical axis in the flat buffer, pitch included.
    pub physical_strides: Vec<Expr>,
    /// Stride of each storage axis in the flat buffer, before the swizzle.
    pub strides: Vec<Expr>,
    /// One index per physical axis, over `Var::Axis`, simplified.
    pub physical_map: Vec<Expr>,
    /// Offset in the flat buffer, over `Var::Axis`, simplified.
    pub offset: Expr,
    /// The logical indices that are elements, over `Var::Axis`; `None` if all are. The maps are undefined on the
    /// others, which have no slots.
    pub domain: Option<Predicate>,
    /// The logical index over `Var::Physical`; `None` only under [`ProofMethod::Enumeration`].
    pub inverse: Option<Vec<Expr>>,
    /// True for the physical indices that hold an element, over `Var::Physical`; `None` if all do, or there is no
    /// inverse.
    pub valid: Option<Predicate>,
    /// The proven verdict.
    pub verdict: Verdict,
    /// The proof technique.
    pub proof: ProofMethod,
    /// Mixed-radix normal form, if the layout has one. Every chain carries axes.
    pub digits: Option<Digits>,
    /// The targets of the normal form.
    pub digit_targets: DigitTargets,
    /// Swizzle of the index along the last physical axis, applied after the strides.
    pub swizzle: Option<Swizzle>,
    /// Number of elements: those of the domain.
    pub logical_elements: Expr,
    /// Number of slots of the flat buffer, pitch included.
    pub physical_elements: Expr,
    /// Alignment of the base address, in bytes.
    pub alignment_bytes: u64,
    /// Leading slots along the last physical axis, over symbols: added to the index that the storage axes give.
    pub lead: Expr,
    /// Alignment of the first element, if requested.
    pub origin: Option<AlignedOrigin>,
}

impl Layout {
    /// Permutes the logical axes: axis k of the result is axis `order[k]` of this layout.
    ///
    /// # Errors
    /// [`ExprError`] when an expression grows too large.
    pub fn permuted(&self, order: &[usize]) -> Result<Self, ExprError> {
        let renamed = |var| match var {
            Var::Axis(own) => {
                let own = usize::try_from(own).ok()?;
                let position = order.iter().position(|axis| *axis == own)?;
                u32::try_from(position).ok().map(|k| Expr::var(Var::Axis(k)))
            }
            _ => None,
        };
        let rename = |expr: &Expr| expr.substitute(&renamed);
        let all = |exprs: &[Expr]| exprs.iter().map(rename).collect::<Result<Vec<_>, ExprError>>();
        let logical: Vec<Axis> =
            order.iter().filter_map(|axis| self.logical.get(*axis).cloned()).collect();
        let inverse = self.inverse.as_ref().map(|inverse| {
            order.iter().filter_map(|axis| inverse.get(*axis).cloned()).collect::<Vec<_>>()
        });
        let digits = self.digits.clone().map(|mut digits| {
            for axis in digits.chains.iter_mut().flat_map(|chain| &mut chain.axes) {
                *axis = order.iter().position(|own| own == axis).unwrap_or(*axis);
            }
            digits
        });
        Ok(Self {
            logical,
            domain: self.domain.as_ref().map(|domain| domain.substitute(&renamed)).transpose()?,
            storage_map: all(&self.storage_map)?,
            physical_map: all(&self.physical_map)?,
            offset: rename(&self.offset)?,
            inverse,
            digits,
            ..self.clone()
        })
    }
}
