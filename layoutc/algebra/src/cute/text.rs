//! Parsers of the text forms of CuTe: layouts `(4,(2,2)):(1,(4,8))`, tilers `[4:1;_]`, and swizzles
//! `S<3,4,3> o 0 o (8,64):(64,1)`.
//!
//! C++ prefixes compile-time values with `_`. A shape without strides is compact, the first mode fastest. `Sw<…>` and
//! `Swizzle<…>` are synonyms of `S<…>`; an offset of 0 may be omitted.

use alloc::format;
use alloc::vec::Vec;

use super::error::CuteError;
use super::layout::{CuteLayout, MAX_DEPTH};
use super::swizzle::SwizzledLayout;
use super::{IntTuple, Tiler};
use crate::expr::parse::Span;
use crate::layout::swizzle::Swizzle;
use crate::text::NotationFault;
use crate::text::cursor::Cursor;

/// Integer or tuple of a text, with its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpannedTuple {
    /// Integer such as `4`, with its byte range.
    Integer(i128, Span),
    /// Tuple such as `(4,(2,2))`, with its byte range.
    List(Vec<SpannedTuple>, Span),
}

impl SpannedTuple {
    /// Byte range of the integer or tuple in the text.
    pub fn span(&self) -> Span {
        match self {
            Self::Integer(_, span) | Self::List(_, span) => span.clone(),
        }
    }

    /// All integers of the tuple, from left to right at all levels, with their byte ranges.
    pub fn leaves(&self) -> Vec<(i128, Span)> {
        let mut leaves = Vec::new();
        self.collect(&mut leaves);
        leaves
    }

    fn collect(&self, into: &mut Vec<(i128, Span)>) {
        match self {
            Self::Integer(value, span) => into.push((*value, span.clone())),
            Self::List(list, _) => list.iter().for_each(|item| item.collect(into)),
        }
    }

    /// Integer or tuple without byte ranges.
    pub fn tuple(&self) -> IntTuple {
        match self {
            Self::Integer(value, _) => IntTuple::Integer(*value),
            Self::List(list, _) => IntTuple::List(list.iter().map(Self::tuple).collect()),
        }
    }
}

/// Parsed text of a layout, such as `S<3,4,3> o 0 o (8,64):(64,1)`, with extents of at least 1 and strides of at
/// least 0 that nest like the extents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteLayoutText {
    /// Leading swizzle with its byte range; `None` if there is none.
    pub swizzle: Option<(Swizzle, Span)>,
    /// Number, in elements, that is added to the offset of the layout before the swizzle is applied: 5 in
    /// `S<3,4,3> o 5 o (8,64):(64,1)`; 0 if none is written.
    pub offset: i128,
    /// Extents of the modes.
    pub shape: SpannedTuple,
    /// Strides of the modes, in elements; compact, the first mode fastest, if the text has none.
    pub stride: SpannedTuple,
}

impl CuteLayoutText {
    /// Layout of the text, without its swizzle and offset.
    ///
    /// # Errors
    /// [`NotationFaultKind::Value`](crate::notation::NotationFaultKind::Value) if size or cosize does not fit 64 bits.
    pub fn layout(&self) -> Result<CuteLayout, NotationFault> {
        CuteLayout::new(&self.shape.tuple(), &self.stride.tuple())
            .map_err(|error| limit(&error, self.shape.span().start..self.stride.span().end))
    }

    /// Layout of the text, with its swizzle and offset.
    ///
    /// # Errors
    /// Errors of [`CuteLayoutText::layout`].
    pub fn swizzled(&self) -> Result<SwizzledLayout, NotationFault> {
        let swizzle = self.swizzle.as_ref().map(|(swizzle, _)| *swizzle);
        Ok(SwizzledLayout { swizzle, offset: self.offset, layout: self.layout()? })
    }
}

/// Parses a layout with an optional swizzle: `(8,64):(64,1)` or `S<3,4,3> o 0 o (8,64):(64,1)`.
///
/// # Errors
/// [`NotationFault`] with its byte range in `text`: the text does not match the grammar, an extent is 0, the strides do
/// not nest like the extents, a value does not fit 64 bits, or a feature is not supported, such as a negative stride.
pub fn parse(text: &str) -> Result<CuteLayoutText, NotationFault> {
    let mut cursor = Cursor::new(text);
    let written = written(&mut cursor)?;
    cursor.skip_blanks();
    cursor.expect_end()?;
    Ok(written)
}

