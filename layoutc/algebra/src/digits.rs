//! The normal form: every axis a mixed-radix sum of digits, every storage axis a weighted sum of them.
//!
//! It is found by refinement. Every axis starts as one digit; a quotient or remainder that would cut through a digit
//! asks for a cut there, one that is taken of `x + 5` asks for `x` to be counted from 5, a falling index for `x` to be
//! counted backwards, and one taken across two axes for those to be fused. With that the reading starts again, until
//! every target is a plain weighted sum or nothing new can be asked for.

use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::monomial::Atom;
use crate::poly::Poly;
use crate::simplify::Facts;

/// One digit: `Var::Digit(k)` counts `0..extent` and stands for `digit * weight` of its chain's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digit {
    /// What one step of the digit adds to the chain's value.
    pub weight: i128,
    /// How many values it takes; symbolic only for the most significant digit of a chain.
    pub extent: Expr,
}

impl Digit {
    /// Whether the digit is always 0: one value at most, whatever the symbols are.
    pub(crate) fn is_single(&self) -> bool {
        self.extent.as_const().is_some_and(|extent| extent <= 1)
    }
}

/// A run of digits whose weighted sum `m` is a mixed-radix number without gaps, from 0 upwards. It carries one
/// logical axis as `index = sign * m + constant`, or several fused ones (then sign 1, constant 0, and `m` is the
/// row-major index of the axes). Digits may reach beyond the axis: `m` covers at least the axis' whole range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The logical axes carried, outermost first; one unless fused; none for a digit cut up.
    pub axes: Vec<usize>,
    /// The digit that this chain cuts up, where that is no multiple of the cut: `x % 3 // 2`. A digit that is cut up
    /// never exceeds its own extent, whatever the sum of its parts could reach.
    pub of_digit: Option<usize>,
    /// `1`, or `-1` for an axis that the layout stores reversed.
    pub sign: i128,
    /// Added to `sign * m`.
    pub constant: i128,
    /// Positions in [`Digits::digits`], most significant first.
    pub digits: Vec<usize>,
}

/// A weighted sum of digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Form {
    /// What is added to the sum.
    pub constant: i128,
    /// `(position in Digits::digits, weight)`, by position, weights not 0.
    pub terms: Vec<(usize, i128)>,
}

/// Targets (index expressions over `Var::Axis`) as weighted sums of digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_field_names, reason = "it is what the field holds")]
pub struct Digits {
    /// All digits.
    pub digits: Vec<Digit>,
    /// All chains; every logical axis is carried by exactly one.
    pub chains: Vec<Chain>,
    /// One sum per target, in the targets' order (for a layout: see `Layout::digit_targets`).
    pub targets: Vec<Form>,
}

/// How often a reading may start again: every round adds a cut, a shift, a reflection or a fusion.
const MAX_ROUNDS: usize = 256;

/// Reads `targets`, index expressions over the axes `axes` (positions in `extents`), as weighted sums of digits.
/// `None` when they are none.
///
/// # Errors
/// [`ExprError`] when a constant leaves the integer range.
pub fn read(
    axes: &[usize],
    extents: &[Expr],
    targets: &[Expr],
    facts: &Facts,
) -> Result<Option<Digits>, ExprError> {
    let mut polys = Vec::new();
    for target in targets {
        polys.push(facts.normalize(target)?);
    }
    let mut plans: Vec<Plan> = axes.iter().map(|axis| Plan::whole(*axis)).collect();
    for _ in 0..MAX_ROUNDS {
        let reader = Reader::new(&plans, extents, facts)?;
        let mut forms = Vec::new();
        let mut request = None;
        for poly in &polys {
            match reader.form(poly)? {
                Ok(form) => forms.push(form),
                Err(wanted) => {
                    request = Some(wanted);
                    break;
                }
            }
        }
        let Some(request) = request else {
            return Ok(Some(reader.finish(forms)));
        };
        if !refine(&mut plans, &request, extents) {
            return Ok(None);
        }
    }
    Ok(None)
}

