//! Calls of ONNX operators with the shapes of their operands: the input of shape inference.

use super::elements::{ConstantElements, scalar};
use super::error::{ShapeError, ShapeResult, listed, mismatch};
use super::proto;
use crate::base::dtype::Scalar;

/// Tensor of known shape and element type, and its elements if they are constant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShapedTensor {
    pub(super) dtype: Scalar,
    pub(super) shape: Vec<u64>,
    /// Elements of the tensor, row-major; `None` if they are unknown, for example because they depend on the inputs of
    /// the model.
    pub(super) known: Option<ConstantElements>,
}

impl ShapedTensor {
    pub(super) fn new(dtype: Scalar, shape: Vec<u64>) -> Self {
        Self { dtype, shape, known: None }
    }

    /// Constant scalar (rank 0) with an integer value.
    pub(super) fn integer(dtype: Scalar, value: i64) -> Self {
        let known = Some(ConstantElements::Integers(vec![value]));
        Self { dtype, shape: Vec::new(), known }
    }

    /// Copy of the tensor with its element type and shape, whose elements are unknown.
    pub(super) fn unknown(&self) -> Self {
        Self::new(self.dtype, self.shape.clone())
    }

    /// Value of a constant tensor with exactly one integer element; `None` for all other tensors.
    pub(super) fn number(&self) -> Option<i64> {
        match self.known.as_ref()?.integers()? {
            [number] => Some(*number),
            _ => None,
        }
    }
}

/// Call of an ONNX operator with its operands; `None` stands for an omitted optional operand.
pub(super) struct OnnxCall<'a> {
    pub(super) node: &'a proto::OnnxNode,
    /// Version of ONNX's standard operator set that the model uses.
    pub(super) opset: i64,
    pub(super) inputs: Vec<Option<&'a ShapedTensor>>,
    /// Number of results of the call, including omitted results that precede used ones.
    pub(super) outputs: usize,
}

impl<'a> OnnxCall<'a> {
    /// Operand at position `k`, from 0; the error [`ShapeError::Mismatch`] if it is omitted.
    pub(super) fn input(&self, k: usize) -> ShapeResult<&'a ShapedTensor> {
        self.optional(k).map_or_else(|| mismatch(format!("operand {k} is missing")), Ok)
    }

    pub(super) fn optional(&self, k: usize) -> Option<&'a ShapedTensor> {
        self.inputs.get(k).copied().flatten()
    }

    pub(super) fn shape(&self, k: usize) -> ShapeResult<&'a [u64]> {
        self.input(k).map(|input| input.shape.as_slice())
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'a proto::OnnxAttribute> {
        self.node.attribute.iter().find(|attribute| attribute.name == name)
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        self.attribute(name)?.i
    }

    pub(super) fn integers(&self, name: &str) -> Option<&'a [i64]> {
        self.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// Element type in the attribute `name`, which holds a number of ONNX's `TensorProto.DataType`; `None` if the
    /// attribute is missing or 0, an error if layoutc has no corresponding type.
    pub(super) fn dtype(&self, name: &str) -> ShapeResult<Option<Scalar>> {
        let Some(number) = self.integer(name).filter(|number| *number != 0) else {
            return Ok(None);
        };
        match i32::try_from(number).ok().and_then(scalar) {
            Some(dtype) => Ok(Some(dtype)),
            None => Err(ShapeError::ElementType(number)),
        }
    }

    pub(super) fn word(&self, name: &str) -> Option<&'a str> {
        std::str::from_utf8(self.attribute(name)?.s.as_ref()?).ok()
    }

    /// Shape of operand `k` as the triple (batch, channels, spatial extents), in elements; an error if the operand is
    /// missing or its rank is less than 2.
    pub(super) fn image(&self, k: usize) -> ShapeResult<(u64, u64, &'a [u64])> {
        match self.shape(k)? {
            [batch, channels, space @ ..] => Ok((*batch, *channels, space)),
            shape => mismatch(format!("{} has no channels", listed(shape))),
        }
    }

    /// Position, from 0, of the axis in the attribute `axis`, or of `default` if the attribute is missing. A negative
    /// axis counts from the end: -1 is the last of `rank` axes. An error if the axis is out of range.
    pub(super) fn own_axis(&self, default: i64, rank: usize) -> ShapeResult<usize> {
        Self::axis(self.integer("axis").unwrap_or(default), rank)
    }

    /// Integers of a parameter that older opsets give by the attribute `name`, and newer ones by the constant operand
    /// `k`. `None` if both are missing.
    ///
    /// # Errors
    /// [`ShapeError::DataDependent`] if the operand has no known integer elements.
    pub(super) fn parameter(&self, name: &str, k: usize) -> ShapeResult<Option<Vec<i64>>> {
        if let Some(own) = self.integers(name) {
            return Ok(Some(own.to_vec()));
        }
        let Some(input) = self.optional(k) else { return Ok(None) };
        match input.known.as_ref().and_then(ConstantElements::integers) {
            Some(values) => Ok(Some(values.to_vec())),
            None => {
                Err(ShapeError::DataDependent(format!("operand {k}, `{name}`, is not a constant")))
            }
        }
    }

    /// Position, from 0, of the axis `axis`. A negative axis counts from the end: -1 is the last of `rank` axes. An
    /// error if it is out of range.
    pub(super) fn axis(axis: i64, rank: usize) -> ShapeResult<usize> {
        let counted =
            i64::try_from(rank).ok().map(|rank| if axis < 0 { axis + rank } else { axis });
        match counted.and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank) {
            Some(axis) => Ok(axis),
            None => mismatch(format!("axis {axis} is out of range for rank {rank}")),
        }
    }

    /// Positions of axes, from 0, in the given order. A negative axis counts from the end: `[0, -1]` of rank 3 gives
    /// `[0, 2]`. An error if an axis is out of range or occurs twice.
    pub(super) fn axes(axes: &[i64], rank: usize) -> ShapeResult<Vec<usize>> {
        let mut found = Vec::new();
        for axis in axes {
            let axis = Self::axis(*axis, rank)?;
            if found.contains(&axis) {
                return mismatch(format!("duplicate axis {axis}"));
            }
            found.push(axis);
        }
        Ok(found)
    }
}

/// Number of elements of a shape, the product of its extents; an error if it is 2^63 or more.
pub(super) fn count(shape: &[u64]) -> ShapeResult<u64> {
    let product = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
    match product.filter(|count| i64::try_from(*count).is_ok()) {
        Some(count) => Ok(count),
        // The other extents may overflow, but there are no elements.
        None if shape.contains(&0) => Ok(0),
        None => mismatch("the number of elements of a tensor does not fit 63 bits"),
    }
}

/// Extent for an integer; an error if the integer is negative.
pub(super) fn extent(value: i64) -> ShapeResult<u64> {
    u64::try_from(value).or_else(|_| mismatch(format!("invalid extent {value}")))
}

/// Shape for a list of integers; an error if one of them is negative.
pub(super) fn extents(values: impl IntoIterator<Item = i64>) -> ShapeResult<Vec<u64>> {
    values.into_iter().map(extent).collect()
}

/// Extent as a signed integer; an error if it is 2^63 or more.
pub(super) fn signed(extent: u64) -> ShapeResult<i64> {
    i64::try_from(extent).or_else(|_| mismatch(format!("invalid extent {extent}")))
}

/// Unwraps the result of checked arithmetic; `None` becomes an error for an overflow of 64 bits.
pub(super) fn check_overflow<T>(value: Option<T>) -> ShapeResult<T> {
    value.map_or_else(|| mismatch("an extent does not fit 64 bits"), Ok)
}
