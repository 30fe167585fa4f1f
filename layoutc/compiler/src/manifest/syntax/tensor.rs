//! Typed syntax of `tensor` items with their shapes and layouts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::access::AccessItem;
use super::gate::GateItem;
use super::layout_step::StepItem;
use super::memory::MemoryItem;
use super::record::RecordItem;
use super::{Identifier, IntegerExpr, RingItem, ShardItem, SpannedText};
use crate::base::cast::CastMode;

/// Order of elements that share a byte, such as two `i4`: `nibbles high-first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NibbleOrder {
    /// The first element is in the high bits of the byte.
    HighFirst,
    /// The first element is in the low bits of the byte: the default.
    LowFirst,
}

/// `tensor` item, which declares an element type, a shape and a layout: `tensor input dtype=f32 { … }`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TensorItem {
    /// Name that the tensor declares.
    pub name: Identifier,
    /// Element type as written; `None` if `record` or `like` gives it. At least one of `dtype`, `record` and `like` is
    /// present, but not both `dtype` and `record`.
    pub dtype: Option<SpannedText>,
    /// Record type of the elements, in place of `dtype`; `None` for a tensor without a record.
    pub record: Option<RecordItem>,
    /// Name of the tensor that provides the shape and element type that this item does not give; `None` if there is
    /// none.
    pub like: Option<Identifier>,
    /// Shape of the tensor; `None` only with `like`.
    pub shape: Option<ShapeItem>,
    /// Layout of the tensor; `None`: row-major.
    pub layout: Option<LayoutItem>,
    /// Memory of the tensor; `None`: global.
    pub memory: Option<MemoryItem>,
    /// Partition of the tensor over the devices of a mesh; `None` if it is not sharded.
    pub shard: Option<ShardItem>,
    /// Ring buffer: the axis of which memory holds only a window of indices at a time; `None` for a whole tensor.
    pub ring: Option<RingItem>,
    /// Accesses of warps to the tensor, from `access` nodes, with distinct names.
    pub accesses: Vec<AccessItem>,
    /// Conditions of the `require` nodes, such as `require bijective`, which the layout must meet.
    pub gates: Vec<GateItem>,
    /// Names of the targets for which the tensor is generated; `None`: all targets.
    pub targets: Option<Vec<SpannedText>>,
    /// Order of elements that share a byte; `None`: the first element is in the low bits.
    pub nibbles: Option<NibbleOrder>,
    /// Element type of the row-major array that pack reads and unpack writes; `None` if it is the type in memory.
    pub pack_from: Option<PackFromItem>,
    /// Byte range of the `tensor` node in the file.
    pub span: Range<usize>,
}

impl TensorItem {
    /// Tensor with a name, an element type and a span; all other fields are `None` or empty.
    pub fn new(name: Identifier, dtype: SpannedText, span: Range<usize>) -> Self {
        Self {
            name,
            dtype: Some(dtype),
            record: None,
            like: None,
            shape: None,
            layout: None,
            memory: None,
            shard: None,
            ring: None,
            accesses: Vec::new(),
            gates: Vec::new(),
            targets: None,
            nibbles: None,
            pack_from: None,
            span,
        }
    }
}

/// Properties of a tensor that make pack and unpack convert elements: `pack-from=f32 cast=saturate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackFromItem {
    /// Element type of the array that pack reads and unpack writes, as written.
    pub dtype: SpannedText,
    /// Treatment of values that are out of range for the type of the destination, which is the buffer for pack and the
    /// array for unpack; `None`: [`CastMode::Round`].
    pub cast: Option<CastMode>,
}

/// Shape of a tensor or view, which names the logical axes: `shape { n batch; h 64 }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeItem {
    /// Axes of the shape, outermost first, with distinct names.
    pub axes: Vec<AxisItem>,
    /// Conditions, from nodes such as `where "j <= i"`, that select the indices that are elements; empty if all are.
    pub conditions: Vec<SpannedText>,
    /// Byte range of the `shape` node in the file.
    pub span: Range<usize>,
}

/// Name of the node that states a condition in a shape, `where "j <= i"`; an axis cannot have this name.
pub const WHERE: &str = "where";

/// Axis of a shape with its extent: `n 16`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisItem {
    /// Name that the axis declares.
    pub name: Identifier,
    /// Extent of the axis: a number, labels, or the fields of a record.
    pub extent: Extent,
}

/// Extent of an axis: a number, a list of labels, or the fields of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// Number of elements along the axis: `n 16`, `n "2 * k"`. An integer literal is not negative.
    Bound(IntegerExpr),
    /// Labels of the indices, one index for each label: `part { x; y; z }`. The labels are distinct.
    Labels(Vec<Identifier>),
    /// Fields of the tensor's record, one index for each field: the axis `field` without an extent.
    Fields,
}

/// Layout of a tensor, view, intermediate or cache: `layout { … }`, or `layout nchw4c block=8`, which is one
/// [`super::StepKind::Apply`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayoutItem {
    /// Steps of the layout, in order of application; empty: row-major.
    pub steps: Vec<StepItem>,
    /// Byte range in the file of the `layout` node, or, without such a node, of the text that gives the layout: for
    /// example the value of `xla=` of a tensor, the map of a view, or the layout text of a graph.
    pub span: Range<usize>,
}