/// A chain to be: which axes, counted how, cut where.
#[derive(Debug, Clone)]
struct Plan {
    axes: Vec<usize>,
    /// The digit that is cut up: the position of its chain, and its weight there.
    part_of: Option<(usize, i128)>,
    sign: i128,
    constant: i128,
    /// Weights at which a digit starts, ascending, from 1.
    cuts: Vec<i128>,
}

impl Plan {
    fn whole(axis: usize) -> Self {
        Self { axes: alloc::vec![axis], part_of: None, sign: 1, constant: 0, cuts: alloc::vec![1] }
    }

    /// Counted upwards from 0, cut or not.
    fn is_plain(&self) -> bool {
        self.sign == 1 && self.constant == 0 && self.part_of.is_none()
    }
}

/// What a reading asks for.
#[derive(Debug, Clone)]
enum Request {
    /// A digit of chain `.0` starts at weight `.1`.
    Cut(usize, i128),
    /// Chain `.0` is counted from `.1` lower.
    Shift(usize, i128),
    /// Chain `.0` is counted backwards.
    Reflect(usize),
    /// The chains, outermost first, are one number.
    Fuse(Vec<usize>),
    /// No digits.
    Nothing,
}

/// Carries out a request; false when it cannot be.
fn refine(plans: &mut Vec<Plan>, request: &Request, extents: &[Expr]) -> bool {
    match request {
        Request::Nothing => false,
        Request::Cut(chain, weight) => {
            let Some(plan) = plans.get_mut(*chain) else { return false };
            let at = plan.cuts.partition_point(|cut| cut < weight);
            let below = at.checked_sub(1).and_then(|k| plan.cuts.get(k)).copied();
            let above = plan.cuts.get(at).copied();
            let nests = below.is_some_and(|cut| weight % cut == 0)
                && above.is_none_or(|cut| cut != *weight && cut % weight == 0);
            if nests {
                plan.cuts.insert(at, *weight);
                return true;
            }
            // Not a multiple of what is above: the digit is cut up on its own.
            match below {
                Some(cut) if above != Some(*weight) && weight % cut == 0 => {
                    let part = Plan {
                        axes: Vec::new(),
                        part_of: Some((*chain, cut)),
                        sign: 1,
                        constant: 0,
                        cuts: alloc::vec![1, weight / cut],
                    };
                    let new = plans.iter().all(|plan| plan.part_of != part.part_of);
                    plans.push(part);
                    new
                }
                _ => false,
            }
        }
        Request::Shift(chain, by) => {
            let Some(plan) = plans.get_mut(*chain) else { return false };
            if plan.axes.len() != 1 || plan.sign != 1 {
                return false;
            }
            plan.constant -= by;
            plan.cuts.truncate(1);
            let started = *by != 0 && plan.constant <= 0;
            plans.retain(|plan| plan.part_of.is_none());
            started
        }
        Request::Reflect(chain) => {
            let Some(plan) = plans.get_mut(*chain) else { return false };
            let extent = plan.axes.first().and_then(|a| extents.get(*a)).and_then(Expr::as_const);
            match extent {
                Some(extent) if plan.axes.len() == 1 && plan.sign == 1 && plan.constant == 0 => {
                    plan.sign = -1;
                    plan.constant = extent - 1;
                    plan.cuts.truncate(1);
                    plans.retain(|plan| plan.part_of.is_none());
                    true
                }
                _ => false,
            }
        }
        Request::Fuse(chains) => {
            let mut axes = Vec::new();
            for chain in chains {
                match plans.get(*chain) {
                    Some(plan) if plan.is_plain() => axes.extend(plan.axes.iter().copied()),
                    _ => return false,
                }
            }
            let mut kept: Vec<Plan> = Vec::new();
            for (k, plan) in plans.iter().enumerate() {
                if !chains.contains(&k) && plan.part_of.is_none() {
                    kept.push(plan.clone());
                }
            }
            kept.push(Plan { axes, part_of: None, sign: 1, constant: 0, cuts: alloc::vec![1] });
            *plans = kept;
            true
        }
    }
}

