//! Unrolling within a budget: the replicas of nested loops multiply, so that their product is bounded.

use crate::ir::{Expr, Function, LoopKind, Stmt};

/// Statements of an unrolled loop at most. A simple statement counts one, a loop its body and [`LOOP`].
const MOST: i64 = 1024;

/// Weight of a loop that is not unrolled, besides its body: compilers analyze each replica anew.
const LOOP: i64 = 8;

/// Unrolls no loop of unknown bounds, and none whose replicas exceed the budget; the outer loops give way first.
pub fn unroll_budget(function: &mut Function) {
    weigh(&mut function.body);
}

/// Weight of statements, in statements.
fn weigh(body: &mut [Stmt]) -> i64 {
    let mut all = 0_i64;
    for stmt in body {
        let own = match stmt {
            Stmt::For { from, to, kind, body, .. } => {
                let inside = weigh(body);
                let is_known = matches!((&from, &to), (Expr::Int { .. }, Expr::Int { .. }));
                if matches!(kind, LoopKind::Unrolled(_)) && !is_known {
                    *kind = LoopKind::Serial;
                }
                match kind {
                    LoopKind::Unrolled(rounds @ 2..) => {
                        let whole = inside.saturating_mul(*rounds);
                        if whole > MOST {
                            *kind = LoopKind::Serial;
                            inside.saturating_add(LOOP)
                        } else {
                            whole
                        }
                    }
                    // A vector.
                    LoopKind::Unrolled(_) => inside,
                    _ if kind.is_gpu() => inside,
                    _ => inside.saturating_add(LOOP),
                }
            }
            Stmt::If { body, otherwise, .. } => weigh(body).saturating_add(weigh(otherwise)),
            _ => 1,
        };
        all = all.saturating_add(own);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(rounds: &[i64]) -> Vec<Stmt> {
        let Some((first, rest)) = rounds.split_first() else {
            return vec![Stmt::Comment { text: String::new() }];
        };
        let (from, to) = (Expr::int(0), Expr::int(*first));
        let (name, body) = ("i".to_owned(), nest(rest));
        let kind = LoopKind::Unrolled(*first);
        vec![Stmt::For { name, from, to, step: 1, kind, body }]
    }

    fn written_out(body: &[Stmt]) -> Vec<bool> {
        match body {
            [Stmt::For { kind, body, .. }] => {
                [vec![matches!(kind, LoopKind::Unrolled(_))], written_out(body)].concat()
            }
            _ => Vec::new(),
        }
    }

    #[test]
    fn the_product_of_loops_that_are_written_out_is_bounded() {
        let mut small = nest(&[4, 8, 32]);
        weigh(&mut small);
        assert_eq!(written_out(&small), [true; 3]);
        let mut large = nest(&[2, 3, 24, 4, 32]);
        weigh(&mut large);
        assert_eq!(written_out(&large), [true, true, false, true, true]);
    }
}
