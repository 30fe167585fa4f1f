//! What the ranges of names decide: conditions that always or never hold go, and with them what is never done.

use std::cmp::Ordering;

use super::super::tree::{Compare, Expr, Number, NumberOp, Operand, Stmt};
use crate::base::cast::range;
use crate::base::dtype::{Dtype, Scalar};

/// The least and the greatest value of an integer.
type Interval = [i128; 2];

/// The statements without conditions that ranges decide, loops without a round, and names that nothing mentions. `symbols` are
/// the names that are known from outside, with their ranges.
pub(super) fn settled(body: Vec<Stmt>, symbols: Vec<(String, Interval)>) -> Vec<Stmt> {
    super::item::without_unused(Known { names: symbols }.stmts(body))
}

/// Names and their ranges, the innermost last.
struct Known {
    names: Vec<(String, Interval)>,
}

impl Known {
    fn stmts(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let outside = self.names.len();
        let mut all: Vec<Stmt> = Vec::new();
        for stmt in body {
            let before = all.len();
            all.extend(self.stmt(stmt));
            // What was said of a loop that is gone.
            let is_gone = all.len() == before;
            all.pop_if(|last| is_gone && matches!(last, Stmt::Unroll { .. }));
        }
        self.names.truncate(outside);
        all
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Vec<Stmt> {
        match &mut stmt {
            Stmt::Let { name, value } => {
                self.settle(value);
                if let Some(interval) = self.interval(value) {
                    self.names.push((name.clone(), interval));
                } else {
                    self.forget(name);
                }
            }
            Stmt::For { name, from, to, step: _, body, .. } => {
                self.settle(from);
                self.settle(to);
                let ends = [self.interval(from), self.interval(to)];
                if let [Some([low, _]), Some([_, high])] = ends
                    && high <= low
                {
                    return Vec::new();
                }
                let last = |[low, high]: [i128; 2]| [low, high.saturating_sub(1)];
                let range = match ends {
                    [Some([low, _]), Some([_, high])] => Some(last([low, high])),
                    _ => None,
                };
                *body = self.inside(name, range, std::mem::take(body));
                if body.is_empty() {
                    return Vec::new();
                }
            }
            Stmt::Share { name, to, body, .. } => {
                self.settle(to);
                let range = self.interval(to).map(|[_, high]| [0, high.saturating_sub(1)]);
                *body = self.inside(name, range, std::mem::take(body));
            }
            Stmt::WorkItem { axes } => {
                for axis in axes {
                    match self.interval(&axis.extent) {
                        Some([_, high]) => {
                            self.names.push((axis.name.clone(), [0, high.saturating_sub(1)]));
                        }
                        None => self.forget(&axis.name),
                    }
                }
            }
            Stmt::If { condition, body, otherwise, .. } => {
                self.settle(condition);
                let [then, other] =
                    [body, otherwise].map(|branch| self.stmts(std::mem::take(branch)));
                return decided(stmt, then, other);
            }
            Stmt::Single { body } => *body = self.stmts(std::mem::take(body)),
            Stmt::Accumulator { value, .. } | Stmt::LetIndex { value, .. } => self.number(value),
            Stmt::Gather { into, value, .. } => {
                self.number(into);
                self.number(value);
            }
            Stmt::Store { index, value, .. } => {
                self.settle(index);
                if let Operand::Number { value } = value {
                    self.number(value);
                }
            }
            _ => {}
        }
        vec![stmt]
    }

    /// What is inside a loop.
    fn inside(&mut self, name: &str, range: Option<Interval>, body: Vec<Stmt>) -> Vec<Stmt> {
        let outside = self.names.len();
        match range {
            Some(range) => self.names.push((name.to_owned(), range)),
            None => self.forget(name),
        }
        let body = self.stmts(body);
        self.names.truncate(outside);
        body
    }

    /// A name of which nothing is known.
    fn forget(&mut self, name: &str) {
        if self.names.iter().any(|(known, _)| known == name) {
            self.names.push((name.to_owned(), [i128::MIN, i128::MAX]));
        }
    }

    fn settle(&self, expr: &mut Expr) {
        *expr = expr.map(&|part| self.simple(part));
    }

    fn number(&self, number: &mut Number) {
        number.rewrite(&|part| self.simple_number(part), &|index| self.settle(index));
    }

    /// An expression whose operands are settled.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes decide nothing")]
    fn simple(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Compare { op, ref a, ref b } => match self.interval(a).zip(self.interval(b)) {
                Some((a, b)) => decide(op, a, b).map_or(expr, |value| Expr::Bool { value }),
                None => expr,
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
            Expr::Min { a, b } => match self.interval(&a).zip(self.interval(&b)) {
                Some(([_, high], [low, _])) if high <= low => *a,
                Some(([low, _], [_, high])) if high <= low => *b,
                _ => Expr::Min { a, b },
            },
            Expr::Max { a, b } => match self.interval(&a).zip(self.interval(&b)) {
                Some(([_, high], [low, _])) if high <= low => *b,
                Some(([low, _], [_, high])) if high <= low => *a,
                _ => Expr::Max { a, b },
            },
            other => other,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "of the other nodes no range is known")]
    fn interval(&self, expr: &Expr) -> Option<Interval> {
        match expr {
            Expr::Int { value } => Some([i128::from(*value); 2]),
            Expr::Name { name } => {
                let found = self.names.iter().rev().find(|(known, _)| known == name)?.1;
                Some(found).filter(|found| *found != [i128::MIN, i128::MAX])
            }
            Expr::Neg { a } => {
                let [low, high] = self.interval(a)?;
                Some([high.checked_neg()?, low.checked_neg()?])
            }
            Expr::Add { args } => args.iter().try_fold([0_i128; 2], |[low, high], arg| {
                let [least, most] = self.interval(arg)?;
                Some([low.checked_add(least)?, high.checked_add(most)?])
            }),
            Expr::Mul { args } => args.iter().try_fold([1_i128; 2], |so_far, arg| {
                let other = self.interval(arg)?;
                corners(so_far, other, i128::checked_mul)
            }),
            Expr::Div { a, b } | Expr::FloorDiv { a, b } => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                (b[0] > 0).then(|| corners(a, b, i128::checked_div_euclid))?
            }
            Expr::Mod { a, b } | Expr::FloorMod { a, b } => {
                let (a, [least, most]) = (self.interval(a)?, self.interval(b)?);
                let is_itself = a[0] >= 0 && a[1] < least;
                (least > 0).then(|| if is_itself { a } else { [0, most.saturating_sub(1)] })
            }
            Expr::Min { a, b } => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                Some([a[0].min(b[0]), a[1].min(b[1])])
            }
            Expr::Max { a, b } => {
                let (a, b) = (self.interval(a)?, self.interval(b)?);
                Some([a[0].max(b[0]), a[1].max(b[1])])
            }
            Expr::Select { then, otherwise, .. } => {
                let (a, b) = (self.interval(then)?, self.interval(otherwise)?);
                Some([a[0].min(b[0]), a[1].max(b[1])])
            }
            _ => None,
        }
    }

    /// A value whose operands are settled.
    fn simple_number(&self, number: &mut Number) {
        let simple = match &*number {
            Number::Select { condition, then, otherwise } => known(condition)
                .map(|holds| if holds { (**then).clone() } else { (**otherwise).clone() }),
            Number::Not { a } => known(a).map(|value| holds(!value)),
            Number::Binary { op: op @ (NumberOp::And | NumberOp::Or), a, b, .. } => {
                // `false and b` is false, `true and b` is b.
                let absorbs = *op == NumberOp::Or;
                [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
                    let value = known(one)?;
                    Some(if value == absorbs { holds(absorbs) } else { (**other).clone() })
                })
            }
            Number::Binary { op, element, a, b } => self.compared(*op, element, a, b).map(holds),
            _ => None,
        };
        if let Some(simple) = simple {
            *number = simple;
        }
    }

    /// What a comparison of values gives, where that is known.
    fn compared(&self, op: NumberOp, element: &str, a: &Number, b: &Number) -> Option<bool> {
        let (op, is_negated) = match op {
            NumberOp::Less => (Compare::Lt, false),
            NumberOp::LessOrEqual => (Compare::Le, false),
            NumberOp::Equal => (Compare::Eq, false),
            NumberOp::NotEqual => (Compare::Eq, true),
            _ => return None,
        };
        let holds = match (float(a), float(b)) {
            (Some(a), Some(b)) => match op {
                Compare::Lt => a < b,
                Compare::Le => a <= b,
                Compare::Eq | Compare::Ge => a.partial_cmp(&b).is_some_and(Ordering::is_eq),
            },
            _ => decide(op, self.integer(element, a)?, self.integer(element, b)?)?,
        };
        Some(holds != is_negated)
    }

    /// The range of an integer of this type: of a constant, or of an index that fits it.
    fn integer(&self, element: &str, number: &Number) -> Option<Interval> {
        let limits =
            range(Dtype::of_plan(element).filter(|dtype| is_integer(dtype.scalar))?.scalar);
        match number {
            Number::Constant { bits, .. } => {
                let bits = i128::from(u64::from_str_radix(bits, 16).ok()?);
                let span = limits.1.checked_sub(limits.0)?.checked_add(1)?;
                let value = if bits > limits.1 { bits.checked_sub(span)? } else { bits };
                Some([value; 2])
            }
            Number::Index { value, .. } => {
                self.interval(value).filter(|[low, high]| limits.0 <= *low && *high <= limits.1)
            }
            _ => None,
        }
    }
}

