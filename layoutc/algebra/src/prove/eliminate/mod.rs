//! Elimination: solves for the logical indices of a component when weights, strides or divisors of the targets
//! contain symbols.
//!
//! Every target is an equation: a sum of axes and quotients with symbolic weights has a known value. An equation in
//! one unknown is solved. An equation `w*a + b = v` with `0 <= b < w` is split into `a = v // w` and `b = v % w`. Two
//! equations that share a quotient are subtracted, so that the quotient cancels. Known values determine the quotients
//! and XORs that contain them. Side conditions are only tested on sample elements (see [`trials`]); the checker
//! verifies the result.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Claim, Component};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::normal_form::simplify::Facts;

mod infer;
mod quotient_forms;
mod split;
mod trials;

use quotient_forms::QuotientForms;
use trials::Trials;

/// Maximum number of equations of a component; further equations are dropped.
const MAX_EQUATIONS: usize = 48;
/// Maximum number of equations subtracted from one sum to find its value; a sum that needs more has no known value.
const MAX_EQUATIONS_OF_A_SUM: usize = 6;
/// Maximum number of rounds, each of which applies the first rule that makes progress, before elimination gives up.
/// Also the maximum nesting depth of quotients that are simplified in derived equations.
const MAX_ROUNDS: usize = 24;

/// Linear equation over atoms (axes, quotients and XORs): the sum of `weight * atom` plus `constant` equals `value`.
#[derive(Debug, Clone)]
struct Equation {
    /// Axes, quotients and XORs of the sum, each with its weight, a polynomial over symbols.
    unknown: BTreeMap<Atom, Poly>,
    /// Constant term of the sum, over symbols.
    constant: Poly,
    /// Right-hand side of the equation, over the target values: `Var::Storage(k)` is the value of the target at
    /// position `k` of the component.
    value: Expr,
    /// True if `split_equations` has tried to split the equation in its present form, and need not try again.
    is_done: bool,
}

struct Elimination<'a> {
    forms: &'a QuotientForms<'a>,
    /// Facts about the ranges of the axes.
    facts: &'a Facts,
    /// Facts about the ranges of the targets, which are `Var::Storage(k)`.
    slots: Facts,
    equations: Vec<Equation>,
    known: BTreeMap<Atom, Expr>,
}

/// Pairs `(axis, index)`, one for each axis of a component. `axis` is the position of the logical axis. `index` is an
/// expression over `Var::Storage(k)`, where `k` is the position of a target in the component. `None` if elimination
/// does not find all indices, if one is wrong at a sample element, or if there are no sample elements.
pub(super) fn eliminate(
    claim: Claim<'_>,
    component: &Component,
) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
    let trials = Trials::new(claim);
    if trials.is_empty() {
        return Ok(None);
    }
    let forms = QuotientForms { trials: &trials };
    let mut slots = Facts::new(claim.facts.symbols());
    let mut all = Elimination {
        forms: &forms,
        facts: claim.facts,
        slots: Facts::default(),
        equations: Vec::new(),
        known: BTreeMap::new(),
    };
    let mut targets = Vec::new();
    for (k, target) in (0_u32..).zip(&component.targets) {
        let (Some(expr), Some(extent)) = (claim.targets.get(*target), claim.slots.get(*target))
        else {
            return Ok(None);
        };
        slots.set_extent(Var::Storage(k), extent)?;
        let form = forms.of(&claim.facts.normalize(expr)?)?;
        all.take(&form, Expr::var(Var::Storage(k)))?;
        targets.push(expr);
    }
    all.slots = slots;
    let wanted: Option<Vec<Atom>> = component
        .axes
        .iter()
        .map(|axis| u32::try_from(*axis).ok().map(|k| Atom::Var(Var::Axis(k))))
        .collect();
    let wanted = wanted.ok_or(ExprError::Overflow)?;
    for atom in &wanted {
        // An axis of extent 1 is constant, and occurs in no equation.
        if let Atom::Var(var) = atom
            && let Some(value) = claim.facts.normalize(&Expr::var(*var))?.as_constant()
        {
            all.known.insert(atom.clone(), Expr::constant(value));
        }
    }
    for _ in 0..MAX_ROUNDS {
        if wanted.iter().all(|atom| all.known.contains_key(atom)) {
            break;
        }
        if !(all.solve()? || all.infer()? || all.split_equations()? || all.combine()?) {
            return Ok(None);
        }
    }
    let inverse: Option<Vec<(usize, Expr)>> = component
        .axes
        .iter()
        .zip(&wanted)
        .map(|(axis, atom)| all.known.get(atom).map(|index| (*axis, index.clone())))
        .collect();
    Ok(inverse.filter(|inverse| trials.is_inverse(&targets, inverse)))
}

