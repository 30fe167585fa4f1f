//! einops' patterns, `b (c c16) h w -> b c h w c16` with the named size `c16=16`.
//!
//! Source: einops, rearrange. The left side splits the axes into named parts, and the right side combines the
//! parts to storage axes. Within a group such as `(c c16)` the first part is major, and at most one part has no
//! size. There is no padding: the product of the sizes divides the extent of the axis.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::blocks::{self, AxisBlock};
use super::{NotationError, NotationExtras, NotationFault, count_fault, shown};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::symbol::Axis;
use crate::text::cursor::Cursor;

/// Text of the ellipsis, which stands for all axes that the pattern does not name.
const REST: &str = "...";

/// Help for a part that occurs only on the right side of the pattern, or an ellipsis that occurs on only one side.
const BOTH_SIDES: &str = "write it on both sides, or on none";

/// Help for an ellipsis that occurs twice on one side.
const ONE_REST: &str = "write `...` once: it matches all axes that are not named";

/// Entry on one side of a pattern: one axis, or the ellipsis.
#[derive(Debug)]
enum EinopsAxis {
    /// Name and byte range of each part of one axis, major to minor, such as `c` or `(c c16)`; empty for `()` and `1`.
    /// A `...` within parentheses is a part of that name.
    Group(Vec<(String, Span)>),
    /// Ellipsis `...` outside of parentheses, which stands for all axes that are not named; its byte range.
    Ellipsis(Span),
}

/// Pairs `(name, blocks)`, one for each name on the left side of a pattern, in the order of the text. `blocks` are the
/// blocks of axes that the name stands for. A named part has one block. The ellipsis, whose name is `None`, has a block
/// for each axis that it matches.
type NamedBlocks = Vec<(Option<String>, Vec<AxisBlock>)>;

/// Applies the pattern `text` to the current axes of `builder` as one index map. `sizes` are the given sizes of parts,
/// such as `("c16", 16)`. A fault if `sizes` has a name that does not occur on the left side of the pattern. If
/// `sizes` has a name several times, the first entry is used.
pub(super) fn apply(
    text: &str,
    sizes: &[(String, i128)],
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let (left, right) = sides(text)?;
    let right_start = text.len() - right.len();
    let left = side(left, 0)?;
    let right_dims = side(right, right_start)?;
    for (name, _) in sizes {
        if names(&left).all(|(known, _)| known != name) {
            let message = format!("`{name}` has a size, but is not in the pattern");
            let help = format!("leave `{name}=` out, or write `{name}` on both sides");
            return Err(NotationFault::axes(0..text.len(), message).help(help).into());
        }
    }
    if let Some((_, span)) = names(&left).find(|(name, _)| name == REST) {
        let message = "`...` cannot be inside a group: it stands for whole axes";
        let fault = NotationFault::value(span.clone(), message);
        return Err(fault.help("write it outside of parentheses, or a name in its place").into());
    }
    let parts = decompose_axes(&left, sizes, builder.axes(), text.len())?;
    for (name, span) in names(&left) {
        if names(&right_dims).all(|(other, _)| other != name) {
            let message = format!("`{name}` occurs only on the left side");
            let fault = NotationFault::value(span.clone(), message);
            let part = parts.iter().find(|(known, _)| known.as_deref() == Some(name.as_str()));
            let axis = part.and_then(|(_, pieces)| builder.axes().get(pieces.first()?.axis));
            let help = if axis.is_some_and(|axis| axis.extent.as_const() == Some(1)) {
                format!("write `1` in place of `{name}`: its extent is 1")
            } else {
                format!("write `{name}` on the right side too, where it goes")
            };
            return Err(fault.help(help).into());
        }
    }
    let only_right = |name: &str, span: &Span| {
        let message = format!("`{name}` occurs only on the right side");
        NotationFault::value(span.clone(), message).help(BOTH_SIDES)
    };
    let mut dims = Vec::new();
    for dim in &right_dims {
        match dim {
            EinopsAxis::Ellipsis(span) => {
                let rest = parts.iter().find(|(name, _)| name.is_none());
                let Some((_, pieces)) = rest else {
                    return Err(only_right("...", span).into());
                };
                dims.extend(pieces.iter().map(|piece| alloc::vec![piece.clone()]));
            }
            EinopsAxis::Group(group) => {
                let mut pieces = Vec::new();
                for (name, span) in group {
                    let wanted = Some(name).filter(|name| name.as_str() != REST);
                    let part = parts.iter().find(|(known, _)| known.as_ref() == wanted);
                    let Some((_, own)) = part else {
                        return Err(only_right(name, span).into());
                    };
                    pieces.extend(own.iter().cloned());
                }
                dims.push(pieces);
            }
        }
    }
    let has_rest = |dims: &[EinopsAxis]| {
        let is_rest = |dim: &EinopsAxis| matches!(dim, EinopsAxis::Ellipsis(_));
        dims.iter().any(is_rest) || names(dims).any(|(name, _)| name == REST)
    };
    if has_rest(&left) && !has_rest(&right_dims) {
        let message = "`...` occurs only on the left side";
        let fault = NotationFault::value(right_start..text.len(), message);
        return Err(fault.help(BOTH_SIDES).into());
    }
    let map = blocks::map(&dims, builder.axes())?;
    builder.apply(&map)?;
    Ok(NotationExtras::default())
}