/// Parses a layout without a swizzle, such as `(4,(2,2)):(1,(4,8))`.
///
/// # Errors
/// Errors of [`parse`]; a swizzle is
/// [`NotationFaultKind::Unsupported`](crate::notation::NotationFaultKind::Unsupported).
pub fn parse_layout(text: &str) -> Result<CuteLayout, NotationFault> {
    plain(&parse(text)?)
}

/// Parses a shape such as `(4,(2,2))`, whose extents are at least 1.
///
/// # Errors
/// Errors of [`parse`], except those of strides.
pub fn parse_shape(text: &str) -> Result<SpannedTuple, NotationFault> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    let shape = tree(&mut cursor, 0)?;
    cursor.skip_blanks();
    cursor.expect_end()?;
    positive(&shape)?;
    Ok(shape)
}

/// Parses a swizzle such as `S<3,4,3>`.
///
/// # Errors
/// [`NotationFault`] with its byte range in `text`: the text is not a swizzle, or its parameters do not form one.
pub fn parse_swizzle(text: &str) -> Result<Swizzle, NotationFault> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    let Some((swizzle, _)) = swizzle(&mut cursor)? else {
        return Err(cursor.expected("`S<`"));
    };
    cursor.skip_blanks();
    cursor.expect_end()?;
    Ok(swizzle)
}

/// Parses a tiler: a layout, or `[l0;l1;_]` with one tiler per mode, where `_` leaves its mode unchanged.
///
/// # Errors
/// Errors of [`parse_layout`].
pub fn parse_tiler(text: &str) -> Result<Tiler, NotationFault> {
    let mut cursor = Cursor::new(text);
    let tiler = tiler(&mut cursor, 0)?;
    cursor.skip_blanks();
    cursor.expect_end()?;
    Ok(tiler)
}

fn tiler(cursor: &mut Cursor<'_>, depth: usize) -> Result<Tiler, NotationFault> {
    cursor.skip_blanks();
    let start = cursor.at();
    if !cursor.eat("[") {
        return plain(&written(cursor)?).map(Tiler::Whole);
    }
    if depth >= MAX_DEPTH {
        let message = format!("tilers nest more than {MAX_DEPTH} deep");
        let fault = NotationFault::syntax(start..start + 1, message);
        return Err(fault.help("leave brackets out that are not needed"));
    }
    let mut parts = Vec::new();
    loop {
        cursor.skip_blanks();
        let is_left_out = cursor.peek() == Some('_')
            && !cursor.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if is_left_out {
            cursor.eat("_");
            parts.push(None);
        } else {
            parts.push(Some(tiler(cursor, depth + 1)?));
        }
        cursor.skip_blanks();
        if cursor.eat("]") {
            return Ok(Tiler::Modes(parts));
        }
        if !cursor.eat(";") {
            return Err(cursor.expected("`;` or `]`"));
        }
    }
}

fn plain(written: &CuteLayoutText) -> Result<CuteLayout, NotationFault> {
    match &written.swizzle {
        Some((_, span)) => {
            let message = "a swizzle is not allowed here";
            Err(NotationFault::unsupported(span.clone(), message)
                .help("leave it out: strides cannot express an XOR"))
        }
        None => written.layout(),
    }
}

fn limit(error: &CuteError, span: Span) -> NotationFault {
    NotationFault::value(span, format!("{error}"))
}

/// Parses `S<B,M,S> o offset o layout`, `S<B,M,S> o layout` or `layout`.
fn written(cursor: &mut Cursor<'_>) -> Result<CuteLayoutText, NotationFault> {
    cursor.skip_blanks();
    let swizzle = swizzle(cursor)?;
    let mut offset = 0;
    if swizzle.is_some() {
        cursor.skip_blanks();
        cursor.expect("o")?;
        cursor.skip_blanks();
    }
    let mut shape = tree(cursor, 0)?;
    cursor.skip_blanks();
    if let (Some(_), SpannedTuple::Integer(value, _)) = (&swizzle, &shape)
        && cursor.eat("o")
    {
        offset = *value;
        cursor.skip_blanks();
        shape = tree(cursor, 0)?;
        cursor.skip_blanks();
    }
    let stride = if cursor.eat(":") {
        cursor.skip_blanks();
        tree(cursor, 0)?
    } else {
        compact(&shape, &mut 1)?
    };
    positive(&shape)?;
    congruent(&shape, &stride)?;
    Ok(CuteLayoutText { swizzle, offset, shape, stride })
}

