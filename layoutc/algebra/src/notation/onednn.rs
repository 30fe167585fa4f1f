//! Format tags of oneDNN: `aBcd16b`, `ABcd4b16a4b`.
//!
//! Source: oneDNN, format tags. A tag starts with the outer letters, major to minor, in upper case if the axis has
//! blocks. The blocks follow, outermost first. The extent of an axis is padded to a multiple of the product of its
//! blocks. Letters stand for axes by position: `a` is the first. Names by role, such as `nChw16c`, are tags with other
//! letters.

use alloc::format;
use alloc::vec::Vec;

use super::{NotationError, NotationExtras, NotationFault, blocks, count_fault};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::text::cursor::Cursor;

/// Maximum number of axes of a tensor in oneDNN.
const MAX_RANK: usize = 12;

/// Letters of tags that name axes by role, such as `nChw16c`, in axis order. The strings are for activations, weights
/// with or without groups `g`, three kinds of tensors of recurrent networks, and vectors.
const ROLES: &[&str] = &["ncdhw", "goidhw", "tnc", "ldnc", "ldigo", "x"];

/// Applies the format tag `text` to the current axes of `builder` as one index map.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let tag = parse(text)?;
    let axes = builder.axes();
    if tag.outer.len() != axes.len() {
        return Err(count_fault(tag.outer.len(), "letter", axes, 0..text.len()).into());
    }
    let outer = tag.outer.iter().map(|(axis, _)| (*axis, None));
    let inner = tag.inner.iter().map(|(axis, factor)| (*axis, Some(*factor)));
    let flat: Vec<(usize, Option<i128>)> = outer.chain(inner).collect();
    let pieces = blocks::pieces(&flat, text.len())?;
    let dims: Vec<_> = pieces.into_iter().map(|piece| alloc::vec![piece]).collect();
    let map = blocks::map(&dims, axes)?;
    builder.apply(&map)?;
    Ok(NotationExtras::default())
}

/// Letters of the axes that the tag `text` implies, in lower case and in axis order: a, b, c, d for `aBcd16b`; n, c, h,
/// w for `nhwc`.
pub(super) fn letters(text: &str) -> Result<Vec<char>, NotationFault> {
    let rank = parse(text)?.outer.len();
    Ok(letters_of(text).into_iter().take(rank).collect())
}

/// Parsed format tag: the outer axes, then the blocks. `aBcd16b` has the outer axes 0 to 3, and one block (1, 16),
/// which holds 16 indices of axis 1.
struct FormatTag {
    /// Pairs `(axis, is_upper)`, one for each outer letter in the order of the tag. `axis` is the position of the axis
    /// of the letter. `is_upper` is true for an upper-case letter, which means that the axis has blocks.
    outer: Vec<(usize, bool)>,
    inner: Vec<(usize, i128)>,
}

fn parse(text: &str) -> Result<FormatTag, NotationFault> {
    if ["any", "abx", "axb", "aBx8b", "aBx16b"].contains(&text) {
        let message = format!("`{text}` leaves the layout open");
        let fault = NotationFault::unsupported(0..text.len(), message);
        return Err(fault.help("write the tag of the layout that is meant: `abcd`, `aBcd16b`"));
    }
    let letters = letters_of(text);
    let axis_of = |letter, span: &Span| axis_of(letter, &letters, span);
    let mut cursor = Cursor::new(text);
    let mut outer: Vec<(usize, bool)> = Vec::new();
    let mut places: Vec<Span> = Vec::new();
    while let Some(c) = cursor.peek().filter(char::is_ascii_alphabetic) {
        let Some((_, span)) = cursor.next() else { break };
        let axis = axis_of(c, &span)?;
        if outer.iter().any(|(other, _)| *other == axis) {
            let fault = NotationFault::value(span, format!("`{c}` occurs twice"));
            return Err(fault.help("write each axis once, and its blocks at the end: `aB16b`"));
        }
        outer.push((axis, c.is_ascii_uppercase()));
        places.push(span);
    }
    if let Some(missing) = (0..outer.len()).find(|axis| outer.iter().all(|(o, _)| o != axis)) {
        let letter = letters.get(missing).copied().unwrap_or('a');
        let message = format!("`{letter}` is missing: a tag has every letter up to its rank");
        let fault = NotationFault::value(0..cursor.at(), message);
        return Err(fault.help("`a` is the first axis, `b` the second"));
    }
    let mut inner: Vec<(usize, i128)> = Vec::new();
    while cursor.peek().is_some() {
        let (factor, digits) = cursor.expect_number("a letter or a block like `16b`")?;
        if factor == 0 {
            let fault = NotationFault::value(digits, "a block of 0 holds nothing");
            return Err(fault.help("write 1 or more"));
        }
        let Some((c, span)) = cursor.next().filter(|(c, _)| c.is_ascii_lowercase()) else {
            return Err(cursor.expected("the lower-case letter of a block"));
        };
        let axis = axis_of(c, &span)?;
        let upper = c.to_ascii_uppercase();
        if !outer.contains(&(axis, true)) {
            let message =
                format!("`{c}` is blocked, but is not written `{upper}` among the outer axes");
            let help = format!("write `{upper}` among the first letters");
            return Err(NotationFault::value(span, message).help(help));
        }
        inner.push((axis, factor));
    }
    for ((axis, is_blocked), span) in outer.iter().zip(places) {
        if *is_blocked && inner.iter().all(|(other, _)| other != axis) {
            let letter = letters.get(*axis).copied().unwrap_or('a');
            let message = format!("`{}` has no block", letter.to_ascii_uppercase());
            let help = if inner.is_empty() {
                format!("write axes without blocks as `{}`", text.to_ascii_lowercase())
            } else {
                format!("write `{letter}`, or its block at the end")
            };
            return Err(NotationFault::value(span, message).help(help));
        }
    }
    Ok(FormatTag { outer, inner })
}

/// Letters that may stand for axes in the tag `text`, in axis order. If a string of `ROLES` contains all outer letters
/// of the tag, the result is the first such string without the letters that do not occur in the tag. Otherwise it is
/// the letters `a` to `l`.
fn letters_of(text: &str) -> Vec<char> {
    let own = |role: &str| {
        let is_used = |c: &char| text.chars().any(|used| used.eq_ignore_ascii_case(c));
        role.chars().filter(is_used).collect::<Vec<char>>()
    };
    let written = text.chars().take_while(char::is_ascii_alphabetic);
    let written: Vec<char> = written.map(|c| c.to_ascii_lowercase()).collect();
    let is_of = |role: &&&str| !written.is_empty() && written.iter().all(|c| role.contains(*c));
    match ROLES.iter().find(is_of) {
        // Letters that name axes by role are not mistaken for letters by position, because no string of `ROLES`
        // contains `a`.
        Some(role) => own(role),
        None => ('a'..='l').take(MAX_RANK).collect(),
    }
}

fn axis_of(letter: char, letters: &[char], span: &Span) -> Result<usize, NotationFault> {
    let position = letters.iter().position(|known| *known == letter.to_ascii_lowercase());
    position.ok_or_else(|| {
        let message = format!("`{letter}` is not a letter of this tag");
        let fault = NotationFault::value(span.clone(), message);
        fault.help(
            "tags have the letters `a` to `l`, or those of one role: `nchw`, `goihw`, `ldigo`",
        )
    })
}
