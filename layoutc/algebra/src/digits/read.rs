//! One attempt to write the targets, the index expressions of a proof, as weighted sums of the digits of the current
//! chain plans. [`DigitReader`] returns the sums, or a [`Refinement`] of the plans to apply before the next attempt.

use alloc::vec::Vec;

use super::refine::{ChainPlan, ChainSource, Refinement};
use super::shared_dividends::SharedDividends;
use super::{Chain, DerivedDigit, Digit, Digits, LinearForm};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;
use crate::normal_form::simplify::Facts;

pub(super) struct DigitReader<'a> {
    /// Plans of all chains, which the attempt does not change.
    pub(super) plans: &'a [ChainPlan],
    /// Extents of all logical axes, over symbols.
    pub(super) extents: &'a [Expr],
    facts: &'a Facts,
    /// True while the reader is inside an operand of an XOR or of a bit mask, but not inside a `hilbert` in that
    /// operand.
    pub(super) is_bitwise: bool,
    /// Dividends in the targets that need chains of their own, such as `z` in `z // 6` and `z % 6`, and axes that may
    /// be split at powers of two only.
    pub(super) uses: &'a SharedDividends,
    /// Digits added so far, those of the chains and derived ones: `Var::Digit(k)` is `digits[k]`.
    pub(super) digits: Vec<Digit>,
    /// Upper bound, inclusive, of each digit for all values of the symbols, indexed like `digits`.
    greatest: Vec<i128>,
    /// Chains added so far. Chains of axes come first; the chain of a divided sum is added when a target first uses it.
    pub(super) chains: Vec<Chain>,
    /// Position in `plans` of the plan of each chain, indexed like `chains`.
    pub(super) planned: Vec<usize>,
    /// Greatest number `m` (see [`Chain`]) of each chain for any valid value that it encodes, over all values of the
    /// symbols, indexed like `chains`. The extents of the digits of a chain may admit greater numbers.
    pub(super) most: Vec<i128>,
    /// Position in `chains` of the chain of each digit, indexed like `digits`; `None` for derived digits.
    pub(super) owner: Vec<Option<usize>>,
    /// Pairs of a position in `digits` and the definition of the derived digit there.
    pub(super) derived: Vec<(usize, DerivedDigit)>,
}

pub(super) type RefineResult<T = LinearForm> = Result<Result<T, Refinement>, ExprError>;

impl<'a> DigitReader<'a> {
    pub(super) fn new(
        plans: &'a [ChainPlan],
        extents: &'a [Expr],
        facts: &'a Facts,
        uses: &'a SharedDividends,
    ) -> Result<Self, ExprError> {
        let mut reader = Self {
            plans,
            extents,
            facts,
            is_bitwise: false,
            uses,
            digits: Vec::new(),
            greatest: Vec::new(),
            chains: Vec::new(),
            planned: Vec::new(),
            most: Vec::new(),
            owner: Vec::new(),
            derived: Vec::new(),
        };
        for (k, plan) in plans.iter().enumerate() {
            match plan.of {
                ChainSource::Axes => reader.add_chain(k, plan, None)?,
                ChainSource::Digit(of, weight) => reader.add_parts(k, plan, (of, weight))?,
                // The chain of an intermediate value is added at its first use, because it depends on digits that are
                // not there yet.
                ChainSource::Number(..) => {}
            }
        }
        Ok(reader)
    }

    /// Adds the chain of `plan`, the plan at `position`, which subdivides the digit of weight `weight` in the chain
    /// of plan `of`. Adds nothing if plan `of` has no chain yet.
    pub(super) fn add_parts(
        &mut self,
        position: usize,
        plan: &ChainPlan,
        (of, weight): (usize, i128),
    ) -> Result<(), ExprError> {
        let Some(chain) = self.planned.iter().position(|plan| *plan == of) else { return Ok(()) };
        let digit = self.digit_at((chain, weight)).ok_or(ExprError::Unbound)?;
        self.add_chain(position, plan, Some(digit))
    }