/// Parses a swizzle `S<B,M,S>` with its byte range; `None` if the text does not continue with one.
fn swizzle(cursor: &mut Cursor<'_>) -> Result<Option<(Swizzle, Span)>, NotationFault> {
    let start = cursor.at();
    if !["S<", "Sw<", "Swizzle<"].iter().any(|word| cursor.eat(word)) {
        return Ok(None);
    }
    let mut values = [0; 3];
    for (k, value) in values.iter_mut().enumerate() {
        if k > 0 {
            cursor.skip_blanks();
            cursor.expect(",")?;
        }
        cursor.skip_blanks();
        cursor.eat("_");
        let sign = if cursor.eat("-") { -1 } else { 1 };
        *value = sign * cursor.expect_number("an integer")?.0;
    }
    cursor.skip_blanks();
    cursor.expect(">")?;
    let span = start..cursor.at();
    let [bits, base, shift] = values;
    match Swizzle::new(bits, base, shift) {
        Ok(swizzle) => Ok(Some((swizzle, span))),
        Err(error) => Err(limit(&error.into(), span)),
    }
}

fn tree(cursor: &mut Cursor<'_>, depth: usize) -> Result<SpannedTuple, NotationFault> {
    let start = cursor.at();
    if depth > MAX_DEPTH {
        let message = format!("tuples nest more than {MAX_DEPTH} deep");
        let fault = NotationFault::syntax(start..start + 1, message);
        return Err(fault.help("leave parentheses out that are not needed"));
    }
    if cursor.eat("(") {
        let mut list = Vec::new();
        loop {
            cursor.skip_blanks();
            list.push(tree(cursor, depth + 1)?);
            cursor.skip_blanks();
            if cursor.eat(")") {
                return Ok(SpannedTuple::List(list, start..cursor.at()));
            }
            cursor.expect(",")?;
        }
    }
    cursor.eat("_");
    match cursor.peek() {
        Some('?') => {
            let message = "a value known only at run time is not supported";
            let fault = NotationFault::unsupported(start..start + 1, message);
            Err(fault.help("write a number"))
        }
        Some('-') => {
            let message = "a stride below 0 runs backwards";
            let fault = NotationFault::unsupported(start..start + 1, message);
            Err(fault.help("write 0 or more"))
        }
        _ => {
            let (value, span) = cursor.expect_number("an integer or `(`")?;
            if matches!(cursor.peek(), Some('@' | '/')) {
                let message = "coordinate strides and ratios are not offsets";
                let fault = NotationFault::unsupported(start..cursor.at() + 1, message);
                return Err(fault.help("write whole numbers of elements"));
            }
            Ok(SpannedTuple::Integer(value, start..span.end))
        }
    }
}

/// Compact strides of a shape, the first mode fastest: `(1,(4,8))` for `(4,(2,2))`. `next` is the stride of the first
/// mode, and is set to the stride that a mode after the last one would have. A fault if one of these strides, including
/// the last `next`, does not fit 64 bits.
fn compact(shape: &SpannedTuple, next: &mut i128) -> Result<SpannedTuple, NotationFault> {
    match shape {
        SpannedTuple::Integer(size, span) => {
            let stride = *next;
            *next = next.checked_mul(*size).filter(|n| *n <= i128::from(i64::MAX)).ok_or_else(
                || {
                    let fault = NotationFault::value(span.clone(), "it does not fit 64 bits");
                    fault.help("write smaller extents")
                },
            )?;
            Ok(SpannedTuple::Integer(stride, span.clone()))
        }
        SpannedTuple::List(list, span) => {
            let list = list.iter().map(|item| compact(item, next)).collect::<Result<_, _>>()?;
            Ok(SpannedTuple::List(list, span.clone()))
        }
    }
}

fn positive(shape: &SpannedTuple) -> Result<(), NotationFault> {
    match shape.leaves().into_iter().find(|(size, _)| *size == 0) {
        Some((_, span)) => {
            Err(NotationFault::value(span, "a mode of 0 holds nothing").help("write 1 or more"))
        }
        None => Ok(()),
    }
}

fn congruent(shape: &SpannedTuple, stride: &SpannedTuple) -> Result<(), NotationFault> {
    match (shape, stride) {
        (SpannedTuple::Integer(..), SpannedTuple::Integer(..)) => Ok(()),
        (SpannedTuple::List(shapes, _), SpannedTuple::List(strides, _))
            if shapes.len() == strides.len() =>
        {
            shapes.iter().zip(strides).try_for_each(|(shape, stride)| congruent(shape, stride))
        }
        _ => {
            let message = "the strides do not nest as the shape does";
            let fault = NotationFault::value(stride.span(), message);
            Err(fault.help("write a stride for each extent, in the same parentheses"))
        }
    }
}
