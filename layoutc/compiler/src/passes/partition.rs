//! Loop partitioning. If the bounds or conditions in a loop's body change at a known iteration, the loop becomes
//! several loops with simpler bounds and conditions.
//!
//! `for b in 0..2 { for i in 0..min(16, 24 - 16*b) { … } }` becomes a loop over `b` in `0..1` with 16 iterations
//! inside, and one over `1..2` with 8. Only serial and unrolled loops with constant bounds are partitioned, as long as
//! the copies of the body stay small. A loop with a barrier stays whole: `PoCL` 3.1 computes wrong sums for several
//! barriers in sequence inside a loop over thread blocks.

use super::ranges::{Ranges, decide};
use super::simplify::simplified;
use crate::ir::{Compare, Expr, Function, LoopKind, Part, Primitive, Stmt, Value};
use crate::machine::CPU;

/// Partitions the loops of a function, the outermost first. `ranges` holds the value ranges of the function's
/// parameters.
pub fn partition(function: &mut Function, ranges: &Ranges) {
    let body = std::mem::take(&mut function.body);
    function.body = stmts(body, &mut ranges.clone());
}

fn stmts(body: Vec<Stmt>, ranges: &mut Ranges) -> Vec<Stmt> {
    let depth = ranges.depth();
    let mut all = Vec::with_capacity(body.len());
    for stmt in body {
        let Some(parts) = parts(&stmt, ranges) else {
            all.push(inside(stmt, ranges));
            continue;
        };
        for part in parts {
            match (&part, &stmt) {
                // A part is not partitioned again.
                (Stmt::For { name, .. }, Stmt::For { name: whole, .. }) if name == whole => {
                    all.push(inside(part, ranges));
                }
                _ => all.extend(stmts(vec![part], ranges)),
            }
        }
    }
    ranges.leave(depth);
    all
}

/// Partitions the loops nested in a statement, not the statement itself, and returns the statement. The index constants
/// or launch indices that the statement declares are added to `ranges`, for the statements after it.
fn inside(mut stmt: Stmt, ranges: &mut Ranges) -> Stmt {
    let depth = ranges.depth();
    if let Stmt::For { name, from, to, .. } = &stmt {
        let range = ranges.of_loop(from, to);
        ranges.declare(name, range);
    }
    for nested in stmt.nested_mut() {
        *nested = stmts(std::mem::take(nested), ranges);
    }
    ranges.leave(depth);
    match &stmt {
        Stmt::Launch { axes } => {
            for axis in axes {
                let range = ranges.of_loop(&Expr::int(0), &axis.extent);
                ranges.declare(&axis.name, range);
            }
        }
        Stmt::Let { name, value } => {
            let range = ranges.of(value);
            ranges.declare(name, range);
        }
        Stmt::LetIndex { name, .. } => ranges.declare(name, None),
        _ => {}
    }
    stmt
}

/// Simplified statements, in order, that replace a loop, which is split before the iterations in which a comparison in
/// its body changes its truth. `None` if the statement is not a serial or unrolled loop with constant bounds and at
/// least one iteration, if it contains a barrier, or if no such iteration is found. `None` too if there would be more
/// than `loop_parts` loops, or more than `part_statements` statements in them before simplification
/// ([`CPU`](crate::machine::CPU)).
fn parts(stmt: &Stmt, ranges: &Ranges) -> Option<Vec<Stmt>> {
    let Stmt::For { name, from, to, step, kind, body } = stmt else { return None };
    if !matches!(kind, LoopKind::Serial | LoopKind::Unrolled(_)) {
        return None;
    }
    let (Expr::Int { value: from }, Expr::Int { value: to }) = (from, to) else { return None };
    if from >= to {
        return None;
    }
    if stmt.any(|stmt| matches!(stmt, Stmt::Primitive(Primitive::Barrier))) {
        return None;
    }
    let last = to.checked_sub(1)?.checked_sub(*from)?.div_euclid(*step);
    let last = from.checked_add(last.checked_mul(*step)?)?;
    let position = ranges.depth();
    let mut ranges_inside = ranges.clone();
    ranges_inside.declare(name, None);
    let mut search = Search {
        position,
        step: *step,
        ends: [*from, last],
        ranges: ranges_inside,
        constants: Vec::new(),
        changes: Vec::new(),
    };
    search.body(body);
    let mut changes = search.changes;
    changes.sort_unstable();
    changes.dedup();
    if changes.is_empty() || changes.len() >= CPU.loop_parts {
        return None;
    }
    let weight: usize = body.iter().map(weight).sum();
    if weight.saturating_mul(changes.len().saturating_add(1)) > CPU.part_statements {
        return None;
    }
    let starts = [*from].into_iter().chain(changes.iter().copied());
    let ends = changes.iter().copied().chain([*to]);
    let part = |(from, to): (i64, i64)| {
        let kind = match kind {
            LoopKind::Unrolled(count) => LoopKind::Unrolled((*count).min(to.saturating_sub(from))),
            kind => kind.clone(),
        };
        let (name, from, to) = (name.clone(), Expr::int(from), Expr::int(to));
        let part = Stmt::For { name, from, to, step: *step, kind, body: body.clone() };
        simplified(vec![part], ranges)
    };
    Some(starts.zip(ends).flat_map(part).collect())
}

