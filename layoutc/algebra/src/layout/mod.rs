//! Proven layouts: the index map of a tensor with its inverse, strides, padding and proof.

pub mod affine;
pub mod physical;
pub mod swizzle;
pub(crate) mod symbol_values;

use alloc::vec::Vec;

use crate::digits::Digits;
use crate::expr::{Expr, ExprError, Predicate, Var};
use crate::layout::physical::PlacementOptions;
use crate::layout::swizzle::Swizzle;
use crate::symbol::{Axis, Symbol};

/// Verdict on a layout: no two elements share a slot, and every slot is filled (bijective) or some may be free
/// (padded); or elements may share slots (broadcast).
///
/// ```
/// use layoutc_algebra::{Error, Expr, Layout, Verdict};
///
/// let rows = Layout::builder([("n", 3), ("c", 10)]).prove()?;
/// assert_eq!((rows.verdict(), rows.physical_elements()), (Verdict::Bijective, &Expr::constant(30)));
/// // Three blocks of 4 hold 10 channels and 2 slots of padding.
/// let blocks = Layout::builder([("n", 3), ("c", 10)]).map("(n, c) -> (n, c // 4, c % 4)")?.prove()?;
/// assert_eq!((blocks.verdict(), blocks.physical_elements()), (Verdict::Padded, &Expr::constant(36)));
/// assert_eq!(blocks.element_at_offset(11)?, None);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every slot of the physical shape holds exactly one element: no padding.
    Bijective,
    /// No two elements share a slot. The number of slots is not proven equal to the number of elements, so that slots
    /// may hold no element (padding).
    Padded,
    /// Several elements may share a slot: a read-only view, for example one that repeats elements of its base layout.
    Broadcast,
}

impl Verdict {
    /// Name of the verdict: `bijective`, `padded` or `broadcast`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bijective => "bijective",
            Self::Padded => "padded",
            Self::Broadcast => "broadcast",
        }
    }
}

/// Proof technique that established the verdict of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofMethod {
    /// Mixed-radix normal form: every axis index is a weighted sum of digits, and the targets of the proof (see
    /// [`DigitTargets`]) determine all digits. Also elimination, which solves for the axis indices where weights or
    /// divisors of the targets contain symbols, and layouts without elements.
    Digits,
    /// Mixed-radix normal form, with linear algebra over `GF(2)` for bits that are combined by XOR, such as those of
    /// a swizzle.
    Gf2,
    /// Enumeration of all index tuples of one or more components of the layout. A component is a set of axes that
    /// shares no target of the proof (see [`DigitTargets`]) with other axes; further components may be proven by
    /// digits.
    Enumeration,
}

impl ProofMethod {
    /// Name of the proof technique: `digits`, `gf2` or `enumeration`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Gf2 => "gf2",
            Self::Enumeration => "enumeration",
        }
    }

    /// Technique to report for a proof that combines parts proven by `self` and `other`: `Enumeration` if one of the
    /// two is, otherwise `Gf2` if one of the two is, otherwise `Digits`.
    pub(crate) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Enumeration, _) | (_, Self::Enumeration) => Self::Enumeration,
            (Self::Gf2, _) | (_, Self::Gf2) => Self::Gf2,
            (Self::Digits, Self::Digits) => Self::Digits,
        }
    }
}

/// Expressions that the normal form [`Layout::digits`] represents as weighted sums of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigitTargets {
    /// The storage indices: one expression per storage axis.
    Storage,
    /// The offset in the flat buffer alone, for a layout with explicit strides: the offset must be injective, not the
    /// storage indices. If strides or extents are symbolic and the strides are proven to nest, the targets may be
    /// [`DigitTargets::Storage`] instead.
    Offset,
}

/// Requested alignment of the first element, the one at index 0 along every logical axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlignedOrigin {
    /// Offset of the first element in the flat buffer, in elements, over symbols. The element is aligned to
    /// `alignment_bytes` if the base address of the buffer is.
    pub offset: Expr,
    /// Alignment in bytes, which divides the byte offset of the first element.
    pub alignment_bytes: u64,
    /// Size of an element in bits.
    pub element_bits: u32,
}

