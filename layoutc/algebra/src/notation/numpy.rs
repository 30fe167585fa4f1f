//! Axis orders and strides of `NumPy`: `C`, `F`, or `(48, 4, 16)` in bytes.
//!
//! Source: `NumPy`, ndarray.strides; `DLPack` has the same strides in elements. Strides must be multiples of the
//! element size, and not negative, because elements with a negative stride precede the first element.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{NotationError, NotationExtras, NotationFault, count_fault};
use crate::builder::LayoutBuilder;
use crate::expr::Expr;
use crate::expr::parse::Span;
use crate::map::{IndexMap, identity};
use crate::text::cursor::Cursor;

/// Applies the row-major order `C`, the column-major order `F`, or strides in bytes to the current axes of
/// `builder`.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    match text.trim() {
        "C" => {}
        "F" => {
            let IndexMap { mut items, separators } = identity(builder.axes());
            items.reverse();
            builder.apply(&IndexMap { items, separators })?;
        }
        _ => {
            let strides = elements(&parse(text)?, builder.element_bits())?;
            if strides.len() != builder.axes().len() {
                let fault = count_fault(strides.len(), "stride", builder.axes(), 0..text.len());
                return Err(fault.into());
            }
            builder.strides(&strides)?;
        }
    }
    Ok(NotationExtras::default())
}

/// Number of axes that the text requires: 3 for `(48, 4, 16)`; `None` for `C` and `F`, which fit any number.
pub(super) fn rank(text: &str) -> Result<Option<usize>, NotationFault> {
    match text.trim() {
        "C" | "F" => Ok(None),
        _ => Ok(Some(parse(text)?.len())),
    }
}

/// Parses a tuple of strides in bytes, such as `(48, 4, 16)`. Each stride has its byte range in the text.
fn parse(text: &str) -> Result<Vec<(i128, Span)>, NotationFault> {
    let mut cursor = Cursor::new(text);
    let mut strides = Vec::new();
    cursor.skip_blanks();
    cursor.expect("(").map_err(|fault| fault.help("write `C`, `F` or strides: `(48, 4, 16)`"))?;
    cursor.skip_blanks();
    while !cursor.eat(")") {
        if cursor.peek() == Some('-') {
            let at = cursor.at();
            let message = "a stride below 0 runs backwards";
            let fault = NotationFault::unsupported(at..at + 1, message);
            return Err(fault.help("write the map: `map \"(i) -> (extent - 1 - i)\"`"));
        }
        strides.push(cursor.expect_number("a stride in bytes")?);
        cursor.skip_blanks();
        if cursor.eat(",") {
            cursor.skip_blanks();
        } else if cursor.peek() != Some(')') {
            return Err(cursor.expected("`,` or `)`"));
        }
    }
    cursor.skip_blanks();
    cursor.expect_end()?;
    Ok(strides)
}

fn elements(strides: &[(i128, Span)], element_bits: u32) -> Result<Vec<Expr>, NotationFault> {
    let bits = i128::from(element_bits.max(1));
    let mut elements = Vec::new();
    for (stride, span) in strides {
        if (stride * 8) % bits != 0 {
            let bytes = if *stride == 1 { "byte is" } else { "bytes are" };
            let message = format!("{stride} {bytes} no whole number of elements of {bits} bits");
            let fault = NotationFault::value(span.clone(), message);
            let own: Option<Vec<String>> = strides
                .iter()
                .map(|(stride, _)| Some((stride.checked_mul(bits)? / 8).to_string()))
                .collect();
            return Err(match own.filter(|_| bits % 8 == 0) {
                Some(own) => fault.help(format!(
                    "strides count bytes; if these count elements, write `({})`",
                    own.join(", ")
                )),
                None => fault.help("write strides in bytes, each of whole elements"),
            });
        }
        elements.push(Expr::constant(stride * 8 / bits));
    }
    Ok(elements)
}
