//! A step as one line of text, for comments and reports.

use crate::manifest::syntax::{
    FillLiteral, Identifier, IntegerExpr, IntegerLiteral, PaddingRule, SeparatorItem, StepItem,
    StepKind, SwizzleUnit, TileEntry,
};

pub(super) fn line(step: &StepItem) -> String {
    let bound = |bound: &IntegerExpr| match bound {
        IntegerExpr::Integer(number) => number.value.to_string(),
        IntegerExpr::Text(text) => text.value.clone(),
    };
    let names =
        |names: &[Identifier]| names.iter().map(|n| n.value.as_str()).collect::<Vec<_>>().join(" ");
    let bounds = |all: &[IntegerExpr]| all.iter().map(bound).collect::<Vec<_>>().join(" ");
    match &step.kind {
        StepKind::Map(text) => format!("map \"{}\"", text.value),
        StepKind::Apply { name, .. } => format!("apply {}", name.value),
        StepKind::Order(words) => {
            format!(
                "order {}",
                words.iter().map(|w| w.value.as_str()).collect::<Vec<_>>().join(" ")
            )
        }
        StepKind::Split { axis, by, .. } => format!("split {} by=\"{}\"", axis.value, bounds(by)),
        StepKind::Fuse { axes, .. } => format!("fuse {}", names(axes)),
        StepKind::Tile { entries, .. } => {
            let entry = |entry: &TileEntry| match entry {
                TileEntry::Star(_) => "*".to_string(),
                TileEntry::Extent(extent) => bound(extent),
            };
            format!("tile {}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
        }
        StepKind::PadMultiple { axis, multiple } => {
            format!("pad {} multiple={}", axis.value, bound(multiple))
        }
        StepKind::PadBeforeAfter { axis, before, after } => {
            let side = |name: &str, side: &Option<IntegerExpr>| {
                side.as_ref().map_or(String::new(), |side| format!(" {name}={}", bound(side)))
            };
            format!("pad {}{}{}", axis.value, side("before", before), side("after", after))
        }
        StepKind::Foreign { notation, text, sizes } => {
            let size = |(name, size): &(Identifier, IntegerLiteral)| {
                format!(" {}={}", name.value, size.value)
            };
            let sizes: String = sizes.iter().map(size).collect();
            format!("notation {notation}=\"{}\"{sizes}", text.value)
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
        StepKind::Strides(strides) => format!("strides {}", bounds(strides)),
        StepKind::AlignBase(bytes) => format!("align {}", bound(bytes)),
        StepKind::AlignAxis { axis, bytes } => format!("align {} {}", axis.value, bound(bytes)),
        StepKind::AlignOrigin(bytes) => format!("align {} at=origin", bound(bytes)),
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
            format!("axis-separators {}", items.iter().map(item).collect::<Vec<_>>().join(" "))
        }
    }
}
