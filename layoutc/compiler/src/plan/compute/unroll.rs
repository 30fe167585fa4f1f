//! How much is written out: loops inside one another multiply, so that their product is bounded.

use super::super::tree::Stmt;

/// The most that a loop becomes when it and those inside it are written out. A statement counts one, a loop that stays what
/// is in it and [`LOOP`].
const MOST: i64 = 1024;

/// What a loop that stays counts besides what is in it: compilers look at each copy anew.
const LOOP: i64 = 8;

/// Has loops stay loops that would become too much, the outer ones first.
pub(super) fn bounded(body: &mut Vec<Stmt>) {
    weigh(body);
}

/// How much the statements become.
fn weigh(body: &mut Vec<Stmt>) -> i64 {
    let (mut all, mut rounds) = (0_i64, None);
    let mut dropped = Vec::new();
    for (place, stmt) in body.iter_mut().enumerate() {
        let asked = rounds.take();
        let own = match stmt {
            Stmt::Unroll { rounds: asked } => {
                rounds = Some((place, *asked));
                0
            }
            Stmt::For { body, .. } => {
                let inside = weigh(body);
                let whole = |(_, rounds): (usize, i64)| inside.saturating_mul(rounds.max(1));
                match asked {
                    Some(asked) if asked.1 > 1 && whole(asked) <= MOST => whole(asked),
                    Some(asked) if asked.1 > 1 => {
                        dropped.push(asked.0);
                        inside.saturating_add(LOOP)
                    }
                    // Not written out: a vector.
                    Some(_) => inside,
                    None => inside.saturating_add(LOOP),
                }
            }
            Stmt::If { body, otherwise, .. } => weigh(body).saturating_add(weigh(otherwise)),
            Stmt::Share { body, .. } | Stmt::Single { body } => weigh(body),
            _ => 1,
        };
        all = all.saturating_add(own);
    }
    for place in dropped.into_iter().rev() {
        body.remove(place);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tree::Expr;

    fn nest(rounds: &[i64]) -> Vec<Stmt> {
        let Some((first, rest)) = rounds.split_first() else {
            return vec![Stmt::Comment { text: String::new() }];
        };
        let (from, to) = (Expr::int(0), Expr::int(*first));
        let (name, body) = ("i".to_owned(), nest(rest));
        let round = Stmt::For { name, from, to, step: 1, parallel: false, body };
        vec![Stmt::Unroll { rounds: *first }, round]
    }

    fn written_out(body: &[Stmt]) -> Vec<bool> {
        match body {
            [Stmt::Unroll { .. }, Stmt::For { body, .. }] => {
                [vec![true], written_out(body)].concat()
            }
            [Stmt::For { body, .. }] => [vec![false], written_out(body)].concat(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn the_product_of_loops_that_are_written_out_is_bounded() {
        let mut small = nest(&[4, 8, 32]);
        bounded(&mut small);
        assert_eq!(written_out(&small), [true; 3]);
        let mut large = nest(&[2, 3, 24, 4, 32]);
        bounded(&mut large);
        assert_eq!(written_out(&large), [true, true, false, true, true]);
    }
}
