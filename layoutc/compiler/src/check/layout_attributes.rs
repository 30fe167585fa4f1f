//! Attributes that the steps of a layout set, and the texts that diagnostics of it point into.

use std::sync::Arc;

use layoutc_algebra::expr::parse::MapText;
use layoutc_algebra::map::IndexMap;
use layoutc_algebra::notation::{Notation, Remark};

use super::injectivity_report;
use super::strides::StrideSource;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{FillItem, PaddingRule, SpannedText};

/// A map as applied, for diagnostics that point into it.
#[derive(Debug, Clone)]
pub(super) struct AppliedMap {
    pub(super) file: Arc<str>,
    pub(super) text: SpannedText,
    pub(super) parsed: MapText,
    pub(super) map: IndexMap,
    /// True if its axes are the logical ones.
    pub(super) direct: bool,
    /// True if it is the layout's only map.
    pub(super) only: bool,
    /// True if it is in the layout itself: a transform may be applied elsewhere with other parameters.
    pub(super) is_own: bool,
}

/// A text in a foreign notation, for diagnostics that point into it.
#[derive(Debug, Clone)]
pub(super) struct ForeignText {
    pub(super) notation: Notation,
    /// Location of the text, without quotes.
    pub(super) place: FileSpan,
    /// The axis names of the text; empty if it has none.
    pub(super) names: Vec<String>,
}

/// Attributes that the steps set besides the map.
#[derive(Debug, Default)]
pub(super) struct LayoutAttributes {
    pub(super) alignment: Option<u64>,
    /// Base alignment that a swizzle requires, in bytes; 0 without one.
    pub(super) swizzle_alignment: u64,
    pub(super) fill: Option<(FillItem, Arc<str>)>,
    pub(super) padding: Option<(PaddingRule, FileSpan)>,
    /// Deviations from the tool that defines a foreign notation.
    pub(super) remarks: Vec<(FileSpan, Remark)>,
    /// Number of XLA's memory space.
    pub(super) memory_space: Option<(FileSpan, i128)>,
    pub(super) map: Option<AppliedMap>,
    /// The source of the strides, if any.
    pub(super) strides: Option<StrideSource>,
    pub(super) foreign: Option<ForeignText>,
    /// Location of the last separator: the node, or the bar of a map.
    pub(super) separators: Option<FileSpan>,
    /// One line of text per step, with transforms expanded.
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
            && let Some(help) = injectivity_report::one_divisor(site)
        {
            warning.help =
                vec![format!("write `padding allow` if it is intended; otherwise {help}")];
        }
        warning
    }
}
