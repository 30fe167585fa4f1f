//! Views: index functions and counts, and for windows the copies from and to a dense array.

use layoutc_algebra::expr::{BinOp, Expr as Algebra, Var};
use layoutc_algebra::layout::Layout;

use crate::ir::{Expr, Function, Param, ParamType, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{Binding, Scope, lower};
use crate::lower::index;
use crate::lower::index::{Quantity, Signature, buffer_bytes, count};
use crate::lower::names::Namer;
use crate::lower::relayout::builder::NO_OVERLAP;
use crate::model::{Manifest, Memory, Tensor, TensorRef, View, ViewKind};
use crate::plan::relayout::{self, RelayoutFunction};

/// Functions and constants that are generated for one view.
#[derive(Debug, Clone)]
pub(crate) struct ViewPlan {
    /// `symbols_ok(symbols)`: true if the symbols have values for which the layout is proven; `None` without symbols.
    pub symbols_ok: Option<Function>,
    /// Counts and extents, in the order in which they are printed.
    pub quantities: Vec<Quantity>,
    /// `offset(symbols, axes)`: offset of an element in the buffer, in elements of the view.
    pub offset: Function,
    /// `index_0(symbols, axes)`, …: index of an element along each physical axis; empty if the physical rank is at most
    /// 1.
    pub indices: Vec<Function>,
    /// From a dense row-major array into the window; `None` if the view is not a window, has no memory, or is read-only
    /// because several elements share a location.
    pub pack: Option<Function>,
    /// From the window into a dense row-major array; `None` if the view is not a window, or has no memory.
    pub unpack: Option<Function>,
}

/// View as a tensor in global memory, also if its buffer is an image; `Memory::None` remains.
pub(crate) fn in_memory(view: &View) -> Tensor {
    let memory = match view.tensor.memory {
        Memory::None => Memory::None,
        _ => Memory::Global,
    };
    view.tensor.with_memory(memory)
}

/// Plans the functions of one view.
///
/// # Errors
/// [`PlanError`] if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn view(view: &View, context: &Context<'_>) -> Result<ViewPlan, PlanError> {
    let [pack, unpack] = window_relayouts(view, context)?;
    let function = |relayout: Option<RelayoutFunction>| relayout.map(|relayout| relayout.function);
    let (pack, unpack) = (function(pack), function(unpack));
    Ok(ViewPlan {
        symbols_ok: index::symbols_ok(context),
        quantities: if view.is_window() {
            window_quantities(view, context)?
        } else {
            index::quantities(context)?
        },
        offset: index::offset(context)?,
        indices: index::indices(context)?,
        pack,
        unpack,
    })
}

/// Pack and unpack of a window; of a broadcast only unpack, and of any other view neither.
///
/// # Errors
/// As [`view`].
pub(crate) fn relayouts(
    view: &View,
    naming: &Naming<'_>,
) -> Result<Vec<RelayoutFunction>, PlanError> {
    let tensor = in_memory(view);
    Ok(window_relayouts(view, &Context::new(&tensor, naming))?.into_iter().flatten().collect())
}

/// Pack and unpack as in [`ViewPlan`], with their loop nests.
fn window_relayouts(
    view: &View,
    context: &Context<'_>,
) -> Result<[Option<RelayoutFunction>; 2], PlanError> {
    let tensor = context.tensor;
    if !view.is_window() || tensor.memory == Memory::None {
        return Ok([None, None]);
    }
    let documented = |mut relayout: RelayoutFunction, doc: [&str; 2]| {
        relayout.function.doc = doc.iter().map(|line| (*line).to_owned()).collect();
        relayout.function.doc.push(NO_OVERLAP.to_owned());
        relayout
    };
    let mut pack = None;
    if !view.is_broadcast() {
        let into = [
            "From a dense row-major array into the window.",
            "Elements outside of the window are not written.",
        ];
        pack = Some(documented(relayout::pack(context)?, into));
    }
    let out = [
        "From the window into a dense row-major array.",
        "Elements outside of the window are not read.",
    ];
    Ok([pack, Some(documented(relayout::unpack(context)?, out))])
}

