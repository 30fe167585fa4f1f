//! Bitwise operations `&` and `^` on sums of the checker. An operand is decomposed into runs of consecutive bits. A run
//! is either constant or an XOR of digits.

use alloc::collections::{BTreeMap, BTreeSet};

use super::division::remainders;
use super::sums::CheckerContext;
use super::terms::{Factor, Sum};
use crate::expr::{BinOp, ExprError};

/// Maximum number of bits of a non-negative value in bitwise operations of the checker; wider values are not decided.
const WIDTH: u32 = 124;

/// Content of a run of consecutive bits of a value: constant bits, or an XOR of digits.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BitSource {
    /// Constant bits: every bit of the run is 1 if the field is true, and 0 if it is false.
    Fixed(bool),
    /// XOR of the digits at these positions in `CheckerContext::digits`. Each digit has as many bits as the run. If the
    /// flag is true, every bit of the XOR is inverted.
    Digits(BTreeSet<usize>, bool),
}

/// Decomposition of a value into runs of bits. The key is the position of the lowest bit of a run, from 0. The entry is
/// a pair `(bits, source)`: the number of bits of the run, and their content. Bits in no run are 0.
type BitRuns = BTreeMap<u32, (u32, BitSource)>;

fn width(value: i128) -> u32 {
    i128::BITS - value.leading_zeros()
}

fn all_ones(bits: u32) -> Result<i128, ExprError> {
    if bits > WIDTH { Err(ExprError::Overflow) } else { Ok((1 << bits) - 1) }
}