struct Reader<'a> {
    plans: &'a [Plan],
    extents: &'a [Expr],
    facts: &'a Facts,
    digits: Vec<Digit>,
    /// Greatest value of each digit, over all symbols.
    greatest: Vec<i128>,
    chains: Vec<Chain>,
    /// Which chain a digit belongs to.
    owner: Vec<usize>,
}

type Read = Result<Result<Form, Request>, ExprError>;

impl<'a> Reader<'a> {
    fn new(plans: &'a [Plan], extents: &'a [Expr], facts: &'a Facts) -> Result<Self, ExprError> {
        let mut reader = Self {
            plans,
            extents,
            facts,
            digits: Vec::new(),
            greatest: Vec::new(),
            chains: Vec::new(),
            owner: Vec::new(),
        };
        for plan in plans {
            reader.add_chain(plan)?;
        }
        Ok(reader)
    }

    fn add_chain(&mut self, plan: &Plan) -> Result<(), ExprError> {
        let mut span = Expr::constant(if plan.sign == 1 { -plan.constant } else { 0 });
        let of_digit =
            plan.part_of.map(|part| self.digit_at(part).ok_or(ExprError::Unbound)).transpose()?;
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
            let greatest = self.facts.bounds(&extent)?.1.max(1) - 1;
            positions.insert(0, self.digits.len());
            self.digits.push(Digit { weight: *weight, extent });
            self.greatest.push(greatest);
            self.owner.push(chain);
        }
        let (sign, constant) = (plan.sign, plan.constant);
        self.chains.push(Chain {
            axes: plan.axes.clone(),
            of_digit,
            sign,
            constant,
            digits: positions,
        });
        Ok(())
    }

    /// The digit of a chain that has this weight.
    fn digit_at(&self, (chain, weight): (usize, i128)) -> Option<usize> {
        let digits = &self.chains.get(chain)?.digits;
        digits
            .iter()
            .copied()
            .find(|d| self.digits.get(*d).is_some_and(|digit| digit.weight == weight))
    }

    /// The form with the weightiest digit that is cut up, and that `k` does not divide, in its parts.
    fn cut_up(&self, form: &Form, k: i128) -> Result<Option<Form>, ExprError> {
        let parts = |digit: usize| self.chains.iter().find(|chain| chain.of_digit == Some(digit));
        let heaviest = form
            .terms
            .iter()
            .filter(|(digit, weight)| weight % k != 0 && parts(*digit).is_some())
            .max_by_key(|(_, weight)| weight.unsigned_abs());
        let Some((digit, weight)) = heaviest else { return Ok(None) };
        let Some(chain) = parts(*digit) else { return Ok(None) };
        let mut without = form.clone();
        without.terms.retain(|(d, _)| d != digit);
        Ok(Some(sum(&without, &self.chain_form(chain), *weight)?))
    }

    fn finish(self, targets: Vec<Form>) -> Digits {
        Digits { digits: self.digits, chains: self.chains, targets }
    }

    fn form(&self, poly: &Poly) -> Read {
        let mut form = Form::default();
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
                        return Ok(Err(Request::Nothing));
                    };
                    let inner = match self.form(x)? {
                        Ok(inner) => inner,
                        Err(request) => return Ok(Err(request)),
                    };
                    let (quotient, rest) = match self.divide(&inner, divisor)? {
                        Ok(parts) => parts,
                        Err(request) => return Ok(Err(request)),
                    };
                    let part = if *op == BinOp::Mod { rest } else { quotient };
                    form = sum(&form, &part, coefficient)?;
                }
                _ => return Ok(Err(Request::Nothing)),
            }
        }
        self.add_axes(form, direct)
    }

    /// Adds the axes that stand bare: each as its chain, several of a fused chain as the number they make.
    fn add_axes(&self, mut form: Form, mut direct: Vec<(usize, i128)>) -> Read {
        while let Some((axis, coefficient)) = direct.pop() {
            let Some(chain) = self.chains.iter().position(|chain| chain.axes.contains(&axis))
            else {
                return Ok(Err(Request::Nothing));
            };
            let Some(found) = self.chains.get(chain) else { return Ok(Err(Request::Nothing)) };
            if let [_] = found.axes.as_slice() {
                form = sum(&form, &self.chain_form(found), coefficient)?;
                continue;
            }
            // All axes of the chain with the weights of one row-major number: the chain itself.
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

    fn chain_form(&self, chain: &Chain) -> Form {
        let mut terms: Vec<(usize, i128)> = chain
            .digits
            .iter()
            .filter_map(|d| self.digits.get(*d).map(|digit| (*d, digit.weight * chain.sign)))
            .filter(|(d, _)| self.digits.get(*d).is_some_and(|digit| !digit.is_single()))
            .collect();
        terms.sort_unstable();
        Form { constant: chain.constant, terms }
    }

    /// `(unit, axes used)` when the bare terms hold every axis of the chain with `unit` times its row-major weight.
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

    /// Row-major weights of a fused chain's axes.
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

    /// One axis of a fused chain: `m // weight % extent`.
    fn fused_axis(&self, chain: usize, axis: usize) -> Read {
        let Some(found) = self.chains.get(chain) else { return Ok(Err(Request::Nothing)) };
        let weights = self.row_major(found)?;
        let Some((_, weight)) = weights.iter().find(|(a, _)| *a == axis) else {
            return Ok(Err(Request::Nothing));
        };
        let quotient = match self.divide(&self.chain_form(found), *weight)? {
            Ok((quotient, _)) => quotient,
            Err(request) => return Ok(Err(request)),
        };
        if found.axes.first() == Some(&axis) {
            return Ok(Ok(quotient));
        }
        let extent = self.extents.get(axis).and_then(Expr::as_const).ok_or(ExprError::Unbound)?;
        Ok(self.divide(&quotient, extent)?.map(|(_, rest)| rest))
    }

    /// `(form // k, form % k)`, or what would make it possible.
    fn divide(&self, form: &Form, k: i128) -> Result<Result<(Form, Form), Request>, ExprError> {
        if k < 1 {
            return Err(ExprError::Divisor);
        }
        let mut quotient = Form { constant: form.constant.div_euclid(k), terms: Vec::new() };
        let mut rest = Form { constant: form.constant.rem_euclid(k), terms: Vec::new() };
        for (digit, weight) in &form.terms {
            if weight % k == 0 {
                quotient.terms.push((*digit, weight / k));
            } else {
                rest.terms.push((*digit, *weight));
            }
        }
        let (low, high) = self.span(&rest)?;
        let whole = low.div_euclid(k);
        if whole == high.div_euclid(k) {
            quotient.constant = add(quotient.constant, whole)?;
            rest.constant = add(rest.constant, -whole.checked_mul(k).ok_or(ExprError::Overflow)?)?;
            return Ok(Ok((quotient, rest)));
        }
        match self.cut_up(form, k)? {
            Some(form) => self.divide(&form, k),
            None => Ok(Err(self.request(form, &rest, k))),
        }
    }

    fn span(&self, form: &Form) -> Result<(i128, i128), ExprError> {
        let (mut low, mut high) = (form.constant, form.constant);
        for (digit, weight) in &form.terms {
            let reach = self.greatest.get(*digit).copied().unwrap_or(0);
            let reach = reach.checked_mul(*weight).ok_or(ExprError::Overflow)?;
            if reach < 0 {
                low = add(low, reach)?;
            } else {
                high = add(high, reach)?;
            }
        }
        Ok((low, high))
    }

    /// What would let `rest`, the part of `form` that `k` does not divide, stay within one block of `k`.
    fn request(&self, form: &Form, rest: &Form, k: i128) -> Request {
        if let Some((digit, _)) = rest.terms.iter().find(|(_, weight)| *weight < 0) {
            return self
                .owner
                .get(*digit)
                .map_or(Request::Nothing, |chain| Request::Reflect(*chain));
        }
        // A weight that neither divides the block nor is divided by it: only a number across axes can be cut.
        if rest.terms.iter().any(|(_, weight)| k % weight != 0)
            && let fused @ Request::Fuse(_) = self.fusion(form)
        {
            return fused;
        }
        // A digit that reaches into the next block: cut it at the block's edge.
        for (digit, weight) in &rest.terms {
            let greatest = self.greatest.get(*digit).copied().unwrap_or(0);
            let crosses = k % weight == 0 && *weight < k && greatest >= k / weight;
            if !crosses {
                continue;
            }
            let (Some(found), Some(chain)) = (self.digits.get(*digit), self.owner.get(*digit))
            else {
                return Request::Nothing;
            };
            let alone = rest.terms.len() == 1 && rest.constant != 0 && form.constant % weight == 0;
            if alone {
                let by = form.constant / weight * found.weight;
                if by > 0
                    && self.plans.get(*chain).is_some_and(|p| p.sign == 1 && p.axes.len() == 1)
                {
                    return Request::Shift(*chain, by);
                }
            }
            return Request::Cut(*chain, found.weight.saturating_mul(k / weight));
        }
        self.shift_or_fuse(form, rest, k)
    }

    fn shift_or_fuse(&self, form: &Form, rest: &Form, k: i128) -> Request {
        if let [(digit, weight)] = rest.terms.as_slice()
            && rest.constant != 0
            && k % weight == 0
            && form.constant % weight == 0
            && form.constant > 0
            && let (Some(found), Some(chain)) = (self.digits.get(*digit), self.owner.get(*digit))
        {
            return Request::Shift(*chain, form.constant / weight * found.weight);
        }
        self.fusion(form)
    }

    /// Chains in `form` whose weights are those of one row-major number.
    fn fusion(&self, form: &Form) -> Request {
        let mut units: Vec<(usize, i128)> = (0..self.chains.len())
            .filter_map(|chain| Some((chain, self.unit(form, chain)?)))
            .collect();
        units.sort_by_key(|(_, unit)| core::cmp::Reverse(*unit));
        let mut best: Vec<usize> = Vec::new();
        let mut run: Vec<usize> = Vec::new();
        let mut above: Option<i128> = None;
        for (chain, unit) in units {
            let reach = self.count(chain).and_then(|count| count.checked_mul(unit));
            if above.is_none() || above != reach {
                run.clear();
            }
            run.push(chain);
            above = Some(unit);
            if run.len() > best.len() {
                best.clone_from(&run);
            }
        }
        if best.len() > 1 { Request::Fuse(best) } else { Request::Nothing }
    }

    /// The factor with which `form` holds a whole chain that counts upwards from 0.
    fn unit(&self, form: &Form, chain: usize) -> Option<i128> {
        if !self.plans.get(chain)?.is_plain() {
            return None;
        }
        let parts = self.chain_form(self.chains.get(chain)?).terms;
        let weight_of =
            |digit: usize| form.terms.iter().find(|(d, _)| *d == digit).map(|(_, weight)| *weight);
        let (first, own) = parts.first()?;
        let unit = weight_of(*first)?.checked_div(*own)?;
        let all = parts.iter().all(|(digit, own)| weight_of(*digit) == own.checked_mul(unit));
        (all && unit > 0).then_some(unit)
    }

    /// How many values a chain's axes take together.
    fn count(&self, chain: usize) -> Option<i128> {
        let axes = &self.chains.get(chain)?.axes;
        axes.iter().try_fold(1_i128, |n, axis| n.checked_mul(self.extents.get(*axis)?.as_const()?))
    }
}

fn add(a: i128, b: i128) -> Result<i128, ExprError> {
    a.checked_add(b).ok_or(ExprError::Overflow)
}

/// `a + b * factor`.
fn sum(a: &Form, b: &Form, factor: i128) -> Result<Form, ExprError> {
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
