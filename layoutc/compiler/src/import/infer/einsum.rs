//! Shape inference for `Einsum`.

use std::collections::BTreeMap;

use super::broadcast::broadcast_shapes;
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch, shown};

/// Term of an `Einsum` equation, for an operand or the result: the letters before its ellipsis (`before`) and after it
/// (`behind`, `None` without an ellipsis). `b...ij` gives `b` and `ij`.
struct EinsumTerm {
    before: Vec<char>,
    behind: Option<Vec<char>>,
}

impl EinsumTerm {
    fn parse(text: &str) -> Option<Self> {
        let letters = |text: &str| {
            text.chars().all(|c| c.is_ascii_alphabetic()).then(|| text.chars().collect::<Vec<_>>())
        };
        match text.split_once("...") {
            Some((before, behind)) => {
                Some(Self { before: letters(before)?, behind: Some(letters(behind)?) })
            }
            None => Some(Self { before: letters(text)?, behind: None }),
        }
    }

    fn letters(&self) -> impl Iterator<Item = char> {
        self.before.iter().chain(self.behind.iter().flatten()).copied()
    }
}

/// Extents in an `Einsum` equation, broadcast over the operands: `of` has the extent of each letter, `outer` the
/// extents of the axes that the ellipsis stands for, outermost first. An extent is 1 only if it is 1 in all operands.
#[derive(Default)]
struct LetterExtents {
    of: BTreeMap<char, u64>,
    /// Number of occurrences of each letter in all operands. A result without a term in the equation has the letters
    /// that occur once: `ij,jk` gives `ik`.
    counts: BTreeMap<char, usize>,
    outer: Vec<u64>,
}

impl LetterExtents {
    fn read(&mut self, term: &EinsumTerm, shape: &[u64]) -> ShapeResult<()> {
        let behind = term.behind.as_ref().map_or(0, Vec::len);
        let own = term.before.len() + behind;
        let rest = shape.len().checked_sub(own);
        let fits = if term.behind.is_some() { rest.is_some() } else { rest == Some(0) };
        let (Some(rest), true) = (rest, fits) else {
            return mismatch(format!("{own} letters for shape {}", listed(shape)));
        };
        let (first, others) = shape.split_at_checked(term.before.len()).unwrap_or_default();
        let (outer, last) = others.split_at_checked(rest).unwrap_or_default();
        self.outer = broadcast_shapes(&self.outer, outer)?;
        for (letter, extent) in term.letters().zip(first.iter().chain(last)) {
            *self.counts.entry(letter).or_default() += 1;
            let known = self.of.entry(letter).or_insert(*extent);
            if *known == 1 {
                *known = *extent;
            }
            if *known != *extent && *extent != 1 {
                return mismatch(format!("axis `{letter}` has extents {known} and {extent}"));
            }
        }
        Ok(())
    }
}

pub(super) fn einsum(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let Some(equation) = call.word("equation") else { return mismatch("`equation` is missing") };
    let equation: String = equation.chars().filter(|c| *c != ' ').collect();
    let unread = || ShapeError::Mismatch(format!("invalid equation `{}`", shown(&equation)));
    let (operands, result) = match equation.split_once("->") {
        Some((operands, result)) => (operands, Some(result)),
        None => (equation.as_str(), None),
    };
    let terms = operands.split(',').map(EinsumTerm::parse).collect::<Option<Vec<_>>>();
    let terms = terms.ok_or_else(unread)?;
    if terms.len() != call.inputs.len() {
        return mismatch(format!(
            "the equation has {} operands, the operator {}",
            terms.len(),
            call.inputs.len()
        ));
    }
    let mut extents = LetterExtents::default();
    for (k, term) in terms.iter().enumerate() {
        extents.read(term, call.shape(k)?)?;
    }
    let result = match result {
        Some(result) => EinsumTerm::parse(result).ok_or_else(unread)?,
        // Implicit result: the ellipsis, then the letters that occur once, in alphabetical order.
        None => {
            let once = extents.counts.iter().filter(|(_, count)| **count == 1);
            EinsumTerm {
                before: Vec::new(),
                behind: Some(once.map(|(letter, _)| *letter).collect()),
            }
        }
    };
    let extent = |letter: &char| extents.of.get(letter).copied().ok_or_else(unread);
    let mut shape = result.before.iter().map(extent).collect::<ShapeResult<Vec<_>>>()?;
    if let Some(behind) = &result.behind {
        shape.extend(&extents.outer);
        shape.extend(behind.iter().map(extent).collect::<ShapeResult<Vec<_>>>()?);
    }
    Ok(ShapedTensor::new(call.input(0)?.dtype, shape))
}