impl CheckerContext<'_> {
    /// Value of `a & b` or `a ^ b` as a sum. It is computed if the operands are equal sums or constants, if one operand
    /// is 0 or, for `&`, a mask `2^n - 1`, or if both decompose into runs of bits that `both` combines. In a layout
    /// with symbols, an XOR of other non-negative operands, or one with an operand that is itself the digit of such an
    /// XOR, is represented by [`Self::opaque_xor`]: a digit without a definition, the same one for the same operands.
    /// [`ExprError::Unbound`] if none of this applies.
    pub(super) fn bitwise(&self, op: BinOp, a: &Sum, b: &Sum) -> Result<Sum, ExprError> {
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return Ok(Sum::constant(crate::expr::apply(op, x, y)?));
        }
        if a == b {
            return Ok(if op == BinOp::And { a.clone() } else { Sum::default() });
        }
        for (value, mask) in [(a, b), (b, a)] {
            match (op, mask.as_constant()) {
                (BinOp::Xor, Some(0)) => return Ok(value.clone()),
                (BinOp::And, Some(0)) => return Ok(Sum::default()),
                // x & (2^n - 1) = x % 2^n for every x, also for values that do not decompose into runs of bits.
                (BinOp::And, Some(mask))
                    if mask > 0 && mask.count_ones() == mask.trailing_ones() =>
                {
                    let block = mask.checked_add(1).ok_or(ExprError::Overflow)?;
                    return Ok(self.divmod(value, &Sum::constant(block))?.1);
                }
                _ => {}
            }
        }
        let (a, b) = (self.expand(a)?, self.expand(b)?);
        let is_opaque = |sum: &Sum| {
            let xors = self.xors.borrow();
            xors.values().any(|digit| *sum == Sum::factor(Factor::Digit(*digit), 1))
        };
        if op == BinOp::Xor && (is_opaque(&a) || is_opaque(&b)) {
            return self.opaque_xor(&a, &b);
        }
        match self.by_runs(op, &a, &b) {
            Err(ExprError::Unbound) if op == BinOp::Xor && !self.symbols.is_empty() => {
                self.opaque_xor(&a, &b)
            }
            found => found,
        }
    }

    /// Value of `a ^ b` for operands with unknown bits, as a new digit without a definition. An XOR of the same set of
    /// operands reuses its digit, so that `a ^ b ^ b` simplifies to `a`. [`ExprError::Unbound`] if an operand is not
    /// proven non-negative.
    fn opaque_xor(&self, a: &Sum, b: &Sum) -> Result<Sum, ExprError> {
        let mut of: BTreeSet<Sum> = BTreeSet::new();
        for number in [a, b] {
            let number = &self.known_operand(number)?;
            let xors = self.xors.borrow();
            let known =
                xors.iter().find(|(_, digit)| *number == Sum::factor(Factor::Digit(**digit), 1));
            let own = known.map_or_else(|| BTreeSet::from([number.clone()]), |(of, _)| of.clone());
            of = of.symmetric_difference(&own).cloned().collect();
        }
        let mut most = 0;
        for number in &of {
            most = most.max(self.greatest_of(number)?);
        }
        if let Some(only) = of.first().filter(|_| of.len() == 1) {
            return Ok(only.clone());
        }
        if of.is_empty() {
            return Ok(Sum::default());
        }
        let known = self.xors.borrow().get(&of).copied();
        let digit = match known {
            Some(digit) => digit,
            None => {
                let digit = self.add_digit(Sum::constant(all_ones(width(most))?), None);
                self.xors.borrow_mut().insert(of, digit);
                digit
            }
        };
        Ok(Sum::factor(Factor::Digit(digit), 1))
    }

    /// Operand of the XORs in `xors` that is proven equal to `number`; `number` itself if there is none. As a result,
    /// equal operands have one representative and cancel.
    fn known_operand(&self, number: &Sum) -> Result<Sum, ExprError> {
        let known: BTreeSet<Sum> = self.xors.borrow().keys().flatten().cloned().collect();
        if known.contains(number) {
            return Ok(number.clone());
        }
        for other in known {
            if self.equal(&other, number)? {
                return Ok(other);
            }
        }
        Ok(number.clone())
    }

    /// Inclusive upper bound of a value; [`ExprError::Unbound`] if the value is not proven non-negative.
    fn greatest_of(&self, number: &Sum) -> Result<i128, ExprError> {
        let top = |high: &Sum| Ok::<i128, ExprError>(-self.least(&Sum::default().minus(high)?)?);
        for (remainder, last) in remainders(number)? {
            if remainder == *number {
                return top(&last);
            }
        }
        if !self.never_negative(number)? {
            return Err(ExprError::Unbound);
        }
        let most = top(&self.span(number)?.1)?;
        for bits in 1..width(most) {
            let ones = Sum::constant(all_ones(bits)?);
            if self.never_negative(&ones.minus(number)?)? {
                return all_ones(bits);
            }
        }
        Ok(most)
    }

    fn by_runs(&self, op: BinOp, a: &Sum, b: &Sum) -> Result<Sum, ExprError> {
        let (a, b) = (self.runs(a)?, self.runs(b)?);
        let edges: BTreeSet<u32> =
            a.iter().chain(&b).flat_map(|(start, (bits, _))| [*start, start + bits]).collect();
        let (a, b) = (cut(&a, &edges)?, cut(&b, &edges)?);
        let mut sum = Sum::default();
        for start in edges {
            let sides = (a.get(&start), b.get(&start));
            let bits = match sides {
                (Some((bits, _)), _) | (None, Some((bits, _))) => *bits,
                (None, None) => continue,
            };
            let zero = BitSource::Fixed(false);
            let x = sides.0.map_or(&zero, |(_, run)| run);
            let y = sides.1.map_or(&zero, |(_, run)| run);
            let run = both(op, x, y).ok_or(ExprError::Unbound)?;
            sum = sum.plus_owned(&self.run_sum(start, bits, &run)?)?;
        }
        Ok(sum)
    }

    /// Decomposition of a sum of digits and a constant into disjoint runs of bits. `8*d + 3` with `d < 4` has two bits
    /// of `d` from bit 3, and ones at bits 0 and 1. [`ExprError::Unbound`] in five cases: runs would overlap, a term is
    /// not a multiple of one digit, the range of a digit is 0 alone or has symbols, the value may be negative, or it
    /// may have more than [`WIDTH`] bits.
    fn runs(&self, sum: &Sum) -> Result<BitRuns, ExprError> {
        let mut runs = BitRuns::new();
        let mut constant = 0_i128;
        for (factors, coefficient) in sum.terms() {
            let digit = match &**factors {
                [] => {
                    constant = constant.checked_add(coefficient).ok_or(ExprError::Overflow)?;
                    continue;
                }
                [Factor::Digit(digit)] => *digit,
                _ => return Err(ExprError::Unbound),
            };
            let greatest = self.greatest(digit)?.as_constant().ok_or(ExprError::Unbound)?;
            let (bits, weight) = (width(greatest), coefficient.unsigned_abs());
            if bits == 0 || weight.ilog2() + bits > WIDTH {
                return Err(ExprError::Unbound);
            }
            // -w*d is w times the complement of d, minus w times all ones
            if coefficient < 0 {
                let ones = all_ones(bits)?.checked_mul(coefficient).ok_or(ExprError::Overflow)?;
                constant = constant.checked_add(ones).ok_or(ExprError::Overflow)?;
            }
            let of = self
                .parities
                .borrow()
                .iter()
                .find(|(_, own)| **own == digit)
                .map_or_else(|| BTreeSet::from([digit]), |(of, _)| of.clone());
            // The digit occurs once per bit of its weight; no two runs may start at the same bit.
            for place in (0..=weight.ilog2()).filter(|place| weight >> place & 1 == 1) {
                let run = (bits, BitSource::Digits(of.clone(), coefficient < 0));
                if runs.insert(place, run).is_some() {
                    return Err(ExprError::Unbound);
                }
            }
        }
        if constant < 0 || width(constant) > WIDTH {
            return Err(ExprError::Unbound);
        }
        let mut bit = 0;
        while constant >> bit != 0 {
            bit += (constant >> bit).trailing_zeros();
            let bits = (constant >> bit).trailing_ones();
            if runs.insert(bit, (bits, BitSource::Fixed(true))).is_some() {
                return Err(ExprError::Unbound);
            }
            bit += bits;
        }
        let mut free = 0;
        for (start, (bits, _)) in &runs {
            if *start < free {
                return Err(ExprError::Unbound);
            }
            free = start + bits;
        }
        Ok(runs)
    }

    /// Contribution of one run to a value, as a sum: the content `run` of `bits` bits, times `2^start`. `start` is the
    /// position of the lowest bit of the run, from 0 at the least significant bit of the value. The XOR of several
    /// digits becomes a new digit; an XOR of the same set of digits reuses it.
    fn run_sum(&self, start: u32, bits: u32, run: &BitSource) -> Result<Sum, ExprError> {
        let weight = 1_i128 << start;
        let reach = Sum::constant(all_ones(bits)?.checked_mul(weight).ok_or(ExprError::Overflow)?);
        let (of, is_turned) = match run {
            BitSource::Fixed(is_one) => return Ok(if *is_one { reach } else { Sum::default() }),
            BitSource::Digits(of, is_turned) => (of, *is_turned),
        };
        let digit = match of.first() {
            Some(only) if of.len() == 1 => *only,
            _ => {
                let known = self.parities.borrow().get(of).copied();
                known.map_or_else(
                    || {
                        let digit = self.add_digit(Sum::constant(all_ones(bits)?), None);
                        self.parities.borrow_mut().insert(of.clone(), digit);
                        Ok::<usize, ExprError>(digit)
                    },
                    Ok,
                )?
            }
        };
        let sum = Sum::factor(Factor::Digit(digit), weight);
        if is_turned { reach.minus(&sum) } else { Ok(sum) }
    }
}