/// True if the polynomial `sum` contains no axis index, only constants and symbols.
fn is_symbolic(sum: &Poly) -> bool {
    sum.terms().all(|(monomial, _)| monomial.iter().all(Atom::is_symbolic))
}

impl Elimination<'_> {
    /// Adds the equation `form = value`. Returns false without an effect in four cases: all atoms of `form` are known,
    /// another equation has the same atoms and weights, `form` is not linear in axes, quotients and XORs, or there are
    /// [`MAX_EQUATIONS`] equations already.
    fn take(&mut self, form: &Poly, value: Expr) -> Result<bool, ExprError> {
        let (mut unknown, mut constant) = (BTreeMap::<Atom, Poly>::new(), Poly::zero());
        for (monomial, coefficient) in form.terms() {
            let (others, indices): (Vec<Atom>, Vec<Atom>) =
                monomial.iter().cloned().partition(Atom::is_symbolic);
            match indices.as_slice() {
                [] => constant.add_term(monomial, coefficient)?,
                [atom] => {
                    let weight = unknown.entry(atom.clone()).or_default();
                    weight.add_term(&Monomial::from(others), coefficient)?;
                }
                // Products of axes are not linear.
                _ => return Ok(false),
            }
        }
        unknown.retain(|_, weight| !weight.is_zero());
        Ok(self.add(Equation { unknown, constant, value, is_done: false }))
    }

    fn add(&mut self, equation: Equation) -> bool {
        let is_known = equation.unknown.keys().all(|atom| self.known.contains_key(atom))
            || self.equations.len() >= MAX_EQUATIONS
            || self.equations.iter().any(|own| own.unknown == equation.unknown);
        if !is_known {
            self.equations.push(equation);
        }
        !is_known
    }

    /// Equation with the terms of known atoms moved from its sum to its value: `2*a + b = v` with a known `b` becomes
    /// `2*a = v - b`.
    fn without_known(&self, equation: &Equation) -> Result<Equation, ExprError> {
        let (mut equation, mut value) = (equation.clone(), equation.value.clone());
        for (atom, known) in &self.known {
            if let Some(weight) = equation.unknown.remove(atom) {
                let part = Expr::binary(BinOp::Mul, &self.facts.render(&weight)?, known)?;
                value = Expr::binary(BinOp::Sub, &value, &part)?;
            }
        }
        if value != equation.value {
            equation.value = self.simple(&value)?;
        }
        Ok(equation)
    }

    fn simple(&self, value: &Expr) -> Result<Expr, ExprError> {
        self.slots.simplify(value)
    }

    fn learn(&mut self, atom: Atom, value: &Expr) -> Result<(), ExprError> {
        let value = self.simple(value)?;
        self.known.insert(atom, value);
        Ok(())
    }

    /// Equations that contain an unknown atom, with the terms of all known atoms moved to their values.
    fn reduced(&self) -> Result<Vec<Equation>, ExprError> {
        let is_open = |e: &&Equation| e.unknown.keys().any(|atom| !self.known.contains_key(atom));
        self.equations.iter().filter(is_open).map(|e| self.without_known(e)).collect()
    }

    /// Sign of a weight, 1 or -1, if the weight has the same nonzero sign at every sample element; `None` otherwise.
    fn sign(&self, weight: &Poly) -> Option<i128> {
        let zero = Poly::zero();
        let is = |test: &dyn Fn(i128, i128) -> bool| self.forms.trials.all(weight, &zero, test);
        if is(&|a, b| a > b) {
            return Some(1);
        }
        is(&|a, b| a < b).then_some(-1)
    }

    /// Records the value `(value - constant) // weight` of the unknown atom in the first equation that has one unknown
    /// atom, with a weight of known sign. True if there was such an equation.
    fn solve(&mut self) -> Result<bool, ExprError> {
        for equation in self.reduced()? {
            let (Some((atom, weight)), 1) =
                (equation.unknown.first_key_value(), equation.unknown.len())
            else {
                continue;
            };
            let Some(sign) = self.sign(weight) else { continue };
            let constant = self.facts.render(&equation.constant)?;
            let value = if sign > 0 {
                Expr::binary(BinOp::Sub, &equation.value, &constant)?
            } else {
                Expr::binary(BinOp::Sub, &constant, &equation.value)?
            };
            let by = self.facts.render(&weight.scale(sign)?)?;
            let value = Expr::binary(BinOp::FloorDiv, &value, &by)?;
            let atom = atom.clone();
            self.learn(atom, &value)?;
            return Ok(true);
        }
        Ok(false)
    }
}
