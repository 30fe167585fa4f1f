//! Images as memory: which layouts they can hold, and how elements share texels.
//!
//! The physical axes of an image are rows and what lies along a row; an array of images has the image first. A texel
//! has four lanes: an element of four lanes is a texel, four neighbouring scalars along a row share one.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use super::arith::{fold, is_multiple};
use super::lower::PlanError;
use crate::base::dtype::{Dtype, Scalar};
use crate::model::{Memory, Tensor};

/// Lanes of a texel.
pub const LANES: u32 = 4;

/// A tensor's memory as an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// 2, or 3 for an array of images.
    pub rank: u32,
    /// How many elements share a texel: 4 scalars, or one element of four lanes.
    pub per_texel: u32,
    /// Texels along a row.
    pub width: Algebra,
    /// Rows.
    pub height: Algebra,
    /// Images, of an array.
    pub layers: Option<Algebra>,
}

/// The physical rank that a memory has on a target with images; `None` where any will do or none is had.
pub fn rank_of(memory: Memory) -> Option<u32> {
    match memory {
        Memory::Image2d => Some(2),
        Memory::Image2dArray => Some(3),
        Memory::Global | Memory::Constant => Some(1),
        Memory::Shared | Memory::Local | Memory::None => None,
    }
}

/// Whether an image can hold elements of this type: as formats of four channels that every device has.
pub fn has_format(dtype: Dtype) -> bool {
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

/// Whether rows of `extent` elements are whole texels, for all values of the symbols.
pub fn is_whole(tensor: &Tensor, extent: &Algebra) -> bool {
    tensor.dtype.lanes == LANES || is_multiple(extent, i128::from(LANES), tensor.layout.symbols())
}

/// The image that a tensor lives in; `None` where it lives in none, or in one that cannot hold it.
///
/// # Errors
/// [`PlanError`] where a size leaves the integer range.
pub fn of(tensor: &Tensor) -> Result<Option<Image>, PlanError> {
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
