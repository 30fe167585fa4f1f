//! Reference implementation of the offset of a view, by the layout of its base: the viewed tensor or view.

use layoutc_algebra::expr::{BinOp, Expr as Algebra, Var};
use layoutc_algebra::layout::Layout;

use crate::ir::{Expr, Function, Param, ParamType, Returns, Stmt};
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::Context;
use crate::lower::expr::{Binding, Scope, lower};
use crate::lower::index::Signature;
use crate::lower::names::Namer;
use crate::model::{Manifest, TensorRef, View, ViewKind};
use crate::reference::tensor;

/// Reference implementation of a view: the pair of the function of its offset, and, for a view that joins several
/// elements into one, of the function of the offset of a joined element, with its number `lane` as the last parameter.
/// The latter is `None` for any other view. Both follow from the layout of the viewed tensor or view; for a
/// reinterpretation, from the view's own layout. Tests compare the view with these functions.
pub(crate) fn plain(
    manifest: &Manifest,
    view: &View,
    context: &Context<'_>,
) -> Result<(Function, Option<Function>), PlanError> {
    if view.seeing == ViewKind::Reinterpret {
        return Ok((tensor::plain_offset(context)?, None));
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

/// Offset of a view's element at the logical index `at`, in elements of the view: by the layout of the viewed tensor or
/// view, or for a reinterpretation by the view's own layout.
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

/// Offset of the element of the viewed tensor or view at its logical index `at`, in elements of that tensor or view.
fn seen_offset(manifest: &Manifest, view: &View, at: &[Algebra]) -> Result<Algebra, PlanError> {
    match view.of {
        TensorRef::Tensor(k) => {
            let tensor = manifest.tensors.get(k).ok_or(PlanError::Scope)?;
            of_layout(&tensor.layout, at)
        }
        TensorRef::View(k) => there(manifest, manifest.views.get(k).ok_or(PlanError::Scope)?, at),
    }
}

/// Offset of a layout at the logical index `at`, in elements: the lead and the sum over storage axes; the part inside
/// the last physical axis is swizzled.
fn of_layout(layout: &Layout, at: &[Algebra]) -> Result<Algebra, PlanError> {
    let last = layout.separators().last().map_or(0, |last| last + 1);
    let (mut outer, mut inner) = (Algebra::constant(0), layout.lead().clone());
    for (k, (index, stride)) in layout.storage_map().iter().zip(layout.strides()).enumerate() {
        let index = index.substitute(&|var| axis_at(var, at))?;
        let term = Algebra::binary(BinOp::Mul, &index, stride)?;
        let part = if k < last { &mut outer } else { &mut inner };
        *part = Algebra::binary(BinOp::Add, part, &term)?;
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