/// Logical axis that one entry on the left side of a pattern implies, such as `(c c16)`.
#[derive(Debug)]
pub(super) struct EinopsInput {
    /// Name of the axis. It is the name of the first part whose size is not given, or, if all sizes are given, of the
    /// first part: `c` for `(c c4)` with `c4=4`. It is `one` for an axis without parts, `()` or `1`.
    pub(super) name: String,
    /// Product of the given sizes of the parts of the axis, which divides its extent; 1 if no size is given, or if the
    /// product overflows or is below 1.
    pub(super) multiple: i128,
    /// True if every part has a given size, so that `multiple` is the extent of the axis.
    pub(super) is_whole: bool,
}

/// Logical axes that the left side of the pattern `text` implies, in order; `None` if it has an ellipsis and so
/// fits any number of axes. `sizes` are the given sizes of parts.
pub(super) fn axes(
    text: &str,
    sizes: &[(String, i128)],
) -> Result<Option<Vec<EinopsInput>>, NotationFault> {
    let (left, _) = sides(text)?;
    let mut axes = Vec::new();
    for dim in side(left, 0)? {
        let EinopsAxis::Group(group) = dim else { return Ok(None) };
        let size_of = |name: &str| sizes.iter().find(|(known, _)| known == name).map(|row| row.1);
        let known = group.iter().filter_map(|(name, _)| size_of(name));
        let multiple = known.into_iter().try_fold(1_i128, i128::checked_mul).unwrap_or(1).max(1);
        let unsized_part = group.iter().find(|(name, _)| size_of(name).is_none());
        let name = unsized_part.or(group.first()).map_or("one", |(name, _)| name.as_str());
        axes.push(EinopsInput {
            name: name.to_string(),
            multiple,
            is_whole: unsized_part.is_none(),
        });
    }
    Ok(Some(axes))
}

fn names(dims: &[EinopsAxis]) -> impl Iterator<Item = &(String, Span)> {
    dims.iter().flat_map(|dim| match dim {
        EinopsAxis::Group(group) => group.as_slice(),
        EinopsAxis::Ellipsis(_) => &[],
    })
}

/// Pair `(left, right)`: the texts before and after the `->` of the pattern `text`; a fault if there is no `->`.
fn sides(text: &str) -> Result<(&str, &str), NotationFault> {
    text.split_once("->").ok_or_else(|| {
        let message = "a pattern has two sides, with `->` between them";
        let fault = NotationFault::syntax(0..text.len(), message);
        match ["=>", "- >", "→"].into_iter().find(|arrow| text.contains(arrow)) {
            Some(arrow) => fault.help(format!("write `->` in place of `{arrow}`")),
            None => fault,
        }
    })
}

