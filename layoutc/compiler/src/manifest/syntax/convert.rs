//! Memory seen in another way, and moved into another layout.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Bound, LayoutItem, Name, Shape, Text};
use crate::cast::Mode;

/// `view input_x4 of=input dtype=f32x4`, `view q of=qkv { shape { … }; map "…" }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ViewItem {
    /// The name.
    pub name: Name,
    /// The tensor, or the view, whose memory it sees.
    pub of: Name,
    /// The element type as written; without it, that of what it sees.
    pub dtype: Option<Text>,
    /// Its own shape; there is one where there is a map.
    pub shape: Option<Shape>,
    /// Its own layout.
    pub layout: Option<LayoutItem>,
    /// The map of a window, into the axes of what it sees; then there is no layout.
    pub map: Option<Text>,
    /// The node.
    pub span: Range<usize>,
}

/// `convert input to=texture`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConvertItem {
    /// The tensor that is read.
    pub from: Name,
    /// The tensor that is written.
    pub to: Name,
    /// How the element type changes.
    pub cast: Option<Mode>,
    /// The most bytes that copies on the way may take, where devices exchange their parts.
    pub max_staging: Option<Bound>,
    /// How it is to be done: each kind at most once.
    pub choices: Vec<ChoiceItem>,
    /// The node.
    pub span: Range<usize>,
}

/// What a conversion's block says of how it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChoiceItem {
    /// What is chosen.
    pub kind: ChoiceKind,
    /// The node.
    pub span: Range<usize>,
}

/// What is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChoiceKind {
    /// `order h n`: loops, outermost first.
    Order(Vec<Name>),
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
