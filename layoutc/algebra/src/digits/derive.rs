//! Digits that are made of others: what no cut makes a plain sum.
//!
//! The XOR of fields of as many bits is a field of as many bits, so it counts as one digit, and the XORs of digits are
//! added and cut like any. `(3*i) % 8`, `(i + 5*j) // 7` and `hilbert(i, j)` are digits as they are.

use alloc::vec::Vec;

use super::read::{DigitReader, RefineResult, add, sum};
use super::refine::Refinement;
use super::{DerivedDigit, LinearForm};
use crate::curve::CurveGrid;
use crate::expr::{BinOp, Expr, ExprError};

/// The most bits that a number of fields may have.
const MAX_BITS: u32 = 120;

/// Some bits of a number: the XOR of digits, or of none, and whether all bits are turned over.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BitField {
    /// The lowest bit.
    start: u32,
    /// How many.
    bits: u32,
    /// The digits, ascending.
    of: Vec<usize>,
    turned: bool,
}

impl BitField {
    fn end(&self) -> u32 {
        self.start + self.bits
    }

    /// The value is known: 0, or ones.
    fn is_fixed(&self) -> bool {
        self.of.is_empty()
    }
}

/// `2^bits - 1`.
fn ones(bits: u32) -> i128 {
    (1_i128 << bits.min(MAX_BITS)) - 1
}

/// How many bits a number from 0 takes.
fn bits_of(value: i128) -> u32 {
    128 - value.leading_zeros()
}

