//! Construction of layouts with static shapes from text: the short way from named axes and an index map to a
//! proven [`Layout`].

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::Error;
use crate::builder::LayoutBuilder;
use crate::expr::{Expr, Var, parse, print};
use crate::layout::Layout;
use crate::map::MapScope;
use crate::map::conditions::conditions;
use crate::prove::SequentialExecutor;
use crate::query::equivalence::{LayoutEquivalence, compare};
use crate::query::locate::ElementLocationError;
use crate::symbol::Axis;

/// Default size of an element in bits.
const ELEMENT_BITS: u32 = 32;
/// Default alignment of the base address in bytes.
const ALIGNMENT_BYTES: u64 = 64;

/// Definition of a layout with static extents before its proof: axes, element size, alignment, domain and maps. The
/// layout is row-major until [`map`](Self::map) is called. [`LayoutBuilder`] is the interface with symbols, strides,
/// swizzles and alignments.
#[derive(Debug, Clone)]
pub struct LayoutDefinition {
    axes: Vec<Axis>,
    element_bits: u32,
    alignment_bytes: u64,
    condition: Option<String>,
    maps: Vec<String>,
}

impl LayoutDefinition {
    /// Sets the size of an element in bits; 32 by default.
    #[must_use]
    pub fn element_bits(mut self, bits: u32) -> Self {
        self.element_bits = bits;
        self
    }

    /// Sets the alignment of the base address in bytes, a power of two; 64 by default.
    #[must_use]
    pub fn alignment_bytes(mut self, bytes: u64) -> Self {
        self.alignment_bytes = bytes;
        self
    }

    /// Restricts the elements to the logical indices at which the condition holds, such as `"j <= i and i < j + 3"`. A
    /// second call replaces the condition of the first. [`prove`](Self::prove) returns the errors of the condition.
    #[must_use]
    pub fn restrict(mut self, condition: &str) -> Self {
        self.condition = Some(condition.to_owned());
        self
    }

    /// Appends an index map from the current axes to new ones, such as `"(n, c) -> (n, c // 4, c % 4)"`.
    ///
    /// # Errors
    /// [`Error::Parse`] for invalid syntax; names and extents are resolved by [`prove`](Self::prove).
    pub fn map(mut self, text: &str) -> Result<Self, Error> {
        parse::map(text)?;
        self.maps.push(text.to_owned());
        Ok(self)
    }

    /// Applies the maps in order, and returns the layout after a proof that no two elements share a slot and that every
    /// element is inside the physical shape.
    ///
    /// # Errors
    /// [`Error::Proof`] if two elements share a slot, which it names, or if injectivity is neither proven nor refuted;
    /// [`Error::Map`] or [`Error::Condition`] for unknown names and the like; [`Error::Build`] if, for example, an
    /// index leaves its extent, the domain is empty or the size does not fit 64 bits; [`Error::Expr`] if an expression
    /// grows too large.
    pub fn prove(self) -> Result<Layout, Error> {
        let mut builder = LayoutBuilder::new(&[], &self.axes, self.element_bits)?;
        if let Some(condition) = &self.condition {
            let scope = MapScope { axes: &self.axes, values: &|_| None, facts: builder.facts() };
            let predicate = conditions(condition, scope)?;
            builder.restrict(predicate)?;
        }
        for text in &self.maps {
            builder.map(text)?;
        }
        Ok(builder.finish(self.alignment_bytes, &SequentialExecutor)?)
    }
}

