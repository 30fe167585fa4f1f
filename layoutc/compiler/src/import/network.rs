//! Network of a model after shape inference and constant folding.

use super::call::{OnnxCall, ShapedTensor};
use super::operator::OnnxOperatorKind;
use super::proto;

/// Operators and tensors, which refer to each other by position; every tensor is written before it is read.
#[derive(Debug)]
pub(super) struct OnnxNetwork<'a> {
    pub(super) name: &'a str,
    /// Opset version of the standard domain.
    pub(super) opset: i64,
    pub(super) tensors: Vec<NetworkTensor<'a>>,
    pub(super) operators: Vec<NetworkOperator<'a>>,
    /// Inputs of the model, in order.
    pub(super) inputs: Vec<usize>,
    /// Outputs of the model, in order.
    pub(super) outputs: Vec<usize>,
    /// Number of constant-folded operators.
    pub(super) folded: usize,
}

#[derive(Debug, Clone)]
pub(super) struct NetworkTensor<'a> {
    /// Name in the model.
    pub(super) name: &'a str,
    pub(super) shaped: ShapedTensor,
    /// True if it is constant.
    pub(super) is_constant: bool,
    /// True if its elements are stored in the file.
    pub(super) is_stored: bool,
}

impl NetworkTensor<'_> {
    pub(super) fn rank(&self) -> usize {
        self.shaped.shape.len()
    }
}

#[derive(Debug)]
pub(super) struct NetworkOperator<'a> {
    pub(super) node: &'a proto::OnnxNode,
    pub(super) kind: OnnxOperatorKind,
    /// Data operands, in order, without folded parameters.
    pub(super) inputs: Vec<NetworkOperand>,
    /// Folded parameters.
    pub(super) parameters: Vec<NetworkOperand>,
    pub(super) outputs: Vec<usize>,
}

/// Operand of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NetworkOperand {
    /// Position among the operands, counted from 0, including omitted ones.
    pub(super) slot: usize,
    pub(super) tensor: usize,
}

impl NetworkOperator<'_> {
    /// Tensors of the data operands.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().map(|operand| operand.tensor)
    }

    /// Tensor of a data operand.
    pub(super) fn read(&self, slot: usize) -> Option<usize> {
        self.inputs.iter().find(|operand| operand.slot == slot).map(|operand| operand.tensor)
    }
}

impl OnnxNetwork<'_> {
    /// Operator with its operands for shape inference.
    pub(super) fn call<'n>(&'n self, operator: &NetworkOperator<'n>) -> OnnxCall<'n> {
        let operands = || operator.inputs.iter().chain(&operator.parameters);
        let slots = operands().map(|operand| operand.slot + 1).max().unwrap_or(0);
        let mut inputs = vec![None; slots];
        for operand in operands() {
            let shaped = self.tensors.get(operand.tensor).map(|tensor| &tensor.shaped);
            inputs.get_mut(operand.slot).into_iter().for_each(|slot| *slot = shaped);
        }
        OnnxCall { node: operator.node, opset: self.opset, inputs, outputs: operator.outputs.len() }
    }

    pub(super) fn rank(&self, tensor: usize) -> usize {
        self.tensors.get(tensor).map_or(0, NetworkTensor::rank)
    }

    pub(super) fn is_constant(&self, tensor: usize) -> bool {
        self.tensors.get(tensor).is_some_and(|tensor| tensor.is_constant)
    }
}
