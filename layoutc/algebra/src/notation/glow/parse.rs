//! Parser of Glow layout strings, to a [`GlowLayout`] or to axes with byte ranges.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::NotationFault;
use super::layout::{GlowAxis, GlowExtension, GlowLayout};
use crate::expr::parse::Span;
use crate::text::cursor::Cursor;

/// Maximum rank of tensors in Glow; a layout string with more axes is a fault.
pub(in crate::notation) const MAX_DIMS: usize = 6;

/// Axis of a layout string, with the byte ranges of its parts.
#[derive(Debug)]
pub(super) struct SpannedAxis {
    pub(super) dim: GlowAxis,
    /// Byte range of the letter in the text.
    pub(super) span: Span,
    /// Byte ranges of the attributes in the text, brackets included.
    pub(super) attributes: Vec<Span>,
    /// True if the text contains an alignment `[a=…]` for the axis, even of 1.
    is_aligned: bool,
}

/// Parses a Glow layout string.
///
/// # Errors
/// [`NotationFault`]: the first fault of the text, with its span.
pub fn parse(text: &str) -> Result<GlowLayout, NotationFault> {
    let dims = read(text)?.into_iter().map(|placed| placed.dim).collect();
    Ok(GlowLayout { dims })
}

/// Parses the axes of a layout string, in order. Each axis has the byte ranges of its letter and its attributes.
pub(super) fn read(text: &str) -> Result<Vec<SpannedAxis>, NotationFault> {
    let syntax = |span, message: String| NotationFault::syntax(span, message);
    let mut cursor = Cursor::new(text);
    let mut dims: Vec<SpannedAxis> = Vec::new();
    loop {
        cursor.take_while(|c| c == ' ' || c == '\t');
        let at = cursor.at();
        match cursor.peek() {
            None => return Ok(dims),
            Some('[') => match dims.last_mut() {
                Some(dim) => extension(&mut cursor, dim)?,
                None => {
                    return Err(syntax(at..at + 1, "an extension must follow its axis".into()));
                }
            },
            Some(c) if c.is_ascii_alphabetic() || c == '*' => {
                cursor.next();
                let span = at..cursor.at();
                if dims.len() == MAX_DIMS {
                    let message = format!("a string has {MAX_DIMS} axes at most");
                    let fault = NotationFault::value(span, message);
                    return Err(fault.help("write the layout as a `map`, or in another notation"));
                }
                let (dim, attributes) = (GlowAxis::new(c), Vec::new());
                dims.push(SpannedAxis { dim, span, attributes, is_aligned: false });
            }
            Some(c) => {
                let fault = cursor.expected("a letter, `*` or `[`");
                let is_block = c.is_ascii_digit() && !dims.is_empty();
                return Err(if is_block {
                    fault.help("blocks like `16c` are TVM's: write `tvm=\"…\"`")
                } else {
                    fault
                });
            }
        }
    }
}

/// Parses an extension `[a=32]` or `[name:value]` at the read position, and adds it to `placed`, the axis before
/// it. A second alignment or a second attribute of one name is a fault.
fn extension(cursor: &mut Cursor<'_>, placed: &mut SpannedAxis) -> Result<(), NotationFault> {
    let start = cursor.at();
    cursor.next();
    let Some(end) = cursor.rest().find(']') else {
        let message = "the bracket is not closed";
        return Err(NotationFault::syntax(start..start + 1, message));
    };
    let body = cursor.rest().get(..end).unwrap_or_default();
    let first = cursor.at();
    if body.is_empty() {
        let message = "the extension is empty";
        return Err(NotationFault::syntax(first..first + 1, message));
    }
    if let Some((name, value)) = body.split_once(':') {
        if name.is_empty() {
            let message = "the extension has no name before its `:`";
            return Err(NotationFault::syntax(first..first + 1, message));
        }
        let span = start..first + end + 1;
        if placed.dim.attribute(name).is_some() {
            let message = format!("`{name}` occurs twice at this axis");
            let fault = NotationFault::value(first..first + name.len(), message);
            return Err(fault.help("leave one of the two out"));
        }
        let (name, value) = (name.to_string(), value.to_string());
        placed.dim.extensions.push(GlowExtension::Attribute { name, value });
        placed.attributes.push(span);
        cursor.eat(body);
        return cursor.expect("]");
    }
    if !cursor.eat("a=") {
        let message = format!("unknown extension `[{body}]`");
        let fault = NotationFault::syntax(first..first + body.len(), message);
        return Err(fault.help("expected `[a=32]`, an alignment in bytes, or `[name:value]`"));
    }
    if placed.is_aligned {
        let message = "the alignment occurs twice at this axis";
        let fault = NotationFault::value(start..first + end + 1, message);
        return Err(fault.help("leave one of the two out"));
    }
    placed.is_aligned = true;
    let (digits, span) = cursor.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() {
        return Err(cursor.expected("a number of bytes"));
    }
    cursor.expect("]")?;
    match digits.parse() {
        Ok(0) => Err(NotationFault::value(span, "nothing is a multiple of 0")
            .help("write 1 or more, or leave `[a=0]` out")),
        Ok(1) => Ok(()),
        Ok(bytes) => {
            placed.dim.extensions.push(GlowExtension::Align { bytes });
            Ok(())
        }
        Err(_) => Err(NotationFault::value(span, "the number does not fit 64 bits")
            .help("write a smaller number")),
    }
}