impl DigitReader<'_> {
    /// `a & b` or `a ^ b`, where both are fields of bits.
    pub(super) fn bitwise(&mut self, op: BinOp, a: &LinearForm, b: &LinearForm) -> RefineResult {
        let (above, a) = self.beyond(a, self.span(b)?)?;
        let (over, b) = self.beyond(b, self.span(&a)?)?;
        let above = if op == BinOp::Xor { sum(&above, &over, 1)? } else { LinearForm::default() };
        let (Some(a), Some(b)) = (self.fields(&a)?, self.fields(&b)?) else {
            return Ok(Err(Refinement::Impossible));
        };
        let mut edges: Vec<u32> = Vec::new();
        for field in a.iter().chain(&b) {
            edges.extend([field.start, field.end()]);
        }
        edges.sort_unstable();
        edges.dedup();
        let (a, b) = match (self.aligned(&a, &edges), self.aligned(&b, &edges)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(request), _) | (_, Err(request)) => return Ok(Err(request)),
        };
        let mut form = LinearForm::default();
        for pair in edges.windows(2) {
            let [start, end] = pair else { continue };
            let at =
                |fields: &[BitField]| fields.iter().find(|field| field.start == *start).cloned();
            let none = BitField { start: *start, bits: end - start, of: Vec::new(), turned: false };
            let (x, y) = (at(&a).unwrap_or_else(|| none.clone()), at(&b).unwrap_or(none));
            let Some(field) = combined(op, x, &y) else { return Ok(Err(Refinement::Impossible)) };
            form = sum(&form, &self.field_form(&field)?, 1)?;
        }
        Ok(Ok(sum(&form, &above, 1)?))
    }

    /// `(high, low)`: a sum cut where a number of this span has no more bits. What is above stays as it is.
    fn beyond(
        &self,
        form: &LinearForm,
        (least, most): (i128, i128),
    ) -> Result<(LinearForm, LinearForm), ExprError> {
        let bits = bits_of(most);
        if least < 0 || bits >= MAX_BITS {
            return Ok((LinearForm::default(), form.clone()));
        }
        let block = 1_i128 << bits;
        let (high, low): (Vec<_>, Vec<_>) =
            form.terms.iter().partition(|(_, weight)| weight % block == 0);
        let above = form.constant.div_euclid(block) * block;
        let low = LinearForm { constant: form.constant - above, terms: low };
        let (least, most) = self.tight_span(&low)?;
        if least < 0 || most >= block {
            return Ok((LinearForm::default(), form.clone()));
        }
        Ok((LinearForm { constant: above, terms: high }, low))
    }

    /// A sum as fields of bits that do not overlap; `None` when it is none.
    fn fields(&self, form: &LinearForm) -> Result<Option<Vec<BitField>>, ExprError> {
        let mut form = form.clone();
        // Digits that are cut up take part in their parts.
        while let Some(cut) = self.expand_heaviest_digit(&form, i128::MAX)? {
            form = cut;
        }
        let mut constant = form.constant;
        let mut fields: Vec<BitField> = Vec::new();
        for (digit, weight) in &form.terms {
            let bits = bits_of(self.greatest(*digit));
            // A falling digit is its complement: -w*d = w*(2^bits - 1 - d) - w*(2^bits - 1).
            let turned = *weight < 0;
            if turned {
                let reach = ones(bits).checked_mul(*weight).ok_or(ExprError::Overflow)?;
                constant = add(constant, reach)?;
            }
            // 9*d is d and d again, three bits higher.
            let size = weight.unsigned_abs();
            for start in (0..u128::BITS).filter(|bit| size >> bit & 1 == 1) {
                if start + bits > MAX_BITS {
                    return Ok(None);
                }
                fields.push(BitField { start, bits, of: self.members(*digit), turned });
            }
        }
        if constant < 0 || bits_of(constant) > MAX_BITS {
            return Ok(None);
        }
        let mut start = 0;
        while constant >> start != 0 {
            start += (constant >> start).trailing_zeros();
            let bits = (constant >> start).trailing_ones();
            fields.push(BitField { start, bits, of: Vec::new(), turned: true });
            start += bits;
        }
        fields.retain(|field| field.bits > 0);
        fields.sort_by_key(|field| field.start);
        let apart = fields.windows(2).all(|pair| match pair {
            [low, high] => low.end() <= high.start,
            _ => true,
        });
        Ok(apart.then_some(fields))
    }

    /// The digits whose XOR a digit is.
    fn members(&self, digit: usize) -> Vec<usize> {
        match self.derived.iter().find(|(made, _)| *made == digit) {
            Some((_, DerivedDigit::Parity(of))) => of.clone(),
            _ => alloc::vec![digit],
        }
    }

    /// The fields cut at these edges; those that hold a digit must be cut before.
    fn aligned(&self, fields: &[BitField], edges: &[u32]) -> Result<Vec<BitField>, Refinement> {
        let mut out = Vec::new();
        for field in fields {
            let mut start = field.start;
            for edge in edges.iter().filter(|edge| field.start < **edge && **edge < field.end()) {
                if let Some(digit) = field.of.first() {
                    return Err(self.cut(*digit, 1_i128 << (edge - field.start)));
                }
                out.push(BitField { start, bits: edge - start, ..field.clone() });
                start = *edge;
            }
            out.push(BitField { start, bits: field.end() - start, ..field.clone() });
        }
        Ok(out)
    }

    /// A field as a sum of digits.
    fn field_form(&mut self, field: &BitField) -> Result<LinearForm, ExprError> {
        let weight = 1_i128 << field.start;
        let reach = ones(field.bits).checked_mul(weight).ok_or(ExprError::Overflow)?;
        let mut form =
            LinearForm { constant: if field.turned { reach } else { 0 }, terms: Vec::new() };
        let digit = match field.of.as_slice() {
            [] => return Ok(form),
            [digit] => *digit,
            several => {
                self.made_digit(DerivedDigit::Parity(several.to_vec()), 1_i128 << field.bits)?
            }
        };
        form.terms.push((digit, if field.turned { -weight } else { weight }));
        Ok(form)
    }

    /// `form % k` as a digit of its own.
    pub(super) fn residue(&mut self, form: &LinearForm, k: i128) -> Result<LinearForm, ExprError> {
        let rest = modulo(form, k, &self.derived)?;
        let (_, high) = self.tight_span(&rest)?;
        if high < k {
            return Ok(rest);
        }
        let digit = self.made_digit(DerivedDigit::Residue(rest, k), k)?;
        Ok(LinearForm { constant: 0, terms: alloc::vec![(digit, 1)] })
    }

    /// `form // k`, what `k` does not divide of it as a digit of its own; `None` when it may be beyond counting.
    pub(super) fn quotient(
        &mut self,
        form: &LinearForm,
        k: i128,
    ) -> Result<Option<LinearForm>, ExprError> {
        let (mut whole, mut rest) = form.split(k);
        let least = self.span(&rest)?.0.div_euclid(k);
        whole.constant = add(whole.constant, least)?;
        rest.constant = add(rest.constant, -least.checked_mul(k).ok_or(ExprError::Overflow)?)?;
        let most = self.tight_span(&rest)?.1.div_euclid(k);
        let Some(extent) = most.checked_add(1) else { return Ok(None) };
        let digit = self.made_digit(DerivedDigit::Quotient(rest, k), extent)?;
        let quotient = LinearForm { constant: 0, terms: alloc::vec![(digit, 1)] };
        Ok(Some(sum(&whole, &quotient, 1)?))
    }

    /// How far along the curve of a box a cell is, as a digit of its own; `None` for one that may lie outside.
    pub(super) fn along_curve(
        &mut self,
        grid: CurveGrid,
        row: LinearForm,
        column: LinearForm,
    ) -> Result<Option<LinearForm>, ExprError> {
        for (form, extent) in [(&row, grid.rows()), (&column, grid.columns())] {
            let (low, high) = self.tight_span(form)?;
            if low < 0 || high >= i128::from(extent) {
                return Ok(None);
            }
        }
        let cells = i128::from(grid.cells());
        let digit = self.made_digit(DerivedDigit::Hilbert(grid, row, column), cells)?;
        Ok(Some(LinearForm { constant: 0, terms: alloc::vec![(digit, 1)] }))
    }

    /// The digit that is so made; one for all places where it occurs.
    pub(super) fn made_digit(
        &mut self,
        made: DerivedDigit,
        extent: i128,
    ) -> Result<usize, ExprError> {
        if let Some((digit, _)) = self.derived.iter().find(|(_, known)| *known == made) {
            return Ok(*digit);
        }
        let digit = self.add_digit(1, Expr::constant(extent), None)?;
        self.derived.push((digit, made));
        Ok(digit)
    }
}

