//! Statement of a relayout, `B[x] = cast(A[f(x)])`: its source and destination, and the iteration domain that they have
//! in common.

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

/// Treatment of those parts of a relayout's destination to which no element is written.
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
    /// Treatment that the layout and the fill value of a destination require.
    pub(crate) fn of(context: &Context<'_>) -> Self {
        match context.layout.verdict() {
            _ if context.fills() => Self::Fill,
            Verdict::Padded | Verdict::Broadcast => Self::Kept,
            Verdict::Bijective => Self::Zero,
        }
    }
}

/// Source or destination of a relayout, with the arrangement of the elements in its buffer.
#[derive(Clone, Copy)]
pub(crate) enum RelayoutEnd<'a> {
    /// Dense row-major buffer with the context's logical axes, as pack reads and unpack writes it.
    Dense(&'a Context<'a>),
    /// Buffer or image with the layout of the context's tensor.
    Layout(&'a Context<'a>),
}

impl<'a> RelayoutEnd<'a> {
    /// Context of the tensor whose elements are stored.
    pub(crate) fn context(self) -> &'a Context<'a> {
        match self {
            Self::Dense(context) | Self::Layout(context) => context,
        }
    }

    /// Iteration domain of [`IterationDomain::new`], with loops in the order of the memory where the layout allows it.
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

    /// Iteration domain with loops over the logical axes, in their order.
    pub(crate) fn logical_domain(self) -> Result<IterationDomain, ExprError> {
        let layout = self.context().layout;
        match self {
            Self::Dense(_) => IterationDomain::of_axes(layout.logical(), layout.symbols()),
            Self::Layout(_) => IterationDomain::of_logical(layout),
        }
    }

    /// Offset in elements, over the loops of `domain`, of the element with the logical index `axes`.
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

    /// Condition under which the logical index with the bindings `axes` is that of an element of this memory; `None` if
    /// every index within the extents is.
    pub(crate) fn condition(self, axes: &[Binding]) -> Result<Option<Expr>, PlanError> {
        let Self::Layout(context) = self else { return Ok(None) };
        let Some(elements) = context.layout.domain() else { return Ok(None) };
        let scope = |var| match var {
            Var::Axis(k) => axes.get(usize::try_from(k).ok()?).cloned(),
            other => context.symbol(other),
        };
        lower_predicate(elements, &scope).map(Some)
    }

    /// Image in which the elements are stored; `None` if they are in a buffer.
    pub(crate) fn image(self) -> Result<Option<Image>, PlanError> {
        match self {
            Self::Dense(_) => Ok(None),
            Self::Layout(context) => image::of(context.tensor),
        }
    }

    /// Element type of the elements in this memory.
    pub(crate) fn dtype(self) -> Dtype {
        match self {
            Self::Dense(context) => context.tensor.logical_dtype(),
            Self::Layout(context) => context.tensor.dtype,
        }
    }

    /// True if elements in this memory are narrower than a byte, and share bytes.
    pub(crate) fn is_packed(self) -> bool {
        self.dtype().element_bits() < 8
    }

    /// Number of slots of this memory, padding included, over symbols.
    pub(crate) fn slots(self) -> Result<Algebra, PlanError> {
        match self {
            Self::Dense(context) => count(context.layout.logical()),
            Self::Layout(context) => Ok(context.layout.physical_elements().clone()),
        }
    }
}

/// Statement of a relayout: elements of the source are stored in the destination, as far as it has slots for them.
#[derive(Clone, Copy)]
pub(crate) struct RelayoutStatement<'a> {
    /// Source, which is read.
    pub(crate) source: RelayoutEnd<'a>,
    /// Destination, which is written.
    pub(crate) destination: RelayoutEnd<'a>,
    /// Position in the destination of each logical axis of the source; `None` for pack and unpack, where both have the
    /// same axes.
    axes: Option<&'a [usize]>,
    /// Treatment of slots of the destination without an element.
    pub(crate) padding: PaddingPolicy,
    /// Scheduling decisions of the manifest.
    pub(crate) schedule: &'a ConvertSchedule,
}

impl<'a> RelayoutStatement<'a> {
    /// Statement of pack: from the dense row-major buffer into the layout.
    pub(crate) fn pack(context: &'a Context<'a>) -> Self {
        Self {
            source: RelayoutEnd::Dense(context),
            destination: RelayoutEnd::Layout(context),
            axes: None,
            padding: PaddingPolicy::of(context),
            schedule: ConvertSchedule::NONE,
        }
    }

    /// Statement of unpack: from the layout into the dense row-major buffer. Elements outside of the layout's domain
    /// keep their values in the buffer if the tensor has no fill value.
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

    /// Statement of a conversion from one layout into another. `axes[k]` is the position in the destination of axis `k`
    /// of the source.
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

    /// Symbols of the destination's layout: `Var::Symbol(k)` is symbol `k`.
    pub(crate) fn symbols(&self) -> &'a [Symbol] {
        self.destination.context().layout.symbols()
    }

    /// Identifier and range of a symbol; `None` for any other variable.
    pub(crate) fn symbol(&self, var: Var) -> Option<Binding> {
        let [source, destination] = [self.source, self.destination].map(RelayoutEnd::context);
        destination.symbol(var).or_else(|| source.symbol(var))
    }

    /// Iteration domain: the common refinement of the digits of source and destination. `None` if there is none, for
    /// example because a layout has no normal form (`Layout::digits`).
    ///
    /// # Errors
    /// [`PlanError::Expr`] if a stride overflows or becomes too large.
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

/// Address maps of the dense row-major buffer and of the layout, in this order; `None` if the layout has no normal form
/// ([`Layout::digits`]), or a chain of its digits fuses axes that are not consecutive.
fn dense_and_physical(layout: &Layout) -> Result<Option<(AddressMap, AddressMap)>, PlanError> {
    let Some(digits) = layout.digits() else { return Ok(None) };
    let physical = physical_address_map(layout, digits)?;
    Ok(dense_address_map(layout.logical(), &physical)?.map(|dense| (dense, physical)))
}

/// Source and destination of a conversion. The symbols of the destination are renumbered as in the source, by name.
/// `None` if a tensor does not exist.
pub(crate) fn ends<'m>(
    manifest: &'m Manifest,
    convert: &Convert,
) -> Result<Option<(&'m Tensor, Tensor)>, PlanError> {
    let named = (manifest.tensor(convert.from), manifest.tensor(convert.to));
    let (Some(from), Some(to)) = named else { return Ok(None) };
    Ok(Some((from, adopt_symbols(from, to)?)))
}

/// Copy of the tensor `to` with its symbols renumbered as in `from`, matched by name; symbols that `from` lacks follow.
fn adopt_symbols(from: &Tensor, to: &Tensor) -> Result<Tensor, PlanError> {
    let mut symbols: Vec<Symbol> = from.layout.symbols().to_vec();
    for symbol in to.layout.symbols() {
        if symbols.iter().all(|other| other.name != symbol.name) {
            symbols.push(symbol.clone());
        }
    }
    renumbered(to, &symbols)
}
