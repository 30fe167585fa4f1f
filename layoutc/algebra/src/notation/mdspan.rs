//! Layouts of C++ mdspan: `layout_right`, `layout_left`, `layout_stride<12, 1>`, `layout_right_padded<4>`.
//!
//! Source: C++23 and C++26, [mdspan.layout]. Padded layouts round the stride of the second fastest axis up to
//! a multiple; below rank 2 there is no padding. The size of the buffer is `required_span_size()`: it ends at
//! the last element.

use alloc::vec::Vec;

use super::{NotationError, NotationExtras, NotationFault, count_fault};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::expr::{BinOp, Expr, ExprError};
use crate::map::{IndexMap, identity};
use crate::text::cursor::Cursor;

/// Applies the axis order or the strides of an mdspan layout to the current axes of `builder`.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let mut cursor = Cursor::new(text.trim());
    let (name, span) = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let values = arguments(&mut cursor)?;
    match (name, values.as_slice()) {
        ("layout_right" | "layout_left", []) => {}
        ("layout_stride", values) => {
            if values.len() != builder.axes().len() {
                let axes = builder.axes();
                return Err(count_fault(values.len(), "stride", axes, 0..text.len()).into());
            }
            let strides: Vec<Expr> = values.iter().map(|(v, _)| Expr::constant(*v)).collect();
            builder.strides(&strides)?;
            return Ok(NotationExtras::default());
        }
        ("layout_right_padded" | "layout_left_padded", [(multiple, span)]) => {
            if *multiple == 0 {
                let message = "cannot pad to a multiple of 0";
                let fault = NotationFault::value(span.clone(), message);
                return Err(fault.help("write 1 or more").into());
            }
            let fastest = if name == "layout_right_padded" {
                UnitStrideAxis::Last
            } else {
                UnitStrideAxis::First
            };
            if builder.axes().len() > 1 {
                let strides = padded_strides(builder, fastest, *multiple)?;
                builder.strides(&strides)?;
                return Ok(NotationExtras::default());
            }
        }
        _ => {
            let message = "unknown layout of mdspan";
            let known = "expected layout_right, layout_left, layout_stride<…>, layout_right_padded<4> or layout_left_padded<4>";
            return Err(NotationFault::syntax(span, message).help(known).into());
        }
    }
    if name.starts_with("layout_left") {
        let IndexMap { mut items, separators } = identity(builder.axes());
        items.reverse();
        builder.apply(&IndexMap { items, separators })?;
    }
    Ok(NotationExtras::default())
}

/// Axis of a padded layout that has stride 1: the first axis for `layout_left_padded`, the last one for
/// `layout_right_padded`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnitStrideAxis {
    First,
    Last,
}

/// Strides of a padded layout in axis order, in elements. The axis `fastest` has stride 1. The axis next to it has the
/// extent of `fastest` as its stride, rounded up to a multiple of `multiple`. The stride of each further axis is
/// `stride * extent` of its neighbor toward `fastest`. `layout_left_padded<4>` of shape [3, 5, 2] has the strides 1, 4,
/// 20.
fn padded_strides(
    builder: &LayoutBuilder,
    fastest: UnitStrideAxis,
    multiple: i128,
) -> Result<Vec<Expr>, NotationError> {
    let facts = builder.facts();
    let mut extents: Vec<&Expr> = builder.axes().iter().map(|axis| &axis.extent).collect();
    if fastest == UnitStrideAxis::Last {
        extents.reverse();
    }
    let mut strides = alloc::vec![Expr::constant(1)];
    let mut next = None;
    for extent in extents.iter().take(extents.len().saturating_sub(1)) {
        let stride = match &next {
            None => rounded_up(extent, multiple)?,
            Some(stride) => Expr::binary(BinOp::Mul, stride, extent)?,
        };
        let stride = facts.simplify(&stride)?;
        strides.push(stride.clone());
        next = Some(stride);
    }
    if fastest == UnitStrideAxis::Last {
        strides.reverse();
    }
    Ok(strides)
}

/// Extent rounded up to a multiple: `(extent + multiple - 1) // multiple * multiple`.
fn rounded_up(extent: &Expr, multiple: i128) -> Result<Expr, ExprError> {
    let whole = Expr::constant(multiple);
    let up = Expr::binary(BinOp::Add, extent, &Expr::constant(multiple - 1))?;
    Expr::binary(BinOp::Mul, &Expr::binary(BinOp::FloorDiv, &up, &whole)?, &whole)
}

/// Number of axes that the mdspan layout `text` fixes: 2 for `layout_stride<12, 1>`; `None` for layouts that fit any
/// number.
pub(super) fn rank(text: &str) -> Result<Option<usize>, NotationFault> {
    let mut cursor = Cursor::new(text.trim());
    let (name, _) = cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
    let values = arguments(&mut cursor)?;
    Ok((name == "layout_stride").then_some(values.len()))
}

/// Parses optional template arguments such as `<12, 1>` up to the end of the text. Returns each number with its byte
/// range; empty if the text has no arguments.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<(i128, Span)>, NotationFault> {
    let mut values = Vec::new();
    if cursor.rest().starts_with("::") {
        let help = "leave the namespace out: `layout_right`";
        return Err(cursor.expected("the end of the text").help(help));
    }
    if cursor.eat("<") {
        loop {
            cursor.skip_blanks();
            values.push(cursor.expect_number("a number")?);
            cursor.skip_blanks();
            if cursor.eat(">") {
                break;
            }
            cursor.expect(",")?;
        }
    }
    cursor.expect_end()?;
    Ok(values)
}
