//! Correspondences between the axes of an operator's operands and results. They follow from broadcasting, and from the
//! axes that the operator preserves.

use super::axis_attributes::along;
use super::call::OnnxCall;
use super::infer::is_broadcast;
use super::network::{NetworkOperator, OnnxNetwork};
use super::operator::{OnnxOperatorKind, WindowKind};

/// Correspondence of the axes of `tensor`, one operand or result of an operator, to the axes of the operator's
/// reference tensor ([`AxisRelations::whole`]). `tensor` is a position in the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisRelation {
    pub(super) tensor: usize,
    /// Position of the tensor among the operator's operands, from 0; `None` for a result.
    pub(super) slot: Option<usize>,
    /// Entry `k` is the position of the axis of the reference tensor to which axis `k` of the tensor corresponds;
    /// `None` if it corresponds to no axis.
    pub(super) axes: Vec<Option<usize>>,
}

/// Correspondences of the axes of an operator's tensors to the axes of one of them, the reference tensor. Corresponding
/// axes get the same letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisRelations {
    /// Position in the network of the reference tensor: the first result of an elementwise operator, of `Concat`, of
    /// `Expand` or of `Unsqueeze`; the first operand of any other operator.
    pub(super) whole: usize,
    pub(super) others: Vec<AxisRelation>,
}

/// Correspondences of the axes of an operator's tensors. `None` for a window operator other than a global pooling, for
/// a transposition, and for a row-major operator. `None` too if the axes that the operator names are unknown, or if the
/// ranks of its tensors do not fit together.
pub(super) fn relations(
    network: &OnnxNetwork<'_>,
    operator: &NetworkOperator<'_>,
) -> Option<AxisRelations> {
    let call = network.call(operator);
    let site = RelationBuilder { network, operator, call: &call };
    match operator.kind {
        OnnxOperatorKind::Elementwise => site.elementwise(),
        OnnxOperatorKind::ByLetter | OnnxOperatorKind::Window(WindowKind::GlobalPool) => {
            site.by_letter()
        }
        OnnxOperatorKind::Window(_) | OnnxOperatorKind::Transpose | OnnxOperatorKind::RowMajor => {
            None
        }
    }
}

struct RelationBuilder<'s> {
    network: &'s OnnxNetwork<'s>,
    operator: &'s NetworkOperator<'s>,
    call: &'s OnnxCall<'s>,
}

/// Correspondence of the axes of a tensor of rank `own` to the last axes of a tensor of rank `whole`: `last(2, 3)`
/// gives axes 1 and 2. `None` if `own` is greater than `whole`.
fn last(own: usize, whole: usize) -> Option<Vec<Option<usize>>> {
    let skipped = whole.checked_sub(own)?;
    Some((skipped..whole).map(Some).collect())
}

