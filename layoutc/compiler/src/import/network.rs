//! Network of an ONNX model after shape inference and constant folding: operators and tensors with known shapes.

use super::call::{OnnxCall, ShapedTensor};
use super::operator::OnnxOperatorKind;
use super::proto;

/// Operators and tensors of a model. They refer to each other by position in these lists. Operators are in execution
/// order: every tensor is written before it is read.
#[derive(Debug)]
pub(super) struct OnnxNetwork<'a> {
    pub(super) name: &'a str,
    /// Version of ONNX's standard operator set that the model uses.
    pub(super) opset: i64,
    pub(super) tensors: Vec<NetworkTensor<'a>>,
    pub(super) operators: Vec<NetworkOperator<'a>>,
    /// Positions of the model's inputs among the tensors, in the model's order.
    pub(super) inputs: Vec<usize>,
    /// Positions of the model's outputs among the tensors, in the model's order.
    pub(super) outputs: Vec<usize>,
    /// Number of operators that were removed because their results are constant, except `Constant`, plus the number of
    /// `If` operators replaced by one of their branches.
    pub(super) folded: usize,
}

#[derive(Debug, Clone)]
pub(super) struct NetworkTensor<'a> {
    /// Name of the tensor in the model.
    pub(super) name: &'a str,
    pub(super) shaped: ShapedTensor,
    /// True if the tensor is an initializer, or the result of an operator that was removed because its results are
    /// constant.
    pub(super) is_constant: bool,
    /// True if the tensor's elements are stored in the ONNX file (an initializer).
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
    /// Operands of the operator in order, except omitted ones, `parameters`, and those of which only the element type
    /// is used. For an operator with subgraphs, tensors outside of the subgraphs that they read follow.
    pub(super) inputs: Vec<NetworkOperand>,
    /// Operands that are constant parameters, such as shapes and axes, which become properties of the node in the
    /// manifest.
    pub(super) parameters: Vec<NetworkOperand>,
    pub(super) outputs: Vec<usize>,
}

/// Operand of an operator; `tensor` is the position of its tensor in the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NetworkOperand {
    /// Position of the operand among all operands of the operator, from 0, counting omitted ones.
    pub(super) slot: usize,
    pub(super) tensor: usize,
}

impl NetworkOperator<'_> {
    /// Positions of the tensors that are data operands of the operator, in order.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().map(|operand| operand.tensor)
    }

    /// Position of the tensor that is the data operand at `slot`; `None` if `slot` is omitted or holds a parameter.
    pub(super) fn read(&self, slot: usize) -> Option<usize> {
        self.inputs.iter().find(|operand| operand.slot == slot).map(|operand| operand.tensor)
    }
}

impl OnnxNetwork<'_> {
    /// Call of an operator, with the shapes of its operands, for shape inference.
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
