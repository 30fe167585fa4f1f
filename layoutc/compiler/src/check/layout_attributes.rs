//! Attributes that the steps of a layout set, and the texts that diagnostics of it point into.

use std::sync::Arc;

use layoutc_algebra::expr::parse::MapText;
use layoutc_algebra::map::IndexMap;
use layoutc_algebra::notation::{Notation, Remark};

use super::map_suggestion;
use super::strides::StrideSource;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{FillItem, PaddingRule, SpannedText};

/// Map of a layout, as it was applied, for diagnostics that point into its text.
#[derive(Debug, Clone)]
pub(super) struct AppliedMap {
    pub(super) file: Arc<str>,
    pub(super) text: SpannedText,
    pub(super) parsed: MapText,
    pub(super) map: IndexMap,
    /// True if the axes of the map are the tensor's logical axes, so that no step precedes it.
    pub(super) direct: bool,
    /// True if the map is the only one of the layout.
    pub(super) only: bool,
    /// True if the map is written in the layout itself, not in a transform, which other layouts may apply with other
    /// parameters.
    pub(super) is_own: bool,
}

/// Text of a layout in a foreign notation, for diagnostics that point into it.
#[derive(Debug, Clone)]
pub(super) struct ForeignText {
    pub(super) notation: Notation,
    /// Span of the text in the manifest, without quotes.
    pub(super) place: FileSpan,
    /// Names of the axes in the text; empty if it names none.
    pub(super) names: Vec<String>,
}

/// Attributes of a layout that its steps set besides the map.
#[derive(Debug, Default)]
pub(super) struct LayoutAttributes {
    pub(super) alignment: Option<u64>,
    /// Base alignment that a swizzle requires, in bytes; 0 without a swizzle.
    pub(super) swizzle_alignment: u64,
    pub(super) fill: Option<(FillItem, Arc<str>)>,
    pub(super) padding: Option<(PaddingRule, FileSpan)>,
    /// Remarks on deviations from the tool that defines a foreign notation, each with its span.
    pub(super) remarks: Vec<(FileSpan, Remark)>,
    /// XLA's number of the memory space that a text gives, with its span; `None` if it gives none.
    pub(super) memory_space: Option<(FileSpan, i128)>,
    pub(super) map: Option<AppliedMap>,
    /// Strides as they are written; `None` if no step gives strides.
    pub(super) strides: Option<StrideSource>,
    pub(super) foreign: Option<ForeignText>,
    /// Span of the last axis separator: that of its node, or of the bar in a map; `None` without separators.
    pub(super) separators: Option<FileSpan>,
    /// Text of each step, one line per step, with transforms expanded.
    pub(super) lines: Vec<String>,
}

impl LayoutAttributes {
    /// A warning about padding, with the mistake that probably caused it and its literal fix.
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