impl Layout {
    /// Starts the definition of a layout of named axes with static extents, outermost first.
    ///
    /// ```
    /// use layoutc_algebra::{Error, Layout};
    ///
    /// // Row-major, then the lower triangle alone, row after row.
    /// let square = Layout::builder([("i", 5), ("j", 5)]).prove()?;
    /// assert_eq!(square.offset_of(&[4, 4])?, 24);
    /// let triangle = Layout::builder([("i", 5), ("j", 5)])
    ///     .restrict("j <= i")
    ///     .map("(i, j) -> (i * (i + 1) // 2 + j)")?
    ///     .prove()?;
    /// assert_eq!(triangle.offset_of(&[4, 4])?, 14);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn builder<'a>(axes: impl IntoIterator<Item = (&'a str, i128)>) -> LayoutDefinition {
        let axis = |(name, extent): (&str, i128)| Axis {
            name: name.to_owned(),
            extent: Expr::constant(extent),
        };
        LayoutDefinition {
            axes: axes.into_iter().map(axis).collect(),
            element_bits: ELEMENT_BITS,
            alignment_bytes: ALIGNMENT_BYTES,
            condition: None,
            maps: Vec::new(),
        }
    }

    /// Offset in the flat buffer, in elements, of the element at the logical index `index`, in a layout without
    /// symbols. [`Layout::locate`] serves layouts with symbols.
    ///
    /// # Errors
    /// [`Error::Location`] for an index outside the layout, or if its expressions contain symbols.
    pub fn offset_of(&self, index: &[i128]) -> Result<i128, Error> {
        Ok(self.locate(index, &[])?.offset)
    }

    /// Logical index of the element at an offset in the flat buffer, in elements, in a layout without symbols; `None`
    /// if the slot is padding. Inverse of [`offset_of`](Self::offset_of). [`Layout::element_at`] serves layouts with
    /// symbols.
    ///
    /// # Errors
    /// [`Error::Location`] for an offset outside the buffer; [`Error::Expr`] or [`Error::Location`] if an expression of
    /// the layout contains symbols.
    pub fn element_at_offset(&self, offset: i128) -> Result<Option<Vec<i128>>, Error> {
        let number = |expr: &Expr| expr.evaluate(&|_| None);
        let slots = number(&self.physical_elements)?;
        if !(0..slots).contains(&offset) {
            let outside =
                ElementLocationError::OutOfBounds { axis: 0, value: offset, extent: slots };
            return Err(outside.into());
        }
        let (mut rest, mut physical) = (offset, Vec::new());
        for (extent, pitch) in self.physical_shape.iter().zip(&self.physical_strides) {
            let pitch = number(pitch)?.max(1);
            let index = rest / pitch;
            rest %= pitch;
            // Offsets between the end of a row and the start of the next one are padding.
            if index >= number(extent)? {
                return Ok(None);
            }
            physical.push(index);
        }
        Ok(self.element_at(&physical, &[])?)
    }

    /// Comparison of this layout with `other` at all logical indices, for all values of the symbols. `Some(true)` if
    /// each index has equal physical indices and equal offsets in both layouts, `Some(false)` if an index has not, or
    /// if the layouts have different numbers of physical axes, `None` if neither is proven. [`compare`] also returns an
    /// index at which the layouts differ.
    ///
    /// ```
    /// use layoutc_algebra::{Error, Layout};
    ///
    /// let rows = Layout::builder([("i", 4), ("j", 8)]).map("(i, j) -> (i * 8 + j)")?.prove()?;
    /// assert_eq!(rows.same_as(&Layout::builder([("i", 4), ("j", 8)]).prove()?)?, Some(true));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Compare`] if the logical ranks, extents, domains or symbols differ, or arithmetic fails.
    pub fn same_as(&self, other: &Self) -> Result<Option<bool>, Error> {
        let found = compare(self, other, &SequentialExecutor)?;
        Ok(match found {
            LayoutEquivalence::Same { .. } => Some(true),
            LayoutEquivalence::Undecided { .. } => None,
            LayoutEquivalence::Differs { .. } | LayoutEquivalence::Ranks { .. } => Some(false),
        })
    }
}

/// Writes the map from logical to storage axes, such as `(n, c) -> (n, c // 4, c % 4)`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |var| match var {
            Var::Axis(k) => {
                usize::try_from(k).ok().and_then(|k| self.logical.get(k)).map(|a| &a.name)
            }
            Var::Symbol(k) => {
                usize::try_from(k).ok().and_then(|k| self.symbols.get(k)).map(|s| &s.name)
            }
            _ => None,
        };
        let name = |var| name(var).cloned().unwrap_or_default();
        let axes: Vec<&str> = self.logical.iter().map(|axis| axis.name.as_str()).collect();
        let items: Vec<String> =
            self.storage_map.iter().map(|index| print::expr(index, &name)).collect();
        write!(f, "({}) -> ({})", axes.join(", "), items.join(", "))
    }
}