/// Constants of a window: rank, extents, origin and strides along the axes, number of elements, bytes of the buffer.
fn window_quantities(view: &View, context: &Context<'_>) -> Result<Vec<Quantity>, PlanError> {
    let layout = context.layout;
    let symbol = |var| context.symbol(var);
    let mut all = Vec::new();
    let mut push = |name: String, doc: String, value: &Algebra| {
        let value = lower(value, &symbol)?;
        all.push(Quantity { name, doc, value });
        Ok::<(), PlanError>(())
    };
    let rank = i128::try_from(layout.logical().len()).map_err(|_| PlanError::Scope)?;
    push("rank".to_owned(), "Axes of the window.".to_owned(), &Algebra::constant(rank))?;
    for axis in layout.logical() {
        push(
            format!("extent_{}", axis.name),
            format!("Extent of axis {}.", axis.name),
            &axis.extent,
        )?;
    }
    if let Some(affine) = &view.affine {
        let doc = "Elements of the buffer before the first of the window.".to_owned();
        push("origin".to_owned(), doc, &affine.origin)?;
        for (axis, stride) in layout.logical().iter().zip(&affine.strides) {
            let doc = format!("Elements between neighbours along axis {}.", axis.name);
            push(format!("stride_{}", axis.name), doc, stride)?;
        }
    }
    let elements = "Elements of the window.".to_owned();
    push("logical_elements".to_owned(), elements, layout.logical_elements())?;
    let bytes = buffer_bytes(context, layout.physical_elements())?;
    push("bytes".to_owned(), "Bytes of the buffer.".to_owned(), &bytes)?;
    Ok(all)
}

/// Reference implementation of a view's offset, by the layout of the viewed tensor, unsimplified; and for a view that
/// joins elements, the offset of each joined element with its number `lane` as a parameter. Tests compare the view with
/// both.
pub(crate) fn plain(
    manifest: &Manifest,
    view: &View,
    context: &Context<'_>,
) -> Result<(Function, Option<Function>), PlanError> {
    if view.seeing == ViewKind::Reinterpret {
        return Ok((index::plain_offset(context)?, None));
    }
    let mut namer = Namer::new(context.naming.avoid);
    let signature = Signature::new(context, &mut namer, context.layout.logical());
    let lane = namer.name("lane");
    let binding = |var: Var| match var {
        // With unbounded ranges, no floor division is lowered as a truncating one.
        Var::Digit(0) => Some(Binding { tree: Expr::name(&lane), range: Range::ANY }),
        other => signature.binding(other).map(|b| Binding { range: Range::ANY, ..b }),
    };
    let binding: &Scope<'_> = &binding;
    let axes: Vec<Algebra> =
        (0_u32..).zip(context.layout.logical()).map(|(k, _)| Algebra::var(Var::Axis(k))).collect();
    let function = |what: &str, doc: &str, mut params: Vec<Param>, value: &Algebra| {
        if value.mentions(&|var| var == Var::Digit(0)) {
            params.push(Param { name: lane.clone(), ty: ParamType::Index });
        }
        let function = Function {
            name: context.function(what),
            doc: vec![doc.to_owned()],
            returns: Returns::Index,
            params,
            body: vec![Stmt::Return { value: lower(value, binding)? }],
        };
        Ok::<Function, PlanError>(function)
    };
    let doc = "The offset as the manifest defines it, by the layout of what the view sees.";
    let whole =
        function("plain_offset", doc, signature.params.clone(), &there(manifest, view, &axes)?)?;
    let ViewKind::Lanes { axis, joined, .. } = view.seeing else { return Ok((whole, None)) };
    if joined == 1 {
        return Ok((whole, None));
    }
    let mut at = axes;
    if let Some(index) = at.get_mut(axis) {
        let first = Algebra::binary(BinOp::Mul, index, &Algebra::constant(joined))?;
        *index = Algebra::binary(BinOp::Add, &first, &Algebra::var(Var::Digit(0)))?;
    }
    let doc = "The offset of one of the elements that an element of the view joins.";
    let seen = seen_offset(manifest, view, &at)?;
    let params = signature.params.clone();
    Ok((whole, Some(function("plain_lane", doc, params, &seen)?)))
}

