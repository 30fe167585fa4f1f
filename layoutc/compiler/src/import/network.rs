//! A model with the shape of every tensor: what is left of it after everything known beforehand is worked out.

use super::call::Shaped;
use super::operator::Kind;
use super::proto;

/// Operators and the tensors between them, by position; every tensor is given before it is read.
#[derive(Debug)]
pub(super) struct Network<'a> {
    pub(super) name: &'a str,
    pub(super) tensors: Vec<Tensor<'a>>,
    pub(super) operators: Vec<Operator<'a>>,
    /// What the model takes, in its order.
    pub(super) inputs: Vec<usize>,
    /// What it gives, in its order.
    pub(super) outputs: Vec<usize>,
    /// How many operators are worked out.
    pub(super) folded: usize,
}

#[derive(Debug)]
pub(super) struct Tensor<'a> {
    /// The model's name of it.
    pub(super) name: &'a str,
    pub(super) shaped: Shaped,
    /// Whether it is there before the model runs.
    pub(super) is_constant: bool,
}

impl Tensor<'_> {
    pub(super) fn rank(&self) -> usize {
        self.shaped.shape.len()
    }
}

#[derive(Debug)]
pub(super) struct Operator<'a> {
    pub(super) node: &'a proto::Node,
    pub(super) kind: Kind,
    /// The operands with data, in order; parameters that are worked out are left out.
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}
