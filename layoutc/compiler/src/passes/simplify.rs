//! Simplification of a function by value ranges. It decides conditions that always or never hold, replaces a minimum or
//! maximum by the operand that is always the result, folds sums and products of constants, removes loops without an
//! iteration, replaces loops of one iteration by their bodies, and substitutes index constants that are integers.

use std::cmp::Ordering;

use super::ranges::{Interval, Ranges, decide};
use crate::base::cast::range;
use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Compare, Expr, Function, LoopKind, PartMut, Stmt, Value, ValueOp};

/// Simplifies a function. `ranges` holds the value ranges of the function's parameters.
pub fn simplify(function: &mut Function, ranges: &Ranges) {
    let body = std::mem::take(&mut function.body);
    function.body = Simplifier { ranges: ranges.clone(), constants: Vec::new() }.stmts(body);
}

/// Statements of a body after simplification; `ranges` holds the value ranges of the names that are visible in the
/// body.
pub(super) fn simplified(body: Vec<Stmt>, ranges: &Ranges) -> Vec<Stmt> {
    Simplifier { ranges: ranges.clone(), constants: Vec::new() }.stmts(body)
}

struct Simplifier {
    ranges: Ranges,
    /// Pairs `(name, value)` of visible names that are integer constants, the innermost last; the last entry of a name
    /// counts. `None`: the name is declared with an unknown value.
    constants: Vec<(String, Option<i64>)>,
}