impl RelationBuilder<'_> {
    fn op(&self) -> &str {
        &self.operator.node.op_type
    }

    /// Correspondences for an elementwise operator. The reference tensor is its first result. Operands of a broadcast
    /// operator correspond as in [`Self::broadcast`]. For other operators the first operand must have the rank of the
    /// result, and further operands correspond as in [`Self::per_channel_axes`]. `None` if a rank does not fit.
    fn elementwise(&self) -> Option<AxisRelations> {
        let whole = *self.operator.outputs.first()?;
        let rank = self.network.rank(whole);
        let mut others = Vec::new();
        for operand in &self.operator.inputs {
            let own = self.network.rank(operand.tensor);
            let axes = if is_broadcast(self.op()) {
                self.broadcast(operand.slot, own, rank)?
            } else if operand.slot == 0 {
                last(own, rank).filter(|_| own == rank)?
            } else {
                self.per_channel_axes(own, rank)?
            };
            others.push(AxisRelation { tensor: operand.tensor, slot: Some(operand.slot), axes });
        }
        for result in self.operator.outputs.iter().skip(1) {
            let axes = last(self.network.rank(*result), rank)?;
            others.push(AxisRelation { tensor: *result, slot: None, axes });
        }
        Some(AxisRelations { whole, others })
    }

    /// Axes of the result to which the `own` axes of operand `slot` of a broadcast operator correspond: the last `own`
    /// of the result's `rank` axes. Before opset 7, operand 1 with the attributes `broadcast=1` and `axis` corresponds
    /// to the axes from `axis` on. `None` if `axis` is out of range, or if the operand has more axes than the result
    /// has there.
    fn broadcast(&self, slot: usize, own: usize, rank: usize) -> Option<Vec<Option<usize>>> {
        let is_old = self.call.opset < 7 && self.call.integer("broadcast") == Some(1);
        match self.call.integer("axis").filter(|_| is_old && slot == 1) {
            Some(axis) => {
                let start = OnnxCall::axis(axis, rank.max(1)).ok()?;
                (start + own <= rank).then(|| (start..start + own).map(Some).collect())
            }
            None => last(own, rank),
        }
    }

    /// Axes of the result to which the `own` axes of an operand correspond that holds slopes, scales or zero points;
    /// `rank` is the result's rank. Slopes correspond to the last axes (before opset 7: to axis 1). A scale or zero
    /// point of rank 1 corresponds to the axis in the attribute `axis` (by default 1), one of rank `rank` to all axes.
    /// Any other operand corresponds to no axis. `None` if there are more slope axes than result axes.
    fn per_channel_axes(&self, own: usize, rank: usize) -> Option<Vec<Option<usize>>> {
        match self.op() {
            "PRelu" if self.call.opset < 7 => Some(vec![(rank > 1).then_some(1); own]),
            "PRelu" => last(own, rank),
            "QuantizeLinear" | "DequantizeLinear" if own == 1 => {
                Some(vec![along(self.call).and_then(|found| found.1.first().copied())])
            }
            "QuantizeLinear" | "DequantizeLinear" if own == rank => last(own, rank),
            _ => Some(vec![None; own]),
        }
    }

    fn by_letter(&self) -> Option<AxisRelations> {
        let (_, axes) = along(self.call)?;
        let is_of_result = ["Concat", "Expand", "Unsqueeze"].contains(&self.op());
        let first = *self.operator.outputs.first()?;
        let whole = if is_of_result { first } else { self.operator.read(0)? };
        let rank = self.network.rank(whole);
        let remaining = || (0..rank).filter(|k| !axes.contains(k)).map(Some).collect::<Vec<_>>();
        let mut others = Vec::new();
        for operand in &self.operator.inputs {
            let own = self.network.rank(operand.tensor);
            let axes = match (self.op(), operand.slot) {
                ("Unsqueeze", 0) => remaining(),
                ("Concat", _) | (_, 0) => last(own, rank)?,
                ("GatherElements" | "Scatter" | "ScatterElements", _) => {
                    last(own, rank).filter(|_| own == rank)?
                }
                ("LayerNormalization" | "RMSNormalization", _) => last(own, rank)?,
                ("BatchNormalization" | "InstanceNormalization" | "GroupNormalization", _)
                    if own == 1 && self.has_channels(operand.tensor, whole) =>
                {
                    vec![Some(1)]
                }
                _ => vec![None; own],
            };
            if axes.len() != own {
                return None;
            }
            let related = AxisRelation { tensor: operand.tensor, slot: Some(operand.slot), axes };
            others.extend((operand.tensor != whole || operand.slot > 0).then_some(related));
        }
        for (k, result) in self.operator.outputs.iter().enumerate().filter(|one| *one.1 != whole) {
            let own = self.network.rank(*result);
            let axes = match self.op() {
                "BatchNormalization" if k > 0 => vec![Some(1); own],
                "Squeeze" => remaining(),
                _ if own == rank => last(own, rank)?,
                _ => remaining(),
            };
            if axes.len() != own {
                return None;
            }
            others.push(AxisRelation { tensor: *result, slot: None, axes });
        }
        Some(AxisRelations { whole, others })
    }

    /// True if the first extent of the tensor `vector` equals the number of channels of the tensor `whole`, the extent
    /// of its axis 1. Both arguments are positions in the network.
    fn has_channels(&self, vector: usize, whole: usize) -> bool {
        let extent = |tensor: usize, k: usize| {
            self.network.tensors.get(tensor).and_then(|tensor| tensor.shaped.shape.get(k))
        };
        extent(vector, 0) == extent(whole, 1)
    }
}
