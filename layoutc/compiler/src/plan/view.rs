//! Plans of views: index functions and counts, and for windows the copies from and to a dense array.

use layoutc_algebra::expr::Expr as Algebra;

use crate::ir::Function;
use crate::loops::error::PlanError;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::lower;
use crate::lower::index::{self, Quantity, buffer_bytes, count};
use crate::lower::relayout::builder::NO_OVERLAP;
use crate::model::{Memory, Tensor, View};
use crate::plan::relayout::{self, RelayoutFunction};

/// Functions and constants that are generated for one view.
#[derive(Debug, Clone)]
pub(crate) struct ViewPlan {
    /// `symbols_ok(symbols)`: true if the symbols have values for which the layout is proven; `None` without symbols.
    pub symbols_ok: Option<Function>,
    /// Constants such as counts, extents and strides, in the order in which they are printed.
    pub quantities: Vec<Quantity>,
    /// `offset(symbols, axes)`: offset of an element in the buffer, in elements of the view.
    pub offset: Function,
    /// `index_0(symbols, axes)`, …: index of an element along each physical axis; empty if the physical rank is at most
    /// 1.
    pub indices: Vec<Function>,
    /// Function that copies from a dense row-major array into the window; `None` if the view is not a window, has no
    /// memory, or is read-only because several elements share a location.
    pub pack: Option<Function>,
    /// Function that copies from the window into a dense row-major array; `None` if the view is not a window, or has no
    /// memory.
    pub unpack: Option<Function>,
}

/// View as a tensor in global memory, also if the viewed tensor is an image. A view without memory remains without.
pub(crate) fn in_memory(view: &View) -> Tensor {
    let memory = match view.tensor.memory {
        Memory::None => Memory::None,
        _ => Memory::Global,
    };
    view.tensor.with_memory(memory)
}

/// Plans the functions of one view. `context` has the view as a tensor, as from [`in_memory`].
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
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

/// Functions `pack` and `unpack` of a window with memory, in this order; only `unpack` for a window that is a
/// broadcast. Empty for any other view.
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

/// Functions `pack` and `unpack` as in [`ViewPlan`], in this order, with the decisions behind them.
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

/// Constants of a window: rank, extents, number of elements and bytes of the buffer; also origin and strides along the
/// axes if its offset is affine.
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

/// Pair of the number of elements of a view, and of the size in bytes of a dense array of them; over symbols.
pub(crate) fn dense_bytes(context: &Context<'_>) -> Result<[Algebra; 2], PlanError> {
    let elements = count(context.layout.logical())?;
    let bytes = buffer_bytes(context, &elements)?;
    Ok([elements, bytes])
}
