//! Text of a layout step in one line, for comments and reports.

use crate::manifest::syntax::{
    FillLiteral, Identifier, IntegerExpr, IntegerLiteral, PaddingRule, SeparatorItem, StepItem,
    StepKind, SwizzleUnit, TileEntry,
};

/// Text of an integer in decimal, or of an expression as in the manifest.
pub(super) fn integer(integer: &IntegerExpr) -> String {
    match integer {
        IntegerExpr::Integer(number) => number.value.to_string(),
        IntegerExpr::Text(text) => text.value.clone(),
    }
}

fn spaced<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// Text of a step as a line of a manifest: `split c by="4"`. Arguments of `apply` and names of new axes are left out.
pub(super) fn line(step: &StepItem) -> String {
    match &step.kind {
        StepKind::Map(text) => format!("map \"{}\"", text.value),
        StepKind::Apply { name, .. } => format!("apply {}", name.value),
        StepKind::Order(words) => format!("order {}", spaced(words, |word| word.value.clone())),
        StepKind::Split { axis, by, .. } => {
            format!("split {} by=\"{}\"", axis.value, spaced(by, integer))
        }
        StepKind::Fuse { axes, .. } => format!("fuse {}", spaced(axes, |axis| axis.value.clone())),
        StepKind::Tile { entries, .. } => {
            let entry = |entry: &TileEntry| match entry {
                TileEntry::Star(_) => "*".to_string(),
                TileEntry::Extent(extent) => integer(extent),
            };
            format!("tile {}", spaced(entries, entry))
        }
        StepKind::PadMultiple { axis, multiple } => {
            format!("pad {} multiple={}", axis.value, integer(multiple))
        }
        StepKind::PadBeforeAfter { axis, before, after } => {
            let side = |name: &str, side: &Option<IntegerExpr>| {
                side.as_ref().map_or(String::new(), |side| format!(" {name}={}", integer(side)))
            };
            format!("pad {}{}{}", axis.value, side("before", before), side("after", after))
        }
        StepKind::Notation { notation, text, sizes } => {
            let size = |(name, size): &(Identifier, IntegerLiteral)| {
                format!(" {}={}", name.value, size.value)
            };
            let sizes: String = sizes.iter().map(size).collect();
            format!("notation {}=\"{}\"{sizes}", notation.word(), text.value)
        }
        StepKind::Swizzle { bits, base, shift, unit } => {
            let unit = match unit {
                SwizzleUnit::Bytes => "bytes",
                SwizzleUnit::Elements => "elements",
            };
            let (bits, base, shift) = (bits.value, base.value, shift.value);
            format!("swizzle {bits} {base} {shift} unit={unit}")
        }
        StepKind::SwizzleMode(row) => format!("swizzle mode=\"{}B\"", row.value),
        StepKind::SwizzleAuto(_) => "swizzle auto".to_owned(),
        StepKind::Strides(strides) => format!("strides {}", spaced(strides, integer)),
        StepKind::AlignBase(bytes) => format!("align {}", integer(bytes)),
        StepKind::AlignAxis { axis, bytes } => format!("align {} {}", axis.value, integer(bytes)),
        StepKind::AlignOrigin(bytes) => format!("align {} at=origin", integer(bytes)),
        StepKind::Fill(item) => match item.value {
            FillLiteral::Integer(value) => format!("fill {value}"),
            FillLiteral::Float(value) => format!("fill {value:?}"),
            FillLiteral::Bool(value) => format!("fill #{value}"),
            FillLiteral::Nothing => "fill none".to_string(),
        },
        StepKind::Padding(PaddingRule::Forbid) => "padding forbid".to_string(),
        StepKind::Padding(PaddingRule::Allow) => "padding allow".to_string(),
        StepKind::Separators(items) => {
            let item = |item: &SeparatorItem| match item {
                SeparatorItem::Name(name) => name.value.clone(),
                SeparatorItem::Position(number) => number.value.to_string(),
            };
            format!("axis-separators {}", spaced(items, item))
        }
    }
}