impl Simplifier {
    fn stmts(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let (depth, constants) = (self.ranges.depth(), self.constants.len());
        let body = body.into_iter().flat_map(|stmt| self.stmt(stmt)).collect();
        self.ranges.leave(depth);
        self.constants.truncate(constants);
        body
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Vec<Stmt> {
        stmt.parts_mut(&mut |part| match part {
            PartMut::Index(expr) => self.index(expr),
            PartMut::Value(value) => self.value(value),
        });
        match &mut stmt {
            Stmt::Let { name, value: Expr::Int { value } } => {
                self.constants.push((name.clone(), Some(*value)));
                return Vec::new();
            }
            Stmt::Let { name, value } => {
                let range = self.ranges.of(value);
                self.declare(name, range);
            }
            Stmt::For { name, from, to, step, kind, body } => {
                if let Some(value) = only_iteration(from, to, *step, kind) {
                    let constants = self.constants.len();
                    self.constants.push((name.clone(), Some(value)));
                    let inlined = self.inlined(std::mem::take(body));
                    self.constants.truncate(constants);
                    match inlined {
                        Ok(inlined) => return inlined,
                        Err(rest) => *body = rest,
                    }
                }
                let range = self.ranges.of_loop(from, to);
                if range.is_some_and(|[low, high]| high < low) && !kind.is_gpu() {
                    return Vec::new();
                }
                let (depth, constants) = (self.ranges.depth(), self.constants.len());
                self.declare(name, range);
                *body = self.stmts(std::mem::take(body));
                self.ranges.leave(depth);
                self.constants.truncate(constants);
                if body.is_empty() && !kind.is_gpu() {
                    return Vec::new();
                }
            }
            Stmt::Launch { axes } => {
                for axis in axes {
                    let range = self.ranges.of_loop(&Expr::int(0), &axis.extent);
                    self.declare(&axis.name, range);
                }
            }
            Stmt::If { body, otherwise, .. } => {
                let [then, other] =
                    [body, otherwise].map(|branch| self.stmts(std::mem::take(branch)));
                return decided(stmt, then, other);
            }
            Stmt::LetIndex { name, .. } => self.declare(name, None),
            Stmt::Declare { names } => names.iter().for_each(|name| self.declare(name, None)),
            _ => {}
        }
        vec![stmt]
    }

    /// Simplified body of a loop that has one iteration, as statements that replace the loop; the loop variable is one
    /// of the visible constants. Index constants of the body are substituted, because a neighboring loop may declare
    /// the same names. The loop must stay if a statement of the body itself is not a loop, branch, store, update,
    /// primitive, comment or `Let`: the simplified body is then the `Err`.
    fn inlined(&mut self, body: Vec<Stmt>) -> Result<Vec<Stmt>, Vec<Stmt>> {
        let declares = |stmt: &Stmt| {
            !matches!(
                stmt,
                Stmt::Let { .. }
                    | Stmt::For { .. }
                    | Stmt::If { .. }
                    | Stmt::Store { .. }
                    | Stmt::StoreByte { .. }
                    | Stmt::Update { .. }
                    | Stmt::Primitive(_)
                    | Stmt::Comment { .. }
            )
        };
        let body = self.stmts(body);
        if body.iter().any(declares) {
            return Err(body);
        }
        let mut known: Vec<(String, Expr)> = Vec::new();
        let mut all = Vec::with_capacity(body.len());
        for mut stmt in body {
            substitute(&mut stmt, &known);
            match stmt {
                Stmt::Let { name, value } => known.push((name, value)),
                stmt => all.push(stmt),
            }
        }
        Ok(all)
    }

    fn declare(&mut self, name: &str, range: Option<Interval>) {
        self.ranges.declare(name, range);
        if self.constants.iter().any(|(known, _)| known == name) {
            self.constants.push((name.to_owned(), None));
        }
    }

    fn index(&self, expr: &mut Expr) {
        *expr = expr.map(&|part| self.simple(part));
    }

    fn value(&self, value: &mut Value) {
        value.rewrite(&|part| self.simple_value(part), &|index| self.index(index));
    }

    /// Simplifies an expression whose operands are simplified already.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes decide nothing")]
    fn simple(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Name { ref name } => {
                let known = self.constants.iter().rev().find(|(known, _)| known == name);
                known.and_then(|(_, value)| *value).map_or(expr, Expr::int)
            }
            Expr::Add { args } => sum(args),
            Expr::Mul { args } => product(args),
            Expr::Neg { ref a } => match **a {
                Expr::Int { value } => value.checked_neg().map_or(expr, Expr::int),
                _ => expr,
            },
            Expr::Div { ref a, ref b } | Expr::FloorDiv { ref a, ref b } => {
                match (self.ranges.of(a), &**b) {
                    (Some([value, high]), Expr::Int { value: divisor @ 1.. }) => {
                        let [low, high] =
                            [value, high].map(|end| end.div_euclid((*divisor).into()));
                        let quotient = i64::try_from(low).ok().filter(|_| low == high);
                        quotient.map_or(expr, Expr::int)
                    }
                    _ => expr,
                }
            }
            Expr::Mod { a, b } => self.remainder(a, b, |a, b| Expr::Mod { a, b }),
            Expr::FloorMod { a, b } => self.remainder(a, b, |a, b| Expr::FloorMod { a, b }),
            Expr::Compare { op, ref a, ref b } => match self.ranges.of(a).zip(self.ranges.of(b)) {
                Some((low, high)) => decide(op, low, high)
                    .map_or_else(|| with_constant_right(op, a, b), |value| Expr::Bool { value }),
                None => with_constant_right(op, a, b),
            },
            Expr::All { mut args } => {
                if args.contains(&Expr::Bool { value: false }) {
                    return Expr::Bool { value: false };
                }
                args.retain(|arg| *arg != Expr::Bool { value: true });
                match args.len() {
                    0 => Expr::Bool { value: true },
                    1 => args.swap_remove(0),
                    _ => Expr::All { args },
                }
            }
            Expr::Not { ref a } => match **a {
                Expr::Bool { value } => Expr::Bool { value: !value },
                _ => expr,
            },
            Expr::Select { condition, then, otherwise } => match *condition {
                Expr::Bool { value: true } => *then,
                Expr::Bool { value: false } => *otherwise,
                _ => Expr::Select { condition, then, otherwise },
            },
            Expr::Min { a, b } => match self.ranges.of(&a).zip(self.ranges.of(&b)) {
                Some(([_, high], [low, _])) if high <= low => *a,
                Some(([low, _], [_, high])) if high <= low => *b,
                _ => Expr::Min { a, b },
            },
            Expr::Max { a, b } => match self.ranges.of(&a).zip(self.ranges.of(&b)) {
                Some(([_, high], [low, _])) if high <= low => *b,
                Some(([low, _], [_, high])) if high <= low => *a,
                _ => Expr::Max { a, b },
            },
            other => other,
        }
    }

