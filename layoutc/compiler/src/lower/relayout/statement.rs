//! Statement of a relayout, `B[x] = cast(A[f(x)])`: its two ends, and the domain that they have in common.

use layoutc_algebra::expr::{Expr as Algebra, ExprError, Var};
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::symbol::Symbol;

use crate::base::dtype::Dtype;
use crate::ir::Expr;
use crate::loops::arith::{product, sum};
use crate::loops::digit_order::follow_digits;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::image::{self, Image};
use crate::loops::relayout::address_map::{
    AddressMap, address_maps, dense_address_map, dense_strides, physical_address_map,
};
use crate::loops::relayout::digits::{self, DigitRefinement};
use crate::loops::renumbered;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, lower_predicate};
use crate::lower::index::count;
use crate::model::{Convert, ConvertSchedule, Manifest, Tensor};

/// Treatment of those parts of the destination that no element is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PaddingPolicy {
    /// Padding gets the fill value.
    Fill,
    /// Padding keeps its values, also in a last byte that it shares with elements.
    Kept,
    /// There is no padding: the unused bits of the last byte become 0.
    Zero,
}

impl PaddingPolicy {
    /// Treatment that the layout of a tensor requires.
    pub(crate) fn of(context: &Context<'_>) -> Self {
        match context.layout.verdict() {
            _ if context.fills() => Self::Fill,
            Verdict::Padded | Verdict::Broadcast => Self::Kept,
            Verdict::Bijective => Self::Zero,
        }
    }
}

/// Source or destination of a relayout: the arrangement of the elements in its buffer.
#[derive(Clone, Copy)]
pub(crate) enum RelayoutEnd<'a> {
    /// Dense row-major tensor of the context's logical axes.
    Dense(&'a Context<'a>),
    /// Layout of the context's tensor.
    Layout(&'a Context<'a>),
}

impl<'a> RelayoutEnd<'a> {
    /// Tensor whose elements are stored.
    pub(crate) fn context(self) -> &'a Context<'a> {
        match self {
            Self::Dense(context) | Self::Layout(context) => context,
        }
    }

    /// Loops in the order of the memory.
    pub(crate) fn domain(self) -> Result<IterationDomain, ExprError> {
        let Context { tensor, layout, .. } = self.context();
        match self {
            Self::Dense(_) => IterationDomain::of_axes(layout.logical(), layout.symbols()),
            Self::Layout(_) => {
                let mut domain = IterationDomain::new(tensor, layout.symbols(), &[], &[])?;
                follow_digits(&mut domain, tensor)?;
                Ok(domain)
            }
        }
    }

    /// Loops over the logical axes.
    pub(crate) fn logical_domain(self) -> Result<IterationDomain, ExprError> {
        let layout = self.context().layout;
        match self {
            Self::Dense(_) => IterationDomain::of_axes(layout.logical(), layout.symbols()),
            Self::Layout(_) => IterationDomain::of_logical(layout),
        }
    }

    /// Offset of an element, over the loops of `domain`; `axes` is the element's index.
    pub(crate) fn offset(
        self,
        domain: &IterationDomain,
        axes: &[Algebra],
    ) -> Result<Algebra, ExprError> {
        let layout = self.context().layout;
        match self {
            Self::Layout(_) => domain.at(layout.offset(), axes),
            Self::Dense(_) => {
                let mut offset = Algebra::constant(0);
                for (axis, stride) in axes.iter().zip(dense_strides(layout.logical())?) {
                    offset = sum(&offset, &product(axis, &stride)?)?;
                }
                domain.facts.simplify(&offset)
            }
        }
    }

    /// Condition under which `axes`, an index, is an element of the memory; `None` if every index is.
    pub(crate) fn condition(self, axes: &[Binding]) -> Result<Option<Expr>, PlanError> {
        let Self::Layout(context) = self else { return Ok(None) };
        let Some(elements) = context.layout.domain() else { return Ok(None) };
        let scope = |var| match var {
            Var::Axis(k) => axes.get(usize::try_from(k).ok()?).cloned(),
            other => context.symbol(other),
        };
        lower_predicate(elements, &scope).map(Some)
    }

    /// Image that stores the elements; `None` for a buffer.
    pub(crate) fn image(self) -> Result<Option<Image>, PlanError> {
        match self {
            Self::Dense(_) => Ok(None),
            Self::Layout(context) => image::of(context.tensor),
        }
    }

    /// Element type of the memory.
    pub(crate) fn dtype(self) -> Dtype {
        match self {
            Self::Dense(context) => context.tensor.logical_dtype(),
            Self::Layout(context) => context.tensor.dtype,
        }
    }

    /// True if elements are narrower than a byte.
    pub(crate) fn is_packed(self) -> bool {
        self.dtype().element_bits() < 8
    }

    /// Number of elements of the memory, padding included.
    pub(crate) fn slots(self) -> Result<Algebra, PlanError> {
        match self {
            Self::Dense(context) => count(context.layout.logical()),
            Self::Layout(context) => Ok(context.layout.physical_elements().clone()),
        }
    }
}