/// Parses one side of a pattern into its entries, in order. `start` is the byte offset of the side `text` in the
/// pattern, which is added to all byte ranges.
fn side(text: &str, start: usize) -> Result<Vec<EinopsAxis>, NotationFault> {
    let shift = |mut fault: NotationFault| {
        fault.span = fault.span.start + start..fault.span.end + start;
        fault
    };
    let mut cursor = Cursor::new(text);
    let mut dims = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    loop {
        cursor.skip_blanks();
        let at = cursor.at();
        let Some(c) = cursor.peek() else { return Ok(dims) };
        if cursor.eat("...") {
            if dims.iter().any(|dim| matches!(dim, EinopsAxis::Ellipsis(_))) {
                let fault = NotationFault::syntax(at..at + 3, "`...` occurs twice");
                return Err(shift(fault.help(ONE_REST)));
            }
            dims.push(EinopsAxis::Ellipsis(at + start..at + 3 + start));
        } else if c == '(' {
            cursor.next();
            let mut group = Vec::new();
            loop {
                cursor.skip_blanks();
                if cursor.eat(")") {
                    break;
                }
                if cursor.peek().is_none() {
                    let message = "this group never closes";
                    let fault = NotationFault::syntax(at..at + 1, message);
                    return Err(shift(fault.help("close it with `)`")));
                }
                if cursor.peek() == Some('(') {
                    let fault = cursor.expected("a name or `)`");
                    return Err(shift(fault.help("a group holds only names: `(a b c)`")));
                }
                let at = cursor.at();
                if cursor.eat(REST) {
                    group.push((String::from(REST), at..at + REST.len()));
                    continue;
                }
                group.extend(name(&mut cursor, &mut seen).map_err(shift)?);
            }
            let moved = |(name, span): (String, Span)| (name, span.start + start..span.end + start);
            dims.push(EinopsAxis::Group(group.into_iter().map(moved).collect()));
        } else {
            let name = name(&mut cursor, &mut seen).map_err(shift)?;
            let moved = |(name, span): (String, Span)| (name, span.start + start..span.end + start);
            dims.push(EinopsAxis::Group(name.into_iter().map(moved).collect()));
        }
    }
}

/// Parses the name of a part and adds it to `seen`, the earlier names on the same side of the pattern. Returns the name
/// with its byte range; `None` for a `1`, which has no name. A name that `seen` contains is a fault.
fn name(
    cursor: &mut Cursor<'_>,
    seen: &mut Vec<String>,
) -> Result<Option<(String, Span)>, NotationFault> {
    if let Some((value, span)) = cursor.number()? {
        if value == 1 {
            return Ok(None);
        }
        let message = format!("`{value}` is not a name; `1` is the only number allowed");
        let fault = NotationFault::syntax(span, message);
        return Err(
            fault.help(format!("give it a name, and pass its size separately: `c{value}={value}`"))
        );
    }
    let (name, span) = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() {
        let fault = cursor.expected("a name, `(`, `1` or `...`");
        return Err(match cursor.peek() {
            Some('*') => fault.help("write a product of parts as a group, without a sign: `(h w)`"),
            Some(',') => fault.help("separate names by blanks: `b c h w`"),
            Some(')') => fault.help("take it out, or open the group with `(`"),
            _ => fault,
        });
    }
    if seen.iter().any(|known| known == name) {
        let fault = NotationFault::value(span, format!("`{name}` occurs twice"));
        return Err(fault.help("give each part a name of its own, and write it once on each side"));
    }
    seen.push(name.to_string());
    Ok(Some((name.to_string(), span)))
}