/// Layout with a proven verdict. Lists are outermost first, and quantities are in elements.
///
/// Layouts are created with a proof by [`Layout::builder`] and [`LayoutBuilder`](crate::builder::LayoutBuilder). Only
/// the module `builder` restricts a proven layout to a domain, or swizzles it; the checker verifies the swizzle.
/// Further methods derive layouts from proven ones and preserve the proof: [`permuted`](Self::permuted),
/// [`at_base`](Self::at_base), [`over_symbols`](Self::over_symbols) and [`of_shards`](Self::of_shards). The one
/// exception is a read-only view, whose elements may share slots:
/// [`LayoutBuilder::finish_overlapping`](crate::builder::LayoutBuilder::finish_overlapping). Other crates cannot
/// construct layouts, because the fields are private to this crate.
///
/// ```
/// use layoutc_algebra::{Error, Expr, Layout};
///
/// // A texture: two physical axes.
/// let layout = Layout::builder([("h", 64), ("w", 64), ("c", 8)]);
/// let layout = layout.map("(h, w, c) -> (c // 4, h | w, c % 4)")?.prove()?;
/// assert_eq!(layout.physical_shape(), [Expr::constant(128), Expr::constant(256)]);
/// assert_eq!(layout.locate(&[1, 2, 5], &[])?.physical, [65, 9]);
/// assert_eq!(layout.element_at(&[65, 9], &[])?, Some(vec![1, 2, 5]));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Layout {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) logical: Vec<Axis>,
    pub(crate) storage: Vec<Axis>,
    pub(crate) storage_map: Vec<Expr>,
    pub(crate) separators: Vec<usize>,
    pub(crate) physical_shape: Vec<Expr>,
    pub(crate) physical_strides: Vec<Expr>,
    pub(crate) strides: Vec<Expr>,
    pub(crate) physical_map: Vec<Expr>,
    pub(crate) offset: Expr,
    pub(crate) domain: Option<Predicate>,
    pub(crate) inverse: Option<Vec<Expr>>,
    pub(crate) valid: Option<Predicate>,
    pub(crate) verdict: Verdict,
    pub(crate) proof: ProofMethod,
    pub(crate) digits: Option<Digits>,
    pub(crate) digit_targets: DigitTargets,
    pub(crate) swizzle: Option<Swizzle>,
    pub(crate) logical_elements: Expr,
    pub(crate) physical_elements: Expr,
    pub(crate) alignment_bytes: u64,
    pub(crate) lead: Expr,
    pub(crate) origin: Option<AlignedOrigin>,
    /// Strides, alignments, rounding and swizzle that the steps requested; `None` for a layout of several shards in
    /// one memory.
    pub(crate) demands: Option<PlacementOptions>,
}

impl Layout {
    /// Symbols of the layout: `Var::Symbol(k)` is `symbols[k]`.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Logical axes: `Var::Axis(k)` is `logical[k]`.
    pub fn logical(&self) -> &[Axis] {
        &self.logical
    }

    /// Storage axes, produced by the steps: `Var::Storage(k)` is `storage[k]`.
    pub fn storage(&self) -> &[Axis] {
        &self.storage
    }

    /// Indices along the storage axes, one per axis, over `Var::Axis` and symbols.
    pub fn storage_map(&self) -> &[Expr] {
        &self.storage_map
    }

    /// Positions of the storage axes that an axis separator `|` follows, ascending: the last storage axis of every
    /// group except the last group, so `[1]` for `(c // 4, h | w)`.
    pub fn separators(&self) -> &[usize] {
        &self.separators
    }

    /// Extents of the physical axes, one per group of storage axes, in elements.
    pub fn physical_shape(&self) -> &[Expr] {
        &self.physical_shape
    }

    /// Stride of each physical axis in the flat buffer, in elements. It exceeds the product of the inner physical
    /// extents where an alignment pads the rows.
    pub fn physical_strides(&self) -> &[Expr] {
        &self.physical_strides
    }

    /// Stride of each storage axis in the flat buffer, in elements, before the swizzle.
    pub fn strides(&self) -> &[Expr] {
        &self.strides
    }

    /// Indices along the physical axes, one per axis, over `Var::Axis` and symbols.
    pub fn physical_map(&self) -> &[Expr] {
        &self.physical_map
    }

    /// Offset of an element in the flat buffer, in elements, over `Var::Axis` and symbols.
    pub fn offset(&self) -> &Expr {
        &self.offset
    }

    /// Condition over `Var::Axis` for a logical index to be an element; `None` if every index is one. The maps
    /// are undefined on other indices, which have no slots.
    pub fn domain(&self) -> Option<&Predicate> {
        self.domain.as_ref()
    }

    /// Logical index of the element in a slot, one expression per logical axis over `Var::Physical`; `None` if there is
    /// no such expression, as under [`ProofMethod::Enumeration`] and for read-only views.
    pub fn inverse(&self) -> Option<&[Expr]> {
        self.inverse.as_deref()
    }

    /// Condition over `Var::Physical` for a slot to hold an element; `None` if every slot does, or if there is no
    /// inverse.
    pub fn valid(&self) -> Option<&Predicate> {
        self.valid.as_ref()
    }

    /// Verdict of the proof: bijective, or injective with padding. [`Verdict::Broadcast`] without a proof, for a
    /// read-only view whose elements may share slots.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Proof technique that established [`Layout::verdict`]. Without meaning for [`Verdict::Broadcast`], which has no
    /// proof.
    pub fn proof(&self) -> ProofMethod {
        self.proof
    }

    /// Mixed-radix normal form of the layout, all of whose chains encode logical axes. `None` if there is none, for
    /// example if the proof needed derived or subdivided digits, if a component is proven by elimination or
    /// enumeration, or if the layout has a domain or a swizzle.
    pub fn digits(&self) -> Option<&Digits> {
        self.digits.as_ref()
    }

