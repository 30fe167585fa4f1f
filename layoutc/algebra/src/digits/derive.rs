//! Derived digits: values that are not weighted sums of the digits of axes, however these are split.
//!
//! The XOR of equally wide bit fields is a derived digit, and XORs of digits are added and split like any
//! other digit. `(3*i) % 8`, `(i + 5*j) // 7` and `hilbert(i, j)` are derived digits as a whole.

use alloc::vec::Vec;

use super::read::{DigitReader, RefineResult, add, sum};
use super::refine::Refinement;
use super::{DerivedDigit, LinearForm};
use crate::expr::curve::CurveGrid;
use crate::expr::{BinOp, Expr, ExprError};

/// Maximum number of bits of a value that is decomposed into bit fields. A bitwise operation that requires the
/// decomposition of a wider value is [`Refinement::Impossible`].
const MAX_BITS: u32 = 120;

/// Bit field of a value: the XOR of digits, with all bits inverted if `turned` is true. Without digits, all bits of
/// the field are 0, or 1 if `turned` is true.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BitField {
    /// Position of the lowest bit of the field in the value; 0 is the least significant bit.
    start: u32,
    /// Number of bits of the field.
    bits: u32,
    /// Positions in `digits` of the digits whose XOR is the field, ascending.
    of: Vec<usize>,
    turned: bool,
}

impl BitField {
    fn end(&self) -> u32 {
        self.start + self.bits
    }

    /// True if the field is constant: all its bits are 0, or all are 1.
    fn is_fixed(&self) -> bool {
        self.of.is_empty()
    }
}

/// Number whose lowest `bits` bits are 1, `2^bits - 1`, for at most [`MAX_BITS`] bits.
fn ones(bits: u32) -> i128 {
    (1_i128 << bits.min(MAX_BITS)) - 1
}

/// Number of significant bits of a non-negative value; 0 for 0.
fn bits_of(value: i128) -> u32 {
    128 - value.leading_zeros()
}

impl DigitReader<'_> {
    /// `a & b` or `a ^ b` as a weighted sum of digits, for operands that are sums of disjoint bit fields. If a field of
    /// one operand starts or ends inside a field of the other that is not constant, a request to split a digit of the
    /// latter. [`Refinement::Impossible`] for other operands, and for `a & b` if two fields over the same bits are XORs
    /// of different digits.
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

    /// Splits `form`, an operand of `^` or `&` whose other operand `v` is in `least..=most`. Returns `(high, low)` with
    /// `form = high + low`, where `2^n` divides `high`, `low` is in `0..2^n`, and `n` is the number of bits of `most`.
    /// Then `form ^ v` is `high + (low ^ v)`, and `form & v` is `low & v`. With `most` 7, `8*a + b` is split into `8*a`
    /// and `b` if `b` is below 8. Returns `(0, form)` if the sum of the terms whose weights `2^n` does not divide may
    /// leave `0..2^n`, `least` is negative, or `n` is at least [`MAX_BITS`].
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

    /// Disjoint bit fields whose sum is `form`, lowest first: for `9*d` with a digit `d` below 8, the field `d` at bit
    /// 0 and again at bit 3. `None` if `form` is not such a sum, or has more than [`MAX_BITS`] bits.
    fn fields(&self, form: &LinearForm) -> Result<Option<Vec<BitField>>, ExprError> {
        let mut form = form.clone();
        // Subdivided digits are replaced by the digits of the chains that subdivide them.
        while let Some(cut) = self.expand_heaviest_digit(&form, i128::MAX)? {
            form = cut;
        }
        let mut constant = form.constant;
        let mut fields: Vec<BitField> = Vec::new();
        for (digit, weight) in &form.terms {
            let bits = bits_of(self.greatest(*digit));
            // A negative weight is a complement: -w*d = w*(2^bits - 1 - d) - w*(2^bits - 1)
            let turned = *weight < 0;
            if turned {
                let reach = ones(bits).checked_mul(*weight).ok_or(ExprError::Overflow)?;
                constant = add(constant, reach)?;
            }
            // 9*d is the field d at bit 0 and again at bit 3
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

    /// Positions in `digits` of the digits whose XOR is the digit at position `digit`; `digit` alone if that digit is
    /// not an XOR.
    fn members(&self, digit: usize) -> Vec<usize> {
        match self.derived.iter().find(|(made, _)| *made == digit) {
            Some((_, DerivedDigit::Parity(of))) => of.clone(),
            _ => alloc::vec![digit],
        }
    }

    /// Fields of the list `fields`, with each constant field split at the bit positions `edges` that lie inside it. If
    /// an edge lies inside a field that is not constant, returns a request to split the first digit of that field at
    /// the edge instead.
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

    /// Value of a bit field, at its position in the whole value, as a weighted sum of digits.
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

    /// Remainder `form % k`: the form `modulo(form, k)` if its greatest value is below `k`, otherwise a derived digit
    /// for the remainder of `modulo(form, k)` by `k`.
    pub(super) fn residue(&mut self, form: &LinearForm, k: i128) -> Result<LinearForm, ExprError> {
        let rest = modulo(form, k, &self.derived)?;
        let (_, high) = self.tight_span(&rest)?;
        if high < k {
            return Ok(rest);
        }
        let digit = self.made_digit(DerivedDigit::Residue(rest, k), k)?;
        Ok(LinearForm { constant: 0, terms: alloc::vec![(digit, 1)] })
    }

    /// Quotient `form // k`: the terms whose weights `k` divides, divided by `k`, plus a constant, plus a derived digit
    /// for the quotient of the other terms. `None` if the extent of the derived digit overflows.
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

    /// Position along the Hilbert curve of the cell at `row` and `column`, as a derived digit; `None` if the cell
    /// may be outside the grid.
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

    /// Position in `digits` of the derived digit that is defined by `made` and takes `extent` values. The digit is
    /// added if there is none with this definition.
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

/// Form congruent to `form` modulo `k`, with its constant in `0..k` and its weights in `1..k`. `made` are pairs of the
/// position of a derived digit and its definition. A digit that is a sum is replaced by this sum, and a remainder
/// `x % m` of weight `w` by `x` if `k` divides `w * m`: `3 * (x % 4)` becomes `3*x` modulo 12.
pub(crate) fn modulo(
    form: &LinearForm,
    k: i128,
    made: &[(usize, DerivedDigit)],
) -> Result<LinearForm, ExprError> {
    let mut rest = LinearForm::default();
    for (digit, weight) in &form.terms {
        let part = match made.iter().find(|(made, _)| made == digit) {
            // c * (x % m) is congruent to c * x modulo k if k divides c*m
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

/// Field `a op b` for two fields over the same bits, where `op` is `&` or `^`; `None` if the result is not an XOR of
/// digits, as for `&` of two different digits.
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