/// Matches the entries `dims` of the left side with `axes`, in order, and returns the blocks of axes that each name
/// stands for: with `p=4`, `(h p)` gives `axis // 4` for `h` and `axis % 4` for `p`. `sizes` are the given sizes of
/// parts. `length` is the length of the pattern in bytes, for faults about the whole pattern.
///
/// A fault in these cases:
/// * The number of entries does not fit `axes`.
/// * A `1` or `()` stands for an axis whose extent is not 1.
/// * Several parts of an axis have no size.
/// * The product of the sizes does not divide the extent of the axis, or differs from it if all parts have a size.
/// * The size of a part other than the first of its group is symbolic.
fn decompose_axes(
    dims: &[EinopsAxis],
    sizes: &[(String, i128)],
    axes: &[Axis],
    length: usize,
) -> Result<NamedBlocks, NotationFault> {
    let single = dims.iter().filter(|dim| matches!(dim, EinopsAxis::Group(_))).count();
    let has_rest = single < dims.len();
    if single > axes.len() || (!has_rest && single < axes.len()) {
        let fault = count_fault(single, "part", axes, 0..length);
        let count = axes.len();
        let others = if single < count { "or `...` for the others" } else { "one for each axis" };
        return Err(fault.help(format!("write {count} parts on the left side, {others}")));
    }
    let mut parts = NamedBlocks::new();
    let mut at = 0;
    for dim in dims {
        match dim {
            EinopsAxis::Ellipsis(_) => {
                let count = axes.len() - single;
                parts.push((None, (at..at + count).map(AxisBlock::whole).collect()));
                at += count;
            }
            EinopsAxis::Group(group) => {
                if let Some(axis) = axes.get(at) {
                    decompose_group(group, at, axis, sizes, &mut parts, length)?;
                }
                at += 1;
            }
        }
    }
    Ok(parts)
}

fn decompose_group(
    group: &[(String, Span)],
    position: usize,
    axis: &Axis,
    sizes: &[(String, i128)],
    parts: &mut NamedBlocks,
    length: usize,
) -> Result<(), NotationFault> {
    let size_of = |name: &str| sizes.iter().find(|(known, _)| known == name).map(|(_, size)| *size);
    let span = match (group.first(), group.last()) {
        (Some((_, first)), Some((_, last))) => first.start..last.end,
        _ => 0..length,
    };
    let (name, extent) = (&axis.name, shown(axis));
    if group.is_empty() {
        if axis.extent.as_const() == Some(1) {
            return Ok(());
        }
        let message = format!("`1` stands for `{name}`, whose extent is {extent}");
        return Err(NotationFault::axes(span, message).help("write a name in its place"));
    }
    let unsized_parts = group.iter().filter(|(part, _)| size_of(part).is_none()).count();
    if unsized_parts > 1 {
        let message = format!("the parts of `{name}` have no sizes");
        let fault = NotationFault::axes(span, message);
        let (last, _) = group.last().cloned().unwrap_or_default();
        return Err(fault.help(format!("pass the sizes of all but one of them: `{last}=4`")));
    }
    let known = group.iter().filter_map(|(part, _)| size_of(part));
    let known = known.into_iter().try_fold(1_i128, i128::checked_mul).unwrap_or(0);
    let extent_value = axis.extent.as_const();
    let divides = known > 0 && extent_value.is_none_or(|extent| extent % known == 0);
    let fills = unsized_parts == 1 || extent_value == Some(known);
    if !(divides && fills) {
        let message =
            format!("the sizes do not divide `{name}`: it has {extent}, they are {known}");
        let fault = NotationFault::axes(span, message);
        return Err(fault.help("einops pads nothing; `split` and `tile` do"));
    }
    // From the minor end: the weight of a part needs the sizes of all parts after it.
    let rest = extent_value.map(|extent| extent / known);
    let mut div = Some(1_i128);
    let mut own = Vec::new();
    for (k, (part, part_span)) in group.iter().enumerate().rev() {
        let size = size_of(part).or(rest);
        let (Some(below), true) = (div, k == 0 || size.is_some()) else {
            let message = format!("the size of `{part}` is not known before run time");
            let fault = NotationFault::unsupported(part_span.clone(), message);
            return Err(fault.help("let the first part of the group be the one without a size"));
        };
        let modulus = if k == 0 { None } else { size };
        own.push((
            Some(part.clone()),
            alloc::vec![AxisBlock { axis: position, div: below, modulus }],
        ));
        div = size.and_then(|size| below.checked_mul(size));
    }
    own.reverse();
    parts.extend(own);
    Ok(())
}