    /// Adds the chain of `plan`, the plan at `position`. If `of_digit` is `None`, the chain encodes axes; otherwise
    /// it subdivides the digit at position `of_digit`.
    pub(super) fn add_chain(
        &mut self,
        position: usize,
        plan: &ChainPlan,
        of_digit: Option<usize>,
    ) -> Result<(), ExprError> {
        let is_axes = of_digit.is_none();
        let (sign, constant) = if is_axes { (plan.sign, plan.constant) } else { (1, 0) };
        let mut span = Expr::constant(if sign == 1 { -constant } else { 0 });
        let mut whole = match of_digit {
            Some(digit) => {
                self.digits.get(digit).map(|d| d.extent.clone()).ok_or(ExprError::Unbound)?
            }
            None => Expr::constant(1),
        };
        for axis in &plan.axes {
            let extent = self.extents.get(*axis).cloned().ok_or(ExprError::Unbound)?;
            whole = Expr::binary(BinOp::Mul, &whole, &extent)?;
        }
        span = Expr::binary(BinOp::Add, &span, &whole)?;
        let chain = self.chains.len();
        let mut positions = Vec::new();
        for (k, weight) in plan.cuts.iter().enumerate() {
            let extent = match plan.cuts.get(k + 1) {
                Some(next) => Expr::constant(next / weight),
                None => {
                    let sum = Expr::binary(BinOp::Add, &span, &Expr::constant(weight - 1))?;
                    self.facts.simplify(&Expr::binary(
                        BinOp::FloorDiv,
                        &sum,
                        &Expr::constant(*weight),
                    )?)?
                }
            };
            positions.insert(0, self.add_digit(*weight, extent, Some(chain))?);
        }
        let axes = plan.axes.clone();
        self.chains.push(Chain { axes, of_digit, sign, constant, digits: positions });
        self.planned.push(position);
        self.most.push(self.facts.bounds(&span)?.1.max(1) - 1);
        Ok(())
    }

    /// Adds a digit with this weight in the chain at position `owner` (`None` for a derived digit), and returns the
    /// position of the digit.
    pub(super) fn add_digit(
        &mut self,
        weight: i128,
        extent: Expr,
        owner: Option<usize>,
    ) -> Result<usize, ExprError> {
        self.greatest.push(self.facts.bounds(&extent)?.1.max(1) - 1);
        self.digits.push(Digit { weight, extent });
        self.owner.push(owner);
        Ok(self.digits.len() - 1)
    }

    /// Upper bound, inclusive, of the digit at position `digit` of `digits`, for all values of the symbols: the upper
    /// bound of its extent minus 1, which a symbolic extent need not attain.
    pub(super) fn greatest(&self, digit: usize) -> i128 {
        self.greatest.get(digit).copied().unwrap_or(0)
    }

    /// Position in `digits` of the digit that the chain of the plan at position `plan` subdivides; `None` if the plan
    /// has no chain yet, or its chain encodes axes.
    pub(super) fn number_of(&self, plan: usize) -> Option<usize> {
        let chain = self.planned.iter().position(|own| *own == plan)?;
        self.chains.get(chain)?.of_digit
    }

    /// Position in `digits` of the digit of weight `weight` in the chain at position `chain`; `None` if there is
    /// none.
    fn digit_at(&self, (chain, weight): (usize, i128)) -> Option<usize> {
        let digits = &self.chains.get(chain)?.digits;
        digits
            .iter()
            .copied()
            .find(|d| self.digits.get(*d).is_some_and(|digit| digit.weight == weight))
    }

    pub(super) fn finish(self, targets: Vec<LinearForm>) -> Digits {
        Digits { digits: self.digits, chains: self.chains, derived: self.derived, targets }
    }

