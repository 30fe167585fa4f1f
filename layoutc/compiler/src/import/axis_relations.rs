//! Correspondences between the axes of an operator's operands and results, which follow from broadcasting or from the
//! axes that the operator preserves.

use super::axis_attributes::along;
use super::call::OnnxCall;
use super::infer::is_broadcast;
use super::network::{NetworkOperator, OnnxNetwork};
use super::operator::{OnnxOperatorKind, WindowKind};

/// Correspondence of the axes of one operand or result to the axes of the operator's reference tensor, the operand or
/// result that has all axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisRelation {
    pub(super) tensor: usize,
    /// Position of the tensor among the operator's operands, from 0; `None` for a result.
    pub(super) slot: Option<usize>,
    /// Corresponding axis of the reference tensor for each axis of the tensor, from 0; `None` for an axis without one.
    pub(super) axes: Vec<Option<usize>>,
}

/// Axis correspondences of all tensors of an operator that accepts any layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisRelations {
    /// Position in the network of the reference tensor: the operand or result that has all axes.
    pub(super) whole: usize,
    pub(super) others: Vec<AxisRelation>,
}

/// Axis correspondences of an operator's tensors. `None` if the operator depends on the order of axes (windows except
/// global pooling, transpositions, row-major operators), if its axes are not constant, or if ranks do not match.
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

/// Correspondence of `own` axes to the last axes of `whole` axes: `last(2, 3)` gives axes 1 and 2. `None` if `own` is
/// greater.
fn last(own: usize, whole: usize) -> Option<Vec<Option<usize>>> {
    let skipped = whole.checked_sub(own)?;
    Some((skipped..whole).map(Some).collect())
}

impl RelationBuilder<'_> {
    fn op(&self) -> &str {
        &self.operator.node.op_type
    }

    /// Correspondences for an elementwise operator, whose first result is the reference tensor. In a broadcast operator
    /// any operand may be broadcast. In other operators the first operand has the rank of the result, and further
    /// operands are scalars or vectors along one axis.
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

    /// Correspondence for operand `slot` of a broadcast operator: to the last axes of the result, or, before opset 7,
    /// to the axes from the attribute `axis` on. `own` is the operand's rank, `rank` that of the result.
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

    /// Corresponding axis of the result for each of the `own` axes of an operand with slopes, scales or zero points;
    /// `rank` is the result's rank. A scale or zero point of rank 1 corresponds to the axis in the attribute `axis`.
    /// `None` if slopes have more axes than the result.
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

    /// True if the vector has as many elements as the tensor has channels (extent of axis 1); both are positions in the
    /// network.
    fn has_channels(&self, vector: usize, whole: usize) -> bool {
        let extent = |tensor: usize, k: usize| {
            self.network.tensors.get(tensor).and_then(|tensor| tensor.shaped.shape.get(k))
        };
        extent(vector, 0) == extent(whole, 1)
    }
}
