//! Proofs that polynomials over symbols are non-negative. A polynomial is tested at the ends of the range of an atom in
//! which it is linear or monotonic; other ranges are bisected. If the test fails, quotients are replaced by their
//! rational bounds.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::expr::gcd;
use crate::expr::{BinOp, ExprError};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::normal_form::simplify::Facts;

/// Maximum number of quotients that are replaced by their bounds in one proof; a proof that needs more fails.
const MAX_RELAXATIONS: usize = 8;
/// Maximum number of polynomials that one call of [`Facts::is_never_negative`] examines; a test that needs more fails.
const MAX_STEPS: u32 = 400;
/// Maximum number of distinct atoms of a polynomial that is tested at the ends of their ranges; a polynomial with
/// more atoms is not proven non-negative by this test.
const MAX_ATOMS: usize = 8;

/// Inclusive least and greatest value of each atom of a polynomial.
type AtomBounds<'a> = BTreeMap<&'a Atom, (i128, i128)>;

impl Facts {
    /// True if a polynomial is proven non-negative for all values of indices and symbols; false if it may be negative,
    /// is not decided, or the proof exceeds a limit.
    pub(crate) fn at_least_zero(&self, p: &Poly) -> Result<bool, ExprError> {
        if let Some(value) = p.as_constant() {
            return Ok(value >= 0);
        }
        let mut goal = self.range(p)?.low;
        for _ in 0..MAX_RELAXATIONS {
            if self.is_never_negative(&goal)? {
                return Ok(true);
            }
            match self.weaken_quotient(&goal)? {
                Some(relaxed) => goal = relaxed,
                None => return Ok(false),
            }
        }
        self.is_never_negative(&goal)
    }

    /// True if a polynomial over symbols is proven non-negative for every combination of values of its atoms within
    /// their bounds, even if related atoms such as `n` and `n // 2` cannot take them together.
    pub(crate) fn is_never_negative(&self, p: &Poly) -> Result<bool, ExprError> {
        let (least, greatest) = self.numeric(p)?;
        if least >= 0 || greatest < 0 || !repeats(p) {
            return Ok(least >= 0);
        }
        let mut bounds = AtomBounds::new();
        for atom in p.terms().flat_map(|(monomial, _)| monomial.iter()) {
            if !bounds.contains_key(atom) {
                bounds.insert(atom, self.numeric_atom(atom)?);
            }
        }
        if bounds.len() > MAX_ATOMS {
            return Ok(false);
        }
        let mut left = MAX_STEPS;
        Ok(is_nonnegative_in_box(p, &bounds, &mut left).unwrap_or(false))
    }

    /// Polynomial whose non-negativity implies that of `p`: `n - 8` for `n // 4 - 2`. Of the quotients that are factors
    /// of the terms, the one with the deepest nesting, `x // d`, is replaced by its lower bound `(x - d + 1) / d` where
    /// its coefficient is positive, and by its upper bound `x / d` where it is negative. The denominator `d` is
    /// cleared. `None` if there is no quotient to replace, if the quotient occurs as a power, or if a factor beside it
    /// may be negative.
    fn weaken_quotient(&self, p: &Poly) -> Result<Option<Poly>, ExprError> {
        let atoms = p.terms().flat_map(|(monomial, _)| monomial.iter());
        let quotients = atoms.filter(|atom| matches!(atom, Atom::Op(BinOp::FloorDiv, ..)));
        let Some(quotient) = quotients.max_by_key(|atom| depth(atom)) else { return Ok(None) };
        let Atom::Op(_, x, d) = quotient else { return Ok(None) };
        let (mut rest, mut up, mut down) = (Poly::zero(), Poly::zero(), Poly::zero());
        for (monomial, coefficient) in p.terms() {
            let Some(at) = monomial.iter().position(|atom| atom == quotient) else {
                rest.add_term(monomial, coefficient)?;
                continue;
            };
            let cofactor = monomial.without(at);
            for atom in cofactor.iter() {
                if atom == quotient || self.numeric_atom(atom)?.0 < 0 {
                    return Ok(None);
                }
            }
            if coefficient > 0 {
                up.add_term(&cofactor, coefficient)?;
            } else {
                down.add_term(&cofactor, coefficient)?;
            }
        }
        let lower = x.sub(d)?.plus(1)?;
        let weights = up.terms().chain(down.terms()).fold(0, |n, (_, c)| gcd(n, c));
        if let Some(k) = d.as_constant().filter(|k| weights % k == 0) {
            let part = |weight: &Poly| weight.split_by_constant(k).0;
            let bound = part(&up).mul(&lower)?.add_owned(&part(&down).mul(x)?)?;
            return Ok(Some(rest.add_owned(&bound)?));
        }
        // `p` is an integer, so `p >= 0` follows from `d*p > -d`.
        let whole = rest.mul(d)?.add_owned(&up.mul(&lower)?)?.add_owned(&down.mul(x)?)?;
        Ok(Some(whole.add_owned(d)?.plus(-1)?))
    }
}

/// True if an atom occurs more than once in a polynomial. Then the sum of the minima of the terms may be less than
/// the minimum of the polynomial.
fn repeats(p: &Poly) -> bool {
    let mut seen: Vec<&Atom> = Vec::new();
    for atom in p.terms().flat_map(|(monomial, _)| monomial.iter()) {
        if seen.contains(&atom) {
            return true;
        }
        seen.push(atom);
    }
    false
}

