//! A proven layout: everything that is known of where a tensor's elements live.

use alloc::string::String;
use alloc::vec::Vec;

use crate::digits::Digits;
use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::swizzle::Swizzle;

/// An axis: a name and how many indices it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The name, unique within its list.
    pub name: String,
    /// The extent, an expression over symbols only, simplified; an integer when static.
    pub extent: Expr,
}

/// An extent known only at run time, and what is promised of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The least value, at least 0.
    pub min: i128,
    /// The greatest value.
    pub max: i128,
    /// Every value is a multiple of this, at least 1.
    pub multiple: i128,
}

/// What the proof says of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every slot of the physical shape holds exactly one element.
    Bijective,
    /// Every element has a slot of its own; some slots hold none.
    Padded,
}

/// How a verdict was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofMethod {
    /// Read off the mixed-radix normal form.
    Digits,
    /// The same, with linear algebra over `GF(2)` for the bits that an XOR mixes.
    Gf2,
    /// By visiting every element of at least one independent component.
    Enumeration,
}

impl ProofMethod {
    /// How a whole is proven whose parts are proven so.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Enumeration, _) | (_, Self::Enumeration) => Self::Enumeration,
            (Self::Gf2, _) | (_, Self::Gf2) => Self::Gf2,
            (Self::Digits, Self::Digits) => Self::Digits,
        }
    }
}

/// What the targets of a layout's digits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigitTargets {
    /// One target per storage axis: its index.
    Storage,
    /// One target in all: the offset in the flat buffer, where strides are given and only it can be one-to-one.
    Offset,
}

/// The first element of a tensor, at index 0 of every axis, at an aligned place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedOrigin {
    /// Where the first element is in the flat buffer, over symbols: with an aligned base this is aligned too.
    pub offset: Expr,
    /// What its byte offset is a multiple of.
    pub alignment_bytes: u64,
    /// Bits of one element.
    pub element_bits: u32,
}

/// A layout whose verdict is proven. Lists are outermost first; counts are elements of the tensor's own type.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The symbols that the extents may mention: `Var::Symbol(k)` is `symbols[k]`.
    pub symbols: Vec<Symbol>,
    /// The tensor's axes: `Var::Axis(k)` is `logical[k]`.
    pub logical: Vec<Axis>,
    /// The axes that the steps made: `Var::Storage(k)` is `storage[k]`.
    pub storage: Vec<Axis>,
    /// One index per storage axis, over `Var::Axis` (and symbols), simplified.
    pub storage_map: Vec<Expr>,
    /// After which storage axes a separator stands: the position of the last axis of each group but the last.
    pub separators: Vec<usize>,
    /// One extent per group of storage axes: the shape of the memory.
    pub physical_shape: Vec<Expr>,
    /// Elements between neighbours along each physical axis, in the flat buffer (pitch included).
    pub physical_strides: Vec<Expr>,
    /// Elements between neighbours along each storage axis, in the flat buffer; before the swizzle, if there is one.
    pub strides: Vec<Expr>,
    /// One index per physical axis, over `Var::Axis`, simplified.
    pub physical_map: Vec<Expr>,
    /// The element's offset in the flat buffer, over `Var::Axis`, simplified.
    pub offset: Expr,
    /// Which indices of the logical box are elements, over `Var::Axis`; `None` when all are. The maps say nothing of the
    /// others, and no slot is theirs.
    pub domain: Option<Predicate>,
    /// The logical index in terms of `Var::Physical`; `None` only under [`ProofMethod::Enumeration`].
    pub inverse: Option<Vec<Expr>>,
    /// True on the physical indices that hold an element, over `Var::Physical`; `None` when all do (or no inverse is known).
    pub valid: Option<Predicate>,
    /// The verdict.
    pub verdict: Verdict,
    /// How it was reached.
    pub proof: ProofMethod,
    /// The normal form, where the layout has one. Every chain of it carries axes.
    pub digits: Option<Digits>,
    /// What the targets of the normal form are.
    pub digit_targets: DigitTargets,
    /// How the index along the last physical axis is swizzled, after the strides have made it.
    pub swizzle: Option<Swizzle>,
    /// How many elements the tensor has: those of its domain.
    pub logical_elements: Expr,
    /// How many slots the flat buffer has (pitch included).
    pub physical_elements: Expr,
    /// The base address' alignment.
    pub alignment_bytes: u64,
    /// Slots in front of all others along the last physical axis, over symbols: what is added to that index besides what
    /// the storage axes give.
    pub lead: Expr,
    /// Where the first element is aligned, if that is asked for.
    pub origin: Option<AlignedOrigin>,
}

impl Layout {
    /// The layout as one of the same axes in another order: `order[k]` is the position that axis k of the result has now.
    ///
    /// # Errors
    /// [`ExprError`] when an expression would be too large.
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
