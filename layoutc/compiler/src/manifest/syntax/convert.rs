//! Views and conversions.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, ShapeItem, SpannedText};
use crate::base::cast::CastMode;

/// `view input_x4 of=input dtype=f32x4`, `view q of=qkv { shape { … }; map "…" }`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewItem {
    /// Name that the view declares.
    pub name: Identifier,
    /// Name of the view's base: a tensor or a view.
    pub of: Identifier,
    /// Element type of the view as written; `None`: that of the base.
    pub dtype: Option<SpannedText>,
    /// Shape of the view; required with a map.
    pub shape: Option<ShapeItem>,
    /// Layout of the view over the base's memory; excludes a map.
    pub layout: Option<LayoutItem>,
    /// Index map from the axes of the view to those of the base; excludes a layout.
    pub map: Option<SpannedText>,
    /// Byte range of the `view` node in the file.
    pub span: Range<usize>,
}

/// Item `convert input to=texture`: copies the elements of one tensor into the layout of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertItem {
    /// Name of the source tensor.
    pub from: Identifier,
    /// Name of the destination tensor.
    pub to: Identifier,
    /// Treatment of values that are out of range for the destination's element type; `None`: the default.
    pub cast: Option<CastMode>,
    /// Maximum size of the staging buffers in bytes, if devices exchange shards; `None`: no limit.
    pub max_staging: Option<IntegerExpr>,
    /// Choices that override the planner's, each kind at most once.
    pub choices: Vec<ConvertScheduleItem>,
    /// Byte range of the `convert` node in the file.
    pub span: Range<usize>,
}

/// Choice of a conversion that overrides the planner's, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertScheduleItem {
    /// Choice with its arguments.
    pub kind: ConvertScheduleKind,
    /// Byte range of the choice's node in the file.
    pub span: Range<usize>,
}

/// Choice of a conversion that overrides the planner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConvertScheduleKind {
    /// `order h n`: order of the loops, outermost first.
    Order(Vec<Identifier>),
    /// `block 32 64`: extents of a transposed block along the destination's and the source's fastest digit, in values
    /// of the digit.
    Block([i64; 2]),
    /// `inside blocks`: kernel that moves elements inside all loops.
    Inside(InnerKernel),
    /// `stores streaming`: policy for streaming stores.
    Stores(StorePolicy),
    /// `fill first`: strategy for filling padding.
    Fill(FillStrategy),
}

/// Kernel that moves elements inside all loops of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InnerKernel {
    /// `blocks`: transposition of a block of elements.
    Transpose,
    /// `runs`: copy of several contiguous runs.
    CopyRuns,
    /// `elements`: copy of one element, or of one contiguous run.
    Elementwise,
}

/// Policy for the stores to the destination of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StorePolicy {
    /// `streaming`: streaming (non-temporal) stores, for any size of the move.
    Streaming,
    /// `cached`: ordinary stores, for any size of the move.
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
