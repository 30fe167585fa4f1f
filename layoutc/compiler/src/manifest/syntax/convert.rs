//! Typed syntax of `view` and `convert` items.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, ShapeItem, SpannedText};
use crate::base::cast::CastMode;

/// `view` item, which gives a tensor's memory another element type or other axes. `view input_x4 of=input dtype=f32x4`
/// changes the type, `view q of=qkv { shape { … }; map "…" }` the axes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewItem {
    /// Name that the view declares.
    pub name: Identifier,
    /// Name of the view's base: a tensor or a view.
    pub of: Identifier,
    /// Element type of the view as written; `None`: that of the base.
    pub dtype: Option<SpannedText>,
    /// Shape of the view; required with a map. `None`: the axes of the base. If the element types have different
    /// numbers of lanes, the extent of one of these axes differs: `f32x4` has a quarter of the extent of `f32`.
    pub shape: Option<ShapeItem>,
    /// Layout of the view in the base's memory; `None` if not given. Excludes a map.
    pub layout: Option<LayoutItem>,
    /// Index map from the axes of the view to those of the base, `(h, w) -> (0, h, w)`; `None` if not given. Excludes a
    /// layout.
    pub map: Option<SpannedText>,
    /// Byte range of the `view` node in the file.
    pub span: Range<usize>,
}

/// `convert` item, which copies the elements of one tensor into the layout of another: `convert input to=texture`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertItem {
    /// Name of the source, a tensor or a view.
    pub from: Identifier,
    /// Name of the destination, a tensor or a view.
    pub to: Identifier,
    /// Treatment of values that are out of range for the destination's element type; `None`: the element types must be
    /// equal, or the conversion known to be lossless.
    pub cast: Option<CastMode>,
    /// Maximum size of the staging buffers of one device in bytes, if devices exchange shards; `None`: no limit.
    pub max_staging: Option<IntegerExpr>,
    /// Scheduling decisions that override the planner's, each kind at most once.
    pub choices: Vec<ConvertScheduleItem>,
    /// Byte range of the `convert` node in the file.
    pub span: Range<usize>,
}

/// Scheduling decision of a `convert` item, such as `order h n`, with its location; it overrides the planner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertScheduleItem {
    /// Decision with its arguments.
    pub kind: ConvertScheduleKind,
    /// Byte range of the decision's node in the file.
    pub span: Range<usize>,
}

/// Scheduling decision of a `convert` item, which overrides the planner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConvertScheduleKind {
    /// `order h n`: names of the outermost loops, outermost first; a loop is named after its digit. Loops that are not
    /// named are inside these, in the planner's order.
    Order(Vec<Identifier>),
    /// `block 32 64`: two extents of a transpose tile, in values of a digit (a mixed-radix component of an index, such
    /// as `c % 4`). The first is along the fastest-varying digit of the destination, the second along that of the
    /// source.
    Block([i64; 2]),
    /// `inside blocks`: kernel that copies elements inside all loops.
    Inside(InnerKernel),
    /// `stores streaming`: streaming or ordinary stores to the destination.
    Stores(StorePolicy),
    /// `fill first`: strategy for writing the padding of the destination.
    Fill(FillStrategy),
}

/// Kernel that copies elements inside all loops of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InnerKernel {
    /// `blocks`: transposition of a two-dimensional tile of elements.
    Transpose,
    /// `runs`: copy of several contiguous runs of elements.
    CopyRuns,
    /// `elements`: copy of one element, or of one contiguous run.
    Elementwise,
}

/// Policy for the stores to the destination of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StorePolicy {
    /// `streaming`: streaming (non-temporal) stores, for any size of the tensor.
    Streaming,
    /// `cached`: ordinary stores, for any size of the tensor.
    Cached,
}

/// Strategy for filling the padding of a relayout's destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FillStrategy {
    /// `first`: fills the whole destination before the copy.
    WholeFirst,
    /// `borders`: fills the padding only.
    PaddingOnly,
}

impl InnerKernel {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Transpose, Self::CopyRuns, Self::Elementwise];

    /// Keyword of the kernel in a manifest.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Transpose => "blocks",
            Self::CopyRuns => "runs",
            Self::Elementwise => "elements",
        }
    }
}

impl StorePolicy {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Streaming, Self::Cached];

    /// Keyword of the policy in a manifest.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Cached => "cached",
        }
    }
}

impl FillStrategy {
    /// All values.
    pub const ALL: [Self; 2] = [Self::WholeFirst, Self::PaddingOnly];

    /// Keyword of the strategy in a manifest.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::WholeFirst => "first",
            Self::PaddingOnly => "borders",
        }
    }
}
