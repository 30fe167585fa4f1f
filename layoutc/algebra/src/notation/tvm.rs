//! Layout letters of TVM: `NCHW16c`, `OHWI[4o4i]`.
//!
//! Source: TVM, `s_tir/data_layout.cc`. An upper-case letter is an axis, `16c` a block of 16 of axis C, and `[4o4i]` a
//! storage axis of extent 16 that packs two blocks, major first. Axes are padded to whole blocks, as in TVM.
//!
//! Two differences from TVM: TVM's inverse map of packed blocks with unequal factors, such as `[4o2i]`, leaves the
//! tensor, and the one here does not; a repeated letter or a trailing digit is a fault here.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::blocks::{self, AxisBlock};
use super::{NotationError, NotationExtras, NotationFault, Remark, bind_letters};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::text::cursor::Cursor;

/// Letter of an axis such as `C`, or, if it has a factor, a block of an axis such as `16c`.
#[derive(Debug)]
struct TvmLetter {
    name: char,
    factor: Option<i128>,
    span: Span,
}

/// Applies layout letters to the current axes of `builder` as one index map.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let dims = parse(text)?;
    let remarks = dims.iter().filter_map(|dim| unequal_factors_remark(text, dim)).collect();
    let letters: Vec<&TvmLetter> = dims.iter().flatten().collect();
    let primal: Vec<(char, Span)> = letters
        .iter()
        .filter(|letter| letter.factor.is_none())
        .map(|letter| (letter.name, letter.span.clone()))
        .collect();
    let bound = bind_letters(&primal, builder.axes())?;
    let axis_of = |letter: char| {
        let position = primal.iter().position(|(primal, _)| primal.eq_ignore_ascii_case(&letter));
        position.and_then(|k| bound.get(k).copied()).unwrap_or(0)
    };
    let flat: Vec<(usize, Option<i128>)> =
        letters.iter().map(|letter| (axis_of(letter.name), letter.factor)).collect();
    let mut pieces = blocks::pieces(&flat, text.len())?.into_iter();
    let dims: Vec<Vec<AxisBlock>> =
        dims.iter().map(|letters| pieces.by_ref().take(letters.len()).collect()).collect();
    let map = blocks::map(&dims, builder.axes())?;
    builder.apply(&map)?;
    Ok(NotationExtras { remarks, ..NotationExtras::default() })
}

/// Remark that TVM's inverse map goes out of bounds for the blocks `packed` of one storage axis, such as `[4o2i]`;
/// `None` if all factors are equal. `text` is the whole layout text, from which the remark quotes.
fn unequal_factors_remark(text: &str, packed: &[TvmLetter]) -> Option<Remark> {
    let (first, last) = (packed.first()?, packed.last()?);
    if packed.iter().all(|letter| letter.factor == first.factor) {
        return None;
    }
    let span = first.span.start..last.span.end;
    let blocks = text.get(span.clone()).unwrap_or_default();
    Some(Remark {
        message: format!(
            "TVM's inverse of `[{blocks}]` goes out of bounds, because its factors differ"
        ),
        help: format!(
            "leave the brackets out for TVM: `{blocks}` puts each element at the same place"
        ),
        span,
    })
}

/// Upper-case letters of the axes in the order of the text, without the letters of blocks: N, C, H, W for
/// `NCHW16c`.
pub(super) fn letters(text: &str) -> Result<Vec<char>, NotationFault> {
    let primal = |letter: &TvmLetter| letter.factor.is_none().then_some(letter.name);
    Ok(parse(text)?.iter().flatten().filter_map(primal).collect())
}

/// Parses the letters of each storage axis, in the order of the text. A storage axis has one letter, or several
/// that are packed in brackets, such as `[4o4i]`.
fn parse(text: &str) -> Result<Vec<Vec<TvmLetter>>, NotationFault> {
    let mut cursor = Cursor::new(text);
    if text.is_empty() {
        return Err(cursor.expected("a letter"));
    }
    let mut dims: Vec<Vec<TvmLetter>> = Vec::new();
    while let Some(c) = cursor.peek() {
        let start = cursor.at();
        if c == '[' {
            cursor.next();
            let mut packed = Vec::new();
            while cursor.peek() != Some(']') {
                packed.push(block(&mut cursor)?);
            }
            cursor.expect("]")?;
            if packed.len() < 2 {
                let message = "brackets pack two blocks or more";
                let fault = NotationFault::syntax(start..cursor.at(), message);
                return Err(
                    fault.help("write two blocks in them, as in `[4o4i]`, or leave them out")
                );
            }
            dims.push(packed);
        } else if c.is_ascii_uppercase() {
            let span = cursor.next().map_or(start..start, |(_, span)| span);
            dims.push(alloc::vec![TvmLetter { name: c, factor: None, span }]);
        } else {
            dims.push(alloc::vec![block(&mut cursor)?]);
        }
    }
    check(&dims)?;
    Ok(dims)
}

/// Parses a block such as `16c`.
fn block(cursor: &mut Cursor<'_>) -> Result<TvmLetter, NotationFault> {
    let start = cursor.at();
    let Some((factor, digits)) = cursor.number()? else {
        let lower = cursor.peek().filter(char::is_ascii_lowercase);
        return Err(match lower {
            Some(letter) => {
                let span = start..start + 1;
                let message = format!("the block `{letter}` has no factor");
                let rest = cursor.rest();
                let is_small = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
                let help = if start == 0 && rest.bytes().all(is_small) {
                    format!("write axes as capitals: `{}`", with_capitals(rest))
                } else {
                    format!("write its size before it: `4{letter}`")
                };
                NotationFault::syntax(span, message).help(help)
            }
            None => cursor.expected("a letter or a block like `4c`"),
        });
    };
    if factor == 0 {
        let fault = NotationFault::value(digits, "a block of 0 holds nothing");
        return Err(fault.help("write 1 or more"));
    }
    match cursor.peek() {
        Some(letter) if letter.is_ascii_lowercase() => {
            cursor.next();
            Ok(TvmLetter { name: letter, factor: Some(factor), span: start..cursor.at() })
        }
        _ => Err(cursor.expected("the lower-case letter of a block")),
    }
}

/// Text of a layout with the letters of the axes in upper case, and the letters of blocks unchanged: `NC4c` for `nc4c`.
fn with_capitals(text: &str) -> String {
    let mut before = ' ';
    let capital = |c: char| {
        let is_block = core::mem::replace(&mut before, c).is_ascii_digit();
        if is_block { c } else { c.to_ascii_uppercase() }
    };
    text.chars().map(capital).collect()
}

fn check(dims: &[Vec<TvmLetter>]) -> Result<(), NotationFault> {
    let letters: Vec<&TvmLetter> = dims.iter().flatten().collect();
    for (k, letter) in letters.iter().enumerate() {
        if letters.iter().take(k).any(|before| before.name == letter.name) {
            let message = format!("`{}` occurs twice", letter.name);
            let fault = NotationFault::value(letter.span.clone(), message);
            return Err(if letter.factor.is_some() {
                fault.help("TVM's letters have one block for each axis; use `onednn` or `map`")
            } else {
                fault.help("write each axis once, and its block in lower case: `NC4c`")
            });
        }
        let primal = letter.name.to_ascii_uppercase();
        if letter.factor.is_some() && letters.iter().all(|other| other.name != primal) {
            let message = format!("the block `{}` has no axis `{primal}`", letter.name);
            let help = format!("write `{primal}` among the letters, or leave the block out");
            return Err(NotationFault::value(letter.span.clone(), message).help(help));
        }
    }
    Ok(())
}
