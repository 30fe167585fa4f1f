//! Projection of layouts to tensors with a subset of the axes: `NCHW16c` projects to `NC16c` for a tensor of N and C.
//!
//! Glow and TVM strings of letters and blocks (`NHWC`, `NCHW16c`) lose the letters of missing axes. `row-major`
//! projects to `row-major` if the common axes keep their order. Other texts project to tensors with the same axes in
//! the same order, and Glow strings with brackets or `*` also to those with the same axes in another order. The
//! projection of every layout to a tensor without axes is `row-major`.

use layoutc_algebra::notation::Notation;

use super::layouts::{ROW_MAJOR, notation};
use crate::manifest::syntax::{Extent, GraphTensorItem, IntegerExpr};

/// Layout as letters: outer axes, outermost first, then blocks as (size, axis): `NCHW16c` has the block ("16", 'c').
struct LayoutLetters {
    outer: Vec<char>,
    blocks: Vec<(String, char)>,
}

impl LayoutLetters {
    /// Parses a text of letters and blocks in the notation of Glow or TVM, such as `NCHW16c`; `None` for any other
    /// text, such as `row-major`, `nChw16c`, `N**C`, or one with brackets.
    fn of(text: &str) -> Option<Self> {
        if !is_by_letter(text) || !text.chars().all(|c| c.is_ascii_alphanumeric()) {
            return None;
        }
        let (mut outer, mut blocks, mut digits) = (Vec::new(), Vec::new(), String::new());
        for c in text.chars() {
            if c.is_ascii_digit() {
                digits.push(c);
            } else if digits.is_empty() {
                outer.push(c);
            } else {
                blocks.push((std::mem::take(&mut digits), c));
            }
        }
        digits.is_empty().then_some(Self { outer, blocks })
    }

    fn text(&self) -> String {
        let blocks = self.blocks.iter().map(|(size, letter)| format!("{size}{letter}"));
        self.outer.iter().map(char::to_string).chain(blocks).collect()
    }
}

/// Projection of the layout `text` of the tensor `from` to the tensor `to`: keeps the axes that both have, and appends
/// the axes of extent 1 that only `to` has. `None` if `to` has an axis that `from` does not have and whose extent is
/// not 1, or if the notation of `text`, the order of the axes or a name of several letters allows no projection.
pub(super) fn project_layout(
    text: &str,
    from: &GraphTensorItem,
    to: &GraphTensorItem,
) -> Option<String> {
    let (own, others) = (names(from), names(to));
    let lacks = |other: &&&str| !own.contains(*other);
    let is_one = |name: &str| extent(to, name) == Some(1);
    if others.iter().filter(lacks).any(|name| !is_one(name)) {
        return None;
    }
    if own == others {
        return Some(text.to_owned());
    }
    if own.len() == others.len() && text != ROW_MAJOR && !others.iter().any(|name| lacks(&name)) {
        // Equal axes in another order: letters name axes, other notations go by position.
        return is_by_letter(text).then(|| text.to_owned());
    }
    if others.is_empty() || text == ROW_MAJOR {
        let mut common = own.iter().filter(|name| others.contains(name));
        let is_in_order = others.iter().all(|name| lacks(&name) || common.next() == Some(name));
        return is_in_order.then(|| ROW_MAJOR.to_owned());
    }
    let mut letters = LayoutLetters::of(text)?;
    let is_letter = |name: &str, letter: char| {
        let mut letters = name.chars();
        letters.next().is_some_and(|own| own.eq_ignore_ascii_case(&letter))
            && letters.next().is_none()
    };
    let has = |letter: char| others.iter().any(|name| is_letter(name, letter));
    letters.outer.retain(|letter| has(*letter));
    letters.blocks.retain(|(_, letter)| has(*letter));
    for name in others.iter().filter(lacks) {
        let mut letter = name.chars();
        letters.outer.push(letter.next().filter(|_| letter.next().is_none())?);
    }
    (letters.outer.len() == others.len()).then(|| letters.text())
}

/// True if a layout text is in the notation of Glow or TVM, where letters name axes; a `*` (any axis) counts as a
/// letter. False for `row-major`, and for a text that starts with the name of its notation, such as `tvm:NCHW16c`.
fn is_by_letter(text: &str) -> bool {
    matches!(notation(text), (Notation::Glow | Notation::Tvm, 0)) && text != ROW_MAJOR
}

pub(super) fn names(item: &GraphTensorItem) -> Vec<&str> {
    item.shape.axes.iter().map(|axis| axis.name.value.as_str()).collect()
}

fn extent(item: &GraphTensorItem, name: &str) -> Option<i128> {
    let axis = item.shape.axes.iter().find(|axis| axis.name.value == name)?;
    match &axis.extent {
        Extent::Bound(IntegerExpr::Integer(number)) => Some(number.value),
        Extent::Bound(IntegerExpr::Text(_)) | Extent::Labels(_) | Extent::Fields => None,
    }
}