/// A sum modulo `k`, constant and weights in `0..k`; remainders within it are taken for what they are remainders of
/// where that is the same.
pub(crate) fn modulo(
    form: &LinearForm,
    k: i128,
    made: &[(usize, DerivedDigit)],
) -> Result<LinearForm, ExprError> {
    let mut rest = LinearForm::default();
    for (digit, weight) in &form.terms {
        let part = match made.iter().find(|(made, _)| made == digit) {
            // c * (x % m) counts as c * x modulo k when k divides c*m.
            Some((_, DerivedDigit::Residue(x, m)))
                if weight.checked_mul(*m).is_some_and(|w| w % k == 0) =>
            {
                x.clone()
            }
            Some((_, DerivedDigit::Sum(x))) => x.clone(),
            _ => LinearForm { constant: 0, terms: alloc::vec![(*digit, 1)] },
        };
        rest = sum(&rest, &part, weight.rem_euclid(k))?;
    }
    rest.constant = add(rest.constant, form.constant.rem_euclid(k))?.rem_euclid(k);
    rest.terms.iter_mut().for_each(|(_, weight)| *weight = weight.rem_euclid(k));
    rest.terms.retain(|(_, weight)| *weight != 0);
    Ok(rest)
}

/// Two fields of the same bits as one; `None` when that is no XOR of digits.
fn combined(op: BinOp, a: BitField, b: &BitField) -> Option<BitField> {
    if op == BinOp::And {
        let zero = BitField { of: Vec::new(), turned: false, ..a.clone() };
        return match (a.is_fixed(), b.is_fixed()) {
            (_, true) => Some(if b.turned { a } else { zero }),
            (true, false) => Some(if a.turned { b.clone() } else { zero }),
            (false, false) if a.of == b.of => Some(if a.turned == b.turned { a } else { zero }),
            (false, false) => None,
        };
    }
    let mut of: Vec<usize> = a.of.iter().filter(|digit| !b.of.contains(digit)).copied().collect();
    of.extend(b.of.iter().filter(|digit| !a.of.contains(digit)));
    of.sort_unstable();
    Some(BitField { of, turned: a.turned != b.turned, ..a })
}