    /// Weighted sum of digits that equals `poly`, or, if the current digits cannot express `poly`, the refinement of
    /// the chain plans to apply before the next attempt.
    pub(super) fn form(&mut self, poly: &Poly) -> RefineResult {
        let mut form = LinearForm::default();
        let mut direct: Vec<(usize, i128)> = Vec::new();
        for (monomial, coefficient) in poly.terms() {
            match &**monomial {
                [] => form.constant = add(form.constant, coefficient)?,
                [Atom::Var(Var::Axis(axis))] => {
                    direct.push((
                        usize::try_from(*axis).map_err(|_| ExprError::Overflow)?,
                        coefficient,
                    ));
                }
                [Atom::Op(op @ (BinOp::FloorDiv | BinOp::Mod), x, divisor)] => {
                    let Some(divisor) = divisor.as_constant() else {
                        return Ok(Err(Refinement::Impossible));
                    };
                    let inner = match self.dividend_form(x, divisor)? {
                        Ok(inner) => inner,
                        Err(request) => return Ok(Err(request)),
                    };
                    let part = match self.part(*op, (Some(x), &inner), divisor)? {
                        Ok(part) => part,
                        Err(request) => return Ok(Err(request)),
                    };
                    form = sum(&form, &part, coefficient)?;
                }
                [Atom::Op(op @ (BinOp::And | BinOp::Xor), a, b)] => {
                    let outer = core::mem::replace(&mut self.is_bitwise, true);
                    let both = (self.form(a)?, self.form(b)?);
                    self.is_bitwise = outer;
                    let (a, b) = match both {
                        (Ok(a), Ok(b)) => (a, b),
                        (Err(request), _) | (_, Err(request)) => return Ok(Err(request)),
                    };
                    let part = match self.bitwise(*op, &a, &b)? {
                        Ok(part) => part,
                        Err(request) => return Ok(Err(request)),
                    };
                    form = sum(&form, &part, coefficient)?;
                }
                [Atom::Op(BinOp::Hilbert(grid), a, b)] => {
                    let outer = core::mem::replace(&mut self.is_bitwise, false);
                    let both = (self.form(a)?, self.form(b)?);
                    self.is_bitwise = outer;
                    let (a, b) = match both {
                        (Ok(a), Ok(b)) => (a, b),
                        (Err(request), _) | (_, Err(request)) => return Ok(Err(request)),
                    };
                    match self.along_curve(*grid, a, b)? {
                        Some(part) => form = sum(&form, &part, coefficient)?,
                        None => return Ok(Err(Refinement::Impossible)),
                    }
                }
                _ => return Ok(Err(Refinement::Impossible)),
            }
        }
        self.add_axes(form, direct)
    }

    /// Adds `coefficient * index` to `form` for each pair `(axis, coefficient)` of `direct`. The index of an axis is
    /// written in the digits of its chain. If all axes of a fused chain occur with row-major coefficients, their sum
    /// is the number that the chain encodes, times a factor.
    fn add_axes(&mut self, mut form: LinearForm, mut direct: Vec<(usize, i128)>) -> RefineResult {
        while let Some((axis, coefficient)) = direct.pop() {
            let Some(chain) = self.chains.iter().position(|chain| chain.axes.contains(&axis))
            else {
                return Ok(Err(Refinement::Impossible));
            };
            let Some(found) = self.chains.get(chain) else {
                return Ok(Err(Refinement::Impossible));
            };
            if let [_] = found.axes.as_slice() {
                form = sum(&form, &self.chain_form(found), coefficient)?;
                continue;
            }
            // All axes of the chain with row-major weights: the chain itself.
            match self.whole_number(found, axis, coefficient, &direct)? {
                Some((unit, used)) => {
                    direct.retain(|(other, _)| !used.contains(other));
                    form = sum(&form, &self.chain_form(found), unit)?;
                }
                None => match self.fused_axis(chain, axis)? {
                    Ok(part) => form = sum(&form, &part, coefficient)?,
                    Err(request) => return Ok(Err(request)),
                },
            }
        }
        Ok(Ok(form))
    }

    pub(super) fn chain_form(&self, chain: &Chain) -> LinearForm {
        let mut terms: Vec<(usize, i128)> = chain
            .digits
            .iter()
            .filter_map(|d| self.digits.get(*d).map(|digit| (*d, digit.weight * chain.sign)))
            .filter(|(d, _)| self.digits.get(*d).is_some_and(|digit| !digit.is_single()))
            .collect();
        terms.sort_unstable();
        LinearForm { constant: chain.constant, terms }
    }