    /// Remainder `a % b`, simplified if `b` is a positive constant: an integer if the range of `a` is one value, and
    /// `a` if its range is in `0..b`. In all other cases the remainder that `otherwise` builds.
    fn remainder(
        &self,
        a: Box<Expr>,
        b: Box<Expr>,
        otherwise: impl Fn(Box<Expr>, Box<Expr>) -> Expr,
    ) -> Expr {
        let (Some([low, high]), Expr::Int { value: divisor @ 1.. }) = (self.ranges.of(&a), &*b)
        else {
            return otherwise(a, b);
        };
        let divisor = i128::from(*divisor);
        if low == high {
            let rest = i64::try_from(low.rem_euclid(divisor));
            return rest.map_or_else(|_| otherwise(a, b), Expr::int);
        }
        if low >= 0 && high < divisor { *a } else { otherwise(a, b) }
    }

    /// Simplifies a value whose operands are simplified already.
    fn simple_value(&self, number: &mut Value) {
        let simple = match &*number {
            Value::Select { condition, then, otherwise } => known(condition)
                .map(|holds| if holds { (**then).clone() } else { (**otherwise).clone() }),
            Value::Not { a } => known(a).map(|value| holds(!value)),
            Value::Binary { op: op @ (ValueOp::And | ValueOp::Or), a, b, .. } => {
                // `false and b` is false, `true and b` is b.
                let absorbs = *op == ValueOp::Or;
                [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
                    let value = known(one)?;
                    Some(if value == absorbs { holds(absorbs) } else { (**other).clone() })
                })
            }
            Value::Binary { op: ValueOp::Multiply, dtype, a, b } => [(a, b), (b, a)]
                .into_iter()
                .find_map(|(one, other)| self.is_one(*dtype, one).then(|| (**other).clone())),
            Value::Binary { op, dtype, a, b } => self.compared(*op, *dtype, a, b).map(holds),
            _ => None,
        };
        if let Some(simple) = simple {
            *number = simple;
        }
    }

    /// True if `number`, of type `dtype`, is known to be 1: a constant, or for an integer type an index whose only
    /// value is 1.
    fn is_one(&self, dtype: Dtype, number: &Value) -> bool {
        let float = float(number).map(f64::to_bits) == Some(1.0_f64.to_bits());
        float || self.integer(dtype, number) == Some([1, 1])
    }

    /// Truth of the comparison `a op b` of two values of type `dtype`; `None` if it is not known, or if `op` does not
    /// compare.
    fn compared(&self, op: ValueOp, dtype: Dtype, a: &Value, b: &Value) -> Option<bool> {
        let (op, is_negated) = match op {
            ValueOp::Less => (Compare::Lt, false),
            ValueOp::LessOrEqual => (Compare::Le, false),
            ValueOp::Equal => (Compare::Eq, false),
            ValueOp::NotEqual => (Compare::Eq, true),
            _ => return None,
        };
        let holds = match (float(a), float(b)) {
            (Some(a), Some(b)) => match op {
                Compare::Lt => a < b,
                Compare::Le => a <= b,
                Compare::Eq | Compare::Ge => a.partial_cmp(&b).is_some_and(Ordering::is_eq),
            },
            _ => decide(op, self.integer(dtype, a)?, self.integer(dtype, b)?)?,
        };
        Some(holds != is_negated)
    }

    /// Range of a value of type `dtype`, an integer type of 32 or 64 bits. `None` for another type, and unless the
    /// value is a constant, or an index whose range fits the type.
    fn integer(&self, dtype: Dtype, number: &Value) -> Option<Interval> {
        let limits = range(Some(dtype.scalar).filter(|scalar| is_integer(*scalar))?);
        match number {
            Value::Constant { bits, .. } => {
                let bits = i128::from(*bits);
                let span = limits.1.checked_sub(limits.0)?.checked_add(1)?;
                let value = if bits > limits.1 { bits.checked_sub(span)? } else { bits };
                Some([value; 2])
            }
            Value::Index { value, .. } => {
                self.ranges.of(value).filter(|[low, high]| limits.0 <= *low && *high <= limits.1)
            }
            _ => None,
        }
    }
}

/// Value of the loop variable in the only iteration of a loop. `None` for a loop with another number of iterations, for
/// a loop other than a serial or unrolled one, and for bounds that are not constants.
fn only_iteration(from: &Expr, to: &Expr, step: i64, kind: &LoopKind) -> Option<i64> {
    let (Expr::Int { value: from }, Expr::Int { value: to }) = (from, to) else { return None };
    let is_plain = matches!(kind, LoopKind::Serial | LoopKind::Unrolled(_));
    (is_plain && from < to && to.checked_sub(*from)? <= step).then_some(*from)
}