/// Statement of a relayout: every element of the source is stored in the destination.
#[derive(Clone, Copy)]
pub(crate) struct RelayoutStatement<'a> {
    /// Memory that is read.
    pub(crate) source: RelayoutEnd<'a>,
    /// Memory that is written.
    pub(crate) destination: RelayoutEnd<'a>,
    /// Position in the destination of each logical axis of the source; `None` if both have the same axes.
    axes: Option<&'a [usize]>,
    /// Treatment of slots of the destination without an element.
    pub(crate) padding: PaddingPolicy,
    /// Decisions of the manifest.
    pub(crate) schedule: &'a ConvertSchedule,
}

impl<'a> RelayoutStatement<'a> {
    /// From the dense row-major tensor into its layout.
    pub(crate) fn pack(context: &'a Context<'a>) -> Self {
        Self {
            source: RelayoutEnd::Dense(context),
            destination: RelayoutEnd::Layout(context),
            axes: None,
            padding: PaddingPolicy::of(context),
            schedule: ConvertSchedule::NONE,
        }
    }

    /// From the layout into the dense row-major tensor.
    pub(crate) fn unpack(context: &'a Context<'a>) -> Self {
        let keeps = context.layout.domain().is_some() && !context.fills_outside();
        Self {
            source: RelayoutEnd::Layout(context),
            destination: RelayoutEnd::Dense(context),
            axes: None,
            padding: if keeps { PaddingPolicy::Kept } else { PaddingPolicy::Zero },
            schedule: ConvertSchedule::NONE,
        }
    }

    /// From one layout into another, whose axes are `axes`.
    pub(crate) fn convert(
        [source, destination]: [&'a Context<'a>; 2],
        axes: &'a [usize],
        schedule: &'a ConvertSchedule,
    ) -> Self {
        Self {
            source: RelayoutEnd::Layout(source),
            destination: RelayoutEnd::Layout(destination),
            axes: Some(axes),
            padding: PaddingPolicy::of(destination),
            schedule,
        }
    }

    /// Position in the destination of each logical axis of the source.
    pub(crate) fn axes(&self) -> Vec<usize> {
        let rank = self.source.context().layout.logical().len();
        self.axes.map_or_else(|| (0..rank).collect(), <[usize]>::to_vec)
    }

    /// Symbols of strides and extents.
    pub(crate) fn symbols(&self) -> &'a [Symbol] {
        self.destination.context().layout.symbols()
    }

    /// Identifier and range of a symbol; `None` for any other variable.
    pub(crate) fn symbol(&self, var: Var) -> Option<Binding> {
        let [source, destination] = [self.source, self.destination].map(RelayoutEnd::context);
        destination.symbol(var).or_else(|| source.symbol(var))
    }

    /// Iteration domain: the common refinement of the digits of source and destination. `None` if either is not a sum of
    /// digits, or their digits do not divide each other.
    ///
    /// # Errors
    /// [`PlanError`] if a stride exceeds the integer range.
    pub(crate) fn common_refinement(&self) -> Result<Option<DigitRefinement>, PlanError> {
        let layout = self.destination.context().layout;
        let maps = match (self.source, self.destination) {
            (RelayoutEnd::Layout(source), RelayoutEnd::Layout(_)) => {
                address_maps(source.layout, layout, &self.axes())?
            }
            (RelayoutEnd::Dense(_), _) => dense_and_physical(layout)?,
            (_, RelayoutEnd::Dense(_)) => {
                dense_and_physical(layout)?.map(|(dense, physical)| (physical, dense))
            }
        };
        let Some((from, to)) = maps else { return Ok(None) };
        Ok(digits::common_refinement(&from, &to, layout.logical(), layout.symbols())?)
    }
}

/// Address maps of the dense row-major tensor and of its layout; `None` if the layout is not a sum of digits, or a chain
/// of its digits fuses axes that are not consecutive.
fn dense_and_physical(layout: &Layout) -> Result<Option<(AddressMap, AddressMap)>, PlanError> {
    let Some(digits) = layout.digits() else { return Ok(None) };
    let physical = physical_address_map(layout, digits)?;
    Ok(dense_address_map(layout.logical(), &physical)?.map(|dense| (dense, physical)))
}

/// Source and destination, with one numbering of symbols: those of the destination are matched by name. `None` if a
/// tensor does not exist.
pub(crate) fn ends<'m>(
    manifest: &'m Manifest,
    convert: &Convert,
) -> Result<Option<(&'m Tensor, Tensor)>, PlanError> {
    let named = (manifest.tensor(convert.from), manifest.tensor(convert.to));
    let (Some(from), Some(to)) = named else { return Ok(None) };
    Ok(Some((from, adopt_symbols(from, to)?)))
}

/// Tensor `to` with its symbols renumbered as in `from`, followed by those that `from` lacks.
fn adopt_symbols(from: &Tensor, to: &Tensor) -> Result<Tensor, PlanError> {
    let mut symbols: Vec<Symbol> = from.layout.symbols().to_vec();
    for symbol in to.layout.symbols() {
        if symbols.iter().all(|other| other.name != symbol.name) {
            symbols.push(symbol.clone());
        }
    }
    renumbered(to, &symbols)
}
