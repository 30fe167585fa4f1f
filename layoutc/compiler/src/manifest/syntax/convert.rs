//! Views and conversions.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, ShapeItem, SpannedText};
use crate::base::cast::CastMode;

/// `view input_x4 of=input dtype=f32x4`, `view q of=qkv { shape { … }; map "…" }`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ViewItem {
    /// The declared name.
    pub name: Identifier,
    /// The base: a tensor or a view.
    pub of: Identifier,
    /// The element type as written; the default is that of the base.
    pub dtype: Option<SpannedText>,
    /// The shape; required with a map.
    pub shape: Option<ShapeItem>,
    /// The layout; excludes a map.
    pub layout: Option<LayoutItem>,
    /// The index map from the view's axes to those of the base; excludes a layout.
    pub map: Option<SpannedText>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `convert input to=texture`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertItem {
    /// The source tensor.
    pub from: Identifier,
    /// The destination tensor.
    pub to: Identifier,
    /// The conversion of values that are out of range for the destination's element type.
    pub cast: Option<CastMode>,
    /// Maximum size of staging buffers in bytes, if devices exchange shards.
    pub max_staging: Option<IntegerExpr>,
    /// Overrides of the planner's choices, each kind at most once.
    pub choices: Vec<ConvertScheduleItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// One node in the block of a conversion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertScheduleItem {
    /// The choice.
    pub kind: ConvertScheduleKind,
    /// The span of the node.
    pub span: Range<usize>,
}

/// A choice that overrides the planner's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConvertScheduleKind {
    /// `order h n`: the loop order, outermost first.
    Order(Vec<Identifier>),
    /// `block 32 64`: tile extents along the destination's and the source's fastest digit.
    Block([i64; 2]),
    /// `inside blocks`
    Inside(InnerKernel),
    /// `stores streaming`
    Stores(StorePolicy),
    /// `fill first`
    Fill(FillStrategy),
}

/// Kernel inside all loops of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum InnerKernel {
    /// `blocks`: transpose of a tile.
    Transpose,
    /// `runs`: copy of contiguous runs.
    CopyRuns,
    /// `elements`: copy of one element, or of one run.
    Elementwise,
}

/// Store policy for the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StorePolicy {
    /// Streaming (non-temporal) stores, for any size.
    Streaming,
    /// Ordinary stores, for any size.
    Cached,
}

/// Strategy for filling padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FillStrategy {
    /// `first`: fills the whole destination before the copy.
    WholeFirst,
    /// `borders`: fills padding only.
    PaddingOnly,
}