fn is_integer(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64)
}

/// The value of a constant that is a float.
fn float(number: &Number) -> Option<f64> {
    let Number::Constant { element, bits } = number else { return None };
    let bits = u64::from_str_radix(bits, 16).ok()?;
    match element.as_str() {
        "f32" => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        "f64" => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// Whether a condition holds, where that is known.
fn known(number: &Number) -> Option<bool> {
    match number {
        Number::Holds { condition: Expr::Bool { value } } => Some(*value),
        _ => None,
    }
}

fn holds(value: bool) -> Number {
    Number::Holds { condition: Expr::Bool { value } }
}

/// The range of an operation that grows or falls along each operand: its values at their ends tell.
fn corners(
    a: Interval,
    b: Interval,
    apply: impl Fn(i128, i128) -> Option<i128>,
) -> Option<Interval> {
    let [first, second, third, fourth] =
        [(a[0], b[0]), (a[0], b[1]), (a[1], b[0]), (a[1], b[1])].map(|(a, b)| apply(a, b));
    let all = [first?, second?, third?, fourth?];
    Some([all.into_iter().min()?, all.into_iter().max()?])
}

/// Whether a comparison holds for all values of these ranges; `None` where that differs.
fn decide(op: Compare, a: Interval, b: Interval) -> Option<bool> {
    let (is_below, is_above) = (a[1] < b[0], a[0] > b[1]);
    match op {
        Compare::Lt if is_below => Some(true),
        Compare::Lt if a[0] >= b[1] => Some(false),
        Compare::Le if a[1] <= b[0] => Some(true),
        Compare::Le if is_above => Some(false),
        Compare::Ge if a[0] >= b[1] => Some(true),
        Compare::Ge if is_below => Some(false),
        Compare::Eq if is_below || is_above => Some(false),
        Compare::Eq if a == b && a[0] == a[1] => Some(true),
        Compare::Lt | Compare::Le | Compare::Ge | Compare::Eq => None,
    }
}

/// A condition, or the branch that is taken where that is known.
fn decided(stmt: Stmt, body: Vec<Stmt>, otherwise: Vec<Stmt>) -> Vec<Stmt> {
    let Stmt::If { condition, is_usual, .. } = stmt else { return Vec::new() };
    match condition {
        Expr::Bool { value: true } => body,
        Expr::Bool { value: false } => otherwise,
        _ if body.is_empty() && otherwise.is_empty() => Vec::new(),
        _ if body.is_empty() => {
            let condition = Expr::Not { a: Box::new(condition) };
            vec![Stmt::If { condition, is_usual: false, body: otherwise, otherwise: Vec::new() }]
        }
        _ => vec![Stmt::If { condition, is_usual, body, otherwise }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(op: Compare, a: Expr, b: Expr) -> Stmt {
        let body = vec![Stmt::Comment { text: "then".to_owned() }];
        let otherwise = vec![Stmt::Comment { text: "else".to_owned() }];
        Stmt::If { condition: Expr::compare(op, a, b), is_usual: true, body, otherwise }
    }

    fn round(from: i64, to: i64, body: Vec<Stmt>) -> Stmt {
        let (from, to) = (Expr::int(from), Expr::int(to));
        Stmt::For { name: "i".to_owned(), from, to, step: 1, parallel: false, body }
    }

    #[test]
    fn conditions_that_ranges_decide_go() {
        let minus = Expr::Add { args: vec![Expr::name("i"), Expr::int(-1)] };
        let asked = || vec![condition(Compare::Ge, minus.clone(), Expr::int(0))];
        let told = |text: &str| vec![Stmt::Comment { text: text.to_owned() }];
        let gone = settled(vec![round(1, 4, asked())], Vec::new());
        assert_eq!(gone, [round(1, 4, told("then"))]);
        let gone = settled(vec![round(0, 1, asked())], Vec::new());
        assert_eq!(gone, [round(0, 1, told("else"))]);
        let stays = vec![round(0, 4, asked())];
        assert_eq!(settled(stays.clone(), Vec::new()), stays);
        assert_eq!(settled(vec![Stmt::Unroll { rounds: 2 }, round(3, 3, asked())], Vec::new()), []);
    }

    #[test]
    fn symbols_and_quotients_have_ranges() {
        let quotient = Expr::FloorDiv { a: Box::new(Expr::name("n")), b: Box::new(Expr::int(4)) };
        let asked = vec![condition(Compare::Lt, quotient, Expr::int(5))];
        let told = vec![Stmt::Comment { text: "then".to_owned() }];
        assert_eq!(settled(asked.clone(), vec![("n".to_owned(), [-3, 19])]), told);
        assert_eq!(settled(asked.clone(), vec![("n".to_owned(), [-3, 20])]), asked);
    }
}