/// Replaces names by values, given as pairs `(name, value)` in `known`, in the index expressions of a statement and of
/// those nested in it; of two pairs with one name, the last one counts. Folds sums and products in these expressions.
fn substitute(stmt: &mut Stmt, known: &[(String, Expr)]) {
    if known.is_empty() {
        return;
    }
    let replace = |expr: &mut Expr| {
        *expr = expr.map(&|part| {
            let Expr::Name { name } = &part else { return part };
            let found = known.iter().rev().find(|(known, _)| known == name);
            found.map_or_else(|| part.clone(), |(_, value)| value.clone())
        });
        *expr = expr.map(&|part| match part {
            Expr::Add { args } => sum(args),
            Expr::Mul { args } => product(args),
            part => part,
        });
    };
    stmt.parts_mut(&mut |part| match part {
        PartMut::Index(expr) => replace(expr),
        PartMut::Value(value) => value.rewrite(&|_| {}, &replace),
    });
    stmt.nested_mut().flatten().for_each(|nested| substitute(nested, known));
}

/// Sum of terms: sums among the terms are flattened, several constants are added up to one last term, and a term 0 is
/// left out. `a, (b + 1), 2` gives `a + b + 3`. Constants are not added if their sum overflows.
fn sum(args: Vec<Expr>) -> Expr {
    let mut args = flattened(args, |arg| match arg {
        Expr::Add { args } => Ok(args),
        arg => Err(arg),
    });
    let integers = || args.iter().filter_map(integer);
    let Some(all) = integers().try_fold(0_i64, i64::checked_add) else {
        return Expr::Add { args };
    };
    if integers().count() > 1 || integers().any(|value| value == 0) {
        args.retain(|arg| integer(arg).is_none());
        args.extend((all != 0 || args.is_empty()).then(|| Expr::int(all)));
    }
    if args.len() == 1 { args.swap_remove(0) } else { Expr::Add { args } }
}

/// Product of factors: products among the factors are flattened, several constants are multiplied to one last factor, a
/// factor 1 is left out, and a factor 0 gives 0. A sum with a constant term is multiplied out if the only other factor,
/// after it, is a constant: `(a + 2) * 3` gives `a * 3 + 6`. Constants are not multiplied if their product overflows.
fn product(args: Vec<Expr>) -> Expr {
    let mut args = flattened(args, |arg| match arg {
        Expr::Mul { args } => Ok(args),
        arg => Err(arg),
    });
    let integers = || args.iter().filter_map(integer);
    let Some(all) = integers().try_fold(1_i64, i64::checked_mul) else {
        return Expr::Mul { args };
    };
    if all == 0 {
        return Expr::int(0);
    }
    if integers().count() > 1 || integers().any(|value| value == 1) {
        args.retain(|arg| integer(arg).is_none());
        args.extend((all != 1 || args.is_empty()).then(|| Expr::int(all)));
    }
    match args.as_slice() {
        [_] => args.swap_remove(0),
        [Expr::Add { args: terms }, Expr::Int { value }]
            if terms.iter().any(|term| integer(term).is_some()) =>
        {
            sum(terms.iter().map(|term| product(vec![term.clone(), Expr::int(*value)])).collect())
        }
        _ => Expr::Mul { args },
    }
}

/// Arguments of a sum or product without nested ones: an argument for which `operands` returns `Ok` is replaced by the
/// operands that it returns. `Err` returns the argument unchanged. For sums, `a, (b + c)` gives `a, b, c`.
fn flattened(args: Vec<Expr>, operands: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let nested = |arg| operands(arg).unwrap_or_else(|arg| vec![arg]);
    args.into_iter().flat_map(nested).collect()
}

fn integer(expr: &Expr) -> Option<i64> {
    if let Expr::Int { value } = expr { Some(*value) } else { None }
}

fn is_integer(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64)
}