    /// Kind of the expressions that [`Layout::digits`] represents as weighted sums of digits: the storage indices, or
    /// the offset.
    pub fn digit_targets(&self) -> DigitTargets {
        self.digit_targets
    }

    /// Swizzle of the index along the last physical axis, applied after the storage indices are multiplied by their
    /// strides; `None` if there is none.
    pub fn swizzle(&self) -> Option<Swizzle> {
        self.swizzle
    }

    /// Number of elements, over symbols; with a domain, the number of elements in it.
    pub fn logical_elements(&self) -> &Expr {
        &self.logical_elements
    }

    /// Number of slots of the flat buffer, an expression over symbols, including all padding.
    pub fn physical_elements(&self) -> &Expr {
        &self.physical_elements
    }

    /// Alignment of the base address, in bytes.
    pub fn alignment_bytes(&self) -> u64 {
        self.alignment_bytes
    }

    /// Number of unused slots at the start of the last physical axis, an expression over symbols. It is nonzero only if
    /// the first element of the layout, or of the layout of which it is a window, is aligned. The last index of
    /// [`Layout::physical_map`] includes these slots.
    pub fn lead(&self) -> &Expr {
        &self.lead
    }

    /// Offset and alignment of the first element. `None` if no alignment was requested, for a window of another layout,
    /// for a read-only view, or if [`Layout::at_base`] removed it.
    pub fn origin(&self) -> Option<&AlignedOrigin> {
        self.origin.as_ref()
    }

    /// Layout with permuted logical axes: axis `k` of the result is axis `order[k]` of this layout.
    ///
    /// # Errors
    /// [`ExprError::Unbound`] unless `order` is a permutation of the axes.
    pub fn permuted(&self, order: &[usize]) -> Result<Self, ExprError> {
        let is_permutation = (0..self.logical.len()).all(|axis| order.contains(&axis));
        if order.len() != self.logical.len() || !is_permutation {
            return Err(ExprError::Unbound);
        }
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

    /// Layout with the base address aligned to `alignment_bytes`. Its [`Layout::origin`] becomes `None` unless the
    /// alignment of the first element divides `alignment_bytes`.
    #[must_use]
    pub fn at_base(self, alignment_bytes: u64) -> Self {
        let is_aligned =
            |origin: &AlignedOrigin| alignment_bytes.is_multiple_of(origin.alignment_bytes);
        Self { origin: self.origin.filter(is_aligned), alignment_bytes, ..self }
    }

    /// Layout over another list of symbols: `Var::Symbol(k)` of the result is `symbols[k]`. `symbols` must contain each
    /// symbol of the layout, matched by name, with a range and a multiple that allow no further values.
    ///
    /// # Errors
    /// [`ExprError::Unbound`] if `symbols` lacks a symbol of the layout, or declares it with a range that exceeds that
    /// in the layout, or with a `multiple` that the `multiple` in the layout does not divide.
    pub fn over_symbols(mut self, symbols: &[Symbol]) -> Result<Self, ExprError> {
        if self.symbols == symbols {
            return Ok(self);
        }
        let number = |own: &Symbol| {
            let position = symbols.iter().position(|other| other.is_within(own))?;
            u32::try_from(position).ok()
        };
        let numbers: Option<Vec<u32>> = self.symbols.iter().map(number).collect();
        let numbers = numbers.ok_or(ExprError::Unbound)?;
        let rename = |var: Var| {
            let Var::Symbol(k) = var else { return None };
            numbers.get(usize::try_from(k).ok()?).map(|k| Expr::var(Var::Symbol(*k)))
        };
        self.symbols = symbols.to_vec();
        for expr in self.expressions_mut() {
            *expr = expr.substitute(&rename)?;
        }
        Ok(self)
    }

    fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let conditions = self.valid.iter_mut().chain(&mut self.domain);
        let conditions = conditions.flat_map(|conditions| &mut conditions.all);
        let digits = self.digits.iter_mut().flat_map(|digits| &mut digits.digits);
        let axes = self.logical.iter_mut().chain(&mut self.storage).map(|axis| &mut axis.extent);
        axes.chain(&mut self.strides)
            .chain(&mut self.physical_shape)
            .chain(&mut self.physical_strides)
            .chain(&mut self.physical_map)
            .chain(&mut self.storage_map)
            .chain(self.inverse.iter_mut().flatten())
            .chain(conditions.flat_map(|found| [&mut found.left, &mut found.right]))
            .chain(digits.map(|digit| &mut digit.extent))
            .chain(self.origin.iter_mut().map(|origin| &mut origin.offset))
            .chain(self.demands.iter_mut().flat_map(PlacementOptions::expressions_mut))
            .chain([&mut self.lead, &mut self.offset])
            .chain([&mut self.physical_elements, &mut self.logical_elements])
    }
}
