//! Glow's layout strings: `N[a=32]HWC`, `*`, `C[ns:anything]`.
//!
//! Source: Glow, `TensorLayout`: a letter for each axis, major to minor; `[a=32]` makes every step along the axis a
//! multiple of 32 bytes; `[name:value]` is somebody else's and kept as it is. Glow aborts on a bad text, or takes it;
//! here each has its place. `*` is any axis: the one at its place.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::cursor::Cursor;
use super::{Fault, FaultKind, NotationError, Said, bind_letters, count_fault};
use crate::build::Builder;
use crate::map::{IndexMap, identity};
use crate::parse::Span;

/// Glow's tensors have no more axes.
const MAX_DIMS: usize = 6;

/// One axis of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dim {
    /// A letter, or `*`.
    pub letter: char,
    /// Every step along the axis is a multiple of so many bytes; 1 if nothing is said.
    pub align: u64,
    /// What belongs to others: name and value.
    pub namespaces: Vec<(String, String)>,
    /// The letter's place in the text.
    pub span: Span,
    /// Whether `[a=…]` stands there.
    is_aligned: bool,
    /// The places of what belongs to others.
    boxes: Vec<Span>,
}

/// The axes of a string.
///
/// # Errors
/// [`Fault`] with the first byte at fault.
pub fn parse(text: &str) -> Result<Vec<Dim>, Fault> {
    let syntax = |span, message: String| Fault::new(FaultKind::Syntax, span, message);
    let mut cursor = Cursor::new(text);
    let mut dims: Vec<Dim> = Vec::new();
    loop {
        cursor.take_while(|c| c == ' ' || c == '\t');
        let at = cursor.at();
        match cursor.peek() {
            None => return Ok(dims),
            Some('[') => match dims.last_mut() {
                Some(dim) => extension(&mut cursor, dim)?,
                None => {
                    return Err(syntax(at..at + 1, "an extension stands before its axis".into()));
                }
            },
            Some(c) if c.is_ascii_alphabetic() || c == '*' => {
                cursor.next();
                let span = at..cursor.at();
                if dims.len() == MAX_DIMS {
                    let message = format!("a string has {MAX_DIMS} axes at most");
                    return Err(Fault::new(FaultKind::Value, span, message));
                }
                let (namespaces, boxes) = (Vec::new(), Vec::new());
                let is_aligned = false;
                dims.push(Dim { letter: c, align: 1, namespaces, span, is_aligned, boxes });
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

/// `[a=32]` or `[name:value]`.
fn extension(cursor: &mut Cursor<'_>, dim: &mut Dim) -> Result<(), Fault> {
    let start = cursor.at();
    cursor.next();
    let Some(end) = cursor.rest().find(']') else {
        let message = "the bracket is not closed";
        return Err(Fault::new(FaultKind::Syntax, start..start + 1, message));
    };
    let body = cursor.rest().get(..end).unwrap_or_default();
    let first = cursor.at();
    if body.is_empty() {
        let message = "the extension is empty";
        return Err(Fault::new(FaultKind::Syntax, first..first + 1, message));
    }
    if let Some((name, value)) = body.split_once(':') {
        if name.is_empty() {
            let message = "the extension has no name before its `:`";
            return Err(Fault::new(FaultKind::Syntax, first..first + 1, message));
        }
        let span = start..first + end + 1;
        if dim.namespaces.iter().any(|(known, _)| known == name) {
            let message = format!("`{name}` stands twice at this axis");
            return Err(Fault::new(FaultKind::Value, first..first + name.len(), message));
        }
        dim.namespaces.push((name.to_string(), value.to_string()));
        dim.boxes.push(span);
        cursor.eat(body);
        return cursor.expect("]");
    }
    if !cursor.eat("a=") {
        let message = format!("`[{body}]` is no extension");
        let fault = Fault::new(FaultKind::Syntax, first..first + body.len(), message);
        return Err(fault.help("they are `[a=32]`, an alignment in bytes, and `[name:value]`"));
    }
    if dim.is_aligned {
        let message = "the alignment stands twice at this axis";
        return Err(Fault::new(FaultKind::Value, start..first + end + 1, message));
    }
    dim.is_aligned = true;
    let (digits, span) = cursor.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() {
        return Err(cursor.expected("a number of bytes"));
    }
    cursor.expect("]")?;
    match digits.parse() {
        Ok(0) => Err(Fault::new(FaultKind::Value, span, "nothing is a multiple of 0")),
        Ok(align) => {
            dim.align = align;
            Ok(())
        }
        Err(_) => Err(Fault::new(FaultKind::Value, span, "the number does not fit 64 bits")),
    }
}

/// Lays the axes out in the order of the letters, aligned as they say.
pub(super) fn apply(text: &str, builder: &mut Builder) -> Result<Said, NotationError> {
    let dims = parse(text)?;
    let axes = builder.axes();
    let named: Vec<&Dim> = dims.iter().filter(|dim| dim.letter != '*').collect();
    for (k, dim) in named.iter().enumerate() {
        let is_same = |before: &&&Dim| before.letter.eq_ignore_ascii_case(&dim.letter);
        if named.iter().take(k).any(|before| is_same(&before)) {
            let message = format!("`{}` stands twice", dim.letter);
            return Err(Fault::new(FaultKind::Value, dim.span.clone(), message).into());
        }
    }
    if dims.len() != axes.len() {
        return Err(count_fault(dims.len(), "letter", axes, 0..text.len()).into());
    }
    let order = if named.len() == dims.len() {
        let letters: Vec<(char, Span)> =
            dims.iter().map(|dim| (dim.letter, dim.span.clone())).collect();
        bind_letters(&letters, axes)?
    } else {
        any_order(&dims, builder)?
    };
    let IndexMap { items, separators } = identity(axes);
    let ordered: Vec<_> = order.iter().filter_map(|axis| items.get(*axis).cloned()).collect();
    let names: Vec<String> = ordered.iter().map(|item| item.name.clone()).collect();
    if order.iter().enumerate().any(|(k, axis)| k != *axis) {
        builder.apply(&IndexMap { items: ordered, separators })?;
    }
    for (dim, name) in dims.iter().zip(names).filter(|(dim, _)| dim.align != 1) {
        builder.align_axis(&name, i128::from(dim.align))?;
    }
    let unknown = |dim: &Dim| {
        let remark = |(span, (name, _)): (&Span, &(String, String))| {
            (span.clone(), format!("`{name}` says nothing to layoutc; it is kept as it is"))
        };
        dim.boxes.iter().zip(&dim.namespaces).map(remark).collect::<Vec<_>>()
    };
    Ok(Said { remarks: dims.iter().flat_map(unknown).collect() })
}

/// The axes of a string with `*`: letters by name, each `*` the axis at its place.
fn any_order(dims: &[Dim], builder: &Builder) -> Result<Vec<usize>, Fault> {
    let axes = builder.axes();
    let mut order = Vec::new();
    for (k, dim) in dims.iter().enumerate() {
        let named =
            axes.iter().position(|axis| axis.name.eq_ignore_ascii_case(&dim.letter.to_string()));
        let axis = if dim.letter == '*' { k } else { named.unwrap_or(k) };
        if order.contains(&axis) {
            let name = axes.get(axis).map_or("", |axis| axis.name.as_str());
            let message =
                format!("`{}` takes the axis `{name}`, which is taken already", dim.letter);
            return Err(Fault::new(FaultKind::Axes, dim.span.clone(), message));
        }
        order.push(axis);
    }
    Ok(order)
}
