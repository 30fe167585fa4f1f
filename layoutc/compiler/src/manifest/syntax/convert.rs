//! Memory seen in another way, and moved into another layout.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, ShapeItem, SpannedText};
use crate::cast::CastMode;

/// `view input_x4 of=input dtype=f32x4`, `view q of=qkv { shape { … }; map "…" }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewItem {
    /// The name.
    pub name: Identifier,
    /// The tensor, or the view, whose memory it sees.
    pub of: Identifier,
    /// The element type as written; without it, that of what it sees.
    pub dtype: Option<SpannedText>,
    /// Its own shape; there is one where there is a map.
    pub shape: Option<ShapeItem>,
    /// Its own layout.
    pub layout: Option<LayoutItem>,
    /// The map of a window, into the axes of what it sees; then there is no layout.
    pub map: Option<SpannedText>,
    /// The node.
    pub span: Range<usize>,
}

/// `convert input to=texture`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertItem {
    /// The tensor that is read.
    pub from: Identifier,
    /// The tensor that is written.
    pub to: Identifier,
    /// How the element type changes.
    pub cast: Option<CastMode>,
    /// The most bytes that copies on the way may take, where devices exchange their parts.
    pub max_staging: Option<IntegerExpr>,
    /// How it is to be done: each kind at most once.
    pub choices: Vec<ConvertScheduleItem>,
    /// The node.
    pub span: Range<usize>,
}

/// What a conversion's block says of how it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertScheduleItem {
    /// What is chosen.
    pub kind: ConvertScheduleKind,
    /// The node.
    pub span: Range<usize>,
}

/// What is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConvertScheduleKind {
    /// `order h n`: loops, outermost first.
    Order(Vec<Identifier>),
    /// `block 32 64`: values of the destination's fastest digit, and of the source's.
    Block([i64; 2]),
    /// `inside blocks`
    InsideBlocks,
    /// `inside runs`
    InsideRuns,
    /// `inside elements`
    InsideElements,
    /// `stores streaming`
    StoresStreaming,
    /// `stores cached`
    StoresCached,
    /// `fill first`
    FillFirst,
    /// `fill borders`
    FillBorders,
}
