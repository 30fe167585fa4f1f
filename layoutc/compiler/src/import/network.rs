//! A model with the shape of every tensor: what is left of it after everything known beforehand is worked out.

use super::call::{OnnxCall, ShapedTensor};
use super::operator::OnnxOperatorKind;
use super::proto;

/// Operators and the tensors between them, by position; every tensor is given before it is read.
#[derive(Debug)]
pub(super) struct OnnxNetwork<'a> {
    pub(super) name: &'a str,
    /// The version of ONNX's own operators.
    pub(super) opset: i64,
    pub(super) tensors: Vec<NetworkTensor<'a>>,
    pub(super) operators: Vec<NetworkOperator<'a>>,
    /// What the model takes, in its order.
    pub(super) inputs: Vec<usize>,
    /// What it gives, in its order.
    pub(super) outputs: Vec<usize>,
    /// How many operators are worked out.
    pub(super) folded: usize,
}

#[derive(Debug, Clone)]
pub(super) struct NetworkTensor<'a> {
    /// The model's name of it.
    pub(super) name: &'a str,
    pub(super) shaped: ShapedTensor,
    /// Whether it is there before the model runs.
    pub(super) is_constant: bool,
    /// Whether its elements stand in the file.
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
    /// The operands with data, in order; parameters that are worked out are left out.
    pub(super) inputs: Vec<NetworkOperand>,
    /// Those parameters.
    pub(super) parameters: Vec<NetworkOperand>,
    pub(super) outputs: Vec<usize>,
}

/// An operand of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NetworkOperand {
    /// Which one it is, counted from 0; those that are left out count.
    pub(super) slot: usize,
    pub(super) tensor: usize,
}

impl NetworkOperator<'_> {
    /// The tensors that it reads as data.
    pub(super) fn reads(&self) -> impl Iterator<Item = usize> + '_ {
        self.inputs.iter().map(|operand| operand.tensor)
    }

    /// The tensor of one of the operands with data.
    pub(super) fn read(&self, slot: usize) -> Option<usize> {
        self.inputs.iter().find(|operand| operand.slot == slot).map(|operand| operand.tensor)
    }
}

impl OnnxNetwork<'_> {
    /// An operator with its operands, as the rules of shapes see it.
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
