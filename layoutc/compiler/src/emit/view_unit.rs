//! Construction of the template model of a view from its plan.

use layoutc_algebra::symbol::Axis;

use super::compute_unit::relayout;
use super::model::{AxisUnit, ViewUnit};
use super::shared::Shared;
use super::unit::{constants, counts_guard, index_text, map_text, packed};
use super::{Settings, element, index_range, kernels, plan_fault, test_unit};
use crate::base::diagnostic::Diagnostic;
use crate::base::dtype::Dtype;
use crate::emit::syntax::{Expr, Function};
use crate::loops::error::PlanError;
use crate::loops::image;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::lower;
use crate::model::{Manifest, Memory, Tensor, View, ViewKind};
use crate::plan::view::{self, in_memory};

/// Template model of a view. `Err` has the diagnostic for a view that does not fit the index type of the target, or
/// whose plan cannot be made.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the way out")]
pub(super) fn build(
    manifest: &Manifest,
    view: &View,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<ViewUnit, Diagnostic> {
    let tensor = in_memory(view);
    if let Some(fault) = index_range::index_fault(&tensor, naming, settings) {
        return Err(fault);
    }
    unit(manifest, view, &tensor, naming, settings)
        .map_err(|error| plan_fault(tensor.places.layout.clone(), &tensor.name, &error))
}

fn unit(
    manifest: &Manifest,
    view: &View,
    tensor: &Tensor,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<ViewUnit, PlanError> {
    let context = Context::new(tensor, naming);
    let plan = view::view(view, &context)?;
    let ident = naming.tensor(&tensor.name);
    let upper = ident.to_ascii_uppercase();
    let (constants, counts) =
        constants(tensor, &plan.quantities, plan.symbols_ok.as_ref(), &upper, &ident);
    let layout = &tensor.layout;
    let symbol = |var| context.symbol(var);
    let axes = |axes: &[Axis]| {
        axes.iter()
            .map(|axis| {
                let extent = lower(&axis.extent, &symbol)?.into();
                Ok(AxisUnit { name: axis.name.clone(), extent, labels: Vec::new() })
            })
            .collect::<Result<Vec<_>, PlanError>>()
    };
    let physical = layout.physical_shape().iter().map(|extent| lower(extent, &symbol));
    let dtype = tensor.dtype;
    let buffer = manifest.tensors.get(view.buffer).ok_or(PlanError::Scope)?.dtype;
    let dialect = settings.dialect;
    let type_of = |dtype: Dtype, held| element::type_name(dialect, &dtype.to_string(), held);
    // GPU kernels access images by texels, and have no access to buffers in other memories.
    let is_buffer = image::rank_of(view.tensor.memory) == Some(1);
    let reaches = if settings.language.kernels { is_buffer } else { tensor.memory != Memory::None };
    let reached = |what: &str| reaches.then(|| format!("{ident}_{what}"));
    let recast = dtype != buffer;
    let in_texels =
        settings.language.kernels && recast && !view.is_broadcast() && image::has_format(dtype);
    Ok(ViewUnit {
        name: tensor.name.clone(),
        of: view.of_name.clone(),
        buffer: view.buffer,
        window: view.is_window(),
        writable: !view.is_broadcast(),
        dtype: dtype.to_string(),
        element: type_of(dtype, false),
        lane: type_of(Dtype { lanes: 1, ..dtype }, false),
        lanes: dtype.lanes,
        own_type: element::structure(dialect, dtype).is_none(),
        in_buffer: type_of(buffer, true),
        recast,
        element_bytes: dtype.element_bits().checked_div(8).unwrap_or(0),
        packed: packed(tensor, &ident),
        axes: axes(layout.logical())?,
        physical: physical
            .map(|extent| extent.map(Shared::<Expr>::from))
            .collect::<Result<_, _>>()?,
        map: match &view.seeing {
            ViewKind::Window(map) => index_text(layout, map, &[])?,
            ViewKind::Lanes { .. } | ViewKind::Reinterpret => map_text(tensor)?,
        },
        counts_guard: counts_guard(&upper, tensor),
        constants: constants.into(),
        counts,
        symbols_ok: plan.symbols_ok.map(Shared::<Function>::from),
        offset: plan.offset.into(),
        indices: plan.indices.into_iter().map(Shared::<Function>::from).collect(),
        load: reached("load"),
        store: reached("store").filter(|_| !view.is_broadcast()),
        image: if in_texels { kernels::image(&view.tensor, &ident)? } else { None },
        pack: plan.pack.map(|function| relayout(function, naming, settings)),
        unpack: plan.unpack.map(|function| relayout(function, naming, settings)),
        test: test_unit::view(manifest, view, tensor, naming)?.into(),
        ident,
        upper,
    })
}