fn weight(stmt: &Stmt) -> usize {
    stmt.nested().flatten().map(weight).sum::<usize>().saturating_add(1)
}

/// Search for the iterations of a loop at which comparisons in its body change their truth. Comparisons by `==` are
/// left out; minima and maxima count as comparisons of their operands by `<=`.
struct Search {
    /// Position of the loop variable among the names in `ranges`.
    position: usize,
    step: i64,
    /// First and last value of the loop variable.
    ends: [i64; 2],
    ranges: Ranges,
    /// Pairs `(name, value)` of the index constants declared in the body so far, the innermost last. In a value, these
    /// constants are replaced by their values.
    constants: Vec<(String, Expr)>,
    /// Values of the loop variable at which the truth of a comparison differs from that in the iteration before,
    /// unsorted. A comparison is true, false, or undecided by the ranges of its operands.
    changes: Vec<i64>,
}

impl Search {
    fn body(&mut self, body: &[Stmt]) {
        let (depth, constants) = (self.ranges.depth(), self.constants.len());
        for stmt in body {
            stmt.parts(&mut |part| match part {
                Part::Index(expr) => self.index(expr),
                Part::Value(value) => self.value(value),
                Part::Buffer(_) => {}
            });
            match stmt {
                Stmt::For { name, from, to, body, .. } => {
                    let (depth, range) = (self.ranges.depth(), self.ranges.of_loop(from, to));
                    self.ranges.declare(name, range);
                    self.body(body);
                    self.ranges.leave(depth);
                }
                Stmt::If { body, otherwise, .. } => {
                    self.body(body);
                    self.body(otherwise);
                }
                Stmt::Let { name, value } => {
                    let value = self.expanded(value);
                    self.constants.push((name.clone(), value));
                }
                Stmt::LetIndex { name, .. } => self.ranges.declare(name, None),
                _ => {}
            }
        }
        self.ranges.leave(depth);
        self.constants.truncate(constants);
    }

    /// The expression with the body's index constants replaced by their values.
    fn expanded(&self, expr: &Expr) -> Expr {
        expr.map(&|part| {
            let Expr::Name { name } = &part else { return part };
            let known = self.constants.iter().rev().find(|(known, _)| known == name);
            known.map_or_else(|| part.clone(), |(_, value)| value.clone())
        })
    }

    fn value(&mut self, value: &Value) {
        value.visit(&mut |expr| self.comparison(expr), &mut |_| {});
    }

    fn index(&mut self, expr: &Expr) {
        expr.visit(&mut |part| self.comparison(part));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes compare nothing")]
    fn comparison(&mut self, expr: &Expr) {
        let (op, a, b) = match expr {
            Expr::Compare { op, a, b } => (*op, a, b),
            Expr::Min { a, b } | Expr::Max { a, b } => (Compare::Le, a, b),
            _ => return,
        };
        let (a, b) = (&self.expanded(a), &self.expanded(b));
        let [first, last] = self.ends;
        let at_first = self.truth(op, a, b, first);
        if op == Compare::Eq || at_first == self.truth(op, a, b, last) {
            return;
        }
        // A comparison of linear expressions changes its truth, or whether it is decided, at one end of a range:
        // bisection finds the first iteration that differs from the first one.
        let (mut low, mut high) = (0, (last - first).div_euclid(self.step));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.truth(op, a, b, first + middle * self.step) == at_first {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.changes.push(first + high * self.step);
    }

    /// Truth of the comparison `a op b` in the iteration in which the loop variable is `value`; `None` if the ranges of
    /// the operands do not decide the comparison.
    fn truth(&mut self, op: Compare, a: &Expr, b: &Expr, value: i64) -> Option<bool> {
        self.ranges.fix(self.position, value);
        decide(op, self.ranges.of(a)?, self.ranges.of(b)?)
    }
}