/// Decomposition `runs` with each constant run split at the bit positions `edges` that lie inside it;
/// [`ExprError::Unbound`] if an edge lies inside a run of digits.
fn cut(runs: &BitRuns, edges: &BTreeSet<u32>) -> Result<BitRuns, ExprError> {
    let mut out = BitRuns::new();
    for (start, (bits, run)) in runs {
        let mut from = *start;
        for edge in edges.range(start + 1..start + bits) {
            if matches!(run, BitSource::Digits(..)) {
                return Err(ExprError::Unbound);
            }
            out.insert(from, (edge - from, run.clone()));
            from = *edge;
        }
        out.insert(from, (start + bits - from, run.clone()));
    }
    Ok(out)
}

/// Content of the run `a op b`, for two runs over the same bits; `None` if the result is neither constant nor an XOR
/// of digits.
fn both(op: BinOp, a: &BitSource, b: &BitSource) -> Option<BitSource> {
    Some(match (op, a, b) {
        (BinOp::And, BitSource::Fixed(false), _) | (BinOp::And, _, BitSource::Fixed(false)) => {
            BitSource::Fixed(false)
        }
        (BinOp::And, BitSource::Fixed(true), run) | (BinOp::And, run, BitSource::Fixed(true)) => {
            run.clone()
        }
        (BinOp::And, BitSource::Digits(x, turned), BitSource::Digits(y, other)) if x == y => {
            if turned == other {
                a.clone()
            } else {
                BitSource::Fixed(false)
            }
        }
        (BinOp::Xor, BitSource::Fixed(x), BitSource::Fixed(y)) => BitSource::Fixed(x != y),
        (BinOp::Xor, BitSource::Fixed(is_one), BitSource::Digits(of, turned))
        | (BinOp::Xor, BitSource::Digits(of, turned), BitSource::Fixed(is_one)) => {
            BitSource::Digits(of.clone(), turned != is_one)
        }
        (BinOp::Xor, BitSource::Digits(x, turned), BitSource::Digits(y, other)) => {
            let of: BTreeSet<usize> = x.symmetric_difference(y).copied().collect();
            let is_turned = turned != other;
            if of.is_empty() {
                BitSource::Fixed(is_turned)
            } else {
                BitSource::Digits(of, is_turned)
            }
        }
        _ => return None,
    })
}
