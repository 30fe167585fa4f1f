//! Intermediate values that are divided in several ways, such as `z // 6` and `z % 6` for `z = (i + j) % 7`. Each of
//! these values becomes a digit with a chain of its own, whose parts split and join like those of an axis.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::read::{DigitReader, RefineResult, sum};
use super::refine::{ChainPlan, ChainSource, Refinement};
use super::{BitSplit, DerivedDigit, LinearForm};
use crate::expr::{BinOp, ExprError, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;
use crate::normal_form::simplify::Facts;

/// Maximum divisor `k` of a dividend `x` up to which other dividends are recognized as quotients `x // g`, where `g` is
/// a proper divisor of `k`. For a greater `k` this search is skipped, and such dividends are read independently of `x`.
const MAX_DIVISOR: i128 = 4096;

/// Divisions and bit operations in a list of target expressions, as far as they decide how the digits are split. They
/// give the dividends that need a chain of their own, the dividends that are quotients of others, and the axes and
/// symbols whose bits are used, of which axes may be split at powers of two only.
#[derive(Debug, Default)]
pub(super) struct SharedDividends {
    /// Dividends, other than single axes, that need a chain of their own: those with more than one division, such as
    /// `z` in `z // 6` and `z % 6`, and those of which another dividend is a quotient (see `quotients`).
    shared: BTreeSet<Poly>,
    /// Pair `(x, g)` for each dividend that is known to equal `x // g`, where `x` is another dividend. The dividend
    /// `2*i + j//4` has the pair `(8*i + j, 4)`.
    quotients: BTreeMap<Poly, (Poly, i128)>,
    /// Axes and symbols whose bits are operands of an XOR or a mask; empty except under [`BitSplit::AtBits`].
    bits: BTreeSet<Var>,
}

/// Divisions of each dividend, as pairs `(is_remainder, divisor)`: `(true, 6)` for `z % 6`.
type Divisions<'a> = BTreeMap<&'a Poly, BTreeSet<(bool, &'a Poly)>>;

/// Pair `(x, g)` for each dividend that equals `x // g`, where `x` is another dividend and `g` is a proper divisor of a
/// number, at most [`MAX_DIVISOR`], by which `x` is divided.
fn quotients(
    divisions: &Divisions<'_>,
    facts: &Facts,
) -> Result<BTreeMap<Poly, (Poly, i128)>, ExprError> {
    let mut quotients = BTreeMap::new();
    if divisions.len() < 2 {
        return Ok(quotients);
    }
    for (x, divisors) in divisions {
        let divisors = divisors.iter().filter_map(|(_, k)| k.as_constant());
        let all =
            divisors.filter(|k| *k <= MAX_DIVISOR).flat_map(|k| (2..k).filter(move |g| k % g == 0));
        let all: BTreeSet<i128> = all.collect();
        for g in all {
            let quotient = facts.floor_div(x, &Poly::constant(g))?;
            if quotient != **x
                && divisions.contains_key(&quotient)
                && !quotients.contains_key(&quotient)
            {
                quotients.insert(quotient, ((*x).clone(), g));
            }
        }
    }
    Ok(quotients)
}

impl SharedDividends {
    pub(super) fn of(targets: &[Poly], bits: BitSplit, facts: &Facts) -> Result<Self, ExprError> {
        let (mut divisions, mut fields) = (BTreeMap::new(), BTreeSet::new());
        for target in targets {
            collect(target, &mut divisions, &mut fields, false);
        }
        // A dividend that is a single axis needs no further chain: every axis has one.
        let is_axis = |x: &Poly| matches!(x.as_atom(), Some(Atom::Var(_)));
        let quotients = quotients(&divisions, facts)?;
        let several = divisions.iter().filter(|(x, divisions)| {
            let is_several = divisions.len() > 1 || quotients.values().any(|(of, _)| of == **x);
            is_several && !is_axis(x)
        });
        let shared = several.map(|(x, _)| (*x).clone()).collect();
        let bits = if bits == BitSplit::AtBits { fields } else { BTreeSet::new() };
        Ok(Self { shared, quotients, bits })
    }

    pub(super) fn takes_bits(&self) -> bool {
        !self.bits.is_empty()
    }

    /// True if `x` contains an axis or a symbol whose bits are operands of an XOR or a mask. Such an axis may be split
    /// at powers of two only, and must count from 0.
    fn has_bits_of(&self, x: &Poly) -> bool {
        !self.bits.is_empty() && x.mentions(&|var| self.bits.contains(&var))
    }
}

/// Adds the divisions of every dividend in `poly` to `divisions`, and every axis or symbol whose bits are operands of
/// `&` or `^` to `bits`. `is_bitwise` is true if `poly` itself is such an operand.
fn collect<'a>(
    poly: &'a Poly,
    divisions: &mut Divisions<'a>,
    bits: &mut BTreeSet<Var>,
    is_bitwise: bool,
) {
    for atom in poly.terms().flat_map(|(monomial, _)| monomial.iter()) {
        match atom {
            Atom::Var(var) if is_bitwise => {
                bits.insert(*var);
            }
            Atom::Var(_) => {}
            Atom::Op(op, a, b) => {
                if matches!(op, BinOp::FloorDiv | BinOp::Mod) {
                    divisions.entry(a).or_default().insert((*op == BinOp::Mod, b));
                }
                let is_bitwise = match op {
                    BinOp::And | BinOp::Xor => true,
                    // The bits of the curve position are used, not those of its operands.
                    BinOp::Hilbert(_) => false,
                    _ => is_bitwise,
                };
                collect(a, divisions, bits, is_bitwise);
                collect(b, divisions, bits, is_bitwise);
            }
        }
    }
}

impl DigitReader<'_> {
    /// Linear form of the dividend `x`, which is divided by `k`. If a plan encodes `x`, the form is the digit that the
    /// chain of this plan subdivides, plus the start of the chain; the chain is added at its first use. If `x` is a
    /// quotient `y // g` of another dividend `y`, and a plan encodes `y` or some axes are fused, the form is that of
    /// `y` divided by `g`. Otherwise the form is that of the polynomial `x`, also for a single axis in an operand of an
    /// XOR or a mask if `k` is a power of two.
    pub(super) fn dividend_form(&mut self, x: &Poly, k: i128) -> RefineResult {
        // An XOR operand is split into the bits of the axis itself.
        let is_power = k & (k - 1) == 0;
        let is_bits = self.is_bitwise && is_power && matches!(x.as_atom(), Some(Atom::Var(_)));
        let Some(position) = self.plans.iter().position(|plan| !is_bits && plan.counts(x)) else {
            let uses = self.uses;
            let Some((whole, by)) = uses.quotients.get(x) else { return self.form(x) };
            let is_whole = |plan: &ChainPlan| plan.counts(whole) || plan.axes.len() > 1;
            if !self.plans.iter().any(is_whole) {
                return self.form(x);
            }
            let inner = match self.dividend_form(whole, *by)? {
                Ok(inner) => inner,
                Err(request) => return Ok(Err(request)),
            };
            return self.part(BinOp::FloorDiv, (Some(whole), &inner), *by);
        };
        let Some(plan) = self.plans.get(position) else { return self.form(x) };
        let number =
            |digit: usize| LinearForm { constant: plan.constant, terms: alloc::vec![(digit, 1)] };
        if let Some(digit) = self.number_of(position) {
            return Ok(Ok(number(digit)));
        }
        let form = match self.form(x)? {
            Ok(form) => sum(&form, &LinearForm { constant: -1, terms: Vec::new() }, plan.constant)?,
            Err(request) => return Ok(Err(request)),
        };
        let (low, high) = self.tight_span(&form)?;
        if let (true, ChainSource::Number(_, block)) = (low < 0, &plan.of) {
            let least = low.checked_add(plan.constant).ok_or(ExprError::Overflow)?;
            return Ok(Err(Refinement::NewDividend { number: x.clone(), least, by: *block }));
        }
        let digit = match (form.constant, form.terms.as_slice()) {
            (0, [(digit, 1)]) if self.is_whole(*digit) => *digit,
            _ => self.made_digit(
                DerivedDigit::Sum(form),
                high.checked_add(1).ok_or(ExprError::Overflow)?,
            )?,
        };
        self.add_chain(position, plan, Some(digit))?;
        for (k, part) in self.plans.iter().enumerate() {
            if let ChainSource::Digit(of, weight) = part.of
                && self.is_of_number(of, position)
            {
                self.add_parts(k, part, (of, weight))?;
            }
        }
        Ok(Ok(number(digit)))
    }

    /// True if the plan at position `plan` is the one at position `number`, or subdivides a digit of the chain of plan
    /// `number`, directly or through the plans of other subdivisions.
    fn is_of_number(&self, plan: usize, number: usize) -> bool {
        match self.plans.get(plan).map(|plan| &plan.of) {
            // The plan of a subdivision comes after the plan that it subdivides, so that the recursion ends.
            Some(ChainSource::Digit(of, _)) if *of < plan => self.is_of_number(*of, number),
            _ => plan == number,
        }
    }

    /// True if the digit at position `digit` is derived and no chain subdivides it.
    fn is_whole(&self, digit: usize) -> bool {
        self.derived.iter().any(|(made, _)| *made == digit)
            && self.chains.iter().all(|chain| chain.of_digit != Some(digit))
    }

    /// True if `request` would shift, reverse or fuse an axis whose bits are operands of an XOR or a mask, or split it
    /// at a weight that is not a power of two.
    pub(super) fn breaks_bits(&self, request: &Refinement) -> bool {
        let is_of_bits = |plan: &usize| {
            let axes = self.plans.get(*plan).map_or(&[][..], |plan| plan.axes.as_slice());
            let var = |axis: &usize| u32::try_from(*axis).ok().map(Var::Axis);
            axes.iter().filter_map(var).any(|var| self.uses.bits.contains(&var))
        };
        match request {
            Refinement::Split(plan, weight) => weight & (weight - 1) != 0 && is_of_bits(plan),
            Refinement::Shift(plan, _) | Refinement::Reflect(plan) => is_of_bits(plan),
            Refinement::Fuse(plans) => plans.iter().any(is_of_bits),
            Refinement::NewDividend { .. } | Refinement::Impossible => false,
        }
    }

    /// Request for a chain of the dividend `x`, or of the dividend of which `x` is a quotient. `form` is the linear
    /// form of `x`, and `k` its divisor. `None` if `x` needs no chain, or [`refine`](super::refine::refine) refuses the
    /// request, as it does if the chain exists and starts low enough.
    pub(super) fn name_dividend(
        &self,
        x: &Poly,
        form: &LinearForm,
        k: i128,
    ) -> Result<Option<Refinement>, ExprError> {
        if let Some((whole, by)) = self.uses.quotients.get(x) {
            let number = whole.clone();
            let request = Refinement::NewDividend { number, least: 0, by: *by };
            if self.is_effective(&request) {
                return Ok(Some(request));
            }
        }
        if !self.uses.shared.contains(x) && !self.uses.has_bits_of(x) {
            return Ok(None);
        }
        let (least, _) = self.tight_span(form)?;
        let request = Refinement::NewDividend { number: x.clone(), least, by: k };
        Ok(self.is_effective(&request).then_some(request))
    }
}