    /// Pair `(unit, axes)` if a sum of axes contains a multiple `unit * m` of the row-major index `m` of the fused
    /// chain `chain`; `axes` are the positions of all axes of the chain, innermost first. The sum is
    /// `coefficient * axis` plus the pairs `(axis, coefficient)` in `others`: for `h` and `w` of extents 4 and 8,
    /// `16*h + 2*w` is `2 * (8*h + w)`, which gives `(2, [w, h])`. `None` if the coefficients of the chain's axes have
    /// no such factor. Axes of extent 1 other than `axis` may have any coefficient.
    fn whole_number(
        &self,
        chain: &Chain,
        axis: usize,
        coefficient: i128,
        others: &[(usize, i128)],
    ) -> Result<Option<(i128, Vec<usize>)>, ExprError> {
        let weights = self.row_major(chain)?;
        let Some((_, own)) = weights.iter().find(|(a, _)| *a == axis) else { return Ok(None) };
        if coefficient % own != 0 {
            return Ok(None);
        }
        let unit = coefficient / own;
        for (other, weight) in &weights {
            let wanted = weight.checked_mul(unit).ok_or(ExprError::Overflow)?;
            let single = self.extents.get(*other).and_then(Expr::as_const) == Some(1);
            if *other != axis && !single && !others.contains(&(*other, wanted)) {
                return Ok(None);
            }
        }
        Ok(Some((unit, weights.into_iter().map(|(a, _)| a).collect())))
    }

    /// Row-major weights of the axes of a fused chain as pairs `(axis, weight)`, innermost first: `[(1, 1), (0, 8)]`
    /// if axis 1 is inside axis 0 and has extent 8.
    fn row_major(&self, chain: &Chain) -> Result<Vec<(usize, i128)>, ExprError> {
        let mut weights = Vec::new();
        let mut weight = 1_i128;
        for (k, axis) in chain.axes.iter().enumerate().rev() {
            weights.push((*axis, weight));
            if k > 0 {
                let extent =
                    self.extents.get(*axis).and_then(Expr::as_const).ok_or(ExprError::Unbound)?;
                weight = weight.checked_mul(extent).ok_or(ExprError::Overflow)?;
            }
        }
        Ok(weights)
    }

    /// Index along the axis at position `axis`, as a weighted sum of digits. The axis is one of the fused chain at
    /// position `chain`, which encodes the row-major index `m`: the result is `m // weight % extent`, where `weight` is
    /// the row-major weight of the axis and `extent` its extent.
    fn fused_axis(&mut self, chain: usize, axis: usize) -> RefineResult {
        let Some(found) = self.chains.get(chain) else { return Ok(Err(Refinement::Impossible)) };
        let weights = self.row_major(found)?;
        let Some((_, weight)) = weights.iter().find(|(a, _)| *a == axis) else {
            return Ok(Err(Refinement::Impossible));
        };
        let (weight, is_first) = (*weight, found.axes.first() == Some(&axis));
        let form = self.chain_form(found);
        let quotient = match self.part(BinOp::FloorDiv, (None, &form), weight)? {
            Ok(quotient) => quotient,
            Err(request) => return Ok(Err(request)),
        };
        if is_first {
            return Ok(Ok(quotient));
        }
        let extent = self.extents.get(axis).and_then(Expr::as_const).ok_or(ExprError::Unbound)?;
        self.part(BinOp::Mod, (None, &quotient), extent)
    }
}

pub(super) fn add(a: i128, b: i128) -> Result<i128, ExprError> {
    a.checked_add(b).ok_or(ExprError::Overflow)
}

/// Sum `a + b * factor` of two linear forms.
pub(crate) fn sum(a: &LinearForm, b: &LinearForm, factor: i128) -> Result<LinearForm, ExprError> {
    let scaled = |value: i128| value.checked_mul(factor).ok_or(ExprError::Overflow);
    let mut out = a.clone();
    out.constant = add(out.constant, scaled(b.constant)?)?;
    for (digit, weight) in &b.terms {
        let weight = scaled(*weight)?;
        match out.terms.binary_search_by_key(digit, |(d, _)| *d) {
            Ok(at) => {
                if let Some(term) = out.terms.get_mut(at) {
                    term.1 = add(term.1, weight)?;
                }
            }
            Err(at) => out.terms.insert(at, (*digit, weight)),
        }
    }
    out.terms.retain(|(_, weight)| *weight != 0);
    Ok(out)
}