/// Value of a constant of type f32 or f64; `None` for any other value.
fn float(number: &Value) -> Option<f64> {
    let Value::Constant { dtype, bits } = number else { return None };
    match dtype.scalar {
        Scalar::F32 => Some(f64::from(f32::from_bits(u32::try_from(*bits).ok()?))),
        Scalar::F64 => Some(f64::from_bits(*bits)),
        _ => None,
    }
}

/// Truth of a value that is the constant condition `true` or `false` on indices; `None` for any other value.
fn known(number: &Value) -> Option<bool> {
    match number {
        Value::Holds { condition: Expr::Bool { value } } => Some(*value),
        _ => None,
    }
}

fn holds(value: bool) -> Value {
    Value::Holds { condition: Expr::Bool { value } }
}

/// Comparison `a op b` with the operands exchanged if only `a` is a constant: `3 < x` is `x >= 4`.
fn with_constant_right(op: Compare, a: &Expr, b: &Expr) -> Expr {
    let exchanged = match (op, a, b) {
        (_, _, Expr::Int { .. }) => None,
        (Compare::Eq, Expr::Int { value }, _) => Some((Compare::Eq, *value)),
        (Compare::Ge, Expr::Int { value }, _) => Some((Compare::Le, *value)),
        (Compare::Le, Expr::Int { value }, _) => Some((Compare::Ge, *value)),
        (Compare::Lt, Expr::Int { value }, _) => {
            value.checked_add(1).map(|value| (Compare::Ge, value))
        }
        _ => None,
    };
    match exchanged {
        Some((op, value)) => Expr::compare(op, b.clone(), Expr::int(value)),
        None => Expr::compare(op, a.clone(), b.clone()),
    }
}

/// Statements that replace the `If` statement `stmt` with the branches `body` and `otherwise`:
/// - the branch that is taken, if the condition is a constant
/// - no statement, if both branches are empty
/// - an `If` with the negated condition, if only `body` is empty
/// - an `If` with the same condition in all other cases
fn decided(stmt: Stmt, body: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
    let Stmt::If { condition, likely, .. } = stmt else { return Vec::new() };
    match condition {
        Expr::Bool { value: true } => body,
        Expr::Bool { value: false } => otherwise,
        _ if body.is_empty() && otherwise.is_empty() => Vec::new(),
        _ if body.is_empty() => {
            let condition = Expr::Not { a: Box::new(condition) };
            vec![Stmt::If { condition, likely: false, body: otherwise, otherwise: Vec::new() }]
        }
        _ => vec![Stmt::If { condition, likely, body, otherwise }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(op: Compare, a: Expr, b: Expr) -> Stmt {
        let [body, otherwise] = ["then", "else"].map(comment);
        Stmt::If { condition: Expr::compare(op, a, b), likely: true, body, otherwise }
    }

    fn comment(text: &str) -> Vec<Stmt> {
        vec![Stmt::Comment { text: text.to_owned() }]
    }

    fn counted(from: i64, to: i64, body: Vec<Stmt>) -> Stmt {
        let (from, to) = (Expr::int(from), Expr::int(to));
        Stmt::For { name: "i".to_owned(), from, to, step: 1, kind: LoopKind::Serial, body }
    }

    #[test]
    fn conditions_decided_by_ranges_leave_one_branch() {
        let before = Expr::Add { args: vec![Expr::name("i"), Expr::int(-1)] };
        let body = || vec![condition(Compare::Ge, before.clone(), Expr::int(0))];
        let simple = |from, to| simplified(vec![counted(from, to, body())], &Ranges::default());
        assert_eq!(simple(1, 4), [counted(1, 4, comment("then"))]);
        assert_eq!(simple(0, 1), comment("else"));
        assert_eq!(simple(0, 4), [counted(0, 4, body())]);
        assert_eq!(simple(3, 3), []);
    }

    #[test]
    fn integers_are_folded() {
        let name = Stmt::Let { name: "end".to_owned(), value: Expr::int(3).min(Expr::int(9)) };
        let twice = Expr::Mul { args: vec![Expr::int(2), Expr::name("end")] };
        let value = Expr::Add { args: vec![Expr::name("n"), Expr::int(1), twice] };
        let folded = Expr::Add { args: vec![Expr::name("n"), Expr::int(7)] };
        let body = vec![name, Stmt::Return { value }];
        assert_eq!(simplified(body, &Ranges::default()), [Stmt::Return { value: folded }]);
    }
}