/// Offset of a view's element at index `at`, by the layout of the viewed tensor or view, in elements of the view.
fn there(manifest: &Manifest, view: &View, at: &[Algebra]) -> Result<Algebra, PlanError> {
    let replaced = |axis: usize, with: &dyn Fn(&Algebra) -> Result<Algebra, PlanError>| {
        let mut at = at.to_vec();
        if let Some(index) = at.get_mut(axis) {
            *index = with(index)?;
        }
        Ok::<Vec<Algebra>, PlanError>(at)
    };
    let by = |op: BinOp, index: &Algebra, k: i128| {
        Ok::<Algebra, PlanError>(Algebra::binary(op, index, &Algebra::constant(k))?)
    };
    match &view.seeing {
        ViewKind::Reinterpret => of_layout(&view.tensor.layout, at),
        ViewKind::Window(map) => {
            let through = map.iter().map(|index| index.substitute(&|var| axis_at(var, at)));
            seen_offset(manifest, view, &through.collect::<Result<Vec<_>, _>>()?)
        }
        ViewKind::Lanes { axis, joined, cut: 1 } => {
            let first = replaced(*axis, &|index| by(BinOp::Mul, index, *joined))?;
            by(BinOp::FloorDiv, &seen_offset(manifest, view, &first)?, *joined)
        }
        ViewKind::Lanes { axis, cut, .. } => {
            let whole = replaced(*axis, &|index| by(BinOp::FloorDiv, index, *cut))?;
            let own = at.get(*axis).ok_or(PlanError::Scope)?;
            let first = by(BinOp::Mul, &seen_offset(manifest, view, &whole)?, *cut)?;
            Ok(Algebra::binary(BinOp::Add, &first, &by(BinOp::Mod, own, *cut)?)?)
        }
    }
}

/// Offset of an element of the viewed tensor or view at index `at`, in its own elements.
fn seen_offset(manifest: &Manifest, view: &View, at: &[Algebra]) -> Result<Algebra, PlanError> {
    match view.of {
        TensorRef::Tensor(k) => {
            let tensor = manifest.tensors.get(k).ok_or(PlanError::Scope)?;
            of_layout(&tensor.layout, at)
        }
        TensorRef::View(k) => there(manifest, manifest.views.get(k).ok_or(PlanError::Scope)?, at),
    }
}

/// Offset of a layout at index `at`: the sum over storage axes; the part inside the last physical axis is swizzled.
fn of_layout(layout: &Layout, at: &[Algebra]) -> Result<Algebra, PlanError> {
    let last = layout.separators().last().map_or(0, |last| last + 1);
    let (mut outer, mut inner) = (Algebra::constant(0), layout.lead().clone());
    for (k, (index, stride)) in layout.storage_map().iter().zip(layout.strides()).enumerate() {
        let index = index.substitute(&|var| axis_at(var, at))?;
        let term = Algebra::binary(BinOp::Mul, &index, stride)?;
        let side = if k < last { &mut outer } else { &mut inner };
        *side = Algebra::binary(BinOp::Add, side, &term)?;
    }
    if let Some(swizzle) = layout.swizzle() {
        inner = swizzle.apply(&inner)?;
    }
    Ok(Algebra::binary(BinOp::Add, &outer, &inner)?)
}

fn axis_at(var: Var, at: &[Algebra]) -> Option<Algebra> {
    match var {
        Var::Axis(k) => at.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    }
}

/// Number of elements of a view, and the size in bytes of a dense array of these.
pub(crate) fn dense_bytes(context: &Context<'_>) -> Result<[Algebra; 2], PlanError> {
    let elements = count(context.layout.logical())?;
    let bytes = buffer_bytes(context, &elements)?;
    Ok([elements, bytes])
}
