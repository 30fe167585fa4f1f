//! Axes that the attributes of an ONNX operator name: the axes that it reduces, splits, concatenates, normalizes,
//! removes or inserts.

use super::call::OnnxCall;
use super::error::ShapeResult;

/// Attribute (`axis`, `axes` or both) by which a node of the imported manifest names axes by letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisAttribute {
    /// One axis in the attribute `axis`: `axis=C`.
    Axis,
    /// Several axes in the attribute `axes`: `axes="H,W"`.
    Axes,
    /// Channel axis in the attribute `axis`, and normalized axes in the attribute `axes`: `axis=C axes="H,W"`.
    Both,
}

/// Pair `(attribute, positions)` for an operator that names axes. `attribute` is the manifest attribute that names
/// them. `positions` are the positions of the axes, in the order of the ONNX parameter; for [`AxisAttribute::Both`] the
/// axes of the attribute `axes` only. They count the axes of the first operand, for `Unsqueeze` and `Concat` of the
/// first result. `None` if the operator names no axes, or if they are not usable, for example not constant or out of
/// range.
pub(super) fn along(call: &OnnxCall<'_>) -> Option<(AxisAttribute, Vec<usize>)> {
    let op = call.node.op_type.as_str();
    let rank = call.shape(0).ok()?.len();
    let one = |default: i64| {
        let axis = call.integer("axis").unwrap_or(default);
        OnnxCall::axis(axis, rank).ok().map(|axis| (AxisAttribute::Axis, vec![axis]))
    };
    let from = |start: usize| (start..rank).collect::<Vec<_>>();
    let rest = |default: i64| {
        let start = call.integer("axis").unwrap_or(default);
        // `start == rank` denotes no axis.
        let start = if usize::try_from(start) == Ok(rank) {
            rank
        } else {
            OnnxCall::axis(start, rank).ok()?
        };
        Some((AxisAttribute::Axes, from(start)))
    };
    let several =
        |axes: ShapeResult<Option<Vec<i64>>>, rank: usize, all: Vec<usize>| match axes.ok()? {
            Some(axes) => Some((AxisAttribute::Axes, OnnxCall::axes(&axes, rank).ok()?)),
            None => Some((AxisAttribute::Axes, all)),
        };
    match op {
        "Softmax" | "LogSoftmax" if call.opset < 13 => rest(1),
        "Softmax" | "LogSoftmax" => one(-1),
        // A tie is broken by the order of the axes, so several axes depend on the layout.
        "Hardmax" if call.opset < 13 => rest(1).filter(|found| found.1.len() == 1),
        "Hardmax" | "LpNormalization" | "TopK" => one(-1),
        "LayerNormalization" | "RMSNormalization" => rest(-1),
        "ArgMax" | "ArgMin" | "GatherElements" | "Scatter" | "ScatterElements" | "Split" => one(0),
        "Concat" => one(1),
        "QuantizeLinear" | "DequantizeLinear" => one(1),
        "BatchNormalization" | "LRN" => (rank > 1).then(|| (AxisAttribute::Axis, vec![1])),
        "InstanceNormalization" | "GroupNormalization" => {
            (rank > 1).then(|| (AxisAttribute::Both, from(2)))
        }
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => {
            (rank > 1).then(|| (AxisAttribute::Axes, from(2)))
        }
        "MeanVarianceNormalization" => {
            let axes = call.integers("axes").unwrap_or(&[0, 2, 3]);
            Some((AxisAttribute::Axes, OnnxCall::axes(axes, rank).ok()?))
        }
        "CumSum" | "CumProd" => match call.parameter("", 1).ok()?.as_deref() {
            Some([axis]) => Some((AxisAttribute::Axis, vec![OnnxCall::axis(*axis, rank).ok()?])),
            _ => None,
        },
        "Squeeze" => {
            let shape = call.shape(0).ok()?;
            let ones = from(0).into_iter().filter(|k| shape.get(*k) == Some(&1)).collect();
            several(call.parameter("axes", 1), rank, ones)
        }
        "Unsqueeze" => {
            let axes = call.parameter("axes", 1).ok()??;
            several(Ok(Some(axes.clone())), rank + axes.len(), Vec::new())
        }
        "Slice" => match call.parameter("axes", 3).ok()? {
            Some(axes) => several(Ok(Some(axes)), rank, Vec::new()),
            None => {
                let starts = call.integers("starts").map(<[i64]>::len);
                let starts = starts.or_else(|| {
                    let starts = call.optional(1)?;
                    usize::try_from(*starts.shape.first()?).ok()
                })?;
                (starts <= rank).then(|| (AxisAttribute::Axes, (0..starts).collect()))
            }
        },
        "Pad" => several(call.parameter("axes", 3), rank, from(0)),
        "Resize" => {
            let axes = call.integers("axes").filter(|axes| !axes.is_empty());
            several(Ok(axes.map(<[i64]>::to_vec)), rank, from(0))
        }
        "Tile" if call.opset < 6 => None,
        "Upsample" | "Tile" => Some((AxisAttribute::Axes, from(0))),
        "Expand" => {
            call.parameter("shape", 1).ok()?;
            Some((AxisAttribute::Axes, Vec::new()))
        }
        op if op.starts_with("Reduce") => {
            let none = call.integer("noop_with_empty_axes") == Some(1);
            let axes = call.parameter("axes", 1).map(|axes| axes.filter(|axes| !axes.is_empty()));
            several(axes, rank, if none { Vec::new() } else { from(0) })
        }
        _ => None,
    }
}
