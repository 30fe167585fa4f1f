//! Attributes of a layout that its steps set in addition to its index map, such as an alignment. The texts that
//! diagnostics of the layout are located at are kept with them.

use std::sync::Arc;

use layoutc_algebra::expr::parse::MapText;
use layoutc_algebra::map::IndexMap;
use layoutc_algebra::notation::{Notation, Remark};

use super::map_suggestion;
use super::strides::StrideSource;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{FillItem, PaddingRule, SpannedText};

/// Map that a layout applied: its text, for locations in diagnostics, its syntax tree, and the resolved index map.
#[derive(Debug, Clone)]
pub(super) struct AppliedMap {
    pub(super) file: Arc<str>,
    pub(super) text: SpannedText,
    pub(super) parsed: MapText,
    pub(super) map: IndexMap,
    /// True if the map is the first of the layout, and the axes before it are the logical axes of the tensor.
    pub(super) direct: bool,
    /// True if the map is the only one of the layout.
    pub(super) only: bool,
    /// True if the text of the map is in the layout itself; false if it is in a transform, which other layouts may
    /// apply with other parameters.
    pub(super) is_own: bool,
}

/// Text of a layout in a foreign notation (that of another tool), for locations in diagnostics.
#[derive(Debug, Clone)]
pub(super) struct ForeignText {
    pub(super) notation: Notation,
    /// Span of the text in the manifest, without quotes.
    pub(super) place: FileSpan,
    /// Axis names that the text itself gives, in order; empty if it gives none.
    pub(super) names: Vec<String>,
}

/// Attributes of a layout that its steps set, such as the alignment, with the texts that diagnostics of the layout are
/// located at.
#[derive(Debug, Default)]
pub(super) struct LayoutAttributes {
    pub(super) alignment: Option<u64>,
    /// Base alignment that a `swizzle mode=` requires, in bytes; 0 without one.
    pub(super) swizzle_alignment: u64,
    pub(super) fill: Option<(FillItem, Arc<str>)>,
    pub(super) padding: Option<(PaddingRule, FileSpan)>,
    /// Pairs `(span, remark)`: `remark` states where layoutc deviates from the tool that defines the foreign notation
    /// of the text at `span`.
    pub(super) remarks: Vec<(FileSpan, Remark)>,
    /// Number of the memory space `S(n)` in an XLA layout text, with its span; `None` if there is none.
    pub(super) memory_space: Option<(FileSpan, i128)>,
    pub(super) map: Option<AppliedMap>,
    /// Explicit strides, with their location; `None` if no step gives strides, or only a foreign notation in a
    /// transform.
    pub(super) strides: Option<StrideSource>,
    pub(super) foreign: Option<ForeignText>,
    /// Span of the last step `axis-separators`, or of the last `|` in a map if that comes later; `None` if the layout
    /// has neither.
    pub(super) separators: Option<FileSpan>,
    /// Text of each step, one line for each; transforms are replaced by their steps.
    pub(super) lines: Vec<String>,
}

impl LayoutAttributes {
    /// Padding warning `warning` with help on a probable mistake in the layout. For strides that look like byte
    /// strides, a help line with the strides in elements is inserted first. For padding that no step explains and a map
    /// of the layout itself with a quotient and a remainder by different divisors, as `c // 4, c % 3`, the help is
    /// replaced. Unchanged if the layout has neither.
    pub(super) fn with_literal_help(&self, mut warning: Diagnostic) -> Diagnostic {
        if let Some(text) = self.strides.as_ref().and_then(|strides| strides.bytes.as_ref()) {
            warning
                .help
                .insert(0, format!("strides count elements: write `{text}` if these count bytes"));
        }
        if warning.code == Code::PaddingUnexplained
            && let Some(site) = self.map.as_ref().filter(|site| site.is_own)
            && let Some(help) = map_suggestion::one_divisor(site)
        {
            warning.help =
                vec![format!("write `padding allow` if it is intended; otherwise {help}")];
        }
        warning
    }
}
