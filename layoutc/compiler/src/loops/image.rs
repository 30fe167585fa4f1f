//! Images as memory: the layouts that they can hold, and the elements of a texel.
//!
//! The physical axes of an image are its rows and the elements of a row; an array of images has the layer first. A
//! texel has four channels: an element of four lanes fills one texel, four neighboring scalars of a row share one.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use crate::base::dtype::{Dtype, Scalar};
use crate::loops::arith::{fold, is_multiple};
use crate::loops::error::PlanError;
use crate::model::{Memory, Tensor};

/// Number of channels of a texel.
pub(crate) const LANES: u32 = 4;

/// Image in which a tensor is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    /// Number of physical axes: 2, or 3 for an array of images.
    pub rank: u32,
    /// Number of elements of a texel: 4 scalars, or 1 element of four lanes.
    pub per_texel: u32,
    /// Width of a row, in texels; over symbols.
    pub width: Algebra,
    /// Number of rows of an image; over symbols.
    pub height: Algebra,
    /// Number of images in an array, over symbols; `None` for a single image.
    pub layers: Option<Algebra>,
}

/// Number of physical axes that a tensor in `memory` must have on a GPU: 2 or 3 for images, 1 for buffers. `None` for
/// memory that a kernel parameter cannot point to: shared or local memory, or none.
pub(crate) fn rank_of(memory: Memory) -> Option<u32> {
    match memory {
        Memory::Image2d => Some(2),
        Memory::Image2dArray => Some(3),
        Memory::Global | Memory::Constant => Some(1),
        Memory::Shared | Memory::Local | Memory::None => None,
    }
}

/// True if an image can hold elements of this type, in four-channel formats that every device supports.
pub(crate) fn has_format(dtype: Dtype) -> bool {
    let scalar = matches!(
        dtype.scalar,
        Scalar::F32
            | Scalar::F16
            | Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::U8
            | Scalar::U16
            | Scalar::U32
    );
    scalar && (dtype.lanes == 1 || dtype.lanes == LANES)
}

/// True if a row of `extent` elements of the tensor is known to be a whole number of texels for all values of the
/// symbols.
pub(crate) fn is_whole(tensor: &Tensor, extent: &Algebra) -> bool {
    tensor.dtype.lanes == LANES || is_multiple(extent, i128::from(LANES), tensor.layout.symbols())
}

/// Image in which a tensor is stored; `None` if its memory is not an image, or its physical rank is not that of the
/// image.
///
/// # Errors
/// [`PlanError::Expr`] if the width of a row becomes too large as an expression.
pub(crate) fn of(tensor: &Tensor) -> Result<Option<Image>, PlanError> {
    let shape = tensor.layout.physical_shape();
    let per_texel = if tensor.dtype.lanes == LANES { 1 } else { LANES };
    let (rank, layers, height, along) = match (tensor.memory, shape) {
        (Memory::Image2d, [height, along]) => (2, None, height, along),
        (Memory::Image2dArray, [layers, height, along]) => (3, Some(layers.clone()), height, along),
        _ => return Ok(None),
    };
    let width = fold(BinOp::FloorDiv, along, &Algebra::constant(i128::from(per_texel)))?;
    Ok(Some(Image { rank, per_texel, width, height: height.clone(), layers }))
}