/// Nesting depth of operations in an atom: 0 for a variable, 2 for `n // 4 % 3`.
fn depth(atom: &Atom) -> usize {
    match atom {
        Atom::Var(_) => 0,
        Atom::Op(_, a, b) => {
            let inside = a.terms().chain(b.terms()).flat_map(|(monomial, _)| monomial.iter());
            1 + inside.map(depth).max().unwrap_or(0)
        }
    }
}

/// Lower bound of a polynomial within the bounds of its atoms: the sum of the minima of its terms. `None` if
/// arithmetic overflows.
fn least(p: &Poly, bounds: &AtomBounds<'_>) -> Option<i128> {
    let mut low = 0_i128;
    for (monomial, coefficient) in p.terms() {
        let mut range = (coefficient, coefficient);
        for atom in monomial.iter() {
            let own = bounds.get(atom)?;
            let corners = [
                range.0.checked_mul(own.0)?,
                range.0.checked_mul(own.1)?,
                range.1.checked_mul(own.0)?,
                range.1.checked_mul(own.1)?,
            ];
            range =
                corners.iter().fold((corners[0], corners[0]), |(l, h), v| (l.min(*v), h.max(*v)));
        }
        low = low.checked_add(range.0)?;
    }
    Some(low)
}

/// True if a polynomial is proven non-negative for all values of its atoms within `bounds`; false if it may be
/// negative. `left` is the number of polynomials that may still be examined, and is reduced by those that are. `None`
/// if the number is exhausted, or if arithmetic overflows.
fn is_nonnegative_in_box(p: &Poly, bounds: &AtomBounds<'_>, left: &mut u32) -> Option<bool> {
    *left = left.checked_sub(1)?;
    if least(p, bounds)? >= 0 {
        return Some(true);
    }
    let Some(atom) = most_frequent(p, bounds) else { return Some(false) };
    let powers = by_powers(p, atom)?;
    let (low, high) = *bounds.get(atom)?;
    if powers.len() == 2 || high - low < 2 {
        return Some(
            is_nonnegative_in_box(&at(&powers, low)?, bounds, left)?
                && is_nonnegative_in_box(&at(&powers, high)?, bounds, left)?,
        );
    }
    let within = |low: i128, high: i128| {
        let mut own = bounds.clone();
        own.insert(atom, (low, high));
        own
    };
    let step = difference(&powers, atom)?;
    let inside = within(low, high - 1);
    if is_nonnegative_in_box(&step, &inside, left)? {
        return is_nonnegative_in_box(&at(&powers, low)?, bounds, left);
    }
    if is_nonnegative_in_box(&step.scale(-1).ok()?, &inside, left)? {
        return is_nonnegative_in_box(&at(&powers, high)?, bounds, left);
    }
    let middle = low + (high - low) / 2;
    Some(
        is_nonnegative_in_box(p, &within(low, middle), left)?
            && is_nonnegative_in_box(p, &within(middle + 1, high), left)?,
    )
}

/// Atom that occurs most often in a polynomial, where `n * n` counts twice; `None` if each atom occurs only once.
fn most_frequent<'a>(p: &Poly, bounds: &AtomBounds<'a>) -> Option<&'a Atom> {
    let count = |atom: &Atom| {
        p.terms().map(|(monomial, _)| monomial.iter().filter(|own| *own == atom).count()).sum()
    };
    let counted = bounds.keys().map(|atom| (*atom, count(atom)));
    let most = counted.max_by_key(|(_, count): &(_, usize)| *count);
    most.filter(|(_, count)| *count > 1).map(|(atom, _)| atom)
}

/// Coefficients of `p` as a polynomial in `atom`: position `k` is the coefficient of `atom^k`. For `2*n*n + 3*k*n + 1`
/// and the atom `n`, they are `[1, 3*k, 2]`. `None` if arithmetic overflows.
fn by_powers(p: &Poly, atom: &Atom) -> Option<Vec<Poly>> {
    let mut powers: Vec<Poly> = Vec::new();
    for (monomial, coefficient) in p.terms() {
        let others: Vec<Atom> = monomial.iter().filter(|own| *own != atom).cloned().collect();
        let power = monomial.len() - others.len();
        while powers.len() <= power {
            powers.push(Poly::zero());
        }
        powers.get_mut(power)?.add_term(&Monomial::from(others), coefficient).ok()?;
    }
    Some(powers)
}

/// Value `powers[0] + powers[1] * x + powers[2] * x^2 + …` at `x` of the polynomial with coefficients `powers`;
/// `None` if arithmetic overflows.
fn at(powers: &[Poly], x: i128) -> Option<Poly> {
    let mut sum = Poly::zero();
    for part in powers.iter().rev() {
        sum = sum.scale(x).ok()?.add_owned(part).ok()?;
    }
    Some(sum)
}

/// Forward difference in `atom` of the polynomial with coefficients `powers`: the sum of
/// `powers[k] * ((x + 1)^k - x^k)`, where `x` is the atom. `None` if arithmetic overflows.
fn difference(powers: &[Poly], atom: &Atom) -> Option<Poly> {
    let own = Poly::atom(atom.clone());
    let next = own.plus(1).ok()?;
    let (mut power, mut raised) = (Poly::constant(1), Poly::constant(1));
    let mut sum = Poly::zero();
    for part in powers.iter().skip(1) {
        (power, raised) = (power.mul(&own).ok()?, raised.mul(&next).ok()?);
        sum = sum.add_owned(&part.mul(&raised.sub(&power).ok()?).ok()?).ok()?;
    }
    Some(sum)
}
