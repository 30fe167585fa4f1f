//! Layouts of static shapes from text: the short way from axes and an index map to a proven [`Layout`].

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::builder::{BuildError, FinishError, LayoutBuilder};
use crate::expr::parse::{self, ParseError};
use crate::expr::print;
use crate::expr::{Expr, Var};
use crate::layout::Layout;
use crate::map::conditions::{ConditionError, conditions};
use crate::map::{MapError, MapScope, resolve};
use crate::prove::{InjectivityError, SequentialExecutor};
use crate::query::equivalence::{CompareError, LayoutEquivalence, compare};
use crate::query::locate::ElementLocationError;
use crate::symbol::Axis;

/// Bits of an element where a definition does not set them.
const ELEMENT_BITS: u32 = 32;
/// Alignment of the base address in bytes where a definition does not set it.
const ALIGNMENT_BYTES: u64 = 64;

/// An error of a [`LayoutDefinition`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutError {
    /// A text is not a map.
    Parse(ParseError),
    /// A map has an undeclared name or another semantic error.
    Map(Vec<MapError>),
    /// A condition is not a comparison of sums of axes.
    Condition(Vec<ConditionError>),
    /// A step does not apply to the axes.
    Build(BuildError),
    /// The layout is not proven.
    Proof(FinishError),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parse(error) => error.kind.fmt(f),
            Self::Map(errors) => joined(f, errors.iter().map(|error| &error.kind)),
            Self::Condition(errors) => joined(f, errors.iter()),
            Self::Build(error) => error.fmt(f),
            Self::Proof(FinishError::Injectivity(InjectivityError::NotInjective {
                first,
                second,
                target,
                ..
            })) => write!(f, "elements {first:?} and {second:?} share the slot {target:?}"),
            Self::Proof(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for LayoutError {}

fn joined(
    f: &mut fmt::Formatter<'_>,
    errors: impl Iterator<Item = impl fmt::Display>,
) -> fmt::Result {
    for (k, error) in errors.enumerate() {
        f.write_str(if k == 0 { "" } else { "; " })?;
        error.fmt(f)?;
    }
    Ok(())
}

impl From<BuildError> for LayoutError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

/// A layout before its proof, row-major until [`map`](Self::map) is called. [`LayoutBuilder`] is the interface with
/// symbols, strides, swizzles and alignments.
#[derive(Debug, Clone)]
pub struct LayoutDefinition {
    axes: Vec<Axis>,
    element_bits: u32,
    alignment_bytes: u64,
    condition: Option<String>,
    maps: Vec<String>,
}

impl LayoutDefinition {
    /// Sets the bits of one element; 32 by default.
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

    /// Restricts the elements to the indices at which a condition holds: `"j <= i and i < j + 3"`.
    #[must_use]
    pub fn restrict(mut self, condition: &str) -> Self {
        self.condition = Some(condition.to_owned());
        self
    }

    /// Appends an index map, `"(n, c) -> (n, c // 4, c % 4)"`, from the current axes to new ones.
    ///
    /// # Errors
    /// [`LayoutError::Parse`]; names and extents are resolved by [`prove`](Self::prove).
    pub fn map(mut self, text: &str) -> Result<Self, LayoutError> {
        parse::map(text).map_err(LayoutError::Parse)?;
        self.maps.push(text.to_owned());
        Ok(self)
    }

    /// Proves that no two elements share a slot and that none leaves the physical shape.
    ///
    /// # Errors
    /// [`LayoutError`]; a refusal of the prover holds two elements and the slot that they share.
    pub fn prove(self) -> Result<Layout, LayoutError> {
        let mut builder = LayoutBuilder::new(&[], &self.axes, self.element_bits)?;
        if let Some(condition) = &self.condition {
            let scope = MapScope { axes: &self.axes, values: &|_| None, facts: builder.facts() };
            let predicate = conditions(condition, scope).map_err(LayoutError::Condition)?;
            builder.restrict(predicate)?;
        }
        for text in &self.maps {
            let parsed = parse::map(text).map_err(LayoutError::Parse)?;
            let scope =
                MapScope { axes: builder.axes(), values: &|_| None, facts: builder.facts() };
            let map = resolve(&parsed, scope).map_err(LayoutError::Map)?;
            builder.apply(&map)?;
        }
        let layout = builder.finish(self.alignment_bytes, &SequentialExecutor);
        layout.map_err(LayoutError::Proof)
    }
}

impl Layout {
    /// Starts the definition of a layout of named axes with static extents, outermost first.
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

    /// Offset of the element at `index` in the flat buffer, in elements, of a layout without symbols.
    ///
    /// # Errors
    /// [`ElementLocationError`]; a layout with symbols has [`Layout::locate`].
    pub fn offset_of(&self, index: &[i128]) -> Result<i128, ElementLocationError> {
        Ok(self.locate(index, &[])?.offset)
    }

    /// True if every index has the same physical index in both layouts, for all values of their symbols; `None` where that
    /// is not decided. [`compare`] gives the first index that differs.
    ///
    /// # Errors
    /// [`CompareError`] where ranks, extents, domains or symbols differ.
    pub fn same_as(&self, other: &Self) -> Result<Option<bool>, CompareError> {
        let found = compare(self, other, &SequentialExecutor)?;
        Ok(match found {
            LayoutEquivalence::Same { .. } => Some(true),
            LayoutEquivalence::Undecided { .. } => None,
            LayoutEquivalence::Differs { .. } | LayoutEquivalence::Ranks { .. } => Some(false),
        })
    }
}

/// The map from logical to storage axes: `(n, c) -> (n, c // 4, c % 4)`.
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
