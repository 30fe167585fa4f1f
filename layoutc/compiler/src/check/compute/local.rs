//! `local T dtype=f32 { layout { … } }`: the tensor of an intermediate.

use layoutc_algebra::symbol::{Axis, Symbol};

use super::value::CheckResult;
use crate::check::tensor::{self, CheckedTensor, ManifestContext};
use crate::manifest::syntax::{
    AxisItem, Extent, Identifier, IntegerExpr, IntegerLiteral, LocalItem, ShapeItem, SpannedText,
    TensorItem,
};
use crate::model::layout_names;

/// The tensor with these axes, whose extents are over `symbols`, checked as if declared in the file `home`.
pub(super) fn tensor(
    item: &LocalItem,
    shape: &[Axis],
    symbols: &[Symbol],
    (place, home): (ManifestContext<'_>, usize),
) -> CheckResult<CheckedTensor> {
    let span = &item.name.span;
    let axis = |axis: &Axis| {
        let bound = match axis.extent.as_const() {
            Some(value) => IntegerExpr::Integer(IntegerLiteral { value, span: span.clone() }),
            None => {
                let value = layout_names::symbol_expr(&axis.extent, symbols);
                IntegerExpr::Text(SpannedText { value, span: span.clone(), quoted: true })
            }
        };
        let name = Identifier { value: axis.name.clone(), span: span.clone() };
        AxisItem { name, extent: Extent::Bound(bound) }
    };
    let tensor_item = TensorItem {
        name: item.name.clone(),
        dtype: Some(item.dtype.clone()),
        record: None,
        like: None,
        shape: Some(ShapeItem {
            axes: shape.iter().map(axis).collect(),
            conditions: Vec::new(),
            span: span.clone(),
        }),
        layout: item.layout.clone(),
        memory: None,
        shard: None,
        ring: None,
        gates: Vec::new(),
        targets: None,
        nibbles: None,
        pack_from: None,
        span: item.span.clone(),
    };
    let place = ManifestContext { file: home, recorder: None, ..place };
    tensor::check(&tensor_item, place)
}
